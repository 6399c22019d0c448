"""Checks of lesson 02: levels."""

from statistics import median

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, close, unseen

from .common import durations


### BEGIN PUBLIC SPEC
def levels_spec(samples):
    found, widest = [median(samples.tolist())], 0.0
    for edge in set(samples.tolist()):  # a cut just below each of the values
        low, high = samples[samples < edge].tolist(), samples[samples >= edge].tolist()
        if len(low) < 3 or len(high) < 3 or min(high) - max(low) <= widest:
            continue
        widest = min(high) - max(low)
        two = widest > max(low) - min(low) and widest > max(high) - min(high)
        found = [median(low), median(high)] if two else [median(samples.tolist())]
    return np.array(found, dtype=np.float64)


### END PUBLIC SPEC
def two_level_samples(rng, n, share, gap=1.5, tail=0.03):
    level = np.where(rng.permutation(n) < share * n, gap, 1.0)
    return level * np.minimum(durations(rng, n, tail=tail), 112.0)


def levels_cases(rng):
    yield Case("two levels of 3", np.array([10.0, 20.0, 11.0, 22.0, 12.0, 21.0]))
    yield Case("one level", np.array([10.0, 11.0, 13.0, 12.0, 14.0, 15.0, 16.0]))
    yield Case("two slow samples are no level", np.array([10.0, 90.0, 11, 12, 10, 91.0, 11, 12]))
    yield Case("5 samples are too few", np.array([1.0, 1.0, 9.0, 9.0, 9.0]))
    yield Case("one sample, a whole number", np.array([7]))
    yield Case("all equal", np.full(8, 5.0))
    yield Case("two levels of ties", np.array([5.0, 9.0] * 4))
    yield Case("a gap smaller than a level is wide", np.array([0.0, 4, 8, 13, 17, 21, 25.0]) + 50)
    for n, share in ((40, 0.5), (41, 0.25)):
        yield Case(f"{n} samples, {share:.0%} slow", two_level_samples(rng, n, share))
    yield Case("30 samples of one level", durations(rng, 30, tail=0.2))
    slow = np.append(two_level_samples(rng, 30, 0.5), 900.0)
    yield Case("a disturbed sample makes the upper heap wide", rng.permutation(slow))


levels = Task(
    "levels",
    title="Detect two levels",
    criteria=[Correct(levels_spec, levels_cases, points=3, agree=close(ulps=0, rtol=1e-9))],
    hints=(
        "Order does not matter here. Once the samples are sorted, two levels are two heaps with a "
        "wide gap between them.",
        "np.diff of the sorted samples gives the gaps. Only cuts that leave 3 samples or more on "
        "each side count. Take the widest, and compare it with the width of both heaps.",
        "The differences of the sorted samples, without the first 2 and the last 2, are the gaps "
        "that count; the upper heap begins at 3 + np.argmax of them. Compare that gap with the "
        "last minus the first sample of each heap. With fewer than 6 samples there is no cut.",
    ),
)
### BEGIN HIDDEN


def heaps(samples, least=3, ordered=True, test=True, middle=np.median):
    s = np.sort(samples) if ordered else samples
    one = np.array([float(np.median(samples))])
    if s.size < 2 * least:
        return one
    gaps = np.diff(s)
    c = least + int(np.argmax(gaps[least - 1 : s.size - least]))
    low, high, gap = s[:c], s[c:], s[c] - s[c - 1]
    if gap <= 0 or (test and gap <= max(np.ptp(low), np.ptp(high))):
        return one
    return np.array([float(middle(low)), float(middle(high))])


levels.wrong += [
    Wrong(
        "a disturbed sample taken for a level",
        lambda s: heaps(s, least=1),
        says="One or two slow samples are a tail. A level holds 3 samples or more.",
    ),
    Wrong(
        "gaps in the order of time",
        lambda s: heaps(s, ordered=False),
        says="Neighbours in time may lie on different levels. Sort before you look for a gap.",
    ),
    Wrong(
        "two levels in any samples",
        lambda s: heaps(s, test=False),
        says="Some gap is always the widest. It must be wider than both heaps are.",
    ),
    Wrong(
        "the mean instead of the median",
        lambda s: heaps(s, middle=np.mean),
        says="Give the median of each level; a mean follows the tail.",
    ),
    Wrong(
        "one number for all",
        lambda s: np.array([float(np.median(s))]),
        says="With two levels the median lies on one of them, or between them, by chance.",
    ),
]
unseen(levels, lambda rng: [Case("more", two_level_samples(rng, 77, 0.4, 1.3), public=False)])
### END HIDDEN
