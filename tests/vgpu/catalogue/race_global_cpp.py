"""Races in global memory, in CUDA C++: flags and locks without fences, edges of blocks."""

from __future__ import annotations

import numpy as np

from .entry import fault, ramp, zeros

RACE = "race"

fault(
    RACE,
    "message",
    lambda i, a, b: i == 0 and a.b == 0 and b.b == 1,
    grid=2,
    block=32,
    args=lambda: (zeros(1), zeros(1, np.int32), zeros(32)),
    code="""
__global__ void flag_without_fence(float *message, volatile int *flag, float *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            *message = 42.0f;  // !fault
            // !fix __threadfence();
            *flag = 1;
        }
    } else {
        while (*flag == 0) {}
        // !fix __threadfence();
        out[threadIdx.x] = *message;  // !fault
    }
}""",
)

fault(
    RACE,
    "partial",
    lambda i, a, b: a.b != b.b and a.x == 0,
    grid=4,
    block=32,
    args=lambda: (ramp(128), zeros(4), zeros(1, np.uint32), zeros(1)),
    code="""
__global__ void last_block_without_fence(const float *a, float *partial, unsigned *done,
                                         float *out) {
    int t = threadIdx.x;
    float v = a[blockIdx.x * 32 + t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (t == 0) {
        partial[blockIdx.x] = v;  // !fault
        // !fix __threadfence();
        if (atomicAdd(done, 1) == gridDim.x - 1) {
            // !fix __threadfence();
            for (int k = 0; k < gridDim.x; k++) *out += partial[k];  // !fault
        }
    }
}""",
)

fault(
    RACE,
    "balance",
    lambda i, a, b: i == 0 and a.b != b.b,
    grid=4,
    block=32,
    args=lambda: (zeros(1, np.int32), zeros(1)),
    code="""
__global__ void lock_without_fence(int *lock, float *balance) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        // !fix __threadfence();
        *balance += 10.0f;  // !fault
        // !fix __threadfence();
        atomicExch(lock, 0);
    }
}""",
)

fault(
    RACE,
    "balance",
    0,
    grid=2,
    block=32,
    args=lambda: (zeros(2, np.int32), zeros(1)),
    code="""
__global__ void every_block_has_its_own_lock(int *locks, float *balance) {
    if (threadIdx.x == 0) {
        int *lock = locks + blockIdx.x;  // !fix int *lock = locks;
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *balance += 10.0f;  // !fault
        __threadfence();
        atomicExch(lock, 0);
    }
}""",
)

fault(
    RACE,
    "owner",
    0,
    grid=2,
    block=32,
    also=("race",),
    args=lambda: (zeros(1, np.int32), zeros(1, np.int32)),
    code="""
__global__ void lock_by_look_and_store(int *owner, int *count) {
    if (threadIdx.x == 0) {
        if (*owner == 0) {  // !fault  // !fix if (atomicCAS(owner, 0, blockIdx.x + 1) == 0) {
            *owner = blockIdx.x + 1;  // !fault  // !fix ;
            atomicAdd(count, 1);
        }
    }
}""",
)

fault(
    RACE,
    "h",
    lambda i, a, b: a.b != b.b,
    grid=2,
    block=32,
    args=lambda: (ramp(66), zeros(66)),
    code="""
__global__ void relax_with_neighbouring_blocks(float *h, float *next) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    __shared__ float old[34];
    if (threadIdx.x == 0) {
        old[0] = h[i - 1];  // !fault
        old[33] = h[i + 32];  // !also
    }
    old[threadIdx.x + 1] = h[i];
    __syncthreads();
    float v = 0.5f * (old[threadIdx.x] + old[threadIdx.x + 2]);
    h[i] = v;  // !fault  // !fix next[i] = v;
}""",
)

fault(
    RACE,
    "offset",
    lambda i, a, b: abs(a.b - b.b) == 1 and i == max(a.b, b.b),
    grid=3,
    block=32,
    args=lambda: (zeros(4, np.int32), zeros(96, np.int32)),
    code="""
__global__ void blocks_taken_to_run_in_order(int *offset, int *out) {
    int b = blockIdx.x;
    __shared__ int start;
    if (threadIdx.x == 0) {
        start = offset[b];  // !fault
        offset[b + 1] = start + 32;  // !fault  // !fix out[32 * b] = start;
    }
    __syncthreads();
    if (threadIdx.x > 0) out[32 * b + threadIdx.x] = start + threadIdx.x;
}""",
)

fault(
    RACE,
    "bytes",
    lambda i, a, b: abs(a.x - b.x) <= 3,
    args=lambda: (zeros(64, np.uint8),),
    code="""
__global__ void whole_word_for_one_byte(unsigned char *bytes) {
    int i = threadIdx.x;
    unsigned *word = (unsigned *)bytes + i / 4;
    unsigned bit = 1u << 8 * (i % 4);
    *word |= bit;  // !fault  // !fix atomicOr(word, bit);
}""",
)

fault(
    RACE,
    "seen",
    lambda i, a, b: i == 0 and a.x != b.x,
    args=lambda: (zeros(1, np.int32), ramp(64)),
    code="""
__global__ void read_of_what_another_warp_writes(int *seen, float *a) {
    int t = threadIdx.x;
    if (t == 40) *seen = 7;  // !fault
    // !fix __syncthreads();
    a[t] += *seen;  // !fault
}""",
)

fault(
    RACE,
    "x",
    lambda i, a, b: a.x != b.x,
    args=lambda: (ramp(64),),
    code="""
__global__ void odd_even_sort_without_barrier(float *x) {
    int t = threadIdx.x;
    for (int round = 0; round < 4; round++) {
        int i = 2 * t + round % 2;
        if (i + 1 < 64) {
            float l = x[i];  // !fault
            float r = x[i + 1];  // !also
            x[i] = fmaxf(l, r);  // !also
            x[i + 1] = fminf(l, r);  // !fault
        }
        // !fix __syncthreads();
    }
}""",
)
