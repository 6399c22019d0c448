"""Checks of lesson 02: verdict."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen

from .common import durations


### BEGIN PUBLIC SPEC
def verdict_spec(old, new, cut):
    if cut == 0:
        return "too few rounds"
    lost = sum(1 for a, b in zip(old, new) if a <= b)  # rounds in which new was not faster
    won = sum(1 for a, b in zip(old, new) if a >= b)
    if lost < cut:
        return "faster"
    return "slower" if won < cut else "no difference seen"


### END PUBLIC SPEC
def rounds_of(rng, n, gain, heat=1.0):
    """Samples of two programs in turn, on a machine whose level moves from 1 to heat."""
    level = np.linspace(1, heat, n)
    return level * gain * durations(rng, n, tail=0.02), level * durations(rng, n, tail=0.02)


def verdict_cases(rng):
    old, new = np.array([12.0, 13, 11, 12, 14, 12, 13, 12]), np.array([9.0, 9, 8, 9, 10, 9, 9, 9])
    yield Case("8 rounds, all won", old, new, 1)
    yield Case("8 rounds, all lost", new, old, 1)
    yield Case("7 rounds: too few at 99 %", old[:7], new[:7], 0)
    yield Case("one round", old[:1], new[:1], 0)
    yield Case("8 rounds, one of them equal", old, np.append(new[:7], old[7]), 1)
    yield Case("equal in every round", old, old.copy(), 1)
    yield Case("40 rounds of twins", *rounds_of(rng, 40, 1.0), 12)
    yield Case("40 rounds, 10 % faster, steady", *rounds_of(rng, 40, 1.1), 12)
    yield Case("40 rounds, 10 % faster, the machine drifts", *rounds_of(rng, 40, 1.1, 3.0), 12)
    yield Case("41 rounds, 8 % slower, drift", *rounds_of(rng, 41, 1 / 1.08, 2.0), 12)
    yield Case("40 rounds of twins, drift", *rounds_of(rng, 40, 1.0, 2.0), 12)
    old, new = rounds_of(rng, 40, 0.9)
    new[:6] *= 50  # six pauses make the mean of new a large one
    yield Case("slower, and six pauses", old, new, 12)
    old, new = rounds_of(rng, 40, 1.1)
    new[:6] *= 50
    yield Case("faster, but for six pauses", old, new, 12)


verdict = Task(
    "verdict",
    title="Decide: faster, slower, or no difference seen",
    criteria=[Correct(verdict_spec, verdict_cases, points=3, agree=exact())],
    hints=(
        "What belongs together: all samples of a program, or the two samples of a round?",
        "Make one ratio for each round, old / new, and sort them. The interval goes from the "
        "cut-th smallest to the cut-th largest. Where does 1 lie?",
        "r = np.sort(old / new); low, high = r[cut - 1], r[-cut]. Faster: low > 1. Slower: "
        "high < 1. Before that: cut == 0 means too few rounds.",
    ),
)
### BEGIN HIDDEN


def deciding(score):
    """A verdict by one number: above 0 faster, below 0 slower."""

    def verdict(old, new, cut):
        if cut == 0:
            return "too few rounds"
        found = score(old, new, cut)
        return "faster" if found > 0 else "slower" if found < 0 else "no difference seen"

    return verdict


def torn_apart(old, new, cut):
    a, b = np.sort(old), np.sort(new)
    return int(b[-cut] < a[cut - 1]) - int(a[-cut] < b[cut - 1])


verdict.wrong += [
    Wrong(
        "two medians and no interval",
        deciding(lambda old, new, cut: np.median(old) - np.median(new)),
        says="One of two medians is always smaller. The interval says whether that means anything.",
    ),
    Wrong(
        "two means and no interval",
        deciding(lambda old, new, cut: np.mean(old) - np.mean(new)),
        says="A few pauses decide a mean, and there is always some difference. "
        "Take the interval of the ratios.",
    ),
    Wrong(
        "the rounds torn apart",
        deciding(torn_apart),
        says="You made one interval for each program. The machine drifts, so both are wide. "
        "Compare within the rounds first.",
    ),
    Wrong(
        "the ratio turned over",
        lambda old, new, cut: verdict_spec(new, old, cut),
        says="New is faster when it takes less time: then old / new is above 1.",
    ),
    Wrong(
        "a verdict from too few rounds",
        lambda old, new, cut: verdict_spec(old, new, max(cut, 1)),
        says="cut is 0: with so few rounds no interval reaches 99 %. Say so.",
    ),
    Wrong(
        "every round must agree",
        lambda old, new, cut: verdict_spec(old, new, min(cut, 1)),
        says="You asked for all rounds. cut - 1 rounds at each end may be set aside.",
    ),
]


def more_verdict(rng):
    return [
        Case("more", *rounds_of(rng, n, gain, heat), cut, public=False)
        for n, gain, heat, cut in [
            (60, 1.05, 4.0, 21),
            (60, 0.95, 4.0, 21),
            (60, 1.0, 4.0, 21),
            (5, 1.2, 1.0, 0),
        ]
    ]


unseen(verdict, more_verdict)
### END HIDDEN
