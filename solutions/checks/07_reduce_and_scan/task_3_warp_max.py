"""Checks of lesson 07: warp_max."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, exact, unseen

from .common import blocks


### BEGIN PUBLIC SPEC
def warp_max_spec(x, out):
    for warp in range(out.size):
        out[warp] = x[32 * warp : 32 * (warp + 1)].max()


### END PUBLIC SPEC
def max_case(rng, n, **more):
    x = rng.normal(-3, 1, n).astype(np.float32)
    out = np.zeros(blocks(n, 32), np.float32)
    return Case(f"n = {n}", x, out, grid=blocks(n, 128), block=128, **more)


warp_max = Task(
    "warp_max",
    title="Find the largest of each 32 by shuffles",
    criteria=[
        Correct(
            warp_max_spec,
            lambda rng: (max_case(rng, n) for n in (128, 32, 1, 31, 33, 100, 300)),
            points=2,
            changes=(1,),
            agree=exact(),
        ),
        Clean(points=1),
        Within(
            ("shared_load_requests", "shared_store_requests"),
            lambda case: 0,
            what="requests to shared memory",
        ),
    ],
    hints=(
        "It is the sum by shuffles of the lesson with max in the place of +. What does a lane "
        "without an element bring along?",
        "A lane without an element must take part in the shuffles all the same: they wait for all "
        "lanes of the mask. Let it bring a value that never wins. Zero is not such a value.",
        "v = x[i] if i < x.size else float32(-np.inf). Five times v = max(v, "
        "cuda.shfl_down_sync(0xFFFFFFFF, v, step)). Then lane 0 stores, if the warp has elements.",
    ),
)
### BEGIN HIDDEN
from numba import cuda, float32  # noqa: E402


@cuda.jit
def zeros_take_part(x, out):
    i = cuda.grid(1)
    v = x[i] if i < x.size else float32(0)
    for step in (16, 8, 4, 2, 1):
        v = max(v, cuda.shfl_down_sync(0xFFFFFFFF, v, step))
    if i % 32 == 0 and i < x.size:
        out[i // 32] = v


@cuda.jit
def lanes_leave(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        for step in (16, 8, 4, 2, 1):
            v = max(v, cuda.shfl_down_sync(0xFFFFFFFF, v, step))
        if i % 32 == 0:
            out[i // 32] = v


@cuda.jit
def through_shared_memory(x, out):
    part = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(-np.inf)
    for step in (16, 8, 4, 2, 1):
        cuda.syncwarp()
        if t % 32 < step:
            part[t] = max(part[t], part[t + step])
    if i % 32 == 0 and i < x.size:
        out[i // 32] = part[t]


@cuda.jit
def steps_up(x, out):
    i = cuda.grid(1)
    v = x[i] if i < x.size else float32(-np.inf)
    for step in (16, 8, 4, 2, 1):
        v = max(v, cuda.shfl_up_sync(0xFFFFFFFF, v, step))
    if i % 32 == 0 and i < x.size:
        out[i // 32] = v


warp_max.wrong += [
    Wrong(
        "zero for a lane without an element",
        zeros_take_part,
        says="All elements may be negative, and then the zero wins. Minus infinity never does.",
    ),
    Wrong(
        "lanes without an element stay away",
        lanes_leave,
        says="The shuffle waits for every lane that its mask names. All 32 must come to it.",
        fails="hazard",
    ),
    Wrong(
        "through shared memory",
        through_shared_memory,
        says="Right, but this task is about shuffles: no shared memory is needed.",
        fails="traffic",
    ),
    Wrong(
        "shuffled upwards",
        steps_up,
        says="shfl_up brings values from lanes to the left: the last lane has the maximum then, "
        "and lane 0 only its own.",
    ),
]
unseen(warp_max, lambda rng: [max_case(rng, 777, public=False)])
### END HIDDEN
