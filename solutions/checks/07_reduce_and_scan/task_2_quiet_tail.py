"""Checks of lesson 07: quiet_tail."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Wrong, exact, unseen

from .common import blocks, whole


### BEGIN PUBLIC SPEC
def quiet_tail_spec(x, sums):
    for block in range(sums.size):
        sums[block] = x[128 * block : 128 * (block + 1)].sum()


### END PUBLIC SPEC
def tail_case(rng, n, **more):
    sums = np.zeros(blocks(n, 128), np.float32)
    return Case(f"n = {n}", whole(rng, n), sums, grid=sums.size, block=128, **more)


quiet_tail = Task(
    "quiet_tail",
    title="Repair: the last warp needs its own barrier",
    criteria=[
        Correct(
            quiet_tail_spec,
            lambda rng: (tail_case(rng, n) for n in (128, 1, 33, 129, 500)),
            points=1,
            changes=(1,),
            agree=exact(),
        ),
        Clean(points=2),
    ],
    hints=(
        "Sanitize it. Which two threads race, and are they in the same warp?",
        "The lanes of a warp need not be at the same place. There is a barrier for the lanes of "
        "one warp: which one, and where must all of them come to it?",
        "cuda.syncwarp() as a line of the second loop, after the addition, outside of the `if`.",
    ),
)
### BEGIN HIDDEN
from numba import cuda, float32  # noqa: E402


@cuda.jit
def no_barrier_in_the_tail(x, sums):
    part = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = 64
    while step > 16:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def barrier_under_the_condition(x, sums):
    part = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = 64
    while step > 16:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    while step > 0:
        if t < step:
            part[t] += part[t + step]
            cuda.syncwarp()
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def tail_cut_off(x, sums):
    part = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = 64
    while step > 16:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


quiet_tail.wrong += [
    Wrong(
        "the lanes of a warp trusted to stay together",
        no_barrier_in_the_tail,
        says="Lanes of one warp may be at different places. Between two steps they need a barrier "
        "of their own.",
        fails="hazard",
    ),
    Wrong(
        "the warp's barrier under the condition",
        barrier_under_the_condition,
        says="syncwarp waits for all lanes of the warp, and only some of them come to it. Put it "
        "outside of the if.",
        fails="hazard",
    ),
    Wrong(
        "the last steps left out",
        tail_cut_off,
        says="After step 32 there are still 32 partial sums, and you stored the first of them.",
    ),
]
unseen(quiet_tail, lambda rng: [tail_case(rng, 1000, public=False)])
### END HIDDEN
