"""Kernels that never end: flags nobody sets, locks taken twice, barriers too large."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32

from .entry import fault, ramp, zeros

STUCK = "deadlock"


@fault(STUCK, "flag", 0, block=32, args=lambda: (zeros(1, np.int32), zeros(1)))
def flag_that_nobody_sets(flag, out):
    # !fix cuda.atomic.exch(flag, 0, int32(1))
    while cuda.atomic.add(flag, 0, 0) == 0:  # !fault
        pass
    if cuda.threadIdx.x == 0:
        out[0] = 1


@fault(STUCK, "mutex", 0, block=1, args=lambda: (zeros(1, np.int32), zeros(1)))
def lock_taken_twice(mutex, out):
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        pass
    out[0] += 1
    # !fix cuda.atomic.exch(mutex, 0, int32(0))
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:  # !fault
        pass
    out[0] += 1
    cuda.atomic.exch(mutex, 0, int32(0))


@fault(STUCK, "mutex", 0, grid=3, block=32, args=lambda: (zeros(1, np.int32), zeros(1)))
def lock_never_released(mutex, out):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:  # !fault
            pass
        cuda.threadfence()
        out[0] += 1
        cuda.threadfence()
        # !fix cuda.atomic.exch(mutex, 0, int32(0))


@fault(STUCK, "arrived", 0, grid=4, block=32, args=lambda: (zeros(1, np.int32), zeros(4)))
def grid_barrier_counts_threads_for_blocks(arrived, out):
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(arrived, 0, 1)
        goal = cuda.gridDim.x * 2  # !fix goal = cuda.gridDim.x
        while cuda.atomic.add(arrived, 0, 0) < goal:  # !fault
            pass
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = 1


@fault(STUCK, None, block=32, args=lambda: (ramp(32), zeros(32, np.int32), 0),
       mended={"args": lambda: (ramp(32), zeros(32, np.int32), 1)})  # fmt: skip
def step_of_zero(a, out, step):
    i = cuda.threadIdx.x
    while i < 32:
        cuda.atomic.add(out, i, 1)  # !fault
        i += step


@fault(
    STUCK,
    "turn",
    lambda i, t: i == 1 - t.b,
    grid=2,
    block=1,
    args=lambda: (zeros(2, np.int32), zeros(2)),
)
def each_block_waits_for_the_other(turn, out):
    b = cuda.blockIdx.x
    # !fix cuda.atomic.exch(turn, b, int32(1))
    while cuda.atomic.add(turn, 1 - b, 0) == 0:  # !fault
        pass
    cuda.atomic.exch(turn, b, int32(1))
    out[b] = 1


@fault(STUCK, "mutex", 0, block=32, args=lambda: (zeros(1, np.int32), zeros(1)))
def lock_held_while_the_warp_meets(mutex, total):
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:  # !fault
        pass
    cuda.threadfence()
    total[0] += 1
    cuda.syncwarp()  # !also  # !fix pass
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, int32(0))


fault(
    STUCK,
    None,
    args=lambda: (zeros(64),),
    code="""
__global__ void barrier_for_more_threads_than_come(float *out) {
    // !fix int n = 64;
    int n = 128;  // !fix ;
    asm volatile("bar.sync 1, %0;" ::"r"(n) : "memory");  // !fault
    out[threadIdx.x] = 1;
}""",
)

fault(
    STUCK,
    "fork",
    lambda i, *t: i in (0, 1),
    args=lambda: (zeros(2, np.int32), zeros(2)),
    code="""
__global__ void two_forks_in_opposite_order(int *fork, float *out) {
    int me = threadIdx.x / 32;
    bool first = threadIdx.x % 32 == 0;
    if (first) while (atomicCAS(&fork[me], 0, 1) != 0) {}
    // !fix if (first) atomicExch(&fork[me], 0);
    __syncthreads();
    if (first) {
        while (atomicCAS(&fork[1 - me], 0, 1) != 0) {}  // !fault
        out[me] = 1;
        atomicExch(&fork[1 - me], 0);
    }
}""",
)

fault(
    STUCK,
    "ready",
    0,
    block=32,
    args=lambda: (zeros(32),),
    code="""
__global__ void flag_set_only_after_the_warp_has_met(float *out) {
    __shared__ int ready;
    int lane = threadIdx.x;
    if (lane == 1) ready = 0;
    __syncwarp();
    // !fix if (lane == 1) atomicExch(&ready, 1);
    if (lane == 0)
        while (atomicAdd(&ready, 0) == 0) {}  // !fault
    __syncwarp();
    if (lane == 1) atomicExch(&ready, 1);
    out[lane] = 1;
}""",
)

fault(
    STUCK,
    "go",
    0,
    block=32,
    args=lambda: (zeros(1, np.int32), zeros(32)),
    code="""
__global__ void flag_read_by_a_plain_load(const int *go, float *out) {
    bool wait = true;  // !fix bool wait = false;
    while (*go == 0 && wait) __nanosleep(20);  // !fault
    out[threadIdx.x] = *go;
}""",
)

fault(
    STUCK,
    "arrived",
    0,
    grid=150,
    block=32,
    shared=160 * 1024,
    mended={"grid": 4},
    args=lambda: (zeros(1, np.int32), zeros(150)),
    code="""
extern __shared__ float much[];
__global__ void more_blocks_than_are_resident(int *arrived, float *out) {
    if (threadIdx.x == 0) {
        much[0] = atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) {}  // !fault
        out[blockIdx.x] = much[0];
    }
}""",
)
