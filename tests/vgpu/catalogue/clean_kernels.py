"""Correct kernels that look like faulty ones, in the dialect of Numba: no report at all."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32, int32

from hetlab.vgpu.uninitialised import empty

from .entry import clean, ints, ramp, zeros


@clean(grid=4, args=lambda: (ramp(256), zeros(1), zeros(1, np.int32)))
def everybody_adds_to_one_cell(a, total, count):
    i = cuda.grid(1)
    cuda.atomic.add(total, 0, a[i])
    cuda.atomic.max(count, 0, i)


@clean(block=32, args=lambda: (ramp(32), zeros(1, np.int32)))
def one_warp_stores_the_same_value(a, found):
    if a[cuda.threadIdx.x] > 3:
        found[0] = 1


@clean(grid=4, block=32, args=lambda: (zeros(1, np.int32), zeros(1)))
def lock_with_fences(mutex, total):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(mutex, 0, int32(0))


@clean(grid=2, block=32, args=lambda: (zeros(32), zeros(1, np.int32), zeros(32)))
def message_from_block_to_block(box, flag, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        box[t] = t + 1
        cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            cuda.atomic.exch(flag, 0, int32(1))
    else:
        if t == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
        cuda.syncthreads()
        cuda.threadfence()
        out[t] = box[31 - t]


@clean(block=32, args=lambda: (ramp(32), zeros(1)))
def sum_by_shuffles(a, out):
    v = a[cuda.laneid]
    d = 16
    while d > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
        d //= 2
    if cuda.laneid == 0:
        out[0] = v


@clean(args=lambda: (ramp(64), 5))
def ping_pong_with_barriers(u, steps):
    s = cuda.shared.array((2, 66), float32)
    t = cuda.threadIdx.x
    s[0, t + 1] = u[t]
    if t < 2:
        s[0, 65 * t] = 0
        s[1, 65 * t] = 0
    cuda.syncthreads()
    for k in range(steps):
        s[1 - k % 2, t + 1] = (s[k % 2, t] + s[k % 2, t + 2]) / 2
        cuda.syncthreads()
    u[t] = s[steps % 2, t + 1]


@clean(grid=4, block=32, args=lambda: (ramp(128), zeros(128), zeros(128)))
def every_block_has_its_slice(a, scratch, out):
    t, i = cuda.threadIdx.x, cuda.grid(1)
    first = cuda.blockIdx.x * cuda.blockDim.x
    scratch[i] = a[i] ** 2
    cuda.syncthreads()
    out[i] = scratch[first + 31 - t]


@clean(args=lambda: (ramp(64), cuda.device_array(64, np.float32)))
def a_thread_reads_what_it_wrote(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    for _ in range(3):
        s[t] = s[t] * 2
    out[t] = s[t]
    out[t] = out[t] + 1


@clean(block=(8, 8), grid=(2, 2), args=lambda: (ramp((16, 24)), ramp((24, 16)), zeros((16, 16))))
def product_with_two_barriers(a, b, c):
    ta = cuda.shared.array((8, 8), float32)
    tb = cuda.shared.array((8, 8), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for m in range(3):
        ta[y, x] = a[row, 8 * m + x]
        tb[y, x] = b[8 * m + y, col]
        cuda.syncthreads()
        for k in range(8):
            total += ta[y, k] * tb[k, x]
        cuda.syncthreads()
    c[row, col] = total


@clean(block=96, args=lambda: (ramp(80), zeros(96)))
def return_with_no_barrier_to_come(a, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    out[i] = a[a.size - 1 - i]


@clean(grid=3, args=lambda: (ramp(64), zeros(192), 3))
def barrier_under_a_uniform_condition(a, out, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    if n > 2 and cuda.blockIdx.x != 1:
        cuda.syncthreads()
        out[cuda.grid(1)] = s[63 - t]
    for k in range(n - cuda.blockIdx.x):
        cuda.syncthreads()
        s[t] = k


@clean(args=lambda: (ints(*range(64)), zeros(64, np.int32)))
def divergent_loops_without_barriers(n, out):
    i = cuda.grid(1)
    v, steps = n[i] + 1, 0
    while v != 1:
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        steps += 1
    out[i] = steps


@clean(block=32, args=lambda: (ramp(32), zeros(32)))
def half_a_warp_with_the_mask_of_half_a_warp(a, out):
    lane = cuda.threadIdx.x
    v = a[lane]
    if lane < 16:
        v += cuda.shfl_xor_sync(0x0000FFFF, v, 8)
    else:
        v -= cuda.shfl_xor_sync(0xFFFF0000, v, 8)
    out[lane] = v


@clean(args=lambda: (ramp(64), zeros(64)))
def in_place_through_a_register(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    v = s[(t + 1) % 64]
    cuda.syncthreads()
    s[t] = v
    cuda.syncthreads()
    out[t] = s[(t + 1) % 64]


@clean(grid=2, block=32, args=lambda: (ramp(64), zeros(64)))
def stencil_with_clamped_neighbours(a, out):
    i = cuda.grid(1)
    out[i] = a[max(i - 1, 0)] + a[i] + a[min(i + 1, a.size - 1)]


@clean(block=96, args=lambda: (ramp(70), zeros(96)))
def choice_in_one_expression(a, out):
    i = cuda.grid(1)
    out[i] = a[i] if i < a.size else 0.0


@clean(grid=2, args=lambda: (ramp(128), zeros(128), zeros(1, np.int32)))
def compaction_by_atomics(a, out, count):
    i = cuda.grid(1)
    if a[i] > 50:
        out[cuda.atomic.add(count, 0, 1)] = a[i]


@clean(args=lambda: (ramp((6, 64)), zeros(6)))
def one_cell_reused_between_barriers(m, out):
    total = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    for r in range(m.shape[0]):
        if t == 0:
            total[0] = 0
        cuda.syncthreads()
        cuda.atomic.add(total, 0, m[r, t])
        cuda.syncthreads()
        if t == 32:
            out[r] = total[0]
        cuda.syncthreads()


@clean(block=128, args=lambda: (ramp(128, np.int32), zeros(16, np.int32)))
def histogram_of_every_warp_its_own(data, hist):
    bins = cuda.shared.array((4, 16), int32)
    t = cuda.threadIdx.x
    w, lane = t // 32, t % 32
    if lane < 16:
        bins[w, lane] = 0
    cuda.syncwarp()
    cuda.atomic.add(bins, (w, data[t] % 16), 1)
    cuda.syncthreads()
    if t < 16:
        hist[t] = bins[0, t] + bins[1, t] + bins[2, t] + bins[3, t]


@clean(args=lambda: (ramp(64, np.int32), zeros(64, np.int32)))
def local_array_with_an_index_from_data(digit, out):
    count = cuda.local.array(4, int32)
    i = cuda.grid(1)
    for k in range(4):
        count[k] = 10 * k
    count[digit[i] % 4] += digit[i]
    out[i] = count[0] + count[1] * 2 + count[2] * 3 + count[3] * 4


@clean(block=128, args=lambda: (ramp(128), zeros(1)))
def tail_of_a_warp_with_syncwarp(a, out):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    if t < 64:
        s[t] += s[t + 64]
    cuda.syncthreads()
    if t < 32:
        v = s[t] + s[t + 32]
        d = 16
        while d > 0:
            s[t] = v
            cuda.syncwarp()
            v += s[t ^ d]
            cuda.syncwarp()
            d //= 2
        if t == 0:
            out[0] = v


@clean(args=lambda: (ramp(40), zeros(64), empty(64)))
def ragged_tile_filled_with_zeros(a, out, spare):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t] if t < a.size else 0
    cuda.syncthreads()
    out[t] = tile[63 - t]
    spare[t] = out[t]


@clean(block=64, args=lambda: (ramp(64), zeros((64, 2))))
def columns_of_one_row_by_two_threads(a, out):
    t = cuda.threadIdx.x
    out[t // 2, t % 2] = a[t]
    out[32 + t // 2, t % 2] = a[t]


@clean(grid=2, block=40, args=lambda: (ramp(80), zeros(80)))
def block_that_is_no_multiple_of_a_warp(a, out):
    s = cuda.shared.array(40, float32)
    t = cuda.threadIdx.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = s[39 - t]


@clean(block=96, args=lambda: (ramp(96), zeros(3)))
def other_warps_have_left(a, out):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    if t >= 32:
        return
    s[t] = a[t]
    cuda.syncwarp()
    if t < 3:
        out[t] = s[31 - t]


@clean(args=lambda: (cuda.to_device(ramp(128))[:64], cuda.to_device(ramp(128))[64:]))
def views_side_by_side(a, b):
    i = cuda.grid(1)
    b[i] = a[a.size - 1 - i]


@clean(args=lambda: (ramp(64), zeros(64)))
def scan_with_two_barriers(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    d = 1
    while d < 64:
        v = s[t - d] if t >= d else float32(0)
        cuda.syncthreads()
        s[t] += v
        cuda.syncthreads()
        d *= 2
    out[t] = s[t]


@clean(grid=4, block=32, args=lambda: (ramp(128), zeros(128)))
def grid_meets_between_two_phases(a, b):
    whole = cuda.cg.this_grid()
    i = cuda.grid(1)
    b[i] = 2 * a[i]
    whole.sync()
    a[i] = b[(i + 1) % b.size]
