/* Blocks per multiprocessor by NVIDIA's own header (cuda_occupancy.h): one line of numbers
   on standard input, one answer each: major minor warps shared shared_per_block threads
   registers dynamic_shared. */
#include <stdio.h>
#include <string.h>
#include <stddef.h>
#include "cuda_occupancy.h"
int main(void) {
    int major, minor, warps, shared, per_block; int threads, regs, smem;
    while (scanf("%d %d %d %d %d %d %d %d", &major, &minor, &warps, &shared, &per_block, &threads, &regs, &smem) == 8) {
        cudaOccDeviceProp p; cudaOccFuncAttributes a; cudaOccDeviceState s; cudaOccResult r;
        memset(&p, 0, sizeof p); memset(&a, 0, sizeof a); memset(&s, 0, sizeof s);
        p.computeMajor = major; p.computeMinor = minor; p.maxThreadsPerBlock = 1024;
        p.maxThreadsPerMultiprocessor = warps * 32; p.regsPerBlock = 65536; p.regsPerMultiprocessor = 65536;
        p.warpSize = 32; p.sharedMemPerBlock = 49152; p.sharedMemPerMultiprocessor = shared;
        p.numSms = 1; p.sharedMemPerBlockOptin = per_block; p.reservedSharedMemPerBlock = major >= 8 ? 1024 : 0;
        a.maxThreadsPerBlock = 1024; a.numRegs = regs; a.sharedSizeBytes = 0;
        a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN; a.maxDynamicSharedSizeBytes = per_block;
        a.partitionedGCConfig = PARTITIONED_GC_OFF;
        s.carveoutConfig = 100;
        int e = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &s, threads, smem);
        printf("%d\n", e == CUDA_OCC_SUCCESS ? r.activeBlocksPerMultiprocessor : -(int)e);
    }
    return 0;
}
