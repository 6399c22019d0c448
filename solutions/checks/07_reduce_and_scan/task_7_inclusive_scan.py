"""Checks of lesson 07: inclusive_scan."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Wrong, exact, unseen

from .common import whole


### BEGIN PUBLIC SPEC
def inclusive_scan_spec(x):
    return np.cumsum(x, dtype=np.float32)


### END PUBLIC SPEC
def scan_case(rng, n, **more):
    return Case(f"n = {n}", whole(rng, n, 0, 4), **more)


inclusive_scan = Task(
    "inclusive_scan",
    title="Scan any number of elements with several launches",
    criteria=[
        Correct(
            inclusive_scan_spec,
            lambda rng: (scan_case(rng, n) for n in (128, 1, 100, 129, 256, 1000, 5000)),
            points=3,
            agree=exact(),
        ),
        Clean(points=2),
    ],
    hints=(
        "scan_blocks gives every block its own scan, and the total of each block. What is missing "
        "in block 5, and in which scan do you find it?",
        "The totals of the blocks before mine: that is a scan of the totals. At most 128 blocks "
        "have totals, so one block can scan them, with the same kernel.",
        "Launch scan_blocks on x; launch it with one block on the totals; then a small kernel of "
        "your own: each element i of block b > 0 gets the scanned total of block b - 1 added.",
    ),
)
### BEGIN HIDDEN
from numba import cuda, float32  # noqa: E402


@cuda.jit
def scan_blocks(x, out, totals):
    part = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = 1
    while step < 128:
        left = part[t - step] if t >= step else float32(0)
        cuda.syncthreads()
        part[t] += left
        cuda.syncthreads()
        step *= 2
    if i < x.size:
        out[i] = part[t]
    if t == 127:
        totals[cuda.blockIdx.x] = part[127]


@cuda.jit
def add_total(out, sums, shift):
    i, b = cuda.grid(1), cuda.blockIdx.x - shift
    if i < out.size and b >= 0:
        out[i] += sums[b]


def in_blocks(x, finish):
    n = -(-x.size // 128)
    out, totals = np.zeros_like(x), np.zeros(n, np.float32)
    scan_blocks[n, 128](x, out, totals)
    finish(out, totals, n)
    return out


def each_block_alone(x):
    return in_blocks(x, lambda out, totals, n: None)


def own_total_added(x):
    def finish(out, totals, n):
        sums = np.zeros_like(totals)
        scan_blocks[1, 128](totals, sums, np.zeros(1, np.float32))
        add_total[n, 128](out, sums, 0)

    return in_blocks(x, finish)


def totals_not_scanned(x):
    return in_blocks(x, lambda out, totals, n: add_total[n, 128](out, totals, 1))


def on_the_cpu(x):
    return np.cumsum(x, dtype=np.float32)


inclusive_scan.wrong += [
    Wrong(
        "each block on its own",
        each_block_alone,
        says="Every block begins again at zero. Add what all blocks before it have in total.",
    ),
    Wrong(
        "the block's own total added too",
        own_total_added,
        says="Block b needs the totals of the blocks before it: the scanned total of b - 1.",
    ),
    Wrong(
        "the totals are not scanned",
        totals_not_scanned,
        says="Block 3 needs the totals of the blocks 0, 1 and 2, not that of block 2 alone.",
    ),
    Wrong(
        "computed by NumPy",
        on_the_cpu,
        says="Right, but nothing ran on the GPU.",
        fails="not launched",
    ),
]
unseen(inclusive_scan, lambda rng: [scan_case(rng, 9999, public=False)])
### END HIDDEN
