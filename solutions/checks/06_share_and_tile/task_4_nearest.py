"""Checks of lesson 06: nearest."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, close, unseen

from .common import blocks, floats


### BEGIN PUBLIC SPEC
def nearest_spec(x, y, out):
    out[...] = np.abs(x[:, None] - y).min(axis=1)


### END PUBLIC SPEC
def nearest_case(rng, n, m, **more):
    x, y = floats(rng, n) - np.float32(1), floats(rng, m)
    return Case(
        f"{n} and {m} numbers", x, y, np.zeros_like(x), grid=blocks(n, 64), block=64, **more
    )


def nearest_bytes(case):
    """Every number of x once, and all of y once for each block."""
    n, m = case.inputs[0].size, case.inputs[1].size
    return 4 * (n + m * blocks(n, 64))


NEAREST_SHAPES = (64, 64), (1, 1), (64, 128), (5, 70), (70, 5), (100, 200)

nearest = Task(
    "nearest",
    title="Repair: a loop over tiles needs two barriers",
    criteria=[
        Correct(
            nearest_spec,
            lambda rng: (nearest_case(rng, n, m) for n, m in NEAREST_SHAPES),
            points=1,
            changes=(2,),
            agree=close(rtol=1e-5),
        ),
        Clean(points=2),
        Within("global_load_bytes", nearest_bytes, what="bytes asked for by global loads"),
    ],
    hints=(
        "Sanitize it with more than 64 numbers in y. The report names two lines: which one comes "
        "first in the program, and which in time?",
        "A fast warp goes back to the head of the loop and stores the next tile, while a slow "
        "one still reads this one. What must be between the reads and the next store?",
        "A second cuda.syncthreads() at the end of the loop's body, after the inner loop, outside "
        "of every condition.",
    ),
)
### BEGIN HIDDEN
from numba import cuda, float32  # noqa: E402


@cuda.jit
def one_barrier(x, y, out):
    tile = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    mine = x[i] if i < x.size else float32(0)
    best = float32(np.inf)
    for first in range(0, y.size, 64):
        if first + t < y.size:
            tile[t] = y[first + t]
        cuda.syncthreads()
        for k in range(min(64, y.size - first)):
            best = min(best, abs(mine - tile[k]))
    if i < x.size:
        out[i] = best


@cuda.jit
def nearest_without_tile(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        best = float32(np.inf)
        for k in range(y.size):
            best = min(best, abs(x[i] - y[k]))
        out[i] = best


@cuda.jit
def gone_home(x, y, out):
    tile = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i >= x.size:
        return
    best = float32(np.inf)
    for first in range(0, y.size, 64):
        if first + t < y.size:
            tile[t] = y[first + t]
        cuda.syncthreads()
        for k in range(min(64, y.size - first)):
            best = min(best, abs(x[i] - tile[k]))
        cuda.syncthreads()
    out[i] = best


@cuda.jit
def to_the_end_of_the_tile(x, y, out):
    tile = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    mine = x[i] if i < x.size else float32(0)
    best = float32(np.inf)
    for first in range(0, y.size, 64):
        tile[t] = y[first + t] if first + t < y.size else float32(0)
        cuda.syncthreads()
        for k in range(64):
            best = min(best, abs(mine - tile[k]))
        cuda.syncthreads()
    if i < x.size:
        out[i] = best


nearest.wrong += [
    Wrong(
        "one barrier in the loop",
        one_barrier,
        says="The first barrier protects the reads from coming too early. Nothing protects them "
        "from the next step's store, which may come before a slow warp has read.",
        fails="hazard",
    ),
    Wrong(
        "the tile is gone",
        nearest_without_tile,
        says="Right, and every thread asks for all of y. Keep the tile: then a block asks for each "
        "number of y once, and its 64 threads share it.",
        fails="traffic",
    ),
    Wrong(
        "threads without a number leave",
        gone_home,
        says="They are needed: each thread loads one number of the tile, and the barrier waits "
        "for all of them.",
        fails="hazard",
    ),
    Wrong(
        "zeros in the last tile compared too",
        to_the_end_of_the_tile,
        says="The last tile is not full. A zero is not one of the numbers in y.",
    ),
]
unseen(nearest, lambda rng: [nearest_case(rng, 130, 321, public=False)])
### END HIDDEN
