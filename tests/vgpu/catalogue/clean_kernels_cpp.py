"""Correct kernels that look like faulty ones, in CUDA C++: no report at all."""

from __future__ import annotations

import numpy as np

from .entry import clean, ints, ramp, zeros

clean(
    grid=2,
    block=32,
    args=lambda: (zeros(1), zeros(1, np.int32), zeros(32)),
    code="""
__global__ void flag_with_fences(float *message, volatile int *flag, float *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            *message = 42.0f;
            __threadfence();
            *flag = 1;
        }
    } else {
        while (*flag == 0) {}
        __threadfence();
        out[threadIdx.x] = *(volatile float *)message;
    }
}""",
)

clean(
    grid=4,
    block=64,
    args=lambda: (ramp(256), zeros(4), zeros(1, np.uint32), zeros(1)),
    code="""
__global__ void the_last_block_adds_up(const float *a, volatile float *partial, unsigned *done,
                                       float *out) {
    __shared__ float s[64];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t < gridDim.x) atomicAdd(out, partial[t]);
}""",
)

clean(
    args=lambda: (ramp(64), zeros(1, np.int32)),
    code="""
__global__ void one_atomic_for_a_whole_warp(const float *a, int *count) {
    if (a[threadIdx.x] > 20.0f) {
        unsigned active = __activemask();
        int leader = __ffs(active) - 1;
        int first = 0;
        if (threadIdx.x % 32 == leader) first = atomicAdd(count, __popc(active));
        first = __shfl_sync(active, first, leader);
    }
}""",
)

clean(
    block=32,
    args=lambda: (ints(*range(32)), zeros(4, np.int32)),
    code="""
__global__ void lanes_with_the_same_key(const int *key, int *count) {
    int lane = threadIdx.x, k = key[lane] % 4;
    unsigned same = __match_any_sync(0xffffffff, k);
    if (lane == __ffs(same) - 1) count[k] += __popc(same);
}""",
)

clean(
    args=lambda: (ramp(64, np.uint8), zeros(64, np.uint8)),
    code="""
__global__ void neighbouring_bytes(const unsigned char *a, unsigned char *out) {
    __shared__ unsigned char s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    s[t] += 1;
    __syncthreads();
    out[t] = s[t ^ 1];
}""",
)

clean(
    block=32,
    args=lambda: (ramp(126), zeros(126), np.int32(126)),
    code="""
__global__ void vectors_and_a_tail(const float *a, float *out, int n) {
    int i = 4 * threadIdx.x;
    if (i + 3 < n) {
        float4 v = *(const float4 *)(a + i);
        *(float4 *)(out + i) = make_float4(v.w, v.z, v.y, v.x);
    } else
        for (; i < n; i++) out[i] = a[i];
}""",
)

clean(
    args=lambda: (ramp(64), zeros(1, np.int32)),
    code="""
__global__ void maximum_by_compare_and_swap(const float *a, int *best) {
    int v = __float_as_int(a[threadIdx.x]);
    int old = *(volatile int *)best;
    while (v > old) {
        int seen = atomicCAS(best, old, v);
        if (seen == old) break;
        old = seen;
    }
}""",
)

clean(
    args=lambda: (ramp(32), zeros(32)),
    code="""
__global__ void producer_and_consumer_with_named_barriers(const float *a, float *out) {
    __shared__ float box[32];
    int t = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        box[t] = a[t];
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = box[31 - t];
    }
}""",
)

clean(
    shared=64 * 4 + 64 * 8,
    args=lambda: (ramp(64), zeros(64, np.float64)),
    code="""
extern __shared__ double pool[];
__global__ void dynamic_memory_carved_well(const float *a, double *out) {
    double *d = pool;
    float *f = (float *)(pool + blockDim.x);
    int t = threadIdx.x;
    d[t] = a[t];
    f[t] = a[t] / 3;
    __syncthreads();
    out[t] = d[63 - t] + f[(t + 9) % 64];
}""",
)

clean(
    args=lambda: (ramp(64), zeros(64)),
    code="""
__global__ void odd_even_sort(const float *a, float *out) {
    __shared__ float x[64];
    int t = threadIdx.x;
    x[t] = a[t];
    __syncthreads();
    for (int round = 0; round < 64; round++) {
        int i = 2 * t + round % 2;
        if (i + 1 < 64 && x[i] < x[i + 1]) {
            float v = x[i];
            x[i] = x[i + 1];
            x[i + 1] = v;
        }
        __syncthreads();
    }
    out[t] = x[t];
}""",
)

clean(
    grid=4,
    block=32,
    args=lambda: (ramp(130), zeros(130), zeros(1, np.uint32)),
    code="""
__global__ void barrier_of_the_whole_grid(float *a, float *b, unsigned *arrived) {
    int i = blockIdx.x * 32 + threadIdx.x + 1;
    b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    a[i] = 0.5f * (b[i - 1] + b[i + 1]);
}""",
)

clean(
    args=lambda: (ramp(64), zeros(64, np.int32)),
    code="""
__global__ void counts_between_barriers(const float *a, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t] > 9.0f;
    int n = __syncthreads_count(s[t]);
    out[t] = n + s[63 - t];
    if (__syncthreads_and(n > 3)) s[t] = n;
    out[t] += s[t];
}""",
)

clean(
    block=32,
    args=lambda: (ramp(32), zeros(32)),
    code="""
__global__ void butterfly(const float *a, float *out) {
    float v = a[threadIdx.x];
    #pragma unroll
    for (int d = 1; d < 32; d *= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
    out[threadIdx.x] = v;
}""",
)

clean(
    block=(32, 8),
    args=lambda: (ramp((32, 32)), zeros((32, 32))),
    code="""
__global__ void padded_transpose(const float *m, float *t) {
    __shared__ float tile[32][33];
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) tile[y][x] = m[y * 32 + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) t[y * 32 + x] = tile[x][y];
}""",
)

clean(
    args=lambda: (ramp(40, np.uint8), zeros(64, np.int32)),
    code="""
__global__ void number_from_bytes(const unsigned char *packet, int *out) {
    int i = threadIdx.x, v = 0;
    for (int k = 0; k < 4; k++) v |= packet[(5 * i + k + 1) % 40] << 8 * k;
    out[i] = v;
}""",
)

clean(
    block=96,
    args=lambda: (ramp(96), zeros(96)),
    code="""
__global__ void every_warp_in_its_own_branch(const float *a, float *out) {
    int t = threadIdx.x, w = t / 32;
    float v = a[t];
    if (w == 0) v = __shfl_up_sync(0xffffffff, v, 1);
    else if (w == 1) v = __shfl_down_sync(0xffffffff, v, 1);
    else v += __shfl_xor_sync(0xffffffff, v, 31);
    out[t] = v;
}""",
)

clean(
    args=lambda: (ramp(64), zeros(64)),
    code="""
struct Pair { float lo, hi; };
__global__ void two_fields_by_two_threads(const float *a, float *out) {
    __shared__ Pair pair[32];
    int t = threadIdx.x;
    if (t % 2) pair[t / 2].hi = a[t]; else pair[t / 2].lo = a[t];
    __syncthreads();
    Pair p = pair[31 - t / 2];
    out[t] = p.lo * p.hi;
}""",
)

clean(
    args=lambda: (ramp(32), zeros(32)),
    code="""
__global__ void volatile_flag_in_shared_memory(const float *a, float *out) {
    __shared__ volatile int ready;
    __shared__ volatile float box;
    int t = threadIdx.x;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t == 0) {
        box = a[7];
        __threadfence_block();
        ready = 1;
    }
    if (t == 32) {
        while (ready == 0) {}
        __threadfence_block();
        out[0] = box;
    }
}""",
)

clean(
    grid=4,
    block=32,
    args=lambda: (zeros(128), zeros(1, np.uint32)),
    code="""
__global__ void work_taken_by_ticket(float *out, unsigned *ticket) {
    __shared__ unsigned mine;
    while (true) {
        if (threadIdx.x == 0) mine = atomicAdd(ticket, 1u);
        __syncthreads();
        unsigned chunk = mine;
        __syncthreads();
        if (chunk >= 4) break;
        out[32 * chunk + threadIdx.x] = chunk;
    }
}""",
)
