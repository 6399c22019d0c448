"""Barriers that not all threads reach together, in CUDA C++."""

from __future__ import annotations

import numpy as np

from .entry import fault, ints, ramp, zeros

SPLIT = "divergent-barrier"

fault(
    SPLIT,
    None,
    args=lambda: (ramp(64, np.int32), zeros(64, np.int32)),
    code="""
__global__ void barriers_in_the_cases_of_a_switch(const int *kind, int *out) {
    int t = threadIdx.x, v = kind[t];
    switch (v % 3) {
    case 0:
        out[t] = v;
        __syncthreads();  // !fault  // !fix ;
        out[t] += 3;
        break;
    case 1:
        out[t] = -v;
        __syncthreads();  // !fault  // !fix ;
        out[t] *= 2;
        break;
    default:
        out[t] = 1;
    }
}""",
)

fault(
    SPLIT,
    None,
    args=lambda: (ramp(64), zeros(64), np.int32(50)),
    code="""
__global__ void early_return(const float *a, float *out, int n) {
    __shared__ float s[64];
    int i = threadIdx.x;
    s[i] = 0;
    if (i >= n) return;  // !also  // !fix ;
    s[i] = a[i];
    __syncthreads();  // !fault
    out[i] = s[n - 1 - i];  // !fix if (i < n) out[i] = s[n - 1 - i];
}""",
)

fault(
    SPLIT,
    None,
    args=lambda: (ramp(64), zeros(64, np.int32)),
    code="""
__global__ void count_in_a_branch(const float *a, int *out) {
    int t = threadIdx.x;
    if (a[t] > 10.0f)  // !fix if (true)
        out[t] = __syncthreads_count(a[t] > 20.0f);  // !fault
}""",
)

fault(
    SPLIT,
    None,
    block=32,
    args=lambda: (ramp(32), zeros(32)),
    code="""
__global__ void shuffle_of_half_a_warp(const float *a, float *out) {
    int lane = threadIdx.x;
    float v = a[lane];
    if (lane >= 12)  // !fix if (lane < 32)
        v = __shfl_up_sync(0xffffffff, v, 1);  // !fault
    out[lane] = v;
}""",
)

fault(
    SPLIT,
    None,
    alone=True,
    block=32,
    args=lambda: (ints(*range(32)), zeros(32, np.uint32)),
    code="""
__global__ void match_with_a_mask_too_narrow(const int *key, unsigned *peers) {
    int lane = threadIdx.x;
    unsigned mask = 0x00ffffff;  // !fix unsigned mask = 0xffffffff;
    peers[lane] = __match_any_sync(mask, key[lane] % 4);  // !fault
}""",
)

fault(
    SPLIT,
    None,
    block=32,
    args=lambda: (ints(*range(32)), zeros(1, np.int32)),
    code="""
__global__ void sum_of_a_warp_after_an_exit(const int *a, int *out) {
    int lane = threadIdx.x;
    int v = a[lane];
    if (v == 17) return;  // !fix if (v == 17) v = 0;
    int sum = __reduce_add_sync(0xffffffff, v);  // !fault
    if (lane == 0) *out = sum;
}""",
)

fault(
    SPLIT,
    None,
    args=lambda: (ramp(64), zeros(64), np.int32(7)),
    code="""
__global__ void do_while_with_a_barrier(const float *a, float *out, int rounds) {
    __shared__ float s[64];
    int t = threadIdx.x, k = 0;
    float v = a[t];
    do {
        s[t] = v;
        __syncthreads();  // !fault
        v = s[t] * 0.5f;
    } while (v > 4.0f);  // !fix } while (++k < rounds);
    out[t] = v + k;
}""",
)

fault(
    SPLIT,
    None,
    args=lambda: (ramp(64), zeros(64, np.int32)),
    code="""
__global__ void short_circuit_skips_the_barrier(const float *a, int *out) {
    int t = threadIdx.x;
    bool mine = a[t] > 20.0f;
    if (mine && __syncthreads_or(a[t] > 60))  // !fault  // !fix if (__syncthreads_or(mine) && mine)
        out[t] = 1;
}""",
)

fault(
    SPLIT,
    None,
    block=32,
    args=lambda: (ramp(32), zeros(32)),
    code="""
__global__ void activemask_of_another_branch(const float *a, float *out) {
    int lane = threadIdx.x;
    unsigned all = __activemask();
    if (lane & 1)  // !fix if (lane < 32)
        out[lane] = __shfl_sync(all, a[lane], 3);  // !fault
}""",
)
