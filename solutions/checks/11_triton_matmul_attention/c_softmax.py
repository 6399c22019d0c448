"""A long row in one pass: log-sum-exp with a running maximum."""

import numpy as np
import triton
import triton.language as tl

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, unseen

from .common import FLOAT32, ceil_div


### BEGIN PUBLIC SPEC
def log_sum_exp_spec(x, out, columns):
    v = x.astype(np.float64)
    top = v.max(1)
    out[:] = top + np.log(np.exp(v - top[:, None]).sum(1))


### END PUBLIC SPEC
def scores(rng, rows, columns, what):
    x = 3 * rng.normal(size=(rows, columns))
    if what == "rising":
        x = np.sort(x, axis=1)
    if what == "large":
        x += 500
    if what == "very negative":
        x -= 500
    return x.astype(np.float32)


def row_case(x, label, **more):
    out = np.zeros(x.shape[0], np.float32)
    shape = {"grid": (x.shape[0],), "constants": {"BLOCK": 128}}
    return Case(label, x, out, x.shape[1], **shape, **more)


def log_sum_exp_cases(rng):
    for columns, what in (
        (128, "mixed"),
        (400, "falling"),
        (400, "rising"),
        (666, "large"),
        (666, "very negative"),
        (1, "mixed"),
    ):
        x = scores(rng, 3, columns, what)
        x = -np.sort(-x, axis=1) if what == "falling" else x
        yield row_case(x, f"rows of {columns}, {what}")


def each_element_once(case):
    x = case.inputs[0]
    return x.shape[0] * (ceil_div(4 * x.shape[1], 32) + ceil_div(x.shape[1], 32))


log_sum_exp = Task(
    "log_sum_exp",
    title="Sum exponentials of a long row in one pass",
    criteria=[
        Correct(log_sum_exp_spec, log_sum_exp_cases, points=2, agree=FLOAT32, changes=(1,)),
        Clean(),
        Within("global_load_sectors", each_element_once, points=1, times=1.1),
    ],
    hints=(
        "Keep two numbers: the largest score so far, and the sum of exp(score - largest). What "
        "must happen to the sum when a larger score comes?",
        "exp(s - new) = exp(s - old) * exp(old - new): multiply the sum by exp(old - new).",
        'Begin with top = float("-inf") and below = 0.0. In each turn: new = tl.maximum(top, '
        "tl.max(v, 0)); below = below * tl.exp(top - new) + tl.sum(tl.exp(v - new), 0); top = new.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def not_rescaled(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top, below = float("-inf"), 0.0
    for first in range(0, columns, BLOCK):
        c = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + c, mask=c < columns, other=float("-inf"))
        top = tl.maximum(top, tl.max(v, 0))
        below += tl.sum(tl.exp(v - top), 0)
    tl.store(out + row, top + tl.log(below))


@triton.jit
def no_maximum(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    below = 0.0
    for first in range(0, columns, BLOCK):
        c = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + c, mask=c < columns, other=float("-inf"))
        below += tl.sum(tl.exp(v), 0)
    tl.store(out + row, tl.log(below))


@triton.jit
def twice(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top, below = float("-inf"), 0.0
    for first in range(0, columns, BLOCK):
        c = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + c, mask=c < columns, other=float("-inf"))
        top = tl.maximum(top, tl.max(v, 0))
    for first in range(0, columns, BLOCK):
        c = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + c, mask=c < columns, other=float("-inf"))
        below += tl.sum(tl.exp(v - top), 0)
    tl.store(out + row, top + tl.log(below))


@triton.jit
def zeros_in_gaps(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top, below = float("-inf"), 0.0
    for first in range(0, columns, BLOCK):
        c = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + c, mask=c < columns, other=0.0)
        new = tl.maximum(top, tl.max(v, 0))
        below = below * tl.exp(top - new) + tl.sum(tl.exp(v - new), 0)
        top = new
    tl.store(out + row, top + tl.log(below))


log_sum_exp.wrong += [
    Wrong(
        "the sum is not rescaled",
        not_rescaled,
        says="The exponentials that are already in the sum were taken with an older, smaller "
        "maximum. When the maximum grows, the sum must shrink.",
    ),
    Wrong(
        "no maximum",
        no_maximum,
        says="Without subtracting the maximum, exp overflows for large scores and vanishes for "
        "very negative ones.",
    ),
    Wrong(
        "two passes",
        twice,
        says="Right, but each row is loaded twice: once for the maximum, once for the sum. Update "
        "both in one pass.",
        fails="traffic",
    ),
    Wrong(
        "zeros in the place of masked elements",
        zeros_in_gaps,
        says="exp(0) is 1: masked elements take part in the sum. In their place you need a score "
        "whose exponential is 0.",
    ),
]
unseen(
    log_sum_exp,
    lambda rng: [row_case(scores(rng, 2, 517, "rising"), "another", public=False)],
)
### END HIDDEN

TASKS = [log_sum_exp]
