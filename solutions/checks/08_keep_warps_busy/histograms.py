"""Checks of lesson 08: histograms, and what kept bins cost."""

import itertools

import numpy as np
from numba import cuda, int32

import hetlab
from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, exact

hetlab.use_virtual_gpu()

BLOCK = 128
MOST_BINS = 256


### BEGIN HIDDEN
def unseen(task, cases, criterion=0):
    """Add inputs that feedback never shows."""
    judged = task.criteria[criterion]
    known = judged.cases
    judged.cases = lambda rng: itertools.chain(known(rng), cases(rng))


### END HIDDEN
# ------------------------------------------------------------------------------- histogram


### BEGIN PUBLIC SPEC
def histogram_spec(x, counts):
    counts[:] = np.bincount(x, minlength=counts.size)


### END PUBLIC SPEC
def tallying(label, x, bins, grid=6, **more):
    counts = np.zeros(bins, np.int32)
    return Case(label, x.astype(np.int32), counts, grid=grid, block=BLOCK, **more)


def histogram_cases(rng):
    for n, bins in ((1, 1), (33, 2), (1000, 7), (3001, 64), (2000, 100), (5000, 256)):
        yield tallying(f"n = {n}, {bins} bins", rng.integers(0, bins, n), bins)
    yield tallying("n = 1500, all in one bin", np.full(1500, 40), 64)


def flushes(case):
    """Warp requests that hand every block's bins over."""
    return case.grid * -(-case.inputs[1].size // 32)


histogram = Task(
    "histogram",
    title="Count in a private copy first",
    criteria=[
        Correct(histogram_spec, histogram_cases, 2, agree=exact(), changes=(1,)),
        Clean(1),
        Within("global_atomic_requests", flushes, 1),
    ],
    hints=(
        "Three phases, with a barrier between them: set the block's copy to zero, count into it, "
        "add it to the result.",
        "There may be more bins than threads, and more numbers than threads: each phase is a loop "
        "with a stride, blockDim.x for the bins and gridsize for the numbers.",
        "for b in range(threadIdx.x, counts.size, blockDim.x): mine[b] = 0; barrier; "
        "for i in range(grid(1), x.size, gridsize(1)): atomic.add(mine, x[i], 1); barrier; "
        "the first loop again, with atomic.add(counts, b, mine[b]).",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def all_in_global(x, counts):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, x[i], 1)


@cuda.jit
def never_zeroed(x, counts):
    mine = cuda.shared.array(MOST_BINS, int32)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        cuda.atomic.add(counts, b, mine[b])


@cuda.jit
def no_second_barrier(x, counts):
    mine = cuda.shared.array(MOST_BINS, int32)
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        mine[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        cuda.atomic.add(counts, b, mine[b])


@cuda.jit
def as_many_bins_as_threads(x, counts):
    mine = cuda.shared.array(MOST_BINS, int32)
    t = cuda.threadIdx.x
    mine[t] = 0
    mine[t + BLOCK] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    if t < counts.size:
        cuda.atomic.add(counts, t, mine[t])


@cuda.jit
def one_number_a_thread(x, counts):
    mine = cuda.shared.array(MOST_BINS, int32)
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        mine[b] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        cuda.atomic.add(counts, b, mine[b])


@cuda.jit
def plain_add_in_shared(x, counts):
    mine = cuda.shared.array(MOST_BINS, int32)
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        mine[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        mine[x[i]] += 1
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        cuda.atomic.add(counts, b, mine[b])


@cuda.jit
def stored_not_added(x, counts):
    mine = cuda.shared.array(MOST_BINS, int32)
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        mine[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        counts[b] += mine[b]


histogram.wrong += [
    Wrong(
        "every number goes to global memory",
        all_in_global,
        "The counts are right, and every warp sends its updates to global memory. Count into a "
        "shared copy first.",
        fails="traffic",
    ),
    Wrong(
        "the private copy is never set to zero",
        never_zeroed,
        "Shared memory holds what an earlier block left there. Set it to zero, then a barrier.",
        fails="hazard",
    ),
    Wrong(
        "no barrier before the copy is handed over",
        no_second_barrier,
        "A thread that is done early reads bins that others still count into.",
        fails="hazard",
    ),
    Wrong(
        "one bin a thread",
        as_many_bins_as_threads,
        "There may be more bins than threads in a block: the last loop needs a stride.",
    ),
    Wrong(
        "one number a thread",
        one_number_a_thread,
        "There are more numbers than threads in the grid: each thread goes on with a stride of "
        "cuda.gridsize(1).",
    ),
    Wrong(
        "a plain += in shared memory",
        plain_add_in_shared,
        "Shared memory belongs to the whole block: threads lose each other's updates there too.",
    ),
    Wrong(
        "blocks overwrite each other",
        stored_not_added,
        "Several blocks add to the same bins of counts: that needs an atomic operation as well.",
    ),
]
unseen(
    histogram,
    lambda rng: [tallying("more", rng.integers(0, 200, 4321) // 3, 200, grid=9, public=False)],
)
### END HIDDEN


# ------------------------------------------------------------------------------ hot_histogram


def hot_cases(rng):
    for n, bins in ((1, 1), (500, 5), (3001, 64)):
        yield tallying(f"n = {n}, {bins} bins", rng.integers(0, bins, n), bins)
    skewed = np.where(rng.random(4000) < 0.9, 17, rng.integers(0, 64, 4000))
    yield tallying("n = 4000, nine of ten in bin 17", skewed, 64)
    yield tallying("n = 2000, all in one bin", np.full(2000, 3), 64)


def few_turns(case):
    """Eight turns a request of the counting, and one a request of the handing over."""
    return 8 * -(-case.inputs[0].size // 32) + 8 * 32 + flushes(case)


hot_histogram = Task(
    "hot_histogram",
    title="Challenge: count when one bin is hot",
    criteria=[
        Correct(histogram_spec, hot_cases, 1, agree=exact(), changes=(1,)),
        Within("atomic_turns", few_turns, 1),
    ],
    hints=(
        "In a hot bin all lanes of a warp meet. What kept the blocks apart can keep lanes apart.",
        "Give a block several copies of its bins and let the lane choose the copy: lane % 8.",
        "mine = shared.array((8, 64), int32), counted into as mine[lane % 8, x[i]]. When the "
        "block hands over, a bin is the sum of its eight copies.",
    ),
    not_checked="the time: fewer turns cost more shared memory and a longer hand-over",
)
### BEGIN HIDDEN


@cuda.jit
def one_copy(x, counts):
    mine = cuda.shared.array(MOST_BINS, int32)
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        mine[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i], 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        cuda.atomic.add(counts, b, mine[b])


@cuda.jit
def first_copy_only(x, counts):
    mine = cuda.shared.array((8, 64), int32)
    for k in range(cuda.threadIdx.x, 8 * 64, cuda.blockDim.x):
        mine[k // 64, k % 64] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, (cuda.laneid % 8, x[i]), 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, counts.size, cuda.blockDim.x):
        cuda.atomic.add(counts, b, mine[0, b])


hot_histogram.wrong += [
    Wrong(
        "the lanes of a warp share a copy",
        one_copy,
        "Right, and the lanes of a warp still meet in the hot bin. Give neighbouring lanes "
        "copies of their own; warps may share them.",
        fails="traffic",
    ),
    Wrong(
        "only the first copy is handed over",
        first_copy_only,
        "A bin is the sum of all its copies.",
    ),
]
### END HIDDEN
