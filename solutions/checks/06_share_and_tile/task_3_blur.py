"""Checks of lesson 06: blur."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, close, unseen

from .common import blocks, floats


### BEGIN PUBLIC SPEC
def blur_spec(x, out):
    around = np.pad(x, 1, mode="edge")
    out[...] = (around[:-2] + around[1:-1] + around[2:]) / np.float32(3)


### END PUBLIC SPEC
def blur_case(rng, n, **more):
    x = floats(rng, n)
    return Case(f"n = {n}", x, np.zeros_like(x), grid=blocks(n, 64), block=64, **more)


def blur_bytes(case):
    """Every block asks for its elements once, and for one more on each side."""
    n = case.inputs[0].size
    return 4 * (n + 2 * blocks(n, 64))


blur = Task(
    "blur",
    title="Repair: everybody must come to the barrier",
    criteria=[
        Correct(
            blur_spec,
            lambda rng: (blur_case(rng, n) for n in (64, 1, 2, 63, 65, 100, 191)),
            points=1,
            changes=(1,),
            agree=close(rtol=1e-5),
        ),
        Clean(points=2),
        Within("global_load_bytes", blur_bytes, what="bytes asked for by global loads"),
    ],
    hints=(
        "Launch it with hetlab.sanitize on 100 elements. Which threads never come to the barrier?",
        "A thread without an element must not load and must not store, but it must wait with "
        "the others. So the guard may stand before and after the barrier, not around it.",
        "Remove the early return. Put the loads into the tile under `if i < x.size:`, then the "
        "barrier without any condition, then the store under the same guard.",
    ),
)
### BEGIN HIDDEN
from numba import cuda, float32  # noqa: E402


@cuda.jit
def leaves_early(x, out):
    tile = cuda.shared.array(66, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i >= x.size:
        return
    tile[t + 1] = x[i]
    if t == 0:
        tile[0] = x[max(i - 1, 0)]
    if t == 63 or i == x.size - 1:
        tile[t + 2] = x[min(i + 1, x.size - 1)]
    cuda.syncthreads()
    out[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / float32(3)


@cuda.jit
def no_barrier_at_all(x, out):
    tile = cuda.shared.array(66, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < x.size:
        tile[t + 1] = x[i]
        if t == 0:
            tile[0] = x[max(i - 1, 0)]
        if t == 63 or i == x.size - 1:
            tile[t + 2] = x[min(i + 1, x.size - 1)]
        out[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / float32(3)


@cuda.jit
def blur_without_tile(x, out):
    i = cuda.grid(1)
    if i < x.size:
        before, after = x[max(i - 1, 0)], x[min(i + 1, x.size - 1)]
        out[i] = (before + x[i] + after) / float32(3)


@cuda.jit
def no_guard(x, out):
    tile = cuda.shared.array(66, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t + 1] = x[i]
    if t == 0:
        tile[0] = x[max(i - 1, 0)]
    if t == 63 or i == x.size - 1:
        tile[t + 2] = x[min(i + 1, x.size - 1)]
    cuda.syncthreads()
    out[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / float32(3)


@cuda.jit
def end_of_data_forgotten(x, out):
    tile = cuda.shared.array(66, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < x.size:
        tile[t + 1] = x[i]
        if t == 0:
            tile[0] = x[max(i - 1, 0)]
        if t == 63:
            tile[t + 2] = x[min(i + 1, x.size - 1)]
    cuda.syncthreads()
    if i < x.size:
        out[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / float32(3)


blur.wrong += [
    Wrong(
        "threads leave before the barrier",
        leaves_early,
        says="A thread that returned never comes to the barrier, and the others wait for it.",
        fails="hazard",
    ),
    Wrong(
        "the barrier is gone",
        no_barrier_at_all,
        says="Without a barrier nobody waits in vain, and nobody knows whether the neighbour's "
        "element is there yet.",
        fails="hazard",
    ),
    Wrong(
        "the tile is gone",
        blur_without_tile,
        says="Right, and each element is asked for three times. Keep the tile, so that the threads "
        "of a block share what they load.",
        fails="traffic",
    ),
    Wrong(
        "the guard is gone",
        no_guard,
        says="All threads come to the barrier now, also those without an element, and these load "
        "and store outside of the arrays.",
        fails="hazard",
    ),
    Wrong(
        "the element after the last one is not filled",
        end_of_data_forgotten,
        says="In the last block the data may end before thread 63: the thread of the last element "
        "must repeat it to its right.",
    ),
]
unseen(blur, lambda rng: [blur_case(rng, n, public=False) for n in (130, 333)])
### END HIDDEN
