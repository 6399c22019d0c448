"""Checks of lesson 02: interval."""

from fractions import Fraction
from statistics import median

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, close, exact, unseen

from .common import durations, kth_smallest


### BEGIN PUBLIC SPEC
def cut_spec(n, confidence):
    ways = [1]  # to get 0, 1, 2, ... heads: one more coin in each turn
    for _ in range(n):
        ways = [a + b for a, b in zip([*ways, 0], [0, *ways])]
    allowed, k = (1 - Fraction(str(confidence))) * 2**n, 0
    while 2 * sum(ways[: k + 1]) <= allowed:
        k += 1
    return k


def interval_spec(samples, confidence):
    k, n = cut_spec(len(samples), confidence), len(samples)
    low, high = -np.inf, np.inf
    if k:
        low, high = kth_smallest(samples, k), kth_smallest(samples, n + 1 - k)
    return low, median(samples.tolist()), high


### END PUBLIC SPEC
def cut_cases(rng):
    yield Case("8 samples, 99 %", 8, 0.99)
    for n, confidence in [(7, 0.99), (40, 0.99), (41, 0.99), (6, 0.95), (5, 0.95), (20, 0.95)]:
        yield Case(f"{n} samples, {100 * confidence:g} %", n, confidence)
    for n, confidence in [(1, 0.9), (0, 0.9), (5, 0.9), (100, 0.9), (60, 0.999)]:
        yield Case(f"{n} samples, {100 * confidence:g} %", n, confidence)


def interval_cases(rng):
    yield Case("8 samples", np.round(durations(rng, 8, tail=0.3), 1), 0.99)
    yield Case("one sample", np.array([5.0]), 0.99)
    yield Case("7 samples: too few", np.round(durations(rng, 7), 1), 0.99)
    yield Case("9 equal samples", np.full(9, 3.0), 0.95)
    yield Case("ties", rng.integers(10, 14, 15).astype(float), 0.9)
    for n, confidence in [(40, 0.99), (41, 0.95), (100, 0.9)]:
        yield Case(f"{n} samples, {100 * confidence:g} %", durations(rng, n, tail=0.3), confidence)


interval = Task(
    "interval",
    title="Say how well a median is known",
    hands_in=("cut", "interval"),
    criteria=[
        Correct(cut_spec, cut_cases, points=2, agree=exact(), name="cut"),
        Correct(interval_spec, interval_cases, points=2, agree=close(ulps=2), name="interval"),
    ],
    hints=(
        "cut: in how many of all 2**n ways to toss n coins are there fewer than k heads? Begin "
        "with n = 8 and k = 1. interval: sort first.",
        "cut: math.comb(n, j) ways give exactly j heads. Add them up for j below k, double the sum "
        "(tails can be rare as well as heads), divide by 2**n. Raise k as long as this stays "
        "within 1 - confidence.",
        "cut: sum(math.comb(n, j) for j in range(k)) ways have fewer than k heads. Try k = 1, 2, "
        "3, ... and keep the last one for which twice this, divided by 2**n, is at most "
        "1 - confidence. interval: of the sorted samples take [k - 1] and [-k].",
    ),
)
### BEGIN HIDDEN


def cutting(allowed_of, more=0):
    """A cut with another allowance, or a step further."""

    def cut(n, confidence):
        probabilities, k = [1.0], 0
        for _ in range(n):
            probabilities = [(a + b) / 2 for a, b in zip([*probabilities, 0], [0, *probabilities])]
        while k <= n and 2 * sum(probabilities[: k + 1]) <= allowed_of(confidence):
            k += 1
        return k + more

    return cut


def spanning(pick):
    def interval(samples, confidence):
        k = cut_spec(len(samples), confidence)
        if not k:
            return -np.inf, float(np.median(samples)), np.inf
        return tuple(float(v) for v in pick(np.sort(samples), samples, k))

    return interval


def wrong_cut(name, cut, says):
    return Wrong(name, {"cut": cut, "interval": interval_spec}, says=says)


def wrong_interval(name, function, says):
    return Wrong(name, {"cut": cut_spec, "interval": function}, says=says)


def always_some(samples, confidence):
    ordered, k = np.sort(samples), max(1, cut_spec(len(samples), confidence))
    return float(ordered[k - 1]), float(np.median(samples)), float(ordered[-k])


interval.wrong += [
    wrong_cut(
        "one side of the coin only",
        cutting(lambda confidence: 2 * (1 - confidence)),
        "The interval fails when heads are rare, and when tails are rare: double the chance.",
    ),
    wrong_cut(
        "one step too far",
        cutting(lambda confidence: 1 - confidence, more=1),
        "Your k is the first that fails too often. Take the last that does not.",
    ),
    wrong_cut(
        "one step too short",
        lambda n, confidence: max(0, cut_spec(n, confidence) - 1),
        "k means fewer than k heads: j runs over 0, 1, ..., k - 1, and k itself is left out.",
    ),
    wrong_interval(
        "the samples are not sorted",
        spanning(lambda s, samples, k: (samples[k - 1], np.median(s), samples[-k])),
        "You took samples by the time they were taken. Sort them first.",
    ),
    wrong_interval(
        "counted from zero",
        spanning(
            lambda s, samples, k: (s[min(k, s.size - 1)], np.median(s), s[max(-k - 1, -s.size)])
        ),
        "Python counts from 0: the k-th smallest is s[k - 1]. The k-th largest is s[-k].",
    ),
    wrong_interval(
        "from the fastest to the slowest",
        spanning(lambda s, samples, k: (s[0], np.median(s), s[-1])),
        "That is true and too wide: k - 1 samples may be left out at each end.",
    ),
    wrong_interval(
        "the mean instead of the median",
        lambda samples, confidence: (
            interval_spec(samples, confidence)[0],
            float(np.mean(samples)),
            interval_spec(samples, confidence)[2],
        ),
        "This is an interval of the median. A mean may even lie outside of it.",
    ),
    wrong_interval(
        "an interval from too few samples",
        always_some,
        "With so few samples no interval reaches this confidence: from -np.inf to np.inf.",
    ),
]
unseen(interval, lambda rng: [Case("more", 333, 0.99, public=False)])


def more_samples(rng):
    yield Case("more", durations(rng, 75, tail=1.0), 0.99, public=False)


unseen(interval, more_samples, criterion=1)
### END HIDDEN
