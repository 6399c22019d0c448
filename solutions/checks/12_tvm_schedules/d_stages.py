"""Two stages in one kernel, and tiles in shared memory."""

import numpy as np
import tvm
from tvm import te

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, unseen

from .c_threads import product_stores, sizes_of
from .common import FLOAT32, ceil_div, library, matrices, product

# ------------------------------------------------------------------------------------ blur


### BEGIN PUBLIC SPEC
def blur_spec(a):
    a = a.astype(np.float64)
    x = (a[:, :-2] + a[:, 1:-1] + a[:, 2:]) / 3
    return ((x[:-2] + x[1:-1] + x[2:]) / 3).astype(np.float32)


### END PUBLIC SPEC
def blur_cases(rng):
    for n, m in ((34, 66), (18, 34), (21, 40), (3, 3)):
        yield Case(f"{n} x {m}", rng.random((n, m)).astype(np.float32))


def only_the_result(case):
    n, m = (v - 2 for v in case.inputs[0].shape)
    return n * (ceil_div(4 * m, 32) + ceil_div(m, 32))


blur = Task(
    "blur",
    title="Run two stages as one kernel",
    criteria=[
        Correct(blur_spec, blur_cases, points=2, agree=FLOAT32),
        Clean(),
        Within("global_store_sectors", only_the_result, points=1, times=1.1),
    ],
    hints=(
        "The draft makes two kernels: X is written to memory, and read again. Which schedule step "
        "lets a stage disappear into the one that uses it?",
        "sch.compute_inline puts X into the formula of Y. Some sums are then computed three times; "
        "arithmetic is cheaper than traffic.",
        'sch.compute_inline(sch.get_sblock("X")), then bind the loops of Y as before.',
    ),
)
### BEGIN HIDDEN


def describe_blur(n, m):
    a = te.placeholder((n, m), name="A")
    x = te.compute((n, m - 2), lambda i, j: (a[i, j] + a[i, j + 1] + a[i, j + 2]) / 3, name="X")
    y = te.compute((n - 2, m - 2), lambda i, j: (x[i, j] + x[i + 1, j] + x[i + 2, j]) / 3, name="Y")
    return tvm.IRModule({"main": te.create_prim_func([a, y])})


def describe_rows_only(n, m):
    a = te.placeholder((n, m), name="A")
    y = te.compute((n - 2, m - 2), lambda i, j: (a[i, j] + a[i, j + 1] + a[i, j + 2]) / 3, name="Y")
    return tvm.IRModule({"main": te.create_prim_func([a, y])})


def lanes(*stages, inline=False):
    def schedule(sch):
        if inline:
            sch.compute_inline(sch.get_sblock("X"))
        for stage in stages:
            both = sch.fuse(*sch.get_loops(sch.get_sblock(stage)))
            block, thread = sch.split(both, [None, 64])
            sch.bind(block, "blockIdx.x")
            sch.bind(thread, "threadIdx.x")

    return schedule


def blurred(describing, schedule):
    def by_schedule(a):
        out = np.zeros((a.shape[0] - 2, a.shape[1] - 2), np.float32)
        library(describing, schedule, "gpu", *a.shape)["main"](a, out)
        return out

    return by_schedule


blur.wrong += [
    Wrong(
        "two kernels",
        blurred(describe_blur, lanes("X", "Y")),
        says="X is still written to memory by one kernel and read by the next. Inline it.",
        fails="traffic",
    ),
    Wrong(
        "one direction only",
        blurred(describe_rows_only, lanes("Y")),
        says="This averages along the rows only. The second stage averages three rows of X.",
    ),
]
unseen(blur, lambda rng: [Case("another", rng.random((20, 51)).astype(np.float32), public=False)])
### END HIDDEN


# -------------------------------------------------------------------------- shared_product


### BEGIN PUBLIC SPEC
def shared_product_spec(a, b):
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)


### END PUBLIC SPEC
def shared_product_cases(rng):
    for n, m, k in ((64, 64, 64), (32, 64, 48), (33, 20, 47)):
        yield Case(f"{n} x {k} by {k} x {m}", *matrices(rng, n, m, k))


def tile_loads(case):
    """Tiles of 16 x 16 of both factors, each row of a tile at most 3 sectors."""
    n, m, k = sizes_of(case)
    tiles = ceil_div(n, 16) * ceil_div(m, 16) * ceil_div(k, 16)
    whole = all(v % 16 == 0 for v in (n, m, k))
    return tiles * 2 * 16 * (2 if whole else 3)


shared_product = Task(
    "shared_product",
    title="Tile a product through shared memory",
    criteria=[
        Correct(shared_product_spec, shared_product_cases, points=2, agree=FLOAT32),
        Clean(),
        Within("global_load_sectors", tile_loads, points=1, times=1.1),
        Within("global_store_sectors", product_stores, points=1, times=1.2),
    ],
    hints=(
        "It is the kernel of lesson 06: split k as well, and in each step of its outer part let "
        "the block copy a tile of A and a tile of B.",
        'copy = sch.cache_read(C, 0, "shared"); sch.compute_at(copy, k0). The copy has loops of '
        "its own: bind the last two to threadIdx.y and threadIdx.x, so that all threads copy.",
        "Order the loops bi, bj, ti, tj, k0, k1. Do the same for operand 1, and keep the sums "
        "local as in task 5.",
    ),
)
### BEGIN HIDDEN


def tiled(operands, local=True):
    def schedule(sch):
        c = sch.get_sblock("C")
        i, j, k = sch.get_loops(c)
        (bi, ti), (bj, tj) = sch.split(i, [None, 16]), sch.split(j, [None, 16])
        k0, k1 = sch.split(k, [None, 16])
        sch.reorder(bi, bj, ti, tj, k0, k1)
        axes = "blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"
        for loop, axis in zip((bi, bj, ti, tj), axes):
            sch.bind(loop, axis)
        for operand in operands:
            copy = sch.cache_read(c, operand, "shared")
            sch.compute_at(copy, k0)
            row, column = sch.get_loops(copy)[-2:]
            sch.bind(row, "threadIdx.y")
            sch.bind(column, "threadIdx.x")
        if local:
            sch.reverse_compute_at(sch.cache_write(c, 0, "local"), tj)

    return schedule


ONE, NONE, STORED = tiled((0,)), tiled(()), tiled((0, 1), local=False)

shared_product.wrong += [
    Wrong(
        "only A is copied",
        lambda a, b: product(ONE, "gpu", a, b),
        says="A comes from shared memory now, but every thread still loads its column of B from "
        "global memory.",
        fails="traffic",
    ),
    Wrong(
        "nothing is copied",
        lambda a, b: product(NONE, "gpu", a, b),
        says="The loops are tiled, but without cache_read every thread loads for itself.",
        fails="traffic",
    ),
    Wrong(
        "sums in global memory",
        lambda a, b: product(STORED, "gpu", a, b),
        says="The tiles are shared, but C is stored and loaded in every step. Keep the sums local.",
        fails="traffic",
    ),
]
unseen(shared_product, lambda rng: [Case("another", *matrices(rng, 40, 50, 30), public=False)])
### END HIDDEN

TASKS = [blur, shared_product]
