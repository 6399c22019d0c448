"""Attention in one kernel, and a causal one that was tested with square tiles only."""

import numpy as np
import triton
import triton.language as tl

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, unseen

from .common import HALF, ceil_div, half

D = 32

# ------------------------------------------------------------------------------- attention


### BEGIN PUBLIC SPEC
def attention_spec(q, k, v, out, n, scale):
    s = q.astype(np.float64) @ k.astype(np.float64).T * scale
    p = np.exp(s - s.max(1, keepdims=True))
    out[:] = p / p.sum(1, keepdims=True) @ v.astype(np.float64)


### END PUBLIC SPEC
def attention_case(q, k, v, label, bm=32, bn=32, **more):
    n = q.shape[0]
    shape = {"grid": (ceil_div(n, bm),), "constants": {"D": D, "BM": bm, "BN": bn}}
    return Case(label, q, k, v, np.zeros_like(q), n, D**-0.5, **shape, **more)


def queries(rng, n, sharp=1):
    return half(rng, n, D) * np.float16(sharp), half(rng, n, D), half(rng, n, D)


def attention_cases(rng):
    yield attention_case(*queries(rng, 32), "n = 32: one block of keys")
    yield attention_case(*queries(rng, 64), "n = 64")
    yield attention_case(*queries(rng, 75, sharp=4), "n = 75, sharp scores")
    yield attention_case(*queries(rng, 75), "n = 75, BM = 16, BN = 32", bm=16)
    q, k, v = queries(rng, 96)
    rising = np.arange(96)[:, None] / 16
    yield attention_case(np.abs(q), (np.abs(k) * rising).astype(np.float16), v, "rising scores")


def attention_sectors(case):
    """Queries once; all keys and values once for each program."""
    n, bm = case.inputs[4], case.constants["BM"]
    row = ceil_div(2 * D, 32)
    return n * row + 2 * n * row * ceil_div(n, bm)


attention = Task(
    "attention",
    title="Write attention as one kernel",
    criteria=[
        Correct(attention_spec, attention_cases, points=3, agree=HALF, changes=(3,)),
        Clean(),
        Within("global_load_sectors", attention_sectors, points=1, times=1.1),
    ],
    hints=(
        "It is log_sum_exp for BM rows at once, with a third thing that is kept: the weighted sum "
        "of values, a tile of BM x D. What happens to it when a maximum grows?",
        "In each turn: scores = tl.dot(query, keys) * scale, -inf where j >= n; new maximum of "
        "each row; p = exp(scores - new); shrink sum and values by exp(top - new); then add.",
        "total = total * shrink[:, None] + tl.dot(p.to(tl.float16), values), and at the end "
        "total / below[:, None]. Load the keys transposed: j along the columns, d down the rows.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def attention_any(
    q, k, v, out, n, scale,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    SCALED: tl.constexpr, MASKED: tl.constexpr, SHRUNK: tl.constexpr, DIVIDED: tl.constexpr,
):  # fmt: skip
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    query = tl.load(q + m[:, None] * D + d[None, :], mask=m[:, None] < n, other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    below, total = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    for first in range(0, n, BN):
        j = first + tl.arange(0, BN)
        keys = tl.load(k + j[None, :] * D + d[:, None], mask=j[None, :] < n, other=0.0)
        values = tl.load(v + j[:, None] * D + d[None, :], mask=j[:, None] < n, other=0.0)
        s = tl.dot(query, keys)
        if SCALED:
            s *= scale
        if MASKED:
            s = tl.where(j[None, :] < n, s, float("-inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p, shrink = tl.exp(s - new[:, None]), tl.exp(top - new)
        if SHRUNK:
            total *= shrink[:, None]
        total += tl.dot(p.to(tl.float16), values)
        below = below * shrink + tl.sum(p, 1)
        top = new
    if DIVIDED:
        total /= below[:, None]
    tl.store(out + m[:, None] * D + d[None, :], total.to(tl.float16), mask=m[:, None] < n)


@triton.jit
def attention_unscaled(q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    attention_any(q, k, v, out, n, scale, D, BM, BN, False, True, True, True)


@triton.jit
def attention_unmasked(q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    attention_any(q, k, v, out, n, scale, D, BM, BN, True, False, True, True)


@triton.jit
def attention_not_shrunk(
    q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    attention_any(q, k, v, out, n, scale, D, BM, BN, True, True, False, True)


@triton.jit
def attention_not_divided(
    q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    attention_any(q, k, v, out, n, scale, D, BM, BN, True, True, True, False)


attention.wrong += [
    Wrong(
        "scores are not scaled",
        attention_unscaled,
        says="The scores must be multiplied by scale before the maximum and the exponentials.",
    ),
    Wrong(
        "keys beyond the end take part",
        attention_unmasked,
        says="A masked key is a row of zeros: its score is 0, not minus infinity, and its "
        "exponential takes part in the sum. Use tl.where on the scores.",
    ),
    Wrong(
        "the values are not rescaled",
        attention_not_shrunk,
        says="When the maximum of a row grows, the sum of values collected so far must shrink by "
        "the same factor as the sum of exponentials.",
    ),
    Wrong(
        "not divided",
        attention_not_divided,
        says="At the end each row must be divided by its sum of exponentials.",
    ),
]
unseen(attention, lambda rng: [attention_case(*queries(rng, 101, 3), "another", public=False)])
### END HIDDEN


# ---------------------------------------------------------------------------------- causal


### BEGIN PUBLIC SPEC
def causal_spec(q, k, v, out, n, scale):
    s = q.astype(np.float64) @ k.astype(np.float64).T * scale
    s[np.triu_indices(n, 1)] = -np.inf  # row i sees the columns 0 to i
    p = np.exp(s - s.max(1, keepdims=True))
    out[:] = p / p.sum(1, keepdims=True) @ v.astype(np.float64)


### END PUBLIC SPEC
def causal_cases(rng):
    yield attention_case(*queries(rng, 32), "n = 32: one block of keys")
    yield attention_case(*queries(rng, 64, sharp=4), "n = 64, BM = BN = 32")
    yield attention_case(*queries(rng, 64), "n = 64, BM = 32, BN = 16", bm=32, bn=16)
    yield attention_case(*queries(rng, 75, sharp=4), "n = 75, BM = 64, BN = 16", bm=64, bn=16)


causal = Task(
    "causal",
    title="Repair: attention that sees only the past",
    criteria=[
        Correct(causal_spec, causal_cases, points=3, agree=HALF, changes=(3,)),
        Clean(),
    ],
    hints=(
        "Compare the draft with the spec for n = 32, then 64, then for BM = 32 with BN = 16. Which "
        "rows are wrong each time?",
        "There are two faults. One is about what is kept when the maximum grows; the other about "
        "where the loop over the keys ends.",
        "The last row of the tile is (tl.program_id(0) + 1) * BM - 1: the loop must reach it, and "
        "never go past n.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def causal_any(
    q, k, v, out, n, scale,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    SHRUNK: tl.constexpr, WHOLE: tl.constexpr, PAST: tl.constexpr,
):  # fmt: skip
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    query = tl.load(q + m[:, None] * D + d[None, :], mask=m[:, None] < n, other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    below, total = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    end = min(n, (tl.program_id(0) + 1) * BM) if WHOLE else tl.program_id(0) * BM + 1
    for first in range(0, end, BN):
        j = first + tl.arange(0, BN)
        keys = tl.load(k + j[None, :] * D + d[:, None], mask=j[None, :] < n, other=0.0)
        values = tl.load(v + j[:, None] * D + d[None, :], mask=j[:, None] < n, other=0.0)
        s = tl.dot(query, keys) * scale
        if PAST:
            s = tl.where(j[None, :] <= m[:, None], s, float("-inf"))
        else:
            s = tl.where(j[None, :] < n, s, float("-inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p, shrink = tl.exp(s - new[:, None]), tl.exp(top - new)
        if SHRUNK:
            total *= shrink[:, None]
        total += tl.dot(p.to(tl.float16), values)
        below = below * shrink + tl.sum(p, 1)
        top = new
    out_at = out + m[:, None] * D + d[None, :]
    tl.store(out_at, (total / below[:, None]).to(tl.float16), mask=m[:, None] < n)


@triton.jit
def causal_draft(q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    causal_any(q, k, v, out, n, scale, D, BM, BN, False, False, True)


@triton.jit
def causal_not_shrunk(q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    causal_any(q, k, v, out, n, scale, D, BM, BN, False, True, True)


@triton.jit
def causal_too_short(q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    causal_any(q, k, v, out, n, scale, D, BM, BN, True, False, True)


@triton.jit
def causal_future(q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    causal_any(q, k, v, out, n, scale, D, BM, BN, True, True, False)


causal.wrong += [
    Wrong(
        "the draft as it was",
        causal_draft,
        says="Two faults are in the draft: the values are not rescaled when the maximum grows, and "
        "the loop stops after the first block of the diagonal.",
    ),
    Wrong(
        "the values are still not rescaled",
        causal_not_shrunk,
        says="The loop reaches the diagonal now. But total must shrink by the same factor as the "
        "sum when a maximum grows.",
    ),
    Wrong(
        "the loop still ends too early",
        causal_too_short,
        says="The values are rescaled now. But with BN smaller than BM, the diagonal of a tile "
        "crosses several blocks of keys, and the loop stops after the first.",
    ),
    Wrong(
        "the future is seen",
        causal_future,
        says="Inside the blocks on the diagonal, row m must not see keys with j > m.",
    ),
]


def more_causal(rng):
    yield attention_case(*queries(rng, 90, 3), "another", bm=64, bn=32, public=False)


unseen(causal, more_causal)
### END HIDDEN

TASKS = [attention, causal]
