"""Races in shared memory, in CUDA C++: warps, masks, volatile, carved buffers."""

from __future__ import annotations

import numpy as np

from .entry import fault, ramp, zeros

RACE = "race"

fault(
    RACE,
    "warp_max",
    lambda i, a, b: a.warp != b.warp and b.x == 0,
    block=128,
    args=lambda: (ramp(128), zeros(1)),
    code="""
__global__ void results_of_warps_read_without_barrier(const float *a, float *out) {
    __shared__ float warp_max[4];
    int t = threadIdx.x;
    float v = a[t];
    for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
    if (t % 32 == 0) warp_max[t / 32] = v;  // !fault
    // !fix __syncthreads();
    if (t == 0) {
        for (int w = 1; w < 4; w++) v = fmaxf(v, warp_max[w]);  // !fault
        *out = v;
    }
}""",
)

fault(
    RACE,
    "sdata",
    lambda i, a, b: a.x < 32 and b.x < 32 and a.x != b.x,
    args=lambda: (ramp(64), zeros(1)),
    code="""
__global__ void volatile_is_no_barrier(const float *g_idata, float *g_odata) {
    __shared__ volatile float sdata[64];
    int tid = threadIdx.x;
    sdata[tid] = g_idata[tid];
    __syncthreads();
    if (tid < 32)
        for (int s = 32; s > 0; s >>= 1) {
            float v = tid < s ? sdata[tid + s] : 0.0f;  // !fault
            // !fix __syncwarp();
            sdata[tid] += v;  // !fault
            // !fix __syncwarp();
        }
    if (tid == 0) *g_odata = sdata[0];
}""",
)

fault(
    RACE,
    "buffer",
    lambda i, a, b: abs(a.x - b.x) == 32,
    shared=128 * 4,
    args=lambda: (ramp(64), zeros(64)),
    code="""
extern __shared__ float buffer[];
__global__ void carved_parts_overlap(const float *a, float *out) {
    float *low = buffer;
    float *high = buffer + 32;  // !fix float *high = buffer + 64;
    int t = threadIdx.x;
    low[t] = a[t];  // !fault
    high[t] = 2 * a[t];  // !fault
    __syncthreads();
    out[t] = low[t] + high[t];
}""",
)

fault(
    RACE,
    "s",
    lambda i, a, b: a.warp == b.warp,
    block=32,
    args=lambda: (ramp(32), zeros(32)),
    code="""
__global__ void only_half_of_the_warp_waits(const float *a, float *out) {
    __shared__ float s[32];
    int lane = threadIdx.x;
    s[lane] = a[lane];  // !fault
    // !fix __syncwarp();
    if (lane < 16) {
        __syncwarp(0x0000ffff);
        out[lane] = s[lane + 16];  // !fault
    }
}""",
)

fault(
    RACE,
    "minimum",
    0,
    block=96,
    args=lambda: (ramp(96), zeros(1)),
    code="""
__global__ void minimum_by_compare_and_store(const float *a, float *out) {
    __shared__ int minimum;
    int v = 1000 - (int)a[threadIdx.x];
    if (threadIdx.x == 0) minimum = 1 << 30;
    __syncthreads();
    if (v < minimum)  // !fault  // !fix if (true)
        minimum = v;  // !fault  // !fix atomicMin(&minimum, v);
    __syncthreads();
    if (threadIdx.x == 0) *out = minimum;
}""",
)

fault(
    RACE,
    "column",
    lambda i, a, b: a.y != b.y,
    block=(32, 4),
    args=lambda: (ramp((4, 32)), zeros(32)),
    code="""
__global__ void rows_of_a_block_share_one_row_of_cells(const float *m, float *sums) {
    __shared__ float column[32];
    int x = threadIdx.x, y = threadIdx.y;
    if (y == 0) column[x] = 0;
    __syncthreads();
    column[x] += m[y * 32 + x];  // !fault  // !fix atomicAdd(&column[x], m[y * 32 + x]);
    __syncthreads();
    if (y == 0) sums[x] = column[x];
}""",
)

fault(
    RACE,
    "top",
    0,
    args=lambda: (ramp(64), zeros(64, np.int32)),
    code="""
__global__ void stack_pointer_without_atomics(const float *a, int *kept) {
    __shared__ int top;
    if (threadIdx.x == 0) top = 0;
    __syncthreads();
    if (a[threadIdx.x] > 8.0f) {
        int slot = top++;  // !fault  // !fix int slot = atomicAdd(&top, 1);
        kept[slot & 63] = threadIdx.x;  // !also
    }
}""",
    also=("race",),
)

fault(
    RACE,
    "done",
    0,
    block=32,
    args=lambda: (ramp(32), zeros(32)),
    code="""
__global__ void vote_cleared_and_set_in_one_interval(const float *a, float *out) {
    __shared__ int done;
    float v = a[threadIdx.x];
    for (int step = 0; step < 9; step++) {
        if (threadIdx.x == 0) done = 1;  // !fault
        __syncthreads();
        if (v > 2.0f) done = 0;  // !also
        v *= 0.5f;
        __syncthreads();
        if (done) break;  // !fault
        // !fix __syncthreads();
    }
    out[threadIdx.x] = v;
}""",
)

fault(
    RACE,
    "tile",
    lambda i, a, b: a.x != b.x,
    args=lambda: (ramp(64), zeros(64)),
    code="""
__device__ void rotate(float *cells, int t) {
    float v = cells[(t + 1) % 64];  // !fault
    // !fix __syncthreads();
    cells[t] = v;  // !fault
}
__global__ void device_function_without_barrier(const float *a, float *out) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = a[t];
    __syncthreads();
    rotate(tile, t);
    __syncthreads();
    out[t] = tile[63 - t];
}""",
)

fault(
    RACE,
    "stage",
    lambda i, a, b: a.x != b.x,
    args=lambda: (ramp(64), zeros(64)),
    code="""
#include <cuda_pipeline_primitives.h>
__global__ void asynchronous_copy_without_wait(const float *a, float *out) {
    __shared__ float stage[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&stage[t], &a[t], sizeof(float));  // !fault
    __pipeline_commit();
    // !fix __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = stage[63 - t];  // !fault
}""",
)
