"""Races in shared memory, in the dialect of Numba: barriers that are missing or too weak."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32, int32

from .entry import fault, ints, ramp, zeros

RACE = "race"


def warps(i, a, b):
    """Two different warps of one block."""
    return a.b == b.b and a.warp != b.warp


def lanes(i, a, b):
    """Two lanes of one warp."""
    return a.b == b.b and a.warp == b.warp and a.lane != b.lane


@fault(RACE, "tile", lambda i, a, b: warps(i, a, b) and a.x + b.x == 63,
       args=lambda: (ramp(64), zeros(64)))  # fmt: skip
def reverse_without_barrier(a, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]  # !fault
    # !fix cuda.syncthreads()
    out[t] = tile[63 - t]  # !fault


@fault(RACE, "s", lanes, block=32, args=lambda: (zeros(32), ramp(32)))
def neighbours_of_a_warp_without_syncwarp(dst, src):
    s = cuda.shared.array(32, float32)
    lane = cuda.threadIdx.x
    s[lane] = src[lane]  # !fault
    # !fix cuda.syncwarp()
    dst[lane] = s[lane ^ 1]  # !fault


@fault(RACE, "buf", lambda i, a, b: a.x != b.x, block=128, args=lambda: (ramp(128), zeros(1)))
def tree_sum_with_the_barrier_outside_the_loop(a, out):
    buf = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    buf[t] = a[t]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            buf[t] += buf[t + step]  # !fault
        # !fix cuda.syncthreads()
        step //= 2
    cuda.syncthreads()
    if t == 0:
        out[0] = buf[0]


@fault(RACE, "buf", lambda i, a, b: i == 0 and a.x == 0 and b.x >= 1,
       args=lambda: (ramp(64), zeros(64)))  # fmt: skip
def everybody_reads_the_sum_too_early(a, out):
    buf = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    buf[t] = a[t]
    step = 32
    while step > 0:
        cuda.syncthreads()
        if t < step:
            buf[t] += buf[t + step]  # !fault
        step //= 2
    # !fix cuda.syncthreads()
    out[t] = a[t] / buf[0]  # !fault


@fault(RACE, "acc", lanes, args=lambda: (ramp(64), zeros(1)))
def warp_synchronous_tail(x, out):
    acc = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    acc[t] = x[t]
    cuda.syncthreads()
    if t < 32:
        step = 32
        while step > 0:
            if t < step:
                acc[t] += acc[t + step]  # !fault
            # !fix cuda.syncwarp()
            step //= 2
    if t == 0:
        out[0] = acc[0]


@fault(RACE, "tb", lambda i, a, b: (a.x, a.y) != (b.x, b.y), block=(8, 8),
       args=lambda: (ramp((8, 32)), ramp((32, 8)), zeros((8, 8))))  # fmt: skip
def product_overwrites_tiles_in_use(a, b, c):
    ta = cuda.shared.array((8, 8), float32)
    tb = cuda.shared.array((8, 8), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for m in range(a.shape[1] // 8):
        ta[y, x] = a[y, 8 * m + x]  # !also
        tb[y, x] = b[8 * m + y, x]  # !fault
        cuda.syncthreads()
        for k in range(8):
            total += ta[y, k] * tb[k, x]  # !fault
        # !fix cuda.syncthreads()
    c[y, x] = total


@fault(RACE, "s", lambda i, a, b: abs(a.x - b.x) in (1, 2, 4, 8, 16, 32),
       args=lambda: (ramp(64), zeros(64)))  # fmt: skip
def scan_in_place(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    d = 1
    while d < 64:
        v = s[t - d] if t >= d else float32(0)  # !fault
        # !fix cuda.syncthreads()
        s[t] += v  # !fault
        cuda.syncthreads()
        d *= 2
    out[t] = s[t]


@fault(RACE, "s", lambda i, a, b: a.x != b.x, args=lambda: (ramp(64), zeros(64)))
def scan_with_two_buffers_and_no_barrier(a, out):
    s = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    cur = 0
    s[0, t] = a[t]
    cuda.syncthreads()
    d = 1
    while d < 64:
        if t >= d:
            s[1 - cur, t] = s[cur, t] + s[cur, t - d]  # !fault
        else:
            s[1 - cur, t] = s[cur, t]  # !fault
        cur = 1 - cur
        d *= 2
        # !fix cuda.syncthreads()
    cuda.syncthreads()
    out[t] = s[cur, t]


@fault(
    RACE,
    "bins",
    lambda i, a, b: i == a.x % 8 == b.x % 8,
    args=lambda: (ramp(64, np.int32), zeros(8, np.int32)),
)
def histogram_without_atomics(data, hist):
    bins = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        bins[t] = 0
    cuda.syncthreads()
    bins[(data[t] - 1) % 8] += 1  # !fault  # !fix cuda.atomic.add(bins, (data[t] - 1) % 8, 1)
    cuda.syncthreads()
    if t < 8:
        hist[t] = bins[t]


@fault(RACE, "pivot", lambda i, a, b: i == 0 and a.x == 5 and b.x != 5,
       args=lambda: (ramp(64), zeros(64)))  # fmt: skip
def broadcast_without_barrier(a, out):
    pivot = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 5:
        pivot[0] = a[t]  # !fault
    # !fix cuda.syncthreads()
    out[t] = a[t] - pivot[0]  # !fault


@fault(RACE, "count", 0, args=lambda: (ramp(64), zeros(1, np.int32)))
def shared_counter_loses_updates(a, out):
    count = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        count[0] = 0
    cuda.syncthreads()
    if a[t] > 10:
        count[0] += 1  # !fault  # !fix cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if t == 0:
        out[0] = count[0]


@fault(RACE, "last", lambda i, a, b: i == 0 and a.x != b.x, args=lambda: (ramp(64), zeros(64)))
def whoever_writes_last(a, out):
    last = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    last[0] = a[t]  # !fault  # !fix if t == 63: last[0] = a[t]
    cuda.syncthreads()
    out[t] = last[0]


@fault(RACE, "tile", lambda i, a, b: (a.x, a.y) == (b.y, b.x), block=(16, 16),
       args=lambda: (ramp((16, 16)), zeros((16, 16))))  # fmt: skip
def transpose_without_barrier(m, t):
    tile = cuda.shared.array((16, 17), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = m[y, x]  # !fault
    # !fix cuda.syncthreads()
    t[y, x] = tile[x, y]  # !fault


@fault(RACE, "s", lambda i, a, b: abs(a.x - b.x) == 1, args=lambda: (ramp(65), zeros(64)))
def smooth_in_place(a, out):
    s = cuda.shared.array(65, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    if t == 0:
        s[64] = a[64]
    cuda.syncthreads()
    v = (s[t] + s[t + 1]) / 2  # !fault
    # !fix cuda.syncthreads()
    s[t] = v  # !fault
    cuda.syncthreads()
    out[t] = s[63 - t]


@fault(RACE, "total", lambda i, a, b: i == 0 and 0 in (a.x, b.x),
       args=lambda: (ramp((4, 64)), zeros((4, 64))))  # fmt: skip
def one_cell_for_every_row(m, out):
    total = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    for r in range(m.shape[0]):
        if t == 0:
            total[0] = m[r, 0]  # !fault
        cuda.syncthreads()
        out[r, t] = m[r, t] / total[0]  # !fault
        # !fix cuda.syncthreads()


@fault(RACE, "keys", lambda i, a, b: a.x != b.x, args=lambda: (ints(*range(128, 0, -1)),))
def bitonic_sort_without_barrier(values):
    keys = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    keys[t] = values[t]
    keys[t + 64] = values[t + 64]
    cuda.syncthreads()
    size = 2
    while size <= 128:
        step = size // 2
        while step > 0:
            i = 2 * t - (t & (step - 1))
            if (keys[i] > keys[i + step]) == ((i & size) == 0):  # !fault
                keys[i], keys[i + step] = keys[i + step], keys[i]  # !fault
            step //= 2
            # !fix cuda.syncthreads()
        size *= 2
    cuda.syncthreads()
    values[t] = keys[t]
    values[t + 64] = keys[t + 64]


@fault(RACE, "s", warps, args=lambda: (ramp(64), zeros(64)))
def syncwarp_where_a_barrier_is_needed(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]  # !fault
    cuda.syncwarp()  # !fix cuda.syncthreads()
    out[t] = s[(t + 32) % 64]  # !fault


@fault(
    RACE, "bins", lambda i, a, b: i == a.x, args=lambda: (ramp(64, np.int32), zeros(64, np.int32))
)
def bins_cleared_while_others_count(data, hist):
    bins = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    bins[t] = 0  # !fault
    # !fix cuda.syncthreads()
    cuda.atomic.add(bins, (data[t] * 7) % 64, 1)  # !fault
    cuda.syncthreads()
    hist[t] = bins[t]


@fault(RACE, "bins", lambda i, a, b: i == b.x != a.x,
       args=lambda: (ramp(64, np.int32), zeros(64, np.int32)))  # fmt: skip
def bins_read_while_others_count(data, hist):
    bins = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    bins[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, (data[t] * 7) % 64, 1)  # !fault
    # !fix cuda.syncthreads()
    hist[t] = bins[t]  # !fault


@fault(RACE, "stage", lambda i, a, b: a.x != b.x, args=lambda: (ramp(4 * 64), zeros(4 * 64)))
def next_tile_loaded_into_the_current_buffer(a, out):
    stage = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    stage[0, t] = a[t]
    for k in range(4):
        cuda.syncthreads()
        if k < 3:
            spare = k % 2  # !fix spare = (k + 1) % 2
            stage[spare, t] = a[64 * (k + 1) + t]  # !fault
        out[64 * k + t] = stage[k % 2, 63 - t]  # !fault


@fault(RACE, "row", lambda i, a, b: abs(a.x - b.x) == 1, args=lambda: (ramp(64), 3))
def heat_steps_with_one_barrier(u, steps):
    row = cuda.shared.array(66, float32)
    t = cuda.threadIdx.x
    row[t + 1] = u[t]
    if t < 2:
        row[65 * t] = 0
    for _ in range(steps):
        cuda.syncthreads()
        new = (row[t] + row[t + 2]) / 2  # !fault
        # !fix cuda.syncthreads()
        row[t + 1] = new  # !fault
    u[t] = row[t + 1]
