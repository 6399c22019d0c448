"""Masks of loads, what stands in the place of masked elements, and tiles that overlap."""

import numpy as np
import triton
import triton.language as tl

from hetlab.grading import Case, Clean, Correct, Task, Wrong, exact, unseen

from .common import FLOAT32, tiles

# ------------------------------------------------------------------------------------ clip


### BEGIN PUBLIC SPEC
def clip_spec(x, out, n, low, high):
    out[:n] = np.clip(x[:n], low, high)


### END PUBLIC SPEC
def clip_cases(rng):
    for n in (256, 1, 300, 509):
        x = rng.normal(size=n).astype(np.float32)
        given = x, np.zeros_like(x), n, -0.5, 1.25
        yield Case(f"n = {n}, BLOCK = 128", *given, **tiles(n, 128))


clip = Task(
    "clip",
    title="Repair a load without a mask",
    criteria=[
        Correct(clip_spec, clip_cases, points=1, agree=exact(), changes=(1,)),
        Clean(2),
    ],
    hints=(
        "Launch the draft with hetlab.sanitize and an n that is no multiple of BLOCK.",
        "The report says *reads*. Which line reads, and does it know where the array ends?",
        "The load needs the same mask as the store.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def clip_draft(x, out, n, low, high, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(out + at, tl.minimum(tl.maximum(v, low), high), mask=at < n)


@triton.jit
def clip_store_unmasked(x, out, n, low, high, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + at, tl.minimum(tl.maximum(v, low), high))


@triton.jit
def clip_swapped(x, out, n, low, high, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.maximum(tl.minimum(v, low), high), mask=at < n)


clip.wrong += [
    Wrong(
        "the load has no mask",
        clip_draft,
        says="What is read beyond the end is thrown away, so the values are right. But it is read, "
        "and on a GPU that may be another array's memory, or end the program.",
        fails="hazard",
    ),
    Wrong(
        "the store has no mask",
        clip_store_unmasked,
        says="The load is safe now, but the store writes beyond the end. Both need the mask.",
        fails="hazard",
    ),
    Wrong(
        "minimum and maximum swapped",
        clip_swapped,
        says="The maximum with low keeps values from being too small; the minimum with high from "
        "being too large.",
    ),
]


def more_clips(rng):
    x = rng.normal(size=777).astype(np.float32)
    yield Case("another", x, np.zeros_like(x), 777, -1.0, 0.5, public=False, **tiles(777, 128))


unseen(clip, more_clips)
### END HIDDEN


# ------------------------------------------------------------------------------- tile_max


### BEGIN PUBLIC SPEC
def tile_max_spec(x, out, n):
    for program in range(out.size):  # BLOCK is 128 in all cases
        out[program] = x[program * 128 : (program + 1) * 128].max()


### END PUBLIC SPEC
def tile_max_cases(rng):
    for n, what in (
        (256, "mixed"),
        (300, "mixed"),
        (300, "all negative"),
        (1, "all negative"),
        (300, "all below -1e38"),
        (5, "minus infinity"),
    ):
        x = rng.normal(size=n).astype(np.float32)
        if what != "mixed":
            x = -1 - np.abs(x)
        if what == "all below -1e38":
            x = np.maximum(x, -3) * np.float32(1e38)
        if what == "minus infinity":
            x = np.full_like(x, -np.inf)
        out = np.zeros(-(-n // 128), np.float32)
        yield Case(f"n = {n}, {what}", x, out, n, **tiles(n, 128))


tile_max = Task(
    "tile_max",
    title="Repair what stands in the place of masked elements",
    criteria=[
        Correct(tile_max_spec, tile_max_cases, points=2, agree=exact(), changes=(1,)),
        Clean(),
    ],
    hints=(
        "Try numbers that are all negative. Where does the wrong maximum come from?",
        "A masked load gives `other` where the mask is False. Which value never wins a maximum?",
        'other=float("-inf").',
    ),
)
### BEGIN HIDDEN


@triton.jit
def tile_max_zero(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + tl.program_id(0), tl.max(v, 0))


@triton.jit
def tile_max_not_low_enough(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=-1e9)
    tl.store(out + tl.program_id(0), tl.max(v, 0))


@triton.jit
def tile_max_unmasked(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0), tl.max(tl.load(x + at), 0))


@triton.jit
def tile_max_wrong_end(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=float("inf"))
    tl.store(out + tl.program_id(0), tl.max(v, 0))


tile_max.wrong += [
    Wrong(
        "a large negative number",
        tile_max_not_low_enough,
        says="Some data lie below every number that you choose. Only minus infinity never wins.",
    ),
    Wrong(
        "zeros in the place of masked elements",
        tile_max_zero,
        says="Zero is larger than every negative number, so it wins where it should not count. "
        "The neutral value of a maximum is minus infinity. (Without other you get zeros as well, "
        "or anything.)",
    ),
    Wrong(
        "no mask at all",
        tile_max_unmasked,
        says="The last tile reads beyond the end of x, and what lies there takes part.",
        fails="value",
    ),
    Wrong(
        "plus infinity",
        tile_max_wrong_end,
        says="Plus infinity always wins a maximum. It is the neutral value of a minimum.",
    ),
]


def more_maxima(rng):
    x = (-5 - rng.random(450)).astype(np.float32)
    yield Case("another", x, np.zeros(4, np.float32), 450, public=False, **tiles(450, 128))


unseen(tile_max, more_maxima)
### END HIDDEN


# ------------------------------------------------------------------------------------ axpy


### BEGIN PUBLIC SPEC
def axpy_spec(a, x, y, n):
    y[:n] += np.float32(a) * x[:n]


### END PUBLIC SPEC
def axpy_cases(rng):
    for n in (256, 512, 1000, 1):
        x, y = rng.normal(size=(2, n)).astype(np.float32)
        shape = {"grid": (-(-n // 256),), "constants": {"BLOCK": 128, "TILES": 2}}
        yield Case(f"n = {n}, 2 tiles of 128 a program", 0.5, x, y, n, **shape)


axpy = Task(
    "axpy",
    title="Repair tiles that overlap",
    criteria=[
        Correct(axpy_spec, axpy_cases, points=2, agree=FLOAT32, changes=(2,)),
        Clean(2),
    ],
    hints=(
        "Write down the offsets of program 0 and of program 1, for BLOCK = 4 and TILES = 2.",
        "A program takes TILES tiles. How many elements after program 0 must program 1 begin?",
        "first = (tl.program_id(0) * TILES + t) * BLOCK in turn t.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def axpy_draft(a, x, y, n, BLOCK: tl.constexpr, TILES: tl.constexpr):
    for t in range(TILES):
        at = (tl.program_id(0) + t) * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(y + at, mask=at < n) + a * tl.load(x + at, mask=at < n)
        tl.store(y + at, v, mask=at < n)


@triton.jit
def axpy_steps_of_one(a, x, y, n, BLOCK: tl.constexpr, TILES: tl.constexpr):
    for t in range(TILES):
        at = tl.program_id(0) * BLOCK * TILES + t + tl.arange(0, BLOCK)
        v = tl.load(y + at, mask=at < n) + a * tl.load(x + at, mask=at < n)
        tl.store(y + at, v, mask=at < n)


@triton.jit
def axpy_unmasked(a, x, y, n, BLOCK: tl.constexpr, TILES: tl.constexpr):
    for t in range(TILES):
        at = (tl.program_id(0) * TILES + t) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(y + at) + a * tl.load(x + at))


axpy.wrong += [
    Wrong(
        "the draft as it was",
        axpy_draft,
        says="Program 1 begins one tile after program 0, but program 0 takes two tiles: the second "
        "is updated by both, and the last ones by nobody.",
    ),
    Wrong(
        "the next tile begins one element further",
        axpy_steps_of_one,
        says="In each turn the offsets must move by a whole tile, BLOCK elements, not by one.",
    ),
    Wrong(
        "no mask",
        axpy_unmasked,
        says="The offsets are right now, but the last tiles stick out over the end of the arrays.",
        fails="hazard",
    ),
]


def more_updates(rng):
    x, y = rng.normal(size=(2, 900)).astype(np.float32)
    shape = {"grid": (4,), "constants": {"BLOCK": 128, "TILES": 2}}
    yield Case("another", -2.0, x, y, 900, public=False, **shape)


unseen(axpy, more_updates)
### END HIDDEN

TASKS = [clip, tile_max, axpy]
