"""Checks of lesson 02: drift."""

from statistics import median

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, close, unseen

from .common import durations


### BEGIN PUBLIC SPEC
def drift_spec(samples):
    third = len(samples) // 3
    if third == 0:
        return 0.0
    early, late = samples.tolist()[:third], samples.tolist()[-third:]
    return (median(late) - median(early)) / median(early)


### END PUBLIC SPEC
def drift_cases(rng):
    yield Case("9 samples", np.array([10.0, 12.0, 11.0, 11.0, 12.0, 13.0, 13.0, 30.0, 14.0]))
    yield Case("3 samples", np.array([10.0, 50.0, 8.0]))
    yield Case("2 samples", np.array([10.0, 20.0]))
    yield Case("no sample", np.array([]))
    yield Case("all equal", np.full(7, 4.0))
    yield Case("10 samples: one is left in the middle", np.arange(10.0) ** 2 + 5)
    for n, end in ((31, 1.4), (60, 0.7), (44, 1.0)):
        heat = np.linspace(1, end, n)
        yield Case(f"{n} samples, the level moves to {end:g}", heat * durations(rng, n, tail=0.3))


drift = Task(
    "drift",
    title="Detect drift",
    criteria=[
        Correct(drift_spec, drift_cases, points=2, agree=close(ulps=0, rtol=1e-9, atol=1e-12))
    ],
    hints=(
        "Two parts of the samples have to be compared. Which, and by what number each?",
        "The first n // 3 samples and the last n // 3, in the order they were taken; the median "
        "of each; how far the second lies above the first, as a part of the first.",
        "third = len(samples) // 3; np.median(samples[-third:]) / np.median(samples[:third]) - 1. "
        "Return 0.0 before that when third is 0.",
    ),
)
### BEGIN HIDDEN


def drifting(first, last, change=lambda a, b: b / a - 1):
    def drift(samples):
        third = len(samples) // 3
        return float(change(first(samples, third), last(samples, third))) if third else 0.0

    return drift


early, late = (
    lambda s, third: np.median(s[:third]),
    lambda s, third: np.median(s[-third:]),
)
drift.wrong += [
    Wrong(
        "the samples are sorted first",
        lambda s: drift_spec(np.sort(s)),
        says="Sorting throws the order away, and drift is nothing but order.",
    ),
    Wrong(
        "the first and the last sample alone",
        drifting(lambda s, _: s[0], lambda s, _: s[-1]),
        says="Two single samples are luck. Compare the medians of the two thirds.",
    ),
    Wrong(
        "the mean instead of the median",
        drifting(lambda s, third: s[:third].mean(), lambda s, third: s[-third:].mean()),
        says="One disturbed sample in a third moves its mean. Take medians.",
    ),
    Wrong(
        "a difference instead of a share",
        drifting(early, late, lambda a, b: b - a),
        says="You give seconds. Divide by the level of the first third.",
    ),
    Wrong(
        "the change seen from the end",
        drifting(early, late, lambda a, b: a / b - 1),
        says="A program that gets slower must give a number above 0: last over first.",
    ),
    Wrong(
        "halves instead of thirds",
        lambda s: (
            float(np.median(s[-(len(s) // 2) :]) / np.median(s[: len(s) // 2]) - 1)
            if len(s) >= 3
            else 0.0
        ),
        says="Compare the first third with the last; the middle belongs to neither.",
    ),
]


def more_drift(rng):
    return [Case("more", np.linspace(1, 2, 50) * durations(rng, 50, tail=0.8), public=False)]


unseen(drift, more_drift)
### END HIDDEN
