"""Patterns of experts that a simple detector takes for faults: no report at all."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32

from .entry import clean, ints, ramp, zeros


@clean(grid=5, args=lambda: (ramp(192), zeros(192)))
def whole_blocks_return_before_a_barrier(a, out):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if cuda.blockIdx.x >= 3:
        return
    s[t] = a[i]
    cuda.syncthreads()
    out[i] = s[63 - t]


@clean(args=lambda: (ints(5), ramp(64), zeros(64)))
def barriers_as_often_as_memory_says(turns, a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    for _ in range(turns[0]):
        cuda.syncthreads()
        v = s[(t + 1) % 64]
        cuda.syncthreads()
        s[t] = v
    out[t] = s[t]


@clean(grid=300, block=64, args=lambda: (zeros(300 * 64, np.uint8), zeros(1, np.int32)))
def blocks_write_neighbouring_bytes(out, count):
    i = cuda.grid(1)
    out[i] = i
    if i % 64 == 0:
        cuda.atomic.add(count, 0, 1)


@clean(block=(8, 8, 2), args=lambda: (ramp((2, 8, 8)), zeros((2, 8, 8))))
def three_dimensional_block(a, out):
    s = cuda.shared.array((2, 8, 8), float32)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    s[z, y, x] = a[z, y, x]
    cuda.syncthreads()
    out[z, y, x] = s[1 - z, x, 7 - y]


clean(
    grid=6,
    block=64,
    args=lambda: (ramp(384), zeros(384), zeros(6, np.int32), zeros(6)),
    code="""
__global__ void scan_with_look_back(const float *a, float *out, int *ready, float *sums) {
    __shared__ float s[64];
    __shared__ float before;
    int t = threadIdx.x, b = blockIdx.x;
    s[t] = a[64 * b + t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        float v = t >= d ? s[t - d] : 0.0f;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t == 0) {
        float sum = 0;
        if (b > 0) {
            while (atomicAdd(&ready[b - 1], 0) == 0) {}
            __threadfence();
            sum = sums[b - 1];
        }
        before = sum;
        sums[b] = sum + s[63];
        __threadfence();
        atomicExch(&ready[b], 1);
    }
    __syncthreads();
    out[64 * b + t] = before + s[t];
}""",
)

clean(
    args=lambda: (ramp(64), zeros(64)),
    code="""
__global__ void one_buffer_for_two_purposes(const float *a, float *out) {
    __shared__ __align__(8) char pool[512];
    int t = threadIdx.x;
    ((float *)pool)[t] = a[t];
    __syncthreads();
    float v = ((float *)pool)[63 - t];
    __syncthreads();
    ((double *)pool)[t] = v;
    __syncthreads();
    out[t] = (float)((double *)pool)[t ^ 1];
}""",
)

clean(
    args=lambda: (ramp(64, np.int32), np.zeros(64, np.dtype([("tag", "i4"), ("n", "i4")]))),
    code="""
struct Item { char tag; int n; };
__global__ void struct_with_a_hole(const int *a, Item *out) {
    __shared__ Item item[64];
    int t = threadIdx.x;
    item[t].tag = 'a' + t % 26;
    item[t].n = a[t];
    __syncthreads();
    out[t] = item[63 - t];
}""",
)

clean(
    args=lambda: (ramp(64), zeros(64)),
    code="""
__device__ __noinline__ float total(const float *p, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += p[i];
    return sum;
}
__global__ void one_function_for_two_memories(const float *__restrict__ a, float *out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = __ldg(a + t);
    __syncthreads();
    out[t] = total(s, 64) - total(a, t);
}""",
)

clean(
    block=128,
    args=lambda: (ramp(128), zeros(128)),
    code="""
__global__ void halves_of_a_block_with_barriers_of_their_own(const float *a, float *out) {
    __shared__ float s[128];
    int t = threadIdx.x, half = t / 64;
    s[t] = a[t];
    if (half == 0) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    out[t] = s[half * 64 + 63 - t % 64];
}""",
)

clean(
    grid=4,
    block=32,
    args=lambda: (zeros(4, np.uint32), zeros(128, np.uint32)),
    code="""
__global__ void order_does_not_matter(unsigned *cells, unsigned *out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    atomicOr(&cells[0], 1u << threadIdx.x);
    atomicMax(&cells[1], i);
    atomicXor(&cells[2], i * 2654435761u);
    out[i] = atomicAdd(&cells[3], 1u) < 128;
}""",
)

clean(
    block=32,
    args=lambda: (ramp(32), zeros(32)),
    code="""
__global__ void warp_transposes_through_shared_memory(const float *a, float *out) {
    __shared__ volatile float s[32];
    int lane = threadIdx.x;
    float v = a[lane];
    for (int turn = 0; turn < 3; turn++) {
        s[lane] = v;
        __syncwarp();
        v = s[(lane * 7 + turn) % 32];
        __syncwarp();
    }
    out[lane] = v;
}""",
)


@clean(block=40, args=lambda: (ramp(40), zeros(40)))
def warp_of_eight_threads(a, out):
    s = cuda.shared.array(40, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncwarp()
    v = s[t ^ 1]
    out[t] = v + cuda.shfl_xor_sync(0xFFFFFFFF, v, 1)


@clean(grid=2, block=96, args=lambda: (ramp(192), zeros(2)))
def block_sum_by_shuffles_of_shuffles(a, out):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    v = a[cuda.grid(1)]
    for k in range(5):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, 16 >> k)
    if t % 32 == 0:
        s[t // 32] = v
    cuda.syncthreads()
    if t < 32:
        v = s[t] if t < 3 else float32(0)
        for k in range(5):
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, 16 >> k)
        if t == 0:
            out[cuda.blockIdx.x] = v


clean(
    args=lambda: (ramp(64 * 5), zeros(64)),
    code="""
#include <cuda_pipeline_primitives.h>
__global__ void two_stages_of_asynchronous_copies(const float *a, float *out) {
    __shared__ float stage[2][64];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&stage[0][t], &a[t], 4);
    __pipeline_commit();
    for (int k = 0; k < 5; k++) {
        if (k < 4) __pipeline_memcpy_async(&stage[(k + 1) % 2][t], &a[64 * (k + 1) + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += stage[k % 2][63 - t];
        __syncthreads();
    }
    out[t] = sum;
}""",
)

clean(
    args=lambda: (zeros(1, np.int32), zeros(1), ramp(64)),
    code="""
__global__ void every_thread_takes_the_lock(int *mutex, float *total, const float *a) {
    bool done = false;
    while (!done) {
        if (atomicCAS(mutex, 0, 1) == 0) {
            __threadfence();
            *total += a[threadIdx.x];
            __threadfence();
            atomicExch(mutex, 0);
            done = true;
        }
    }
}""",
)
