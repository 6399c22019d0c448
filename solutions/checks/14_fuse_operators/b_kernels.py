"""Bias, GELU and dropout in one kernel; and a fused norm whose threads read what others wrote."""

import numpy as np
import triton
import triton.language as tl

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, unseen

from .common import FLOAT32, ceil_div, gelu

# ----------------------------------------------------------------------- bias_gelu_dropout


### BEGIN PUBLIC SPEC
def bias_gelu_dropout_spec(x, bias, keep, out, n, columns, share):
    v = x[:n].astype(np.float64) + bias[np.arange(n) % columns]
    out[:n] = np.where(keep[:n] != 0, gelu(v) / share, 0)


### END PUBLIC SPEC
def layer(rng, rows, columns, share=0.9):
    n = rows * columns
    x, bias = rng.normal(size=n).astype(np.float32), rng.normal(size=columns).astype(np.float32)
    keep = (rng.random(n) < share).astype(np.int8)
    return x, bias, keep, np.zeros(n, np.float32), n, columns, share


def layer_case(rng, rows, columns, label="", **more):
    given = layer(rng, rows, columns, more.pop("share", 0.9))
    shape = {"grid": (ceil_div(rows * columns, 128),), "constants": {"BLOCK": 128}}
    return Case(label or f"{rows} x {columns}", *given, **shape, **more)


def bias_gelu_dropout_cases(rng):
    yield layer_case(rng, 4, 64)
    yield layer_case(rng, 16, 128, share=0.5)
    yield layer_case(rng, 7, 45)
    yield layer_case(rng, 1, 1)


def once_each(case):
    """x once, the bias once for each program, and a byte of the mask for each element."""
    n, columns = case.inputs[4:6]
    programs = ceil_div(n, 128)
    bias = programs * 2 * (ceil_div(4 * min(columns, 128), 32) + 8)
    return ceil_div(4 * n, 32) + ceil_div(n, 32) + bias + programs * 8


bias_gelu_dropout = Task(
    "bias_gelu_dropout",
    title="Fuse bias, GELU and dropout",
    criteria=[
        Correct(
            bias_gelu_dropout_spec, bias_gelu_dropout_cases, points=2, agree=FLOAT32, changes=(3,)
        ),
        Clean(),
        Within("global_load_sectors", once_each, points=1, times=1.1),
        Within("global_store_sectors", lambda case: ceil_div(case.inputs[4], 8), points=1),
    ],
    hints=(
        "It is one load of x, one of the bias, one of keep, and one store; everything between them "
        "is arithmetic on tiles.",
        "Element i of x lies in column i % columns. Triton has no tanh of its own; "
        "tanh(z) = 2 / (1 + exp(-2 * z)) - 1.",
        "0.5 * v * (1 + tanh(z)) is v / (1 + exp(-2 * z)) with z = 0.7978845608 * (v + 0.044715 * "
        "v * v * v). Then tl.where(kept != 0, that / share, 0.0).",
    ),
)
### BEGIN HIDDEN


@triton.jit
def layer_any(
    x, bias, keep, out, n, columns, share, BLOCK: tl.constexpr,
    SHARED: tl.constexpr, BY_COLUMN: tl.constexpr, FIRST: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + at, mask=inside, other=0.0)
    b = tl.load(bias + at % columns if BY_COLUMN else bias + at // columns % columns, mask=inside)
    kept = tl.load(keep + at, mask=inside, other=0)
    v += b
    if FIRST:
        v = tl.where(kept != 0, v / share, 0.0)
    z = 0.7978845608028654 * (v + 0.044715 * v * v * v)
    g = v / (1 + tl.exp(-2 * z))
    if not FIRST:
        g = tl.where(kept != 0, g / share if SHARED else g, 0.0)
    tl.store(out + at, g, mask=inside)


@triton.jit
def not_scaled(x, bias, keep, out, n, columns, share, BLOCK: tl.constexpr):
    layer_any(x, bias, keep, out, n, columns, share, BLOCK, False, True, False)


@triton.jit
def by_rows(x, bias, keep, out, n, columns, share, BLOCK: tl.constexpr):
    layer_any(x, bias, keep, out, n, columns, share, BLOCK, True, False, False)


@triton.jit
def dropped_first(x, bias, keep, out, n, columns, share, BLOCK: tl.constexpr):
    layer_any(x, bias, keep, out, n, columns, share, BLOCK, True, True, True)


@triton.jit
def in_two_steps(x, bias, keep, out, n, columns, share, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + at, mask=inside, other=0.0)
    tl.store(out + at, v + tl.load(bias + at % columns, mask=inside), mask=inside)
    v = tl.load(out + at, mask=inside, other=0.0)
    kept = tl.load(keep + at, mask=inside, other=0)
    z = 0.7978845608028654 * (v + 0.044715 * v * v * v)
    g = v / (1 + tl.exp(-2 * z))
    tl.store(out + at, tl.where(kept != 0, g / share, 0.0), mask=inside)


bias_gelu_dropout.wrong += [
    Wrong(
        "kept elements are not scaled",
        not_scaled,
        says="Dropout divides what it keeps by the share that is kept, so that the mean stays.",
    ),
    Wrong(
        "the bias by rows",
        by_rows,
        says="The bias belongs to the column, i % columns. i // columns is the row.",
    ),
    Wrong(
        "dropout before GELU",
        dropped_first,
        says="GELU bends: gelu(v / share) is not gelu(v) / share. Dropout comes last.",
    ),
    Wrong(
        "through memory in between",
        in_two_steps,
        says="The values are right, but the sum is written and read again. Keep it in a variable.",
        fails="traffic",
    ),
]
unseen(bias_gelu_dropout, lambda rng: [layer_case(rng, 13, 31, "another", public=False)])
### END HIDDEN


# -------------------------------------------------------------------------------- add_norm


### BEGIN PUBLIC SPEC
def add_norm_spec(x, residual, out, columns, eps):
    v = (x.astype(np.float64) + residual).reshape(-1, columns)
    out[:] = (v / np.sqrt((v**2).mean(1, keepdims=True) + eps)).reshape(out.shape)


### END PUBLIC SPEC
def norm_case(rng, rows, columns, label="", **more):
    x, residual = rng.normal(size=(2, rows, columns)).astype(np.float32)
    shape = {"grid": (rows,), "constants": {"BLOCK": 128}}
    given = x, residual, np.zeros_like(x), columns, 1e-5
    return Case(label or f"{rows} x {columns}", *given, **shape, **more)


def add_norm_cases(rng):
    for rows, columns in ((3, 128), (5, 100), (2, 33), (1, 1)):
        yield norm_case(rng, rows, columns)


def both_once(case):
    rows, columns = case.inputs[0].shape
    return 2 * rows * (ceil_div(4 * columns, 32) + ceil_div(columns, 32))


add_norm = Task(
    "add_norm",
    title="Repair a fused norm that reads what others wrote",
    criteria=[
        Correct(add_norm_spec, add_norm_cases, points=1, agree=FLOAT32, changes=(2,)),
        Clean(2),
        Within("global_load_sectors", both_once, points=1, times=1.1),
    ],
    hints=(
        "Run hetlab.sanitize on the draft. Which line reads, and which line wrote it before?",
        "The draft's second half loads the row backwards: elements that other threads stored, and "
        "nothing makes them wait. Does anything have to go through memory at all?",
        "A row fits into one tile: v = x + residual stays in a variable; its mean square is "
        "tl.sum(v * v, 0) / columns; one store at the end.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def norm_draft(x, residual, out, columns, eps, BLOCK: tl.constexpr):
    row, c = tl.program_id(0) * columns, tl.arange(0, BLOCK)
    inside = c < columns
    tl.store(
        out + row + c,
        tl.load(x + row + c, mask=inside) + tl.load(residual + row + c, mask=inside),
        mask=inside,
    )
    back = columns - 1 - c
    v = tl.load(out + row + back, mask=inside, other=0.0)
    scale = 1 / tl.sqrt(tl.sum(v * v, 0) / columns + eps)
    tl.store(out + row + back, v * scale, mask=inside)


@triton.jit
def norm_padded(x, residual, out, columns, eps, BLOCK: tl.constexpr):
    row, c = tl.program_id(0) * columns, tl.arange(0, BLOCK)
    inside = c < columns
    v = tl.load(x + row + c, mask=inside, other=0.0)
    v += tl.load(residual + row + c, mask=inside, other=0.0)
    tl.store(out + row + c, v / tl.sqrt(tl.sum(v * v, 0) / BLOCK + eps), mask=inside)


@triton.jit
def norm_without(x, residual, out, columns, eps, BLOCK: tl.constexpr):
    row, c = tl.program_id(0) * columns, tl.arange(0, BLOCK)
    inside = c < columns
    v = tl.load(x + row + c, mask=inside, other=0.0)
    scale = 1 / tl.sqrt(tl.sum(v * v, 0) / columns + eps)
    v += tl.load(residual + row + c, mask=inside, other=0.0)
    tl.store(out + row + c, v * scale, mask=inside)


add_norm.wrong += [
    Wrong(
        "the draft as it was",
        norm_draft,
        says="The sums are stored, and then read by other threads than those that stored them, "
        "with nothing between: a race. Keep them in a variable.",
        fails="hazard",
    ),
    Wrong(
        "the mean over the tile",
        norm_padded,
        says="The mean is over the columns of the row, not over BLOCK elements.",
    ),
    Wrong(
        "the norm before the residual",
        norm_without,
        says="The residual is added first; the mean square is that of the sum.",
    ),
]
unseen(add_norm, lambda rng: [norm_case(rng, 4, 77, "another", public=False)])
### END HIDDEN

TASKS = [bias_gelu_dropout, add_norm]
