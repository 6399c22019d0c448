"""Checks of lesson 09: first kernels in CUDA C++."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, close, unseen

from .common import cpp, floats, on_line

# ----------------------------------------------------------------------------------- saxpy


### BEGIN PUBLIC SPEC
def saxpy_spec(a, x, y, n):
    y[:n] += a * x[:n]


### END PUBLIC SPEC
def saxpy_case(rng, n, a=2.0, **more):
    inputs = np.float32(a), floats(rng, n), floats(rng, n), np.int32(n)
    return on_line(f"n = {n}", *inputs, threads=n, **more)


def saxpy_cases(rng):
    for n in (128, 1, 7, 129, 1000):
        yield saxpy_case(rng, n)
    yield saxpy_case(rng, 300, a=-0.75)


saxpy = Task(
    "saxpy",
    title="Write a kernel in CUDA C++",
    criteria=[
        Correct(saxpy_spec, saxpy_cases, 2, agree=close(rtol=1e-6, atol=1e-7), changes=(2,)),
        Clean(1),
    ],
    hints=(
        "It is the kernel that you know from Numba, with types, braces and semicolons.",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; replaces cuda.grid(1). A pointer does not "
        "know its length, so n is an argument: guard with it.",
        "if (i < n) y[i] = ... with a, x[i] and the old y[i].",
    ),
)
### BEGIN HIDDEN
SAXPY = "float a, const float* x, float* y, int n"
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
saxpy.wrong += [
    Wrong(
        "every thread does everything",
        cpp("saxpy", SAXPY, "for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];"),
        "A kernel is what one thread does. The loop over all elements is the grid itself.",
        fails="hazard",
    ),
    Wrong(
        "no guard",
        cpp("saxpy", SAXPY, f"{INDEX} y[i] = a * x[i] + y[i];"),
        "The last block has threads beyond n. C does not check an index: it reads what is there.",
        fails="hazard",
    ),
    Wrong(
        "y is replaced, not added to",
        cpp("saxpy", SAXPY, f"{INDEX} if (i < n) y[i] = a * x[i];"),
        "The old value of y[i] belongs to the sum.",
    ),
    Wrong(
        "only the first block",
        cpp("saxpy", SAXPY, "int i = threadIdx.x; if (i < n) y[i] = a * x[i] + y[i];"),
        "threadIdx.x counts inside a block. Add blockIdx.x * blockDim.x.",
    ),
    Wrong(
        "a cut down to a whole number",
        cpp("saxpy", SAXPY, f"{INDEX} int b = a; if (i < n) y[i] = b * x[i] + y[i];"),
        "An int holds no fraction, and C cuts it off without a word.",
    ),
]
unseen(saxpy, lambda rng: [saxpy_case(rng, 2050, a=1.25, public=False)])
### END HIDDEN


# --------------------------------------------------------------------------------- rescale


### BEGIN PUBLIC SPEC
def rescale_spec(x, out, n):
    out[:n] = (x[:n] - np.float32(0.5)) * np.float32(1.1) + np.float32(0.25)


### END PUBLIC SPEC
def rescale_case(rng, n, **more):
    x = floats(rng, n)
    return on_line(f"n = {n}", x, np.zeros_like(x), np.int32(n), threads=n, **more)


def rescale_cases(rng):
    for n in (100, 1, 128, 999):
        yield rescale_case(rng, n)


rescale = Task(
    "rescale",
    title="Repair: find the hidden double precision",
    criteria=[
        Correct(rescale_spec, rescale_cases, 1, agree=close(rtol=2e-6, atol=2e-7), changes=(1,)),
        Clean(1),
        Within(
            "instructions_fp64",
            lambda case: 0,
            1,
            what="instructions in double precision",
        ),
    ],
    hints=(
        'hetlab.profile(...).counters["instructions_fp64"] should be 0. Which line has them?',
        "In C, 0.5 is a double, and a float that meets a double becomes one. How does one write "
        "a float?",
        "0.5f, 1.1f, 0.25f. Casting the result does not help: by then it has been computed.",
    ),
)
### BEGIN HIDDEN
RESCALE = "const float* x, float* out, int n"
rescale.wrong += [
    Wrong(
        "literals without an f",
        cpp("rescale", RESCALE, f"{INDEX} if (i < n) out[i] = (x[i] - 0.5) * 1.1 + 0.25;"),
        "0.5, 1.1 and 0.25 are of type double: everything is computed in double precision.",
        fails="traffic",
    ),
    Wrong(
        "the result is cast, the literals are not",
        cpp(
            "rescale",
            RESCALE,
            f"{INDEX} if (i < n) out[i] = (float)((x[i] - 0.5f) * 1.1) + 0.25f;",
        ),
        "One double is enough to draw its neighbours in: the cast comes after the computation.",
        fails="traffic",
    ),
    Wrong(
        "1 / 2 in whole numbers",
        cpp("rescale", RESCALE, f"{INDEX} if (i < n) out[i] = (x[i] - 1 / 2) * 1.1f + 0.25f;"),
        "1 / 2 is 0 in C: both are whole numbers, so the result is one.",
    ),
]
unseen(rescale, lambda rng: [rescale_case(rng, 1537, public=False)])
### END HIDDEN


# -------------------------------------------------------------------------------- add_bias


### BEGIN PUBLIC SPEC
def add_bias_spec(matrix, bias, out, rows, cols):
    out[...] = matrix + bias  # bias has one number for each column


### END PUBLIC SPEC
def bias_case(rng, rows, cols, **more):
    matrix, bias = floats(rng, rows * cols).reshape(rows, cols), floats(rng, cols)
    grid = -(-cols // 16), -(-rows // 16)
    inputs = matrix, bias, np.zeros_like(matrix), np.int32(rows), np.int32(cols)
    return Case(f"{rows} x {cols}", *inputs, grid=grid, block=(16, 16), **more)


def add_bias_cases(rng):
    for rows, cols in ((16, 16), (1, 1), (3, 5), (16, 40), (33, 17), (100, 64)):
        yield bias_case(rng, rows, cols)


def row_pieces(case):
    """Each half warp reads 16 neighbours of a row, at most 3 sectors, and as much of bias."""
    rows, cols = case.inputs[0].shape
    return 2 * 3 * rows * -(-cols // 16)


add_bias = Task(
    "add_bias",
    title="Repair: an index that works for squares only",
    criteria=[
        Correct(add_bias_spec, add_bias_cases, 2, agree=close(ulps=1), changes=(2,)),
        Clean(1),
        Within("global_load_sectors", row_pieces, 1),
    ],
    hints=(
        "How many elements lie between matrix[r][c] and matrix[r + 1][c]?",
        "A row has cols elements, so row r begins at r * cols. And the x of a thread should run "
        "along a row: neighbours in x are neighbours in memory.",
        "int c = blockIdx.x * blockDim.x + threadIdx.x, r = the same with y; "
        "if (r < rows && c < cols) out[r * cols + c] = matrix[r * cols + c] + bias[c];",
    ),
)
### BEGIN HIDDEN
BIAS = "const float* m, const float* bias, float* out, int rows, int cols"
XY = """int c = blockIdx.x * blockDim.x + threadIdx.x;
int r = blockIdx.y * blockDim.y + threadIdx.y;"""
add_bias.wrong += [
    Wrong(
        "x is the row",
        cpp(
            "add_bias",
            BIAS,
            """int r = blockIdx.x * blockDim.x + threadIdx.x;
            int c = blockIdx.y * blockDim.y + threadIdx.y;
            if (r < rows && c < cols) out[r * cols + c] = m[r * cols + c] + bias[c];""",
        ),
        "The grid has enough blocks in x for the columns, and in y for the rows: take c from x "
        "and r from y.",
    ),
    Wrong(
        "a row begins at r * rows",
        cpp(
            "add_bias",
            BIAS,
            f"{XY} if (r < rows && c < cols) out[r * rows + c] = m[r * rows + c] + bias[c];",
        ),
        "A row has cols elements. With rows = cols nobody notices.",
    ),
    Wrong(
        "the bias of the row",
        cpp(
            "add_bias",
            BIAS,
            f"{XY} if (r < rows && c < cols) out[r * cols + c] = m[r * cols + c] + bias[r % cols];",
        ),
        "bias has one number for each column.",
    ),
    Wrong(
        "x runs down the column",
        cpp(
            "add_bias",
            BIAS,
            """int side = gridDim.x * 16, t = blockIdx.y * 16 + threadIdx.y;
            int u = blockIdx.x * 16 + threadIdx.x;
            // the same threads, dealt out down the columns
            int k = t * side + u, r = k % rows, c = k / rows;
            if (c < cols) out[r * cols + c] = m[r * cols + c] + bias[c];""",
        ),
        "Right, and neighbouring lanes read numbers that lie a row apart. Let x run along rows.",
        fails="traffic",
    ),
    Wrong(
        "only the columns are guarded",
        cpp("add_bias", BIAS, f"{XY} if (c < cols) out[r * cols + c] = m[r * cols + c] + bias[c];"),
        "The last blocks have rows that do not exist: guard both.",
        fails="hazard",
    ),
]
unseen(add_bias, lambda rng: [bias_case(rng, 70, 129, public=False)])
### END HIDDEN
