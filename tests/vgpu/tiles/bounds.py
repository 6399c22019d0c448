"""Programs that leave their arrays: masks forgotten, masks wrong, strides mixed up."""

# ruff: noqa: E501
# fmt: off
# Marks at the ends of lines say where the fault is.

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from ..catalogue.entry import ints, ramp, zeros
from . import fault

OUT = "out-of-bounds"


@fault(OUT, "x", 100, grid=(2,), args=lambda: (ramp(100), zeros(100), 100), B=64,
       says=("Program 1 reads x[100]", "outside its 100 elements"))  # fmt: skip
def read_without_a_mask(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)  # !fault  # !fix v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v, mask=i < n)


@fault(OUT, "out", 100, grid=(2,), args=lambda: (ramp(100), zeros(100), 100), B=64,
       says=("Program 1 stores to out[100]",))  # fmt: skip
def store_without_a_mask(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, v)  # !fault  # !fix tl.store(out + i, v, mask=i < n)


@fault(OUT, "x", 100, grid=(2,), args=lambda: (ramp(100), zeros(100), 100), B=64)
def mask_of_one_too_many(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i <= n)  # !fault  # !fix v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v, mask=i < n)


@fault(OUT, "x", -1, grid=(2,), args=lambda: (ramp(100), zeros(100), 100), B=64,
       says=("Program 0 reads x[-1]",))  # fmt: skip
def left_neighbour_of_the_first(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    left = tl.load(x + i - 1, mask=i < n)  # !fault  # !fix left = tl.load(x + i - 1, mask=(i > 0) & (i < n))
    tl.store(out + i, left, mask=i < n)


@fault(OUT, "x", 100, grid=(1,), args=lambda: (ramp(100), zeros(100), 100), B=128)
def reversed_from_the_length(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + n - i, mask=i < n)  # !fault  # !fix v = tl.load(x + n - 1 - i, mask=i < n)
    tl.store(out + i, v, mask=i < n)


@fault(OUT, "x", (3, 0), grid=(2,), args=lambda: (ramp((3, 50)), zeros((3, 50)), 3, 50), R=2, C=64)
def mask_of_the_columns_alone(x, out, rows, columns, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.arange(0, C)
    inside = (r[:, None] < rows) & (c[None, :] < columns)
    at = r[:, None] * columns + c[None, :]
    v = tl.load(x + at, mask=c[None, :] < columns)  # !fault  # !fix v = tl.load(x + at, mask=inside)
    tl.store(out + at, v, mask=inside)


@fault(OUT, "m", lambda i: i[0] >= 8, grid=(8,), args=lambda: (ramp((8, 24)), zeros(8), 24, 32),
       B=32)  # fmt: skip
def rows_as_long_as_the_tile(m, out, columns, stride, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(m + row * stride + c, mask=c < columns, other=0.0)  # !fault  # !fix v = tl.load(m + row * columns + c, mask=c < columns, other=0.0)
    tl.store(out + row, tl.sum(v, 0))


@fault(OUT, "table", 9, grid=(1,), args=lambda: (ramp(8), ints(0, 9, 3, 1), zeros(4), 8), B=4,
       says=("Program 0 reads table[9]",))  # fmt: skip
def look_up_past_the_table(table, at, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(at + i)
    v = tl.load(table + a)  # !fault  # !fix v = tl.load(table + a, mask=a < n, other=0.0)
    tl.store(out + i, v)


@fault(OUT, "out", 64, grid=(3,), args=lambda: (ramp(128), zeros(128)[:64], 128), B=64)
def results_longer_than_their_array(x, out, n, B: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, v, mask=i < n)  # !fault  # !fix tl.store(out + i, v, mask=i < 64)


@fault(OUT, "x", lambda i: i >= 100, grid=(2,), args=lambda: (ramp(100), zeros(100), 100), B=64)
def mask_of_the_tile_not_of_the_array(x, out, n, B: tl.constexpr):
    j = tl.arange(0, B)
    i = tl.program_id(0) * B + j
    v = tl.load(x + i, mask=j < n)  # !fault  # !fix v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v, mask=i < n)


@fault("misaligned", "x", None, grid=(1,), args=lambda: (ramp(64), zeros(8, np.float64)), B=8)
def doubles_from_an_odd_float(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    wide = (x + 1).to(tl.pointer_type(tl.float64), bitcast=True)  # !fix wide = x.to(tl.pointer_type(tl.float64), bitcast=True)
    tl.store(out + i, tl.load(wide + i))  # !fault


def _locked(values):
    values.flags.writeable = False
    return values


@fault("read-only-write", "x", None, grid=(1,), args=lambda: (_locked(ramp(64)), zeros(64)), B=64)
def result_into_the_locked_input(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i) * 2)  # !fault  # !fix tl.store(out + i, tl.load(x + i) * 2)


@triton.jit
def row_of(m, row, columns, c):
    return tl.load(m + row * columns + c, mask=c < columns, other=0.0)


@fault(OUT, "m", (8, 0), grid=(9,), args=lambda: (ramp((8, 24)), zeros(9), 24), B=32)
def a_helper_reads_the_row_after_the_last(m, out, columns, B: tl.constexpr):
    # The helper's own line is the one that reads; it is the learner's, too.
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(m + row * columns + c, mask=c < columns)  # !fault  # !fix v = row_of(m, tl.minimum(row, 7), columns, c)
    tl.store(out + row, tl.sum(tl.where(c < columns, v, 0.0), 0))
