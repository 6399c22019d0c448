"""Races in global memory, in the dialect of Numba: lost updates, in-place work, block order."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32

from .entry import fault, ints, ramp, zeros

RACE = "race"


def blocks(i, a, b):
    """Threads of two blocks."""
    return a.b != b.b


@fault(RACE, "total", 0, grid=4, block=32, args=lambda: (zeros(1), ramp(128)))
def sum_of_all_into_one_cell(total, a):
    i = cuda.grid(1)
    total[0] += a[i]  # !fault  # !fix cuda.atomic.add(total, 0, a[i])


@fault(RACE, "o", lambda i, a, b: i == 0 and a.x != b.x, args=lambda: (zeros(1, np.int32),))
def count_the_threads_of_a_block(o):
    o[0] += 1  # !fault  # !fix cuda.atomic.add(o, 0, 1)


@fault(RACE, "hist", lambda i, a, b: i == a.g % 10 == b.g % 10, grid=2, block=32,
       args=lambda: (zeros(10, np.int32), ramp(64, np.int32)))  # fmt: skip
def global_histogram(hist, digits):
    i = cuda.grid(1)
    hist[(digits[i] - 1) % 10] += 1  # !fault  # !fix cuda.atomic.add(hist, (digits[i] - 1) % 10, 1)


@fault(RACE, "u", lambda i, a, b: abs(a.x - b.x) == 1, args=lambda: (ramp(66), zeros(66)))
def blur_in_place(u, v):
    i = cuda.threadIdx.x + 1
    u[i] = (u[i - 1] + u[i + 1]) / 2  # !fault  # !fix v[i] = (u[i - 1] + u[i + 1]) / 2


@fault(RACE, "u", blocks, grid=4, block=32, args=lambda: (ramp(130), zeros(130)))
def blocks_meet_at_their_edges(u, v):
    i = cuda.grid(1) + 1
    new = (u[i - 1] + u[i + 1]) / 2  # !fault
    cuda.syncthreads()
    u[i] = new  # !fault  # !fix v[i] = new


@fault(RACE, "m", lambda i, a, b: (a.x, a.y) == (b.y, b.x) or i[0] in (a.x, a.y), block=(8, 8),
       args=lambda: (ramp((8, 8)), zeros((8, 8))))  # fmt: skip
def transpose_in_place(m, t):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    m[x, y] = m[y, x]  # !fault  # !fix t[x, y] = m[y, x]


@fault(RACE, "a", lambda i, a, b: a.g + b.g == 127, grid=2, args=lambda: (ramp(128),))
def reverse_in_place(a):
    i = cuda.grid(1)
    j = a.size - 1 - i
    v = a[j]  # !fault  # !fix if i < j: a[i], a[j] = a[j], a[i]
    a[i] = v  # !fault  # !fix pass


@fault(RACE, "top", lambda i, a, b: i == 0 and a.g == 0 and b.b > 0, grid=3, block=32,
       args=lambda: (ramp(96), zeros(1), zeros(96)))  # fmt: skip
def divide_by_what_block_0_finds(a, top, out):
    i = cuda.grid(1)
    if i == 0:
        top[0] = a[95]  # !fault  # !fix out[0] = 0
    cuda.syncthreads()
    out[i] = a[i] / (1 + top[0])  # !fault


@fault(RACE, "half", lambda i, a, b: i == a.x // 2 == b.x // 2, args=lambda: (zeros(32), ramp(64)))
def two_threads_for_one_result(half, a):
    i = cuda.grid(1)
    # !fix if i % 2 == 0:
    half[i // 2] = a[i]  # !fault  # !fix     half[i // 2] = a[i]


@fault(RACE, "out", 3, block=6, args=lambda: (ints(0, 3, 2, 1, 3, 5), ramp(6), zeros(6)))
def scatter_with_a_twice_used_index(index, a, out):
    i = cuda.threadIdx.x
    out[index[i]] = a[i]  # !fault  # !fix cuda.atomic.add(out, index[i], a[i])


@fault(RACE, "partial", lambda i, a, b: i == a.b > 0 and b.g == 0, grid=4, block=32,
       args=lambda: (ramp(128), zeros(4), zeros(1)))  # fmt: skip
def a_barrier_of_one_block_taken_for_all(a, partial, out):
    i, t, b = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        partial[b] = a[i]  # !fault
    cuda.syncthreads()
    if i == 0:
        total = float32(0)
        for k in range(cuda.gridDim.x):  # !fix for k in range(1):
            total += partial[k]  # !fault
        out[0] = total


@fault(RACE, "a", lambda i, a, b: abs(a.g - b.g) == 1, args=lambda: (ramp(65), zeros(65)))
def running_sum_in_one_step(a, out):
    i = cuda.grid(1) + 1
    a[i] += a[i - 1]  # !fault  # !fix out[i] = a[i] + a[i - 1]


def shifted_views():
    base = cuda.to_device(ramp(65))
    return base[:-1], base[1:]


@fault(RACE, None, lambda i, a, b: abs(a.x - b.x) == 1, args=shifted_views,
       mended={"args": lambda: (cuda.to_device(ramp(64)), cuda.to_device(zeros(64)))})  # fmt: skip
def copy_between_overlapping_views(src, dst):
    i = cuda.threadIdx.x
    dst[i] = src[i]  # !fault


@fault(RACE, "cells", lambda i, a, b: i in (at_cell(a), at_cell(b)), block=(8, 8),
       args=lambda: (np.tile(ints(0, 1, 1, 0, 0), (10, 2)), zeros((10, 10), np.int32)))  # fmt: skip
def game_of_life_on_one_board(cells, new):
    x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    alive = -cells[y, x]
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            alive += cells[y + dy, x + dx]  # !fault
    next_state = 1 if alive == 3 or (alive == 2 and cells[y, x] == 1) else 0  # !also
    cells[y, x] = next_state  # !fault  # !fix new[y, x] = next_state


def at_cell(t):
    return t.y + 1, t.x + 1


@fault(RACE, "count", 0, args=lambda: (ramp(64), zeros(64), zeros(1, np.int32)))
def compaction_without_atomics(a, out, count):
    v = a[cuda.grid(1)]
    if v > 30:
        k = count[0]  # !fault  # !fix k = cuda.atomic.add(count, 0, 1)
        count[0] = k + 1  # !fault  # !fix pass
        out[k] = v  # !also


@fault(RACE, "best", 0, grid=2, block=32, args=lambda: (zeros(1), ramp(64)))
def maximum_by_compare_and_store(best, a):
    v = a[cuda.grid(1)]
    if v > best[0]:  # !fault  # !fix if v > 0:
        best[0] = v  # !fault  # !fix cuda.atomic.max(best, 0, v)


@fault(RACE, "grid", blocks, grid=3, block=32, args=lambda: (zeros(97), ramp(97)))
def second_phase_needs_a_second_launch(grid, a):
    i = cuda.grid(1)
    grid[i] = a[i] * 2  # !fault
    cuda.syncthreads()
    j = i + 1  # !fix j = i
    a[i] = grid[j]  # !fault


@fault(
    RACE,
    "flag",
    0,
    grid=2,
    block=1,
    args=lambda: (zeros(1, np.int32), zeros(1, np.int32), zeros(1)),
)
def plain_store_to_a_flag(flag, ticket, data):
    if cuda.atomic.add(ticket, 0, 1) == 0:
        cuda.threadfence()
        flag[0] = 1  # !fault  # !fix cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) == 0:  # !fault
            pass
        cuda.threadfence()
        data[0] = 1


@fault(RACE, "count", 0, args=lambda: (ramp(64), zeros(16), zeros(1, np.int32)))
def count_looked_at_before_it_is_raised(a, out, count):
    i = cuda.grid(1)
    if count[0] < 16:  # !fault  # !fix if i >= 0:
        k = cuda.atomic.add(count, 0, 1)  # !fault
        if k < 16:
            out[k] = a[i]


@fault(RACE, "mutex", 0, grid=4, block=32, args=lambda: (zeros(1, np.int32), zeros(1)))
def lock_released_by_a_plain_store(mutex, total):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:  # !fault
            pass
        cuda.threadfence()
        total[0] += 1  # !also
        cuda.threadfence()
        mutex[0] = 0  # !fault  # !fix cuda.atomic.exch(mutex, 0, 0)


@fault(RACE, "row", lambda i, a, b: a.x != b.x, args=lambda: (zeros((2, 64)), ramp(64)))
def rows_of_a_matrix_mistaken_for_private(row, a):
    t = cuda.threadIdx.x
    for k in range(4):
        row[k % 2, (t + k) % 64] += a[t]  # !fault  # !fix row[k % 2, t] += a[t]
