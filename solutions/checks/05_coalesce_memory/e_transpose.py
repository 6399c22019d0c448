"""The transpose: predicted, and done with few sectors."""

import numpy as np
from numba import cuda

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, exact

from .common import sectors_of, unseen

# ------------------------------------------------------------------------- predict_transpose


### BEGIN PUBLIC SPEC
def predict_transpose_spec(rows, columns, itemsize, wide):
    tall = 32 // wide
    load = {(y * columns + x) * itemsize // 32 for y in range(tall) for x in range(wide)}
    store = {(x * rows + y) * itemsize // 32 for y in range(tall) for x in range(wide)}
    warps = rows * columns // 32  # all alike: rows and columns are multiples of 32
    return warps * len(load), warps * len(store)


### END PUBLIC SPEC
def predict_transpose_cases(rng):
    shapes = ((32, 32, 4, 32), (32, 32, 4, 8), (64, 96, 4, 16), (96, 64, 4, 4), (32, 64, 4, 1))
    for rows, columns, itemsize, wide in (*shapes, (64, 32, 8, 8), (32, 32, 16, 2)):
        label = f"{rows} x {columns}, {itemsize} bytes, warps of {wide} x {32 // wide}"
        yield Case(label, rows, columns, itemsize, wide)


predict_transpose = Task(
    "predict_transpose",
    title="Predict the traffic of a transpose",
    criteria=[
        Correct(
            predict_transpose_spec, predict_transpose_cases, points=3, agree=exact(strict=False)
        )
    ],
    hints=(
        "Draw one warp, say 8 threads wide and 4 tall, over the matrix. How many pieces of rows "
        "does it read, and how long is each?",
        "It reads 32 // wide pieces of wide elements, and writes wide pieces of 32 // wide "
        "elements. Each piece needs its bytes divided by 32, rounded up.",
        "With tall = 32 // wide: loads of a warp are tall * ceil(wide * itemsize / 32), stores are "
        "wide * ceil(tall * itemsize / 32). There are rows * columns / 32 warps.",
    ),
)
### BEGIN HIDDEN


def predict_counts(rows, columns, itemsize, wide, pieces):
    tall, warps = 32 // wide, rows * columns // 32
    loads, stores = pieces(tall, wide, itemsize)
    return warps * loads, warps * stores


predict_transpose.wrong += [
    Wrong(
        "both sides coalesced",
        lambda r, c, s, w: (r * c * s // 32, r * c * s // 32),
        says="That is a copy. In a transpose the pieces may be shorter than a sector.",
    ),
    Wrong(
        "always a sector for each element stored",
        lambda r, c, s, w: predict_counts(
            r, c, s, w, lambda tall, wide, size: (tall * -(-wide * size // 32), 32)
        ),
        says="That is right for a warp in one row. In a warp of several rows, some lanes write "
        "into the same sector.",
    ),
    Wrong(
        "loads and stores exchanged",
        lambda r, c, s, w: predict_transpose_spec(r, c, s, w)[::-1],
        says="The threads of a warp that have the same y read a piece of a row.",
    ),
    Wrong(
        "one warp only",
        lambda r, c, s, w: tuple(n // (r * c // 32) for n in predict_transpose_spec(r, c, s, w)),
        says="That is one warp. The whole matrix has rows * columns / 32 of them.",
    ),
]
unseen(predict_transpose, lambda rng: [Case("hidden", 128, 160, 8, 4, public=False)])
### END HIDDEN


# -------------------------------------------------------------------------------- transposed


### BEGIN PUBLIC SPEC
def transposed_spec(a):
    return np.ascontiguousarray(a.T)


### END PUBLIC SPEC
def transposed_cases(rng):
    for rows, columns in ((32, 32), (64, 32), (32, 96), (128, 160)):
        a = rng.random((rows, columns), dtype=np.float32)
        yield Case(f"{rows} rows, {columns} columns", a)


def simple_transpose(case):
    """Sectors of the simple transpose with blocks of (32, 8): one for each element stored."""
    a = case.inputs[0]
    return sectors_of(a.nbytes) + a.size


transposed = Task(
    "transposed",
    title="Challenge: transpose with few sectors",
    criteria=[
        Correct(transposed_spec, transposed_cases, points=1, agree=exact()),
        Clean(1),
        Within(
            ("global_load_sectors", "global_store_sectors"),
            simple_transpose,
            times=0.5,
            what="sectors of loads and stores",
        ),
    ],
    hints=(
        "The lesson tried four shapes of blocks. What is different for one warp in them?",
        "8 float32 fill a sector. A warp that is 8 threads wide reads whole sectors, and 4 of its "
        "threads write into the same one.",
        "Launch the simple kernel with blocks of (8, 32) and a grid of (columns // 8, rows // 32). "
        "To get nearer to a copy, let a thread load two neighbours at once, as uint64.",
    ),
    not_checked="how near it comes to a copy: that is for the board",
)
### BEGIN HIDDEN


@cuda.jit
def simple_kernel(a, out):
    x, y = cuda.grid(2)
    if x < a.shape[1] and y < a.shape[0]:
        out[x, y] = a[y, x]


@cuda.jit
def copy_kernel(a, out):
    x, y = cuda.grid(2)
    if x < a.shape[1] and y < a.shape[0]:
        out[y, x] = a[y, x]


def transposed_by(kernel, block):
    def host(a):
        rows, columns = a.shape
        out = np.zeros(a.shape if kernel is copy_kernel else a.shape[::-1], a.dtype)
        kernel[(columns // block[0], -(-rows // block[1])), block](a, out)
        return out.reshape(columns, rows)

    return host


transposed.wrong += [
    Wrong(
        "long thin warps",
        transposed_by(simple_kernel, (32, 8)),
        says="The lanes of a warp lie in one line: on one side they touch 4 sectors, on the other "
        "32, whichever way around. A warp that is less wide puts several elements into a sector.",
        fails="traffic",
    ),
    Wrong(
        "another shape with the same numbers in order",
        transposed_by(copy_kernel, (32, 8)),
        says="reshape gives the memory another shape and moves nothing. Element [x, y] must be the "
        "old [y, x].",
    ),
]
unseen(
    transposed,
    lambda rng: [Case("hidden", rng.random((96, 64), dtype=np.float32), public=False)],
)
### END HIDDEN
