"""Schedules for the virtual GPU: threads for a product, lanes for a row sum."""

import numpy as np
import tvm
from tvm import te

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, unseen

from .common import FLOAT32, ceil_div, library, matrices, product

# ---------------------------------------------------------------------------- repaired_gpu


### BEGIN PUBLIC SPEC
def repaired_gpu_spec(a, b):
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)


### END PUBLIC SPEC
def repaired_gpu_cases(rng):
    for n, m, k in ((64, 64, 64), (32, 48, 16), (33, 20, 47)):
        yield Case(f"{n} x {k} by {k} x {m}", *matrices(rng, n, m, k))


def sizes_of(case):
    (n, k), m = case.inputs[0].shape, case.inputs[1].shape[1]
    return n, m, k


def product_loads(case):
    """A warp with 16 columns in 2 rows takes 2 + 3 sectors for each k, at most."""
    n, m, k = sizes_of(case)
    warps = ceil_div(n, 16) * ceil_div(m, 16) * 8
    return warps * k * 5


def product_stores(case):
    n, m, _ = sizes_of(case)
    return n * (ceil_div(4 * m, 32) + ceil_div(m, 16))


repaired_gpu = Task(
    "repaired_gpu",
    title="Repair a sample: the product on the GPU",
    criteria=[
        Correct(repaired_gpu_spec, repaired_gpu_cases, points=1, agree=FLOAT32),
        Clean(),
        Within("global_load_sectors", product_loads, points=1, times=1.1),
        Within("global_store_sectors", product_stores, points=1, times=1.2),
    ],
    hints=(
        "A GPU has no parallel loops. Every loop that is not added up must be bound to blocks or "
        "threads: split both by 16, and bind four loops.",
        "Neighbouring lanes, threadIdx.x, should take neighbouring columns: bind it to the inner "
        "part of j. Are there far more stores than elements of C?",
        'Every step of k stores into C. cache_write(C, 0, "local") keeps the sum in a register; '
        "reverse_compute_at(copy, tj) writes it once, after the last step.",
    ),
)
### BEGIN HIDDEN


def bound(x, local=True):
    """16 x 16 threads; `x` says which index the lanes run along."""

    def schedule(sch):
        c = sch.get_sblock("C")
        i, j, k = sch.get_loops(c)
        (bi, ti), (bj, tj) = sch.split(i, [None, 16]), sch.split(j, [None, 16])
        sch.reorder(bi, bj, ti, tj, k)
        sch.bind(bi, "blockIdx.y")
        sch.bind(bj, "blockIdx.x")
        sch.bind(ti, "threadIdx.x" if x == "i" else "threadIdx.y")
        sch.bind(tj, "threadIdx.x" if x == "j" else "threadIdx.y")
        if local:
            copy = sch.cache_write(c, 0, "local")
            sch.reverse_compute_at(copy, tj)

    return schedule


def single_threads(sch):
    c = sch.get_sblock("C")
    i, j, _ = sch.get_loops(c)
    sch.bind(i, "blockIdx.y")
    sch.bind(j, "blockIdx.x")


LANES_DOWN, MANY_STORES = bound("i"), bound("j", local=False)

repaired_gpu.wrong += [
    Wrong(
        "lanes run down the rows",
        lambda a, b: product(LANES_DOWN, "gpu", a, b),
        says="threadIdx.x is bound to rows: the lanes of a warp touch A and C a whole row apart.",
        fails="traffic",
    ),
    Wrong(
        "C is stored in every step",
        lambda a, b: product(MANY_STORES, "gpu", a, b),
        says="The partial sums go to memory and come back in every step of k. Keep them local.",
        fails="traffic",
    ),
    Wrong(
        "one thread a block",
        lambda a, b: product(single_threads, "gpu", a, b),
        says="Every block has a single thread, so 31 of 32 lanes do nothing, and nothing is "
        "coalesced. Split the loops, and bind threads as well.",
        fails="traffic",
    ),
]
unseen(repaired_gpu, lambda rng: [Case("another", *matrices(rng, 50, 40, 21), public=False)])
### END HIDDEN


# -------------------------------------------------------------------------------- row_sums


### BEGIN PUBLIC SPEC
def row_sums_spec(x):
    return x.astype(np.float64).sum(1).astype(np.float32)


### END PUBLIC SPEC
def row_sums_cases(rng):
    for n, m in ((64, 256), (50, 300), (3, 33), (1, 1)):
        yield Case(f"{n} x {m}", rng.random((n, m)).astype(np.float32))


def each_row_once(case):
    n, m = case.inputs[0].shape
    return n * (ceil_div(4 * m, 32) + ceil_div(m, 32))


row_sums = Task(
    "row_sums",
    title="Repair row sums that load too much",
    criteria=[
        Correct(row_sums_spec, row_sums_cases, points=1, agree=FLOAT32),
        Clean(),
        Within("global_load_sectors", each_row_once, points=2, times=1.1),
    ],
    hints=(
        "In the draft a thread walks along its own row. What do the 32 lanes of a warp touch in "
        "one step?",
        "Let a block take a row, and its lanes neighbouring elements of it. The loop that is added "
        "up may be bound as well: TVM then adds the lanes' sums together.",
        'k0, k1 = sch.split(k, [None, 32]); bind i to "blockIdx.x" and k1 to "threadIdx.x".',
    ),
)
### BEGIN HIDDEN


def describe_sums(n, m):
    x = te.placeholder((n, m), name="X")
    k = te.reduce_axis((0, m), name="k")
    s = te.compute((n,), lambda i: te.sum(x[i, k], axis=k), name="S")
    return tvm.IRModule({"main": te.create_prim_func([x, s])})


def sums(schedule):
    def by_schedule(x):
        out = np.zeros(x.shape[0], np.float32)
        library(describe_sums, schedule, "gpu", *x.shape)["main"](x, out)
        return out

    return by_schedule


def a_thread_a_row(sch):
    i, _ = sch.get_loops(sch.get_sblock("S"))
    block, thread = sch.split(i, [None, 64])
    sch.bind(block, "blockIdx.x")
    sch.bind(thread, "threadIdx.x")


def lanes_far_apart(sch):
    i, k = sch.get_loops(sch.get_sblock("S"))
    lanes, _ = sch.split(k, [32, None])
    sch.bind(i, "blockIdx.x")
    sch.bind(lanes, "threadIdx.x")


row_sums.wrong += [
    Wrong(
        "the draft as it was",
        sums(a_thread_a_row),
        says="Each lane walks along a row of its own, so a request touches 32 rows: a sector for "
        "each lane.",
        fails="traffic",
    ),
    Wrong(
        "each lane takes a stretch of its own",
        sums(lanes_far_apart),
        says="The outer part of the split is bound, so each lane walks through a stretch of its "
        "own. Bind the inner part: then neighbouring lanes take neighbouring elements.",
        fails="traffic",
    ),
]
unseen(
    row_sums,
    lambda rng: [Case("another", rng.random((21, 200)).astype(np.float32), public=False)],
)
### END HIDDEN

TASKS = [repaired_gpu, row_sums]
