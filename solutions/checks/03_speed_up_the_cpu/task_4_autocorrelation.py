"""Checks of lesson 03: autocorrelation."""

import numpy as np

from hetlab.grading import Case, Correct, Faster, Task, Wrong, close, unseen

from .common import compiled
from .task_2_saxpy import vectors


### BEGIN PUBLIC SPEC
def autocorrelation_spec(x, lags):
    out = np.zeros(lags, np.float32)
    for lag in range(min(lags, x.size)):
        head, tail = x[: x.size - lag].astype(np.float64), x[lag:].astype(np.float64)
        out[lag] = np.sum(head * tail)
    return out


### END PUBLIC SPEC
def one_chain(x, lags):
    out = np.zeros(lags, np.float32)
    for lag in range(min(lags, x.size)):
        total = np.float32(0)
        for i in range(x.size - lag):
            total += x[i] * x[i + lag]
        out[lag] = total
    return out


def one_chain_compiled(x, lags):
    return compiled(one_chain)(x, lags)


def autocorrelation_cases(rng):
    for n, lags in ((1, 1), (5, 2), (3, 7), (0, 3), (17, 4), (64, 64), (1000, 33)):
        yield Case(f"{n} samples, {lags} lags", vectors(rng, n)[0], lags)


autocorrelation = Task(
    "autocorrelation",
    title="Add up in many independent sums",
    criteria=[
        Correct(autocorrelation_spec, autocorrelation_cases, points=2, agree=close(rtol=1e-4)),
        Faster(
            than=one_chain_compiled,
            inputs=lambda rng: (vectors(rng, 65_536)[0], 256),
            bands={3: 2},
            against="one chain of additions a lag, compiled,",
            agree=close(rtol=1e-3),
        ),
    ],
    hints=(
        "Inside one lag the sum is a chain: each addition waits for the one before. "
        "Where in this task do you find sums that do not wait for each other?",
        "Every lag has a sum of its own. Let the inner loop run over lags, so that neighbouring "
        "turns add to different elements of out. (Or allow the compiler to reorder one sum: "
        'fastmath={"reassoc"}.)',
        "Outer loop over i. Take the slice of x that begins at i and has `lags` elements; at the "
        "end of x it is shorter by itself. Inner loop over that slice: element number lag, times "
        "x[i], belongs to out[lag].",
    ),
)
### BEGIN HIDDEN


def last_block_lost(x, lags):
    out = np.zeros(lags, np.float32)
    for lag in range(min(lags, x.size)):
        n = (x.size - lag) // 8 * 8
        out[lag] = np.sum(x[:n].astype(np.float64) * x[lag : lag + n])
    return out


def wraps_around(x, lags):
    return np.array([np.sum(x * np.roll(x, -k)) for k in range(lags)], np.float32)


def lag_one_first(x, lags):
    return autocorrelation_spec(x, lags + 1)[1:].copy()


def averaged(x, lags):
    terms = np.maximum(x.size - np.arange(lags), 1)
    return (autocorrelation_spec(x, lags) / terms).astype(np.float32)


autocorrelation.wrong += [
    Wrong(
        "the tail behind the last full block is lost",
        last_block_lost,
        says="With eight sums at a time, up to seven terms are left over. Add them too.",
    ),
    Wrong(
        "the end wraps around to the beginning",
        wraps_around,
        says="x[i + lag] beyond the end does not exist; it is not x[0]. "
        "Compiled code does not stop at the end of an array.",
    ),
    Wrong("lag 0 is left out", lag_one_first, says="The first lag is 0: the sum of squares."),
    Wrong("an average instead of a sum", averaged, says="Do not divide by the number of terms."),
    Wrong(
        "one chain of additions",
        lambda x, lags: one_chain_compiled(x, lags),
        says="The values are right, and each addition waits for the one before it.",
        fails="speed",
    ),
]
unseen(autocorrelation, lambda rng: [Case("more", vectors(rng, 511)[0], 100, public=False)])
### END HIDDEN
