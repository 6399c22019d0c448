"""Checks of lesson 06: rotate."""

import numpy as np

from hetlab.grading import Correct, Task, Within, Wrong, exact, unseen

from .common import MATRICES, matrix_case, matrix_sectors, no_conflict


### BEGIN PUBLIC SPEC
def rotate_spec(a, out):
    out[...] = np.rot90(a, -1)


### END PUBLIC SPEC
rotate = Task(
    "rotate",
    title="Repair: a rotation that keeps one bank busy",
    criteria=[
        Correct(
            rotate_spec,
            lambda rng: (matrix_case(rng, *shape) for shape in MATRICES),
            points=1,
            changes=(1,),
            agree=exact(),
        ),
        Within("shared_bank_conflicts", no_conflict, points=1, what="bank conflicts"),
        Within(
            ("global_load_sectors", "global_store_sectors"),
            matrix_sectors,
            what="sectors loaded and stored",
            times=1.5,
        ),
    ],
    hints=(
        "hetlab.profile shows conflicts for each line. Which line has them, and which way does it "
        "walk through the tile?",
        "It reads a column. From row to row the word moves on by the length of a row: which length "
        "would come to another bank each time? hetlab.show_banks lets you try.",
        "Give the tile rows of 33 elements. Nothing else changes.",
    ),
)
### BEGIN HIDDEN
from numba import cuda, float32  # noqa: E402


@cuda.jit
def rotate_with_conflicts(a, out):
    tile = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    if row + ty < a.shape[0] and col + tx < a.shape[1]:
        tile[ty, tx] = a[row + ty, col + tx]
    cuda.syncthreads()
    if col + ty < a.shape[1] and row + tx < a.shape[0]:
        out[col + ty, a.shape[0] - 1 - (row + tx)] = tile[tx, ty]


@cuda.jit
def rotate_straight(a, out):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        out[x, a.shape[0] - 1 - y] = a[y, x]


@cuda.jit
def rotate_reads_columns(a, out):
    y, x = cuda.threadIdx.x + 32 * cuda.blockIdx.y, cuda.threadIdx.y + 32 * cuda.blockIdx.x
    if y < a.shape[0] and x < a.shape[1]:
        out[x, a.shape[0] - 1 - y] = a[y, x]


@cuda.jit
def rotate_the_other_way(a, out):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    if row + ty < a.shape[0] and col + tx < a.shape[1]:
        tile[ty, tx] = a[row + ty, col + tx]
    cuda.syncthreads()
    if col + ty < a.shape[1] and row + tx < a.shape[0]:
        out[a.shape[1] - 1 - (col + ty), row + tx] = tile[tx, ty]


rotate.wrong += [
    Wrong(
        "rows of 32 words",
        rotate_with_conflicts,
        says="A column of this tile lies in one bank: it has to give 32 words, one after another.",
        fails="traffic",
    ),
    Wrong(
        "straight, without a tile",
        rotate_straight,
        says="Without a tile there are no bank conflicts, but each store request writes a column "
        "of out: a sector for every lane.",
        fails="traffic",
    ),
    Wrong(
        "straight, and it reads columns",
        rotate_reads_columns,
        says="Now the stores are coalesced, but each load request reads a column of a: a sector "
        "for every lane. With a tile both sides walk along rows.",
        fails="traffic",
    ),
    Wrong(
        "turned to the left",
        rotate_the_other_way,
        says="The first row of a must become the last column of out.",
    ),
]
unseen(rotate, lambda rng: [matrix_case(rng, 45, 90, public=False)])
### END HIDDEN
