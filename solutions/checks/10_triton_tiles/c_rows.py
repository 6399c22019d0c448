"""One program for each row of a matrix: strides, fused softmax, layer norm."""

import numpy as np
import triton
import triton.language as tl

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, unseen

from .common import ROWS, padded, row_sectors, rows_of

# -------------------------------------------------------------------------------- row_sums


### BEGIN PUBLIC SPEC
def row_sums_spec(x, out, columns, stride):
    out[:] = x[:, :columns].sum(axis=1)


### END PUBLIC SPEC
def row_sums_cases(rng):
    for rows, columns, stride in ((4, 128, 128), (5, 100, 104), (3, 300, 301), (1, 1, 8)):
        x = padded(rng, rows, columns, stride)
        label = f"{rows} rows, {columns} columns, stride {stride}"
        yield Case(label, x, np.zeros(rows, np.float32), columns, stride, **rows_of(x, 128))


row_sums = Task(
    "row_sums",
    title="Repair the way to a row",
    criteria=[
        Correct(row_sums_spec, row_sums_cases, points=2, agree=ROWS, changes=(1,)),
        Clean(),
    ],
    hints=(
        "The draft is right for one shape of matrix. Try a stride larger than the columns.",
        "Where does row 1 begin? Not after the columns of row 0, but after its stride.",
        "Row r begins at x + r * stride. The mask still uses columns.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def row_sums_draft(x, out, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, columns, BLOCK):
        c = first + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + c, mask=c < columns, other=0.0)
    tl.store(out + row, tl.sum(total, 0))


@triton.jit
def row_sums_padding(x, out, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, stride, BLOCK):
        c = first + tl.arange(0, BLOCK)
        total += tl.load(x + row * stride + c, mask=c < stride, other=0.0)
    tl.store(out + row, tl.sum(total, 0))


@triton.jit
def row_sums_one_tile(x, out, columns, stride, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + c, mask=c < columns, other=0.0)
    tl.store(out + row, tl.sum(v, 0))


row_sums.wrong += [
    Wrong(
        "the columns taken for the stride",
        row_sums_draft,
        says="row * columns is the beginning of the row only where nothing lies between two rows. "
        "No hazard tells: all of it is inside the array.",
    ),
    Wrong(
        "the padding is summed too",
        row_sums_padding,
        says="The stride leads from row to row; only the first `columns` elements belong to it.",
    ),
    Wrong(
        "only the first tile",
        row_sums_one_tile,
        says="A row may be longer than BLOCK: keep the loop.",
    ),
]


def more_rows(rng):
    x = padded(rng, 6, 200, 230)
    out = np.zeros(6, np.float32)
    yield Case("another", x, out, 200, 230, public=False, **rows_of(x, 128))


unseen(row_sums, more_rows)
### END HIDDEN


# ----------------------------------------------------------------------------- log_softmax


### BEGIN PUBLIC SPEC
def log_softmax_spec(x, out, columns, stride):
    v = x[:, :columns].astype(np.float64)
    v = v - v.max(axis=1, keepdims=True)
    out[:] = v - np.log(np.exp(v).sum(axis=1, keepdims=True))


### END PUBLIC SPEC
def log_softmax_cases(rng):
    def negative(shape):
        return -60 + rng.normal(size=shape)

    def large(shape):
        return 200 * rng.normal(size=shape)

    for rows, columns, stride, draw, what in (
        (4, 128, 128, None, ""),
        (5, 100, 104, negative, ", all negative"),
        (3, 97, 97, large, ", large values"),
        (2, 1, 8, None, ""),
    ):
        x = padded(rng, rows, columns, stride, draw)
        label = f"{rows} rows, {columns} columns, stride {stride}{what}"
        out = np.zeros((rows, columns), np.float32)
        yield Case(label, x, out, columns, stride, **rows_of(x, 128))


def _row_budget(case):
    return row_sectors(*case.inputs[1].shape)


log_softmax = Task(
    "log_softmax",
    title="Fuse a log-softmax",
    criteria=[
        Correct(log_softmax_spec, log_softmax_cases, points=2, agree=ROWS, changes=(1,)),
        Clean(),
        Within("global_load_sectors", _row_budget, points=1, times=1.25),
    ],
    hints=(
        "Load the row once. Everything else happens with the tile that you have.",
        "First subtract the row's maximum. Then exp cannot overflow. Which `other` makes masked "
        "elements add nothing to the sum of exp?",
        'v = load(..., other=float("-inf")); v = v - tl.max(v, 0); store '
        "v - tl.log(tl.sum(tl.exp(v), 0)). Rows of out begin `columns` apart.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def log_softmax_no_maximum(x, out, columns, stride, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + c, mask=c < columns, other=float("-inf"))
    tl.store(out + row * columns + c, v - tl.log(tl.sum(tl.exp(v), 0)), mask=c < columns)


@triton.jit
def log_softmax_zeros(x, out, columns, stride, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + c, mask=c < columns, other=0.0)
    v -= tl.max(v, 0)
    tl.store(out + row * columns + c, v - tl.log(tl.sum(tl.exp(v), 0)), mask=c < columns)


@triton.jit
def log_softmax_one_stride(x, out, columns, stride, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + c, mask=c < columns, other=float("-inf"))
    v -= tl.max(v, 0)
    tl.store(out + row * columns + c, v - tl.log(tl.sum(tl.exp(v), 0)), mask=c < columns)


@triton.jit
def log_softmax_three_passes(x, out, columns, stride, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    top = tl.max(tl.load(x + row * stride + c, mask=c < columns, other=float("-inf")), 0)
    tl.debug_barrier()
    v = tl.load(x + row * stride + c, mask=c < columns, other=float("-inf"), volatile=True)
    below = tl.log(tl.sum(tl.exp(v - top), 0))
    v = tl.load(x + row * stride + c, mask=c < columns, volatile=True)
    tl.store(out + row * columns + c, v - top - below, mask=c < columns)


log_softmax.wrong += [
    Wrong(
        "the maximum is not subtracted",
        log_softmax_no_maximum,
        says="exp of a large number is infinite in float32, and of a very negative one zero. "
        "Subtract the row's maximum first.",
    ),
    Wrong(
        "masked elements are zeros",
        log_softmax_zeros,
        says="A zero in the place of a masked element adds exp(0 - maximum) to the sum, and may "
        "even be the maximum. Minus infinity adds nothing.",
    ),
    Wrong(
        "the columns taken for the stride of x",
        log_softmax_one_stride,
        says="The rows of x begin stride elements apart, those of out begin columns apart.",
    ),
    Wrong(
        "the row is loaded again for each step",
        log_softmax_three_passes,
        says="That is what three separate kernels do. Keep the tile: it stays in registers.",
        fails="traffic",
    ),
]


def more_logs(rng):
    x = padded(rng, 3, 77, 90)
    out = np.zeros((3, 77), np.float32)
    yield Case("another", x, out, 77, 90, public=False, **rows_of(x, 128))


unseen(log_softmax, more_logs)
### END HIDDEN

TASKS = [row_sums, log_softmax]
