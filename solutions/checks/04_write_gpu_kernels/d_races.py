"""Kernels whose threads meet: counting, reversing in place, any grid."""

import numpy as np
from numba import cuda

from hetlab.grading import Case, Clean, Correct, Task, Wrong, exact

from .common import FLOAT32, line, unseen

# ------------------------------------------------------------------------------ histogram


### BEGIN PUBLIC SPEC
def histogram_spec(values, counts):
    counts += np.bincount(values, minlength=counts.size).astype(counts.dtype)


### END PUBLIC SPEC
def histogram_cases(rng):
    for n, bins, block in ((1, 1, 32), (40, 40, 64), (10, 3, 32), (700, 5, 128), (300, 100, 96)):
        values = rng.permutation(n) if n == bins else rng.integers(0, bins, n)
        start = rng.integers(0, 9, bins).astype(np.int32)
        yield Case(f"{n} values, {bins} kinds", values, start, **line(n, block))


histogram = Task(
    "histogram",
    title="Repair a scatter that loses counts",
    criteria=[
        Correct(histogram_spec, histogram_cases, points=2, agree=exact(), changes=(1,)),
        Clean(),
    ],
    hints=(
        "Try the draft with three values that are all 0. What does it count?",
        "counts[k] += 1 loads, adds and stores. Two threads with the same k load the same old "
        "number. The three steps must become one that nobody can interrupt.",
        "cuda.atomic.add(array, index, number) does it: here counts, values[i] and 1.",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def histogram_draft(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        counts[values[i]] += 1


@cuda.jit
def histogram_mark(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        counts[values[i]] = 1


@cuda.jit
def histogram_no_guard(values, counts):
    cuda.atomic.add(counts, values[cuda.grid(1)], 1)


histogram.wrong += [
    Wrong(
        "the draft as it was",
        histogram_draft,
        says="All threads with the same value load the same old count, add 1, and store the same "
        "new one: counts are lost. Use cuda.atomic.add.",
        fails="hazard",
    ),
    Wrong(
        "marked instead of counted",
        histogram_mark,
        says="This stores that a value occurs, not how often, and forgets what counts held before.",
    ),
    Wrong(
        "no guard",
        histogram_no_guard,
        says="The spare threads read behind the end of values and count what they find there.",
        fails="hazard",
    ),
]
unseen(
    histogram,
    lambda rng: [
        Case(
            "more",
            np.minimum(rng.integers(0, 60, 900), rng.integers(0, 60, 900)),
            np.zeros(60, np.int32),
            public=False,
            **line(900, 128),
        )
    ],
)
### END HIDDEN


# -------------------------------------------------------------------------------- reverse


### BEGIN PUBLIC SPEC
def reverse_spec(x):
    x[:] = x[::-1].copy()


### END PUBLIC SPEC
def reverse_cases(rng):
    for n, block in ((1, 32), (2, 32), (7, 32), (64, 64), (1000, 256)):
        yield Case(f"n = {n}", rng.permutation(n).astype(np.float64), **line(n, block))


reverse = Task(
    "reverse",
    title="Repair a reversal that is right by luck",
    criteria=[
        Correct(reverse_spec, reverse_cases, points=1, agree=exact(), changes=(0,)),
        Clean(2),
    ],
    hints=(
        "In the draft thread 0 reads the last element, the last thread writes it. Who is first?",
        "Two elements change places. Give each pair to one thread, which reads both before it "
        "writes both. How many pairs are there?",
        "For i below x.size // 2 the partner is x.size - 1 - i. Python swaps with a, b = b, a.",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def reverse_draft(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[x.size - 1 - i]


@cuda.jit
def reverse_one_too_far(x):
    i = cuda.grid(1)
    if i < x.size // 2:
        j = x.size - i
        x[i], x[j] = x[j], x[i]


@cuda.jit
def reverse_half(x):
    i = cuda.grid(1)
    if i < x.size // 2:
        x[i] = x[x.size - 1 - i]


reverse.wrong += [
    Wrong(
        "the draft as it was",
        reverse_draft,
        says="Every element is written by one thread and used by another, and nothing says who is "
        "first. Give each pair to one thread: half as many threads are enough.",
        fails="hazard",
    ),
    Wrong(
        "the partner is one place too far",
        reverse_one_too_far,
        says="The partner of element 0 is the last one, at size - 1; x[size] lies behind the end.",
        fails="hazard",
    ),
    Wrong(
        "only one half is written",
        reverse_half,
        says="A pair has two elements, and both must move. Keep the old value before you write "
        "over it.",
    ),
]
unseen(
    reverse,
    lambda rng: [Case("n = 501", rng.random(501), public=False, **line(501, 128, 2))],
)
### END HIDDEN


# ----------------------------------------------------------------------------- add_scaled


### BEGIN PUBLIC SPEC
def add_scaled_spec(a, x, y):
    y += a * x


### END PUBLIC SPEC
def add_scaled_cases(rng):
    shapes = ((1, 1, 1), (5, 1, 32), (100, 1, 32), (100, 4, 32), (1000, 3, 50), (257, 9, 64))
    for n, blocks, block in shapes:
        x, y = rng.random((2, n), dtype=np.float32)
        label = f"n = {n}, grid of {blocks} x {block} threads"
        yield Case(label, np.float32(0.5), x, y, grid=blocks, block=block)


add_scaled = Task(
    "add_scaled",
    title="Write a loop that is right for any grid",
    criteria=[
        Correct(add_scaled_spec, add_scaled_cases, points=2, agree=FLOAT32, changes=(2,)),
        Clean(),
    ],
    hints=(
        "With 32 threads for 100 elements, thread 0 does the elements 0, 32, 64 and 96.",
        "Each thread begins at its own number and steps ahead by the number of all threads.",
        "for i in range(cuda.grid(1), y.size, cuda.gridsize(1)): then y[i] as usual.",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def add_scaled_once(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += a * x[i]


@cuda.jit
def add_scaled_block_stride(a, x, y):
    for i in range(cuda.grid(1), y.size, cuda.blockDim.x):
        y[i] += a * x[i]


@cuda.jit
def add_scaled_everybody(a, x, y):
    for i in range(y.size):
        y[i] += a * x[i]


add_scaled.wrong += [
    Wrong(
        "one element for each thread",
        add_scaled_once,
        says="Where the grid is smaller than the array, the rest has no thread. Let each thread "
        "go on in steps.",
    ),
    Wrong(
        "the step is one block",
        add_scaled_block_stride,
        says="cuda.blockDim.x is the number of threads in one block. With several blocks the "
        "threads meet. The step is the number of all threads, cuda.gridsize(1).",
        fails="hazard",
    ),
    Wrong(
        "every thread does everything",
        add_scaled_everybody,
        says="Each thread adds to all elements: they race, and the work is done many times. A "
        "thread begins at its own number.",
        fails="hazard",
    ),
]


def more_scaled(rng):
    x, y = rng.random((2, 700), dtype=np.float32)
    yield Case("more", np.float32(-2), x, y, grid=2, block=96, public=False)


unseen(add_scaled, more_scaled)
### END HIDDEN
