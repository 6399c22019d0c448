"""Checks of lesson 06: transpose."""

from hetlab.grading import Clean, Correct, Task, Within, Wrong, exact, unseen

from .common import MATRICES, matrix_case, matrix_sectors, no_conflict


### BEGIN PUBLIC SPEC
def transpose_spec(a, out):
    out[...] = a.T


### END PUBLIC SPEC
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
        Within(
            ("global_load_sectors", "global_store_sectors"),
            matrix_sectors,
            what="sectors loaded and stored",
            times=1.25,
        ),
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
def transpose_straight(a, out):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        out[x, y] = a[y, x]


@cuda.jit
def transpose_reads_columns(a, out):
    y, x = cuda.threadIdx.x + 32 * cuda.blockIdx.y, cuda.threadIdx.y + 32 * cuda.blockIdx.x
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
        "straight, and it reads columns",
        transpose_reads_columns,
        says="Now the stores are coalesced, but each load request reads a column of a: a sector "
        "for every lane. With a tile both sides walk along rows.",
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
