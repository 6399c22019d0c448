"""Programs that read what nobody has written."""

# ruff: noqa: E501
# fmt: off
# Marks at the ends of lines say where the fault is.

from __future__ import annotations

import triton.language as tl

from hetlab.vgpu.uninitialised import empty

from ..catalogue.entry import ramp, zeros
from . import fault

UNWRITTEN = "uninitialised-read"


def blank(shape):
    """An array that nobody has written."""
    return empty(shape, "f4")


@fault(UNWRITTEN, "out", lambda i: i == 0, grid=(2,), args=lambda: (ramp(128), blank(128)), B=64,
       says=("Program 0 reads out[0]", "before anything was stored there"))  # fmt: skip
def add_to_a_new_array(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(out + i) + tl.load(x + i)  # !fault  # !fix v = tl.load(x + i)
    tl.store(out + i, v)


@fault(UNWRITTEN, "total", 0, grid=(4,), args=lambda: (ramp(256), blank(1)), B=64,
       mended={"args": lambda: (ramp(256), zeros(1))})  # fmt: skip
def atomic_sum_that_starts_anywhere(x, total, B: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * B + tl.arange(0, B))
    tl.atomic_add(total, tl.sum(v, 0))  # !fault


@fault(UNWRITTEN, "scratch", lambda i: i >= 50, grid=(1,),
       args=lambda: (ramp(64), blank(64), zeros(1), 50), B=64)  # fmt: skip
def sum_of_a_half_filled_scratch(x, scratch, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(scratch + i, tl.load(x + i), mask=i < n)
    tl.debug_barrier()
    v = tl.load(scratch + i)  # !fault  # !fix v = tl.load(scratch + i, mask=i < n, other=0.0)
    tl.store(out, tl.sum(v, 0))


@fault(UNWRITTEN, "m", lambda i: i[1] == 3, grid=(4,), args=lambda: (blank((4, 4)), zeros(4)), B=4)
def last_column_never_filled(m, out, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    tl.store(m + row * B + c, c.to(tl.float32), mask=c < 3)  # !fix tl.store(m + row * B + c, c.to(tl.float32))
    tl.debug_barrier()
    tl.store(out + row, tl.sum(tl.load(m + row * B + c), 0))  # !fault


@fault(UNWRITTEN, "weights", lambda i: 40 <= i < 64, grid=(1,),
       args=lambda: (ramp(64), _partly(), zeros(1)), B=64)  # fmt: skip
def weights_that_the_host_set_in_part(x, weights, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i) * tl.load(weights + i)  # !fault  # !fix v = tl.load(x + i) * tl.load(weights + i, mask=i < 40, other=0.0)
    tl.store(out, tl.sum(v, 0))


def _partly():
    weights = blank(64)
    weights[:40] = 1
    return weights
