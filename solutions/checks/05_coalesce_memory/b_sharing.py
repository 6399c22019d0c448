"""Who reads what: chunks that are taken apart, rows that a warp shares."""

import numpy as np
from numba import cuda

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, close

from .common import FLOAT32, sectors_of, unseen

# ------------------------------------------------------------------------------------- scale


### BEGIN PUBLIC SPEC
def scale_spec(a, x, out):
    out[:] = a * x


### END PUBLIC SPEC
def scale_cases(rng):
    for n, blocks, block in (
        (1, 1, 32),
        (100, 1, 32),
        (1024, 8, 128),
        (4096, 2, 128),
        (3001, 3, 64),
    ):
        x = rng.random(n, dtype=np.float32)
        label = f"n = {n}, grid of {blocks} x {block} threads"
        yield Case(label, np.float32(-1.5), x, np.zeros_like(x), grid=blocks, block=block)


def array_sectors(case):
    return sectors_of(case.inputs[1].nbytes)


scale = Task(
    "scale",
    title="Repair a division into chunks",
    criteria=[
        Correct(scale_spec, scale_cases, points=1, agree=FLOAT32, changes=(2,)),
        Clean(),
        Within("global_load_sectors", array_sectors, times=1.25),
        Within("global_store_sectors", array_sectors, times=1.25),
    ],
    hints=(
        "In one turn of the draft's loop: how far apart are the elements of thread 0 and thread 1?",
        "Lanes that run at the same time should touch neighbours. Let all threads together take "
        "one piece of the array after the other.",
        "A grid-stride loop: for i in range(cuda.grid(1), x.size, cuda.gridsize(1)).",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def scale_draft(a, x, out):
    share = -(-x.size // cuda.gridsize(1))
    first = cuda.grid(1) * share
    for i in range(first, min(first + share, x.size)):
        out[i] = a * x[i]


@cuda.jit
def scale_once(a, x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = a * x[i]


@cuda.jit
def scale_everybody(a, x, out):
    for i in range(x.size):
        out[i] = a * x[i]


scale.wrong += [
    Wrong(
        "the draft as it was",
        scale_draft,
        says="Neighbouring threads stand a whole chunk apart, so each lane needs a sector of its "
        "own in every turn. Let neighbours take neighbours.",
        fails="traffic",
    ),
    Wrong(
        "one element for each thread",
        scale_once,
        says="Where the grid is smaller than the array, the rest has no thread. Let each thread "
        "go on in steps of the whole grid.",
    ),
    Wrong(
        "every thread does everything",
        scale_everybody,
        says="Each thread walks over the whole array: the work and the traffic are done once for "
        "every warp. A thread begins at its own number.",
        fails="traffic",
    ),
]


def more_scale(rng):
    x = rng.random(2500, dtype=np.float32)
    yield Case("hidden", np.float32(3), x, np.zeros_like(x), grid=5, block=96, public=False)


unseen(scale, more_scale)
### END HIDDEN


# ---------------------------------------------------------------------------------- row_sums


### BEGIN PUBLIC SPEC
def row_sums_spec(a, out):
    out += a.sum(axis=1, dtype=np.float64).astype(np.float32)


### END PUBLIC SPEC
def row_sums_cases(rng):
    for rows, columns in ((1, 1), (3, 32), (5, 33), (40, 128), (50, 100), (7, 500)):
        a = rng.random((rows, columns), dtype=np.float32)
        label = f"{rows} rows, {columns} columns"
        yield Case(label, a, np.zeros(rows, np.float32), grid=rows, block=32)


def row_sectors(case):
    """Each row by itself: it may begin inside a sector, and a request may end inside one."""
    rows, columns = case.inputs[0].shape
    return rows * (sectors_of(columns * 4) + 1)


row_sums = Task(
    "row_sums",
    title="Repair a sum along rows",
    criteria=[
        Correct(
            row_sums_spec,
            row_sums_cases,
            points=1,
            agree=close(rtol=1e-4, atol=1e-5),
            changes=(1,),
        ),
        Clean(),
        Within("global_load_sectors", row_sectors, points=2, times=1.5),
    ],
    hints=(
        "31 of the 32 threads of each block do nothing. Which elements of the row could they read?",
        "Lane k begins with column k and goes on in steps of 32, with a sum of its own. In the "
        "end 32 partial sums must be added to the same element.",
        "part = np.float32(0); for x in range(cuda.threadIdx.x, a.shape[1], 32): part += a[y, x]; "
        "then cuda.atomic.add(out, y, part).",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def row_sums_draft(a, out):
    y = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        for x in range(a.shape[1]):
            out[y] += a[y, x]


@cuda.jit
def row_sums_chunks(a, out):
    y = cuda.blockIdx.x
    share = -(-a.shape[1] // 32)
    part = np.float32(0)
    first = cuda.threadIdx.x * share
    for x in range(first, min(first + share, a.shape[1])):
        part += a[y, x]
    cuda.atomic.add(out, y, part)


@cuda.jit
def row_sums_race(a, out):
    y = cuda.blockIdx.x
    part = np.float32(0)
    for x in range(cuda.threadIdx.x, a.shape[1], 32):
        part += a[y, x]
    out[y] += part


@cuda.jit
def row_sums_rows(a, out):
    y = cuda.grid(1)
    if y < a.shape[0]:
        part = np.float32(0)
        for x in range(a.shape[1]):
            part += a[y, x]
        out[y] = part


row_sums.wrong += [
    Wrong(
        "the draft as it was",
        row_sums_draft,
        says="One thread reads the row element by element: each request moves a sector for 4 "
        "bytes. Let all 32 lanes read.",
        fails="traffic",
    ),
    Wrong(
        "the row in chunks",
        row_sums_chunks,
        says="All lanes work, but each has a chunk of the row, and the chunks lie in different "
        "sectors. Let the lanes read neighbours, in steps of 32.",
        fails="traffic",
    ),
    Wrong(
        "the parts are added with a race",
        row_sums_race,
        says="32 lanes add to out[y] at the same time. Use cuda.atomic.add.",
        fails="hazard",
    ),
    Wrong(
        "a thread for each row",
        row_sums_rows,
        says="Lanes stand one row apart: a sector for each. The block is for one row, and its 32 "
        "lanes share it.",
        fails="traffic",
    ),
]


def more_rows(rng):
    a = rng.random((33, 257), dtype=np.float32)
    yield Case("hidden", a, np.zeros(33, np.float32), grid=33, block=32, public=False)


unseen(row_sums, more_rows)
### END HIDDEN
