"""A reduction that must leave the padded part out, and tiles of two dimensions."""

import numpy as np
import triton
import triton.language as tl

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, close, unseen

from .common import ROWS, row_sectors, rows_of

# ------------------------------------------------------------------------------ layer_norm


### BEGIN PUBLIC SPEC
def layer_norm_spec(x, weight, bias, out, columns, eps):
    v = x.astype(np.float64)
    mean = v.mean(axis=1, keepdims=True)
    variance = ((v - mean) ** 2).mean(axis=1, keepdims=True)
    out[:] = (v - mean) / np.sqrt(variance + eps) * weight + bias


### END PUBLIC SPEC
def layer_norm_cases(rng):
    for rows, columns, middle, spread in (
        (4, 128, 0, 1),
        (5, 100, 3, 1),
        (3, 97, 1000, 1),
        (3, 64, 0, 1e-3),
    ):
        x = (middle + spread * rng.normal(size=(rows, columns))).astype(np.float32)
        weight, bias = rng.normal(size=(2, columns)).astype(np.float32)
        label = f"{rows} rows, {columns} columns, around {middle}, spread {spread}"
        given = x, weight, bias, np.zeros_like(x), columns, 1e-5
        yield Case(label, *given, **rows_of(x, 128))


layer_norm = Task(
    "layer_norm",
    title="Repair a layer norm",
    criteria=[
        Correct(
            layer_norm_spec,
            layer_norm_cases,
            points=3,
            # The mean of values near 1000 has an error of 1e-4 in float32.
            agree=close(rtol=1e-3, atol=2e-3),
            changes=(3,),
        ),
        Clean(),
    ],
    hints=(
        "Compare with NumPy for 128 columns and for 100. What is different in the tile?",
        "Masked elements are 0. After the mean is subtracted they are not 0 any more.",
        "d = tl.where(c < columns, v - mean, 0.0), and divide by columns, not by BLOCK.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def layer_norm_padded(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    inside = c < columns
    v = tl.load(x + row * columns + c, mask=inside, other=0.0)
    d = v - tl.sum(v, 0) / columns
    scale = 1 / tl.sqrt(tl.sum(d * d, 0) / columns + eps)
    w, b = tl.load(weight + c, mask=inside), tl.load(bias + c, mask=inside)
    tl.store(out + row * columns + c, d * scale * w + b, mask=inside)


@triton.jit
def layer_norm_block(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    inside = c < columns
    v = tl.load(x + row * columns + c, mask=inside, other=0.0)
    d = tl.where(inside, v - tl.sum(v, 0) / BLOCK, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, 0) / BLOCK + eps)
    w, b = tl.load(weight + c, mask=inside), tl.load(bias + c, mask=inside)
    tl.store(out + row * columns + c, d * scale * w + b, mask=inside)


@triton.jit
def layer_norm_squares(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    inside = c < columns
    v = tl.load(x + row * columns + c, mask=inside, other=0.0)
    mean = tl.sum(v, 0) / columns
    scale = 1 / tl.sqrt(tl.sum(v * v, 0) / columns - mean * mean + eps)
    w, b = tl.load(weight + c, mask=inside), tl.load(bias + c, mask=inside)
    tl.store(out + row * columns + c, (v - mean) * scale * w + b, mask=inside)


@triton.jit
def layer_norm_eps(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    inside = c < columns
    v = tl.load(x + row * columns + c, mask=inside, other=0.0)
    d = tl.where(inside, v - tl.sum(v, 0) / columns, 0.0)
    scale = 1 / (tl.sqrt(tl.sum(d * d, 0) / columns) + eps)
    w, b = tl.load(weight + c, mask=inside), tl.load(bias + c, mask=inside)
    tl.store(out + row * columns + c, d * scale * w + b, mask=inside)


layer_norm.wrong += [
    Wrong(
        "the variance takes the padded part in",
        layer_norm_padded,
        says="Masked elements were 0; minus the mean they are -mean, and their squares are summed. "
        "Set them back to 0 with tl.where before you square.",
    ),
    Wrong(
        "divided by the tile's size",
        layer_norm_block,
        says="The mean is the sum over `columns` elements. BLOCK is how many the tile has room "
        "for.",
    ),
    Wrong(
        "the mean of the squares minus the square of the mean",
        layer_norm_squares,
        says="Right on paper. Around 1000 both terms are near a million; float32 keeps 7 digits: "
        "the difference is noise. Subtract the mean first.",
    ),
    Wrong(
        "eps outside of the root",
        layer_norm_eps,
        says="eps belongs to the variance, under the root: for rows that are nearly constant it "
        "matters.",
    ),
]


def more_norms(rng):
    x = (7 + rng.normal(size=(3, 75))).astype(np.float32)
    weight, bias = rng.normal(size=(2, 75)).astype(np.float32)
    given = x, weight, bias, np.zeros_like(x), 75, 1e-5
    yield Case("another", *given, public=False, **rows_of(x, 128))


unseen(layer_norm, more_norms)
### END HIDDEN


# ----------------------------------------------------------------------------- column_sums


### BEGIN PUBLIC SPEC
def column_sums_spec(x):
    return x.sum(axis=0)


### END PUBLIC SPEC
def column_sums_cases(rng):
    for rows, columns in ((64, 96), (50, 37), (1, 5), (130, 64)):
        yield Case(f"{rows} x {columns}", rng.normal(size=(rows, columns)).astype(np.float32))


column_sums = Task(
    "column_sums",
    title="Challenge: sum columns with tiles of two dimensions",
    criteria=[
        Correct(column_sums_spec, column_sums_cases, points=1, agree=ROWS),
        Clean(),
        Within(
            "global_load_sectors",
            lambda case: row_sectors(*case.inputs[0].shape),
            points=1,
            times=2,
        ),
    ],
    hints=(
        "Let a program take WIDE columns, and walk down in steps of TALL rows.",
        "Offsets of two dimensions: r[:, None] * columns + c[None, :]. The mask joins both "
        "conditions with &.",
        "If there are too many sectors, look at TALL * WIDE: with more elements than threads, each "
        "thread has several, and the lanes of a request lie further apart.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def one_column(x, out, rows, columns, TALL: tl.constexpr):
    c = tl.program_id(0)
    total = tl.zeros((TALL,), tl.float32)
    for first in range(0, rows, TALL):
        r = first + tl.arange(0, TALL)
        total += tl.load(x + r * columns + c, mask=r < rows, other=0.0)
    tl.store(out + c, tl.sum(total, 0))


@triton.jit
def unmasked_rows(x, out, rows, columns, TALL: tl.constexpr, WIDE: tl.constexpr):
    c = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    total = tl.zeros((WIDE,), tl.float32)
    for first in range(0, rows, TALL):
        r = first + tl.arange(0, TALL)
        at = r[:, None] * columns + c[None, :]
        inside = (r[:, None] >= 0) & (c[None, :] < columns)
        total += tl.sum(tl.load(x + at, mask=inside, other=0.0), 0)
    tl.store(out + c, total, mask=c < columns)


def by_columns(x):
    out = np.zeros(x.shape[1], np.float32)
    one_column[(x.shape[1],)](x, out, *x.shape, TALL=128)
    return out


def without_a_mask_of_rows(x):
    out = np.zeros(x.shape[1], np.float32)
    unmasked_rows[(-(-x.shape[1] // 32),)](x, out, *x.shape, TALL=4, WIDE=32)
    return out


column_sums.wrong += [
    Wrong(
        "one program for each column",
        by_columns,
        says="The lanes of a request stand a whole row apart: a sector for each element. Let the "
        "tile be wide.",
        fails="traffic",
    ),
    Wrong(
        "the mask knows the columns only",
        without_a_mask_of_rows,
        says="The last tile sticks out below the matrix, too. Join both conditions with &.",
        fails="hazard",
    ),
]
unseen(
    column_sums,
    lambda rng: [Case("another", rng.normal(size=(33, 50)).astype(np.float32), public=False)],
)
### END HIDDEN

TASKS = [layer_norm, column_sums]
