"""Programs that meet where they must not: one element, two programs."""

# ruff: noqa: E501, PIE808
# fmt: off
# Marks at the ends of lines say where the fault is.

from __future__ import annotations

import numpy as np
import triton.language as tl

from ..catalogue.entry import ramp, zeros
from . import fault

RACE = "race"


def _digits():
    return np.random.default_rng(5).integers(0, 8, 256, dtype=np.int32)


@fault(RACE, "out", 0, grid=(4,), args=lambda: (ramp(256), zeros(4)), B=64,
       says=("Race on out[0]", "program 0 stores it", "no order between"))  # fmt: skip
def all_programs_store_to_one_element(x, out, B: tl.constexpr):
    p = tl.program_id(0)
    total = tl.sum(tl.load(x + p * B + tl.arange(0, B)), 0)
    tl.store(out, total)  # !fault  # !fix tl.store(out + p, total)


@fault(RACE, "total", 0, grid=(8,), args=lambda: (ramp(512), zeros(1)), B=64,
       says=("Race on total[0]",))  # fmt: skip
def read_add_store(x, total, B: tl.constexpr):
    mine = tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)), 0)
    tl.store(total, tl.load(total) + mine)  # !fault  # !fix tl.atomic_add(total, mine)


@fault(RACE, "out", lambda i: 32 <= i < 96, grid=(3,), args=lambda: (ramp(256), zeros(256)), B=64)
def tiles_that_overlap(x, out, B: tl.constexpr):
    i = tl.program_id(0) * (B // 2) + tl.arange(0, B)  # !fix i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) * tl.program_id(0))  # !fault


@fault("same-value-store", "counts", None, grid=(1,), B=256,
       args=lambda: (_digits(), zeros(8, np.int32)),
       says=("Two elements of a tile of program 0 point to counts[",))  # fmt: skip
def histogram_without_atomics(digits, counts, B: tl.constexpr):
    d = tl.load(digits + tl.arange(0, B)) % 8
    tl.store(counts + d, tl.load(counts + d) + 1)  # !fault  # !fix tl.atomic_add(counts + d, 1)


@fault(RACE, "c", None, grid=(1, 1, 2), args=lambda: (ramp((16, 64)), ramp((64, 16)), zeros((16, 16))),
       B=16, K=64, S=32)  # fmt: skip
def split_sums_without_atomics(a, b, c, B: tl.constexpr, K: tl.constexpr, S: tl.constexpr):
    m = tl.arange(0, B)
    k = tl.program_id(2) * S + tl.arange(0, S)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * B + m[None, :])
    part = tl.dot(x, y)
    at = c + m[:, None] * B + m[None, :]
    tl.store(at, tl.load(at) + part)  # !fault  # !fix tl.atomic_add(at, part)


@fault(RACE, "x", lambda i: i % 64 == 0, grid=(4,), args=lambda: (ramp(257), zeros(257)), B=64)
def shift_in_place(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i + 1)  # !fault
    tl.debug_barrier()
    tl.store(x + i, v)  # !fault  # !fix tl.store(y + i, v)


@fault(RACE, "out", None, grid=(8,), args=lambda: (ramp(256), zeros(256)), B=64)
def two_programs_for_each_row(x, out, B: tl.constexpr):
    row = tl.program_id(0) // 2  # !fix row = tl.program_id(0) % 4
    i = row * B + tl.arange(0, B)  # !fix i = row * B + (tl.program_id(0) // 4) * (B // 2) + tl.arange(0, B // 2)
    tl.store(out + i, tl.load(x + i) + tl.program_id(0))  # !fault


@fault(RACE, "out", None, grid=(1,), args=lambda: (ramp(128), zeros(128)), B=128,
       says=("Two elements of a tile of program 0", "store different values"))  # fmt: skip
def pairs_of_elements_share_a_place(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    place = tl.where(i < B // 2, i, i - B // 2)  # !fix place = i
    tl.store(out + place, tl.load(x + i))  # !fault


@fault(RACE, "out", None, grid=(64,), args=lambda: (ramp(640), ramp(640), zeros(640), 640), B=32,
       says=("Race on out[",))  # fmt: skip
def loop_over_the_number_of_programs(x, y, out, n, B: tl.constexpr):
    # The add kernel whose programs loop over how many there are, one element at a time.
    first = tl.program_id(0) * B  # !fix first = tl.program_id(0) * 10
    for j in range(0, tl.num_programs(0)):  # !fix for j in range(0, 10):
        at = first + j
        if at < n:
            v = tl.load(x + at) + tl.load(y + at)
            tl.store(out + at, v + tl.program_id(0))  # !fault


@fault("same-value-store", "found", 0, grid=(4,), args=lambda: (ramp(256), zeros(1, np.int32)), B=64)
def many_programs_say_the_same(x, found, B: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * B + tl.arange(0, B))
    if tl.max(v, 0) > 5:
        tl.store(found, 1)  # !fault  # !fix tl.atomic_max(found, 1)


@fault("deadlock", "flag", 0, grid=(2,), args=lambda: (zeros(1, np.int32), zeros(1)),
       says=("program",))  # fmt: skip
def wait_for_a_flag_that_nobody_sets(flag, out):
    if tl.program_id(0) == 0:
        while tl.atomic_add(flag, 0) == 0:  # !fault
            pass
        tl.store(out, 1.0)
    else:
        tl.store(out, 2.0)  # !fix tl.atomic_xchg(flag, 1)


@fault("trap", "", None, grid=(2,), args=lambda: (ramp(64), zeros(64), 40), B=32, debug=True,
       says=("'more elements than n'", "program 1"))  # fmt: skip
def an_assertion_that_fails(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.device_assert(i < n, "more elements than n")  # !fault  # !fix tl.device_assert(i < 64, "more")
    tl.store(out + i, tl.load(x + i))
