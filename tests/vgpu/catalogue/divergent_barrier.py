"""Barriers and warp-wide instructions that not all of the threads reach together."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32, int32

from .entry import fault, ints, ramp, zeros

SPLIT = "divergent-barrier"
FULL, HALF = 0xFFFFFFFF, 0x0000FFFF


@fault(SPLIT, None, args=lambda: (ramp(64), zeros(64)), also=("race",))
def barrier_in_a_branch(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    if t < 40:
        cuda.syncthreads()  # !fault  # !fix pass
    # !fix cuda.syncthreads()
    out[t] = a[t]
    if t < 16:
        out[t] = s[t + 1]  # !also


@fault(SPLIT, None, block=128, args=lambda: (ramp(100), zeros(128)))
def return_before_the_barrier(a, out):
    s = cuda.shared.array(128, float32)
    i = cuda.grid(1)
    s[i] = 0
    if i >= a.size:  # !fix if i < a.size:
        return  # !also  # !fix s[i] = a[i]
    s[i] = a[i]  # !fix pass
    cuda.syncthreads()  # !fault
    # !fix if i >= a.size: return
    out[i] = s[a.size - 1 - i]


@fault(SPLIT, None, args=lambda: (ramp((5, 64)), zeros((5, 64))), also=("race",))
def continue_before_the_barrier(m, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for r in range(m.shape[0]):
        if m[r, t] % 7 == 0:  # !fix if m[r, t] < 0 and r > 9:
            continue
        s[t] = m[r, t]  # !also
        cuda.syncthreads()  # !fault
        out[r, t] = s[t]  # !also
        cuda.syncthreads()  # !also


@fault(SPLIT, None, args=lambda: (ints(*range(64)), zeros(64)))
def as_many_barriers_as_the_thread_has_work(work, out):
    t = cuda.threadIdx.x
    total = float32(0)
    for k in range(work[t]):  # !fix for k in range(work[63]):
        total += k
        cuda.syncthreads()  # !fault
    out[t] = total


@fault(SPLIT, None, args=lambda: (zeros(64),))
def two_barriers_in_two_branches(out):
    t = cuda.threadIdx.x
    if t % 2 == 0:
        out[t] = t
        cuda.syncthreads()  # !fault  # !fix out[t] += 1
        out[t] += 1  # !fix pass
    else:
        out[t] = -t
        cuda.syncthreads()  # !fault  # !fix out[t] *= 2
        out[t] *= 2  # !fix pass


@fault(SPLIT, None, block=32, args=lambda: (ramp(32), zeros(32)))
def shuffle_in_a_branch(a, out):
    lane = cuda.threadIdx.x
    v = a[lane]
    if lane < 16:
        v += cuda.shfl_down_sync(FULL, v, 8)  # !fault  # !fix v += cuda.shfl_down_sync(HALF, v, 8)
    out[lane] = v


@fault(SPLIT, None, block=32, args=lambda: (ramp(32), zeros(32)))
def full_mask_split_over_two_branches(a, out):
    lane = cuda.threadIdx.x
    v = a[lane]
    # !fix v = v * 2 if lane % 2 == 0 else v - 1
    if lane % 2 == 0:  # !fix if lane < 99:
        v = cuda.shfl_xor_sync(FULL, v * 2, 1)  # !fault  # !fix v = cuda.shfl_xor_sync(FULL, v, 1)
    else:
        v = cuda.shfl_xor_sync(FULL, v - 1, 1)  # !fault  # !fix v = v
    out[lane] = v


@fault(SPLIT, None, alone=True, block=32, args=lambda: (ramp(32), zeros(32)))
def lanes_missing_from_the_mask(a, out):
    lane = cuda.threadIdx.x
    v = a[lane]
    out[lane] = cuda.shfl_sync(HALF, v, 0)  # !fault  # !fix out[lane] = cuda.shfl_sync(FULL, v, 0)


@fault(SPLIT, None, block=32, args=lambda: (ramp(32), zeros(32)))
def syncwarp_in_a_branch(a, out):
    s = cuda.shared.array(32, float32)
    lane = cuda.threadIdx.x
    s[lane] = a[lane]
    # !fix cuda.syncwarp()
    if lane > 3:
        cuda.syncwarp()  # !fault  # !fix out[lane] = 0
        out[lane] = s[lane - 1]


@fault(SPLIT, None, args=lambda: (ramp(64), zeros(64)), also=("race",))
def break_before_the_barrier(a, out):
    best = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    v = a[t]
    while v > 1:  # !fix for _ in range(8):
        best[t] = v
        v /= 2
        if v < 3:  # !fix if v < -3 and t > 99:
            break
        cuda.syncthreads()  # !fault
    out[t] = v


@fault(SPLIT, None, grid=2, block=32, args=lambda: (ramp(50), zeros(64)))
def barrier_under_the_guard(a, out):
    s = cuda.shared.array(32, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < a.size:
        s[t] = a[i]
        cuda.syncthreads()  # !fault  # !fix out[i] = 0
    # !fix cuda.syncthreads()
    if i < a.size:
        out[i] = s[t]


@fault(SPLIT, None, block=32, args=lambda: (ramp(20), zeros(32, np.int32)))
def vote_after_some_lanes_left(a, out):
    lane = cuda.threadIdx.x
    if lane >= a.size:  # !fix if lane >= 32:
        return
    v = a[lane % 20]
    out[lane] = cuda.any_sync(FULL, v > 19)  # !fault


@fault(SPLIT, None, block=32, args=lambda: (ints(*range(32)), zeros(32, np.int32)))
def ballot_in_a_divergent_loop(work, out):
    lane = cuda.threadIdx.x
    n = work[lane]
    seen = int32(0)
    while n > 0:  # !fix while cuda.any_sync(FULL, n > 0):
        seen += cuda.popc(cuda.ballot_sync(FULL, n % 2 == 1))  # !fault
        n //= 2
    out[lane] = seen


@cuda.jit(device=True)
def block_sum(cells, t, v):
    cells[t] = v
    cuda.syncthreads()  # !fault
    total = float32(0)
    for k in range(64):
        total += cells[k]  # !also
    return total


@fault(SPLIT, None, helpers=(block_sum,), also=("race", "uninitialised-read"),
       args=lambda: (ramp(64), zeros(64)))  # fmt: skip
def device_function_with_a_barrier_in_a_branch(a, out):
    cells = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if a[t] > 8:  # !fix if a[t] > 0:
        out[t] = block_sum(cells, t, a[t])


@fault(SPLIT, None, block=(8, 8), args=lambda: (ramp((8, 7)), zeros((8, 8))))
def last_column_skips_the_barrier(m, out):
    tile = cuda.shared.array((8, 8), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = 0
    if x < m.shape[1]:
        tile[y, x] = m[y, x]
        cuda.syncthreads()  # !fault  # !fix pass
        out[y, x] = tile[y, x] * 2  # !fix pass
    # !fix cuda.syncthreads()
    # !fix out[y, x] = tile[y, x] * 2


@fault(SPLIT, None, args=lambda: (ramp(64), zeros(64)))
def warps_in_different_turns_of_a_loop(a, out):
    t = cuda.threadIdx.x
    v = a[t]
    for _ in range(1 + t // 32):  # !fix for _ in range(2):
        v *= 2
        cuda.syncthreads()  # !fault
    cuda.syncthreads()  # !fault
    out[t] = v


@fault(SPLIT, None, block=96, args=lambda: (ramp(96), zeros(96)), also=("race",))
def one_warp_of_three_stays_away(a, out):
    s = cuda.shared.array(96, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    if t // 32 != 1:  # !fix if t // 32 != 7:
        cuda.syncthreads()  # !fault
        out[t] = s[95 - t]
    else:
        out[t] = 0
