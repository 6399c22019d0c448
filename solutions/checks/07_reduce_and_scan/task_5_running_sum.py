"""Checks of lesson 07: running_sum."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Wrong, exact, unseen

from .common import whole


### BEGIN PUBLIC SPEC
def running_sum_spec(x, out):
    out[...] = np.cumsum(x)


### END PUBLIC SPEC
def running_case(rng, n, **more):
    x = whole(rng, n)
    return Case(f"n = {n}", x, np.zeros_like(x), grid=1, block=128, **more)


running_sum = Task(
    "running_sum",
    title="Repair: a scan that reads what others overwrite",
    criteria=[
        Correct(
            running_sum_spec,
            lambda rng: (running_case(rng, n) for n in (128, 1, 2, 31, 33, 100)),
            points=1,
            changes=(1,),
            agree=exact(),
        ),
        Clean(points=2),
    ],
    hints=(
        "Sanitize it. One line stands in the report twice: as the one that reads and as the one "
        "that stores. Whose element does a thread read there?",
        "Between the read of part[t - step] and the store to part[t] all other threads must have "
        "read theirs. So the line must be taken apart.",
        "First left = part[t - step] if t >= step else float32(0); then a barrier for all; then "
        "part[t] += left; then the barrier that is there already.",
    ),
)
### BEGIN HIDDEN
from numba import cuda, float32  # noqa: E402


@cuda.jit
def one_barrier(x, out):
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    part[t] = x[t] if t < x.size else float32(0)
    cuda.syncthreads()
    step = 1
    while step < 128:
        if t >= step:
            part[t] += part[t - step]
        cuda.syncthreads()
        step *= 2
    if t < x.size:
        out[t] = part[t]


@cuda.jit
def own_element_left_out(x, out):
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    part[t] = x[t] if t < x.size else float32(0)
    cuda.syncthreads()
    step = 1
    while step < 128:
        left = part[t - step] if t >= step else float32(0)
        cuda.syncthreads()
        part[t] += left
        cuda.syncthreads()
        step *= 2
    if t < x.size:
        out[t] = part[t - 1] if t > 0 else float32(0)


@cuda.jit
def wraps_around(x, out):
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    part[t] = x[t] if t < x.size else float32(0)
    cuda.syncthreads()
    step = 1
    while step < 128:
        left = part[(t - step) % 128]
        cuda.syncthreads()
        part[t] += left
        cuda.syncthreads()
        step *= 2
    if t < x.size:
        out[t] = part[t]


@cuda.jit
def barrier_under_the_condition(x, out):
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    part[t] = x[t] if t < x.size else float32(0)
    cuda.syncthreads()
    step = 1
    while step < 128:
        if t >= step:
            left = part[t - step]
            cuda.syncthreads()
            part[t] += left
        cuda.syncthreads()
        step *= 2
    if t < x.size:
        out[t] = part[t]


running_sum.wrong += [
    Wrong(
        "one barrier a step",
        one_barrier,
        says="A thread stores into part[t] while its right neighbours may still have to read it.",
        fails="hazard",
    ),
    Wrong(
        "the second barrier under the condition",
        barrier_under_the_condition,
        says="All threads must come to the same barrier. Give those without a left neighbour a "
        "zero, and take the barrier out of the if.",
        fails="hazard",
    ),
    Wrong(
        "exclusive instead of inclusive",
        own_element_left_out,
        says="Element t is part of its own sum here.",
    ),
    Wrong(
        "elements from the other end",
        wraps_around,
        says="The first threads have nobody `step` places to their left, and add nothing.",
    ),
]
unseen(running_sum, lambda rng: [running_case(rng, 77, public=False)])
### END HIDDEN
