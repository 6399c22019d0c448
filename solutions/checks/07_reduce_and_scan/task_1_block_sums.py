"""Checks of lesson 07: block_sums."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, exact, unseen

from .common import blocks, whole


### BEGIN PUBLIC SPEC
def block_sums_spec(x, sums):
    for block in range(sums.size):
        sums[block] = x[256 * block : 256 * (block + 1)].sum()


### END PUBLIC SPEC
def block_sums_case(rng, n, **more):
    sums = np.zeros(blocks(n, 256), np.float32)
    return Case(f"n = {n}", whole(rng, n), sums, grid=sums.size, block=128, **more)


def few_branches(case):
    """A tree whose first threads work parts a warp in its last five steps, and at its ends."""
    return 12 * case.grid


block_sums = Task(
    "block_sums",
    title="Sum each 256 elements with 128 threads",
    criteria=[
        Correct(
            block_sums_spec,
            lambda rng: (block_sums_case(rng, n) for n in (256, 1, 2, 127, 129, 257, 1000)),
            points=1,
            changes=(1,),
            agree=exact(),
        ),
        Clean(points=1),
        Within("divergent_branches", few_branches, what="branches where a warp parts"),
        Within("shared_bank_conflicts", lambda case: 0, what="bank conflicts"),
    ],
    hints=(
        "Begin with the kernel `first_add` of the lesson. What does it read when x ends inside "
        "the block?",
        "Each thread has two elements, and each of the two may not exist. What may a thread add "
        "instead without changing the sum?",
        "v = x[i] if i < x.size else float32(0), the same for i + 128, and part[t] gets both. "
        "Then fold: step 64, 32, ..., 1, thread t < step adds part[t + step], a barrier for all "
        "after each step.",
    ),
)
### BEGIN HIDDEN
from numba import cuda, float32  # noqa: E402


@cuda.jit
def neighbours_first(x, sums):
    part = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, 256 * cuda.blockIdx.x + cuda.threadIdx.x
    v = x[i] if i < x.size else float32(0)
    part[t] = v + (x[i + 128] if i + 128 < x.size else float32(0))
    cuda.syncthreads()
    step = 1
    while step < 128:
        if t % (2 * step) == 0:
            part[t] += part[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def strided_pairs(x, sums):
    part = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, 256 * cuda.blockIdx.x + cuda.threadIdx.x
    v = x[i] if i < x.size else float32(0)
    part[t] = v + (x[i + 128] if i + 128 < x.size else float32(0))
    cuda.syncthreads()
    step = 1
    while step < 128:
        at = 2 * step * t
        if at < 128:
            part[at] += part[at + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def unguarded(x, sums):
    part = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, 256 * cuda.blockIdx.x + cuda.threadIdx.x
    part[t] = x[i] + x[i + 128]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def second_half_forgotten(x, sums):
    part = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, 256 * cuda.blockIdx.x + cuda.threadIdx.x
    part[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def one_barrier_before_the_loop(x, sums):
    part = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, 256 * cuda.blockIdx.x + cuda.threadIdx.x
    v = x[i] if i < x.size else float32(0)
    part[t] = v + (x[i + 128] if i + 128 < x.size else float32(0))
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


block_sums.wrong += [
    Wrong(
        "neighbours first",
        neighbours_first,
        says="Right, and in every step all warps part: a few lanes add, the others wait. Let the "
        "first threads do the work.",
        fails="traffic",
    ),
    Wrong(
        "first threads, but pairs that lie far apart",
        strided_pairs,
        says="Full warps now, but neighbouring lanes take words 2, 4, 8, ... apart and meet in the "
        "banks. Fold the upper half onto the lower one.",
        fails="traffic",
    ),
    Wrong(
        "no guard",
        unguarded,
        says="x may end inside the block: elements that do not exist count as 0.",
        fails="hazard",
    ),
    Wrong(
        "only 128 elements a block",
        second_half_forgotten,
        says="A block is responsible for 256 elements: each thread adds two before it shares.",
    ),
    Wrong(
        "one barrier before the loop, none inside",
        one_barrier_before_the_loop,
        says="Each step reads what other threads stored in the step before.",
        fails="hazard",
    ),
]
unseen(block_sums, lambda rng: [block_sums_case(rng, 2500, public=False)])
### END HIDDEN
