"""Turning a matrix through a tile: a rotation with conflicts, and a transpose of any shape."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, exact

from .common import blocks, floats, no_conflict, row_sectors, unseen

# ---------------------------------------------------------------------------------- rotate


### BEGIN PUBLIC SPEC
def rotate_spec(a, out):
    out[...] = np.rot90(a, -1)


def transpose_spec(a, out):
    out[...] = a.T


### END PUBLIC SPEC
def matrix_case(rng, rows, columns, **more):
    a, out = floats(rng, rows, columns), np.zeros((columns, rows), np.float32)
    grid = blocks(columns, 32), blocks(rows, 32)
    return Case(f"{rows} x {columns}", a, out, grid=grid, block=(32, 32), **more)


MATRICES = (32, 32), (1, 1), (1, 5), (3, 2), (33, 32), (31, 65), (40, 70)

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
        Within("global_store_sectors", lambda case: row_sectors(case.inputs[1]), times=1.5),
    ],
    hints=(
        "hetlab.profile shows conflicts for each line. Which line has them, and which way does it "
        "walk through the tile?",
        "It reads a column. From row to row the word moves on by the length of a row: which length "
        "would come to another bank each time? hetlab.show_banks lets you try.",
        "Give the tile rows of 33 elements. Nothing else changes.",
    ),
)

# ------------------------------------------------------------------------------- transpose

transpose = Task(
    "transpose",
    title="Transpose any matrix through a padded tile",
    criteria=[
        Correct(
            transpose_spec,
            lambda rng: (matrix_case(rng, *shape) for shape in MATRICES),
            points=1,
            changes=(1,),
            agree=exact(),
        ),
        Clean(points=1),
        Within("global_store_sectors", lambda case: row_sectors(case.inputs[1]), times=1.25),
        Within("shared_bank_conflicts", no_conflict, what="bank conflicts"),
    ],
    hints=(
        "Begin with the kernel `padded` of the lesson. It takes for granted that 32 divides both "
        "sides. Where does it load, where does it store?",
        "Two guards, and they differ: the load asks whether a[row, column] exists, the store "
        "whether out[row, column] exists. The barrier stands between them, for all threads.",
        "With row and col as the first row and column of the block in a: load if row + ty < "
        "a.shape[0] and col + tx < a.shape[1]. Store out[col + ty, row + tx] if col + ty < "
        "a.shape[1] and row + tx < a.shape[0]. A tile of (32, 33).",
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
        "turned to the left",
        rotate_the_other_way,
        says="The first row of a must become the last column of out.",
    ),
]
unseen(rotate, lambda rng: [matrix_case(rng, 45, 90, public=False)])


@cuda.jit
def transpose_straight(a, out):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        out[x, y] = a[y, x]


@cuda.jit
def transpose_unpadded(a, out):
    tile = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    if row + ty < a.shape[0] and col + tx < a.shape[1]:
        tile[ty, tx] = a[row + ty, col + tx]
    cuda.syncthreads()
    if col + ty < a.shape[1] and row + tx < a.shape[0]:
        out[col + ty, row + tx] = tile[tx, ty]


@cuda.jit
def transpose_one_guard(a, out):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    inside = row + ty < a.shape[0] and col + tx < a.shape[1]
    if inside:
        tile[ty, tx] = a[row + ty, col + tx]
    cuda.syncthreads()
    if inside:
        out[col + ty, row + tx] = tile[tx, ty]


@cuda.jit
def transpose_no_barrier(a, out):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    if row + ty < a.shape[0] and col + tx < a.shape[1]:
        tile[ty, tx] = a[row + ty, col + tx]
    if col + ty < a.shape[1] and row + tx < a.shape[0]:
        out[col + ty, row + tx] = tile[tx, ty]


@cuda.jit
def transpose_only_blocks(a, out):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    if row + ty < a.shape[0] and col + tx < a.shape[1]:
        tile[ty, tx] = a[row + ty, col + tx]
    cuda.syncthreads()
    if col + ty < a.shape[1] and row + tx < a.shape[0]:
        out[col + ty, row + tx] = tile[ty, tx]


transpose.wrong += [
    Wrong(
        "straight, without a tile",
        transpose_straight,
        says="Each store request writes a column of out: a sector for every lane.",
        fails="traffic",
    ),
    Wrong(
        "rows of 32 words",
        transpose_unpadded,
        says="A column of this tile lies in one bank. Give each row one element more.",
        fails="traffic",
    ),
    Wrong(
        "one guard for both sides",
        transpose_one_guard,
        says="A thread stores another element than it loads, so the two need guards of their own.",
    ),
    Wrong(
        "no barrier between load and store",
        transpose_no_barrier,
        says="The column of the tile that a warp reads was stored by 32 warps. Wait for them.",
        fails="hazard",
    ),
    Wrong(
        "the blocks are turned, their insides are not",
        transpose_only_blocks,
        says="Each block has come to its new place, but within the tile rows must become columns "
        "too: read tile[tx, ty].",
    ),
]
unseen(transpose, lambda rng: [matrix_case(rng, 45, 90, public=False)])
### END HIDDEN
