"""Races in shared memory, in the dialect of Numba: barriers that are missing or too weak."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32, int32

from .entry import fault, ramp, zeros

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
