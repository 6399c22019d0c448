"""Out of bounds, in the dialect of Numba: past the end, before the start, past a view."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32, uint32

from .entry import fault, ints, ramp, zeros

OOB = "out-of-bounds"


def row_from(rows):
    """A two-dimensional index in a row that does not exist."""
    return lambda i, t: i[0] >= rows


@fault(OOB, "out", lambda i, t: i == t.x >= 4, block=8, args=lambda: (zeros(4), ramp(4)))
def add_ten(out, a):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10  # !fault  # !fix if i < a.size: out[i] = a[i] + 10


@fault(OOB, "src", 100, grid=4, block=32, args=lambda: (ramp(100), zeros(101), 100))
def guard_lets_one_too_many_in(src, dst, n):
    i = cuda.grid(1)
    if i <= n:  # !fix if i < n:
        dst[i] = 2 * src[i]  # !fault


@fault(
    OOB, "image", row_from(10), grid=(2, 2), block=(8, 8),
    args=lambda: (ramp((10, 10)), 0.5), also=("race",),
)  # fmt: skip
def image_without_guard(image, gain):
    col, row = cuda.grid(2)
    # !fix if row < 10 and col < 10:
    image[row, col] = (row + 1) * gain  # !fault  # !fix     image[row, col] = (row + 1) * gain


@fault(
    OOB, "m", row_from(4), grid=(2, 2), block=(8, 8),
    args=lambda: (ramp((4, 9)), zeros((9, 9))),
)  # fmt: skip
def guard_with_swapped_axes(m, out):
    row, col = cuda.grid(2)
    if row < m.shape[1] and col < m.shape[0]:  # !fix if row < m.shape[0] and col < m.shape[1]:
        out[row, col] = m[row, col]  # !fault


@fault(OOB, "t", row_from(5), block=(12, 5), args=lambda: (ramp((5, 12)), zeros((5, 12))))
def transpose_into_the_same_shape(m, t):
    col, row = cuda.threadIdx.x, cuda.threadIdx.y
    if col < m.shape[1]:  # !fix if col < t.shape[0] and row < t.shape[1]:
        t[col, row] = m[row, col]  # !fault


@fault(OOB, "u", 64, args=lambda: (ramp(64), zeros(64)))
def stencil_forgets_the_right_edge(u, v):
    i = cuda.grid(1)
    if 0 < i < u.size:  # !fix if 0 < i < u.size - 1:
        v[i] = u[i - 1] - 2 * u[i] + u[i + 1]  # !fault


@fault(OOB, "x", 1000, grid=2, block=64, args=lambda: (ramp(1000), 3.0))
def grid_stride_to_the_wrong_end(x, factor):
    start, stride = cuda.grid(1), cuda.gridsize(1)
    for i in range(start, x.size + 1, stride):  # !fix for i in range(start, x.size, stride):
        x[i] *= factor  # !fault


@fault(OOB, "part", lambda i, t: i == t.x >= 40, args=lambda: (zeros(64), ramp(64)[:40], 64))
def past_the_end_of_a_slice(out, part, n):
    i = cuda.threadIdx.x
    if i < n:  # !fix if i < part.size:
        out[i] = part[i]  # !fault


@fault(OOB, "even", 40, args=lambda: (cuda.to_device(ramp(100))[:80:2], zeros(64)))
def past_the_end_of_a_strided_view(even, out):
    i = cuda.threadIdx.x
    if i <= even.size:  # !fix if i < even.size:
        out[i] = even[i]  # !fault


@fault(OOB, "table", 100, block=4, args=lambda: (ints(3, 100, 0, 9), ramp(10), zeros(4)))
def gather_trusts_its_indices(index, table, out):
    i = cuda.threadIdx.x
    j = index[i]
    if j >= 0:  # !fix if j >= 0 and j < table.size:
        out[i] = table[j]  # !fault


@fault(OOB, "bins", 10, block=32, args=lambda: (ints(*range(69, 101)), zeros(10, np.int32)))
def the_largest_value_has_no_bin(values, bins):
    i = cuda.grid(1)
    b = values[i] // 10  # !fix b = min(values[i] // 10, 9)
    cuda.atomic.add(bins, b, 1)  # !fault


@fault(OOB, "a", 64, args=lambda: (zeros(64), ramp(64)))
def mirror_off_by_one(out, a):
    i = cuda.grid(1)
    n = a.size
    out[i] = a[n - i]  # !fault  # !fix out[i] = a[n - 1 - i]


@fault(OOB, "a", 4294967295, args=lambda: (ramp(64), zeros(64)))
def unsigned_index_below_zero(a, out):
    i = uint32(cuda.threadIdx.x)
    j = uint32(i - uint32(1))  # !fix j = uint32(max(i, uint32(1)) - uint32(1))
    out[i] = a[j]  # !fault


@fault(OOB, "a", lambda i, t: i in (t.x - 36, t.x - 100) and i < 0,
       args=lambda: (ramp(64), zeros(64), 100))  # fmt: skip
def shifted_to_before_the_start(a, out, shift):
    i = cuda.threadIdx.x
    out[i] = a[i - shift]  # !fault  # !fix out[i] = a[i - shift % 64 if i >= shift % 64 else 0]


@fault(
    OOB, "tile", lambda i, t: i in (t.x, 63 - t.x) and i >= 32, args=lambda: (ramp(64), zeros(64))
)
def tile_smaller_than_the_block(a, out):
    tile = cuda.shared.array(32, float32)  # !fix tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]  # !fault
    cuda.syncthreads()
    out[t] = tile[63 - t]  # !fault


@fault(OOB, "left", lambda i, t: i == t.x >= 48, also=("race",),
       args=lambda: (ramp(64), zeros(64)))  # fmt: skip
def one_tile_runs_into_the_next(a, out):
    left = cuda.shared.array(48, float32)  # !fix left = cuda.shared.array(64, float32)
    right = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    left[t] = a[t]  # !fault
    right[t] = -a[t]  # !also
    cuda.syncthreads()
    out[t] = left[63 - t] + right[63 - t]  # !also


@fault(OOB, "tile", lambda i, t: i == 65 and t.x == 63, args=lambda: (ramp(66), zeros(64)))
def halo_on_one_side_only(a, out):
    tile = cuda.shared.array(65, float32)  # !fix tile = cuda.shared.array(66, float32)
    t = cuda.threadIdx.x
    tile[t + 1] = a[t + 1]
    if t == 0:
        tile[0] = a[0]
    if t == 63:
        tile[t + 2] = a[65]  # !fault
    cuda.syncthreads()
    out[t] = tile[t] + tile[t + 1] + tile[t + 2]  # !fault


@fault(OOB, None, block=8, args=lambda: (ints(0, 1, 2, 3, 4, 3, 2, 1), zeros(8)))
def local_array_too_short(digit, out):
    count = cuda.local.array(4, float32)
    i = cuda.threadIdx.x
    for k in range(4):
        count[k] = k * out[i]
    d = digit[i]  # !fix d = min(digit[i], 3)
    count[d] += 1  # !fault
    out[i] = count[d] + count[0]  # !also


@fault(OOB, "b", row_from(4), block=(8, 8), also=("race",),
       args=lambda: (ramp((8, 4)), ramp((4, 8)), zeros((8, 8))))  # fmt: skip
def matmul_over_the_wrong_axis(a, b, c):
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(a.shape[0]):  # !fix for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]  # !fault
    c[i, j] = total


@fault(OOB, "pixels", lambda i, t: tuple(i) == (16, 0, 0), block=16,
       args=lambda: (ramp((16, 1, 3)), zeros(16)))  # fmt: skip
def four_channels_of_three(pixels, grey):
    i = cuda.threadIdx.x
    total = float32(0)
    for channel in range(grey.size // 4):  # !fix for channel in range(pixels.shape[2]):
        total += pixels[i, 0, channel]  # !fault
    grey[i] = total


@fault(OOB, "pairs", 15, block=8, args=lambda: (ramp(8), zeros(15)))
def second_of_a_pair(half, pairs):
    i = cuda.threadIdx.x
    if 2 * i < pairs.size:
        pairs[2 * i] = half[i]
        # !fix if 2 * i + 1 < pairs.size:
        pairs[2 * i + 1] = -half[i]  # !fault  # !fix     pairs[2 * i + 1] = -half[i]


@cuda.jit(device=True)
def next_of(values, i):
    return values[i + 1]  # !fault


@fault(OOB, "a", 64, helpers=(next_of,), args=lambda: (zeros(64), ramp(64)))
def device_function_reads_one_further(out, a):
    i = cuda.grid(1)
    if i < a.size:  # !fix if i < a.size - 1:
        out[i] = next_of(a, i) - a[i]


@fault(OOB, "row_of", lambda i, t: i == 65 and t.x == 64, block=96,
       args=lambda: (np.arange(65, dtype=np.int32), ramp(64), zeros(65)))  # fmt: skip
def one_row_too_many_of_a_sparse_matrix(row_of, values, y):
    row = cuda.grid(1)
    if row < row_of.size:  # !fix if row < row_of.size - 1:
        total = float32(0)
        for k in range(row_of[row], min(row_of[row + 1], 64)):  # !fault
            total += values[k]
        y[row] = total
