"""Reads of memory that nobody has written, in the dialect of Numba: ragged sizes, halos."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32, int32

from hetlab.vgpu.uninitialised import empty

from .entry import fault, flat, ramp, zeros

UNWRITTEN = "uninitialised-read"


def half_written(n, upto, dtype=np.float32):
    """An array of which the host wrote only the first elements."""
    array = empty(n, dtype)
    array[:upto] = ramp(upto, dtype)
    return array


@fault(UNWRITTEN, "tile", lambda i, t: i == 63 - t.x >= 50, args=lambda: (ramp(50), zeros(64)))
def ragged_tile(a, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < a.size:
        tile[t] = a[t]
    # !fix else: tile[t] = 0
    cuda.syncthreads()
    out[t] = tile[63 - t]  # !fault


@fault(UNWRITTEN, "sdata", lambda i, t: i >= 40, args=lambda: (zeros(1), ramp(40), 40))
def block_sum_of_a_ragged_array(out, x, n):
    sdata = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < n:
        sdata[t] = x[t]
    # !fix else: sdata[t] = 0
    cuda.syncthreads()
    s = 32
    while s > 0:
        if t < s:
            sdata[t] += sdata[t + s]  # !fault
        cuda.syncthreads()
        s //= 2
    if t == 0:
        out[0] = sdata[0]  # !also


@fault(UNWRITTEN, "window", lambda i, t: i == 65 and t.x == 63, args=lambda: (ramp(66), zeros(64)))
def right_halo_never_loaded(u, v):
    window = cuda.shared.array(66, float32)
    t = cuda.threadIdx.x
    window[t + 1] = u[t + 1]
    if t == 0:
        window[0] = u[0]
        # !fix window[65] = u[65]
    cuda.syncthreads()
    v[t] = window[t] + window[t + 1] + window[t + 2]  # !fault


@fault(UNWRITTEN, "window", lambda i, t: i == 0 and t.x == 0 and t.b == 0, grid=2, block=32,
       args=lambda: (ramp(64), zeros(64)))  # fmt: skip
def left_halo_of_the_first_block(u, v):
    window = cuda.shared.array(33, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    window[t + 1] = u[i]
    if t == 0 and i > 0:  # !fix if t == 0:
        window[0] = u[max(i - 1, 0)]
    cuda.syncthreads()
    v[i] = window[t + 1] - window[t]  # !fault


@fault(
    UNWRITTEN,
    "bins",
    lambda i, t: i == t.x % 16,
    args=lambda: (ramp(64, np.int32), zeros(16, np.int32)),
)
def shared_histogram_never_cleared(values, hist):
    bins = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    # !fix if t < 16: bins[t] = 0
    # !fix cuda.syncthreads()
    cuda.atomic.add(bins, (values[t] - 1) % 16, 1)  # !fault
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(hist, t, bins[t])  # !also


@fault(
    UNWRITTEN,
    "bins",
    lambda i, t: i == t.x >= 32,
    args=lambda: (ramp(64, np.int32), zeros(64, np.int32)),
)
def only_one_warp_clears_the_bins(values, hist):
    bins = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    if t < 32:  # !fix if t < 64:
        bins[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, values[t] % 16, 1)
    cuda.syncthreads()
    hist[t] += bins[t]  # !fault


@fault(UNWRITTEN, "total", lambda i, t: i == t.x, block=32,
       args=lambda: (cuda.device_array(32, np.float32), ramp(32)))  # fmt: skip
def accumulate_onto_a_fresh_array(total, a):
    i = cuda.grid(1)
    # !fix total[i] = 0
    total[i] += a[i]  # !fault


@fault(UNWRITTEN, "count", 0, block=32, args=lambda: (ramp(32), cuda.device_array(1, np.int32)),
       mended={"args": lambda: (ramp(32), cuda.to_device(zeros(1, np.int32)))})  # fmt: skip
def atomic_on_a_fresh_counter(a, count):
    i = cuda.grid(1)
    if a[i] > 5:
        cuda.atomic.add(count, 0, 1)  # !fault


@fault(
    UNWRITTEN, "b", lambda i, t: i == t.x >= 40, args=lambda: (half_written(64, 40), zeros(64), 40)
)
def beyond_what_the_host_wrote(b, out, n):
    i = cuda.grid(1)
    if i < b.size:  # !fix if i < n:
        out[i] = b[i] ** 2  # !fault


@fault(UNWRITTEN, "tb", lambda i, t: flat(i, 8) >= 40 and flat(i, 8) % 8 == t.x, block=(8, 8),
       args=lambda: (ramp((8, 5)), ramp((5, 8)), zeros((8, 8))))  # fmt: skip
def ragged_inner_tile_of_a_product(a, b, c):
    ta = cuda.shared.array((8, 8), float32)
    tb = cuda.shared.array((8, 8), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    ta[y, x] = a[y, x] if x < a.shape[1] else 0
    if y < b.shape[0]:
        tb[y, x] = b[y, x]
    # !fix else: tb[y, x] = 0
    cuda.syncthreads()
    total = float32(0)
    for k in range(8):
        total += ta[y, k] * tb[k, x]  # !fault
    c[y, x] = total


@fault(UNWRITTEN, "pong", lambda i, t: i == 63 - t.x, args=lambda: (ramp(64), zeros(64), 0))
def second_buffer_before_its_first_step(a, out, steps):
    ping = cuda.shared.array(64, float32)
    pong = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    ping[t] = a[t]
    # !fix pong[t] = a[t]
    for _ in range(steps):
        cuda.syncthreads()
        pong[t] = ping[63 - t]
    cuda.syncthreads()
    out[t] = pong[63 - t]  # !fault


@fault(UNWRITTEN, "best", 0, args=lambda: (ramp(64, np.int32), zeros(1, np.int32)))
def maximum_without_a_start(a, out):
    best = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    # !fix if t == 0: best[0] = a[0]
    # !fix cuda.syncthreads()
    cuda.atomic.max(best, 0, a[t])  # !fault
    cuda.syncthreads()
    if t == 0:
        out[0] = best[0]  # !also


@fault(UNWRITTEN, "board", lambda i, t: i[1] == 6, block=(6, 4),
       args=lambda: (board_without_its_last_column(), zeros((6, 6))))  # fmt: skip
def border_of_the_board(board, alive):
    x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    alive[y, x - 1] = board[y, x - 1]
    if x < 6:  # !fix if x < 5:
        alive[y, x - 1] += board[y, x + 1]  # !fault


def board_without_its_last_column():
    board = empty((6, 7), np.float32)
    board[:, :6] = 1
    return board
