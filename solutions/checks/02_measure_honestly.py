"""Checks of lesson 02, measure honestly.

No check reads a clock: all durations are seeded data, or those of a machine made of numbers.  The
specifications say what is asked by counting, slowly; the answers are written otherwise.  Wrong
answers and unseen inputs stay with the author.
"""

import itertools
from fractions import Fraction
from statistics import median

import numpy as np

from hetlab.grading import Case, Correct, Task, close, exact

### BEGIN HIDDEN
from statistics import mean  # isort: skip

from hetlab.grading import Wrong  # isort: skip


def unseen(task, cases, criterion=0):
    """Add inputs that feedback never shows."""
    judged = task.criteria[criterion]
    known = judged.cases
    judged.cases = lambda rng: itertools.chain(known(rng), cases(rng))


### END HIDDEN
def durations(rng, n, level=100.0, tail=0.05):
    """Samples as machines give them: a floor, and a tail on the slow side."""
    return level * (1 + tail * rng.exponential(size=n))


def below(values, x):
    return sum(1 for v in values if v < x)


def kth_smallest(values, k):
    """The k-th smallest: fewer than k values lie below it, and k or more do not lie above."""
    return next(
        float(x) for x in values if below(values, x) < k <= len(values) - below(-values, -x)
    )


# ---------------------------------------------------------------------------- calls_needed


### BEGIN PUBLIC SPEC
def calls_needed_spec(call_ns, step_ns):
    needed = []
    for call in call_ns.tolist():
        calls = 1
        while calls * call < 1000 * step_ns:
            calls += 1
        needed.append(calls)
    return np.array(needed, dtype=np.int64)


### END PUBLIC SPEC
def calls_needed_cases(rng):
    yield Case("one call of 7 ns, steps of 1 ns", np.array([7]), 1)
    yield Case("exactly 1000 steps long", np.array([1000, 500, 250, 40_000]), 1)
    yield Case("longer than 1000 steps", np.array([1001, 999, 5_000_000]), 1)
    yield Case("steps of 41 ns", np.array([12, 150, 41_000, 40_999]), 41)
    yield Case("no call", np.array([], dtype=np.int64), 10)
    yield Case("steps of 100 ns", rng.integers(20, 300_000, 9), 100)


calls_needed = Task(
    "calls_needed",
    title="Make a sample long enough for the clock",
    criteria=[Correct(calls_needed_spec, calls_needed_cases, points=2, agree=exact())],
    hints=(
        "How long must a sample last in nanoseconds? The step of the clock says it.",
        "It must last 1000 * step_ns. Divide by the length of a call, and think about what is left "
        "over: a sample that is one call short is too short.",
        "Round up: -(-a // b) is a / b rounded up for whole numbers, and works on arrays too.",
    ),
)
### BEGIN HIDDEN
calls_needed.wrong += [
    Wrong(
        "rounded down",
        lambda c, s: np.maximum(1, 1000 * s // c),
        says="When the division leaves a rest, your sample is one call short of 1000 steps.",
    ),
    Wrong(
        "no call at all when one is long enough",
        lambda c, s: 1000 * s // c,
        says="A sample holds at least one call; rounding down left some with none.",
    ),
    Wrong(
        "one step of the clock is enough",
        lambda c, s: -(-s // c),
        says="A sample of one step may be off by all of itself. It should last 1000 steps.",
    ),
    Wrong(
        "the same number for all",
        lambda c, s: np.full(c.shape, -(-1000 * s // c.min()) if c.size else 0),
        says="Each call has a length of its own, so each needs its own number.",
    ),
    Wrong(
        "the division turned over",
        lambda c, s: -(-1000 * c // s),
        says="Shorter calls need more repetitions, and yours get fewer.",
    ),
]
unseen(calls_needed, lambda rng: [Case("more", rng.integers(5, 90_000, 40), 17, public=False)])
### END HIDDEN


# ------------------------------------------------------------------------------ first_call


### BEGIN PUBLIC SPEC
def split_spec(calls):
    first, later = float(calls[0]), calls[1:].tolist()
    if not later:
        return 0.0, first
    each = median(later)
    return (first - each if first > each else 0.0), each


def pays_from_spec(once, each, old):
    if old <= each:
        return 0
    calls = 1
    while once + calls * each >= calls * old:
        calls += 1
    return calls


### END PUBLIC SPEC
def split_cases(rng):
    yield Case("three calls", np.array([900.0, 20.0, 30.0]))
    yield Case("four calls, one of them disturbed", np.array([500.0, 10.0, 90.0, 12.0]))
    yield Case("one call", np.array([321.0]))
    yield Case("two calls", np.array([50.0, 8.0]))
    yield Case("nothing is compiled, the first call is the quickest", np.array([8.0, 9.0, 11.0]))
    yield Case("ties", np.array([40.0, 7.0, 7.0, 7.0, 8.0]))
    for n in (8, 31):
        calls = np.round(durations(rng, n, tail=0.4), 1)
        calls[0] += 5000
        yield Case(f"{n} calls", calls)


def pays_from_cases(rng):
    yield Case("1000 µs once, 5 instead of 25 µs a call", 1000, 5, 25)
    yield Case("1001 µs once", 1001, 5, 25)
    yield Case("nothing is paid once", 0, 5, 6)
    yield Case("no gain a call", 100, 9, 9)
    yield Case("slower than before", 100, 30, 9)
    yield Case("a small gain", 3217, 11, 14)
    yield Case("a large gain", 30, 2, 500)


first_call = Task(
    "first_call",
    title="Keep the first call apart",
    hands_in=("split", "pays_from"),
    criteria=[
        Correct(split_spec, split_cases, points=2, agree=close(rtol=1e-9), name="split"),
        Correct(pays_from_spec, pays_from_cases, points=1, agree=exact(), name="pays_from"),
    ],
    hints=(
        "split: what is the cost of a call once everything is warm? The first call is no part of "
        "that. pays_from: what does each call save?",
        "split: the median of calls[1:] is the cost of a call; what the first call took beyond it "
        "was paid once. pays_from: the savings of n calls must be larger than what was paid once.",
        "split: max(0.0, calls[0] - each), and a case for a single call. pays_from: 0 unless old > "
        "each; else once // (old - each) + 1, since equal is not yet faster.",
    ),
)
### BEGIN HIDDEN


def splitting(each_of, once_of=lambda first, each: max(first - each, 0.0)):
    def split(calls):
        if len(calls) == 1:
            return 0.0, float(calls[0])
        each = float(each_of(calls))
        return float(once_of(float(calls[0]), each)), each

    return split


def wrong_split(name, split, says):
    return Wrong(name, {"split": split, "pays_from": pays_from_spec}, says=says)


def wrong_pays(name, pays, says):
    return Wrong(name, {"split": split_spec, "pays_from": pays}, says=says)


first_call.wrong += [
    wrong_split(
        "the first call counted among the others",
        splitting(lambda calls: median(calls.tolist())),
        "The first call is among the samples of which you took the median. Leave it out.",
    ),
    wrong_split(
        "the mean instead of the median",
        splitting(lambda calls: mean(calls[1:].tolist())),
        "One disturbed call moves a mean. Take the median of the later calls.",
    ),
    wrong_split(
        "the fastest instead of the median",
        splitting(lambda calls: min(calls[1:].tolist())),
        "The fastest call is a lucky one. Take the median of the later calls.",
    ),
    wrong_split(
        "the whole first call taken for compiling",
        splitting(lambda calls: median(calls[1:].tolist()), lambda first, each: first),
        "The first call also did its work. Only what it took beyond a later call was paid once.",
    ),
    wrong_split(
        "a compile time below zero",
        splitting(lambda calls: median(calls[1:].tolist()), lambda first, each: first - each),
        "A first call can be quicker than the others, by chance. Nothing was paid once then: 0.",
    ),
    wrong_pays(
        "equal taken for faster",
        lambda once, each, old: 0 if each >= old else max(1, -(-once // (old - each))),
        "At that number of calls both take the same time. Faster begins one call later.",
    ),
    wrong_pays(
        "each call saves all of the old time",
        lambda once, each, old: 0 if each >= old else once // old + 1,
        "A call of the new program takes time as well: it saves old - each.",
    ),
    wrong_pays(
        "never is forgotten",
        lambda once, each, old: once // max(1, abs(old - each)) + 1,
        "A program that gains nothing a call never pays back what was paid once.",
    ),
]


def more_first_call(rng):
    return [Case("more", np.append(4000.0, durations(rng, 40, tail=0.5)), public=False)]


unseen(first_call, more_first_call)
unseen(first_call, lambda rng: [Case("more", 123_456, 77, 101, public=False)], criterion=1)
### END HIDDEN


# -------------------------------------------------------------------------------- interval


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


# ----------------------------------------------------------------------------------- drift


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


# ---------------------------------------------------------------------------------- levels


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


# --------------------------------------------------------------------------------- verdict


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


# ------------------------------------------------------------------------------- benchmark


### BEGIN PUBLIC SPEC
def benchmark_spec(facts, samples, warmup):
    start, work = facts["start"], facts["work"]
    later = itertools.islice(itertools.cycle(work), warmup, warmup + samples)
    extra = itertools.islice(itertools.chain(start, itertools.repeat(0)), warmup, None)
    return [a + b for a, b in zip(later, extra)]


### END PUBLIC SPEC
class PracticeMachine:
    """The machine of the exercise notebook."""

    def __init__(self, facts):
        self.facts, self.time, self.calls = facts, 0, 0

    def clock(self):
        return self.time

    def fresh(self):
        self.time += self.facts["making"]
        return {"used": False}

    def work(self, data):
        extra, steps = self.facts["start"], self.facts["work"]
        took = steps[self.calls % len(steps)]
        self.time += took // 10 if data["used"] else took
        self.time += extra[self.calls] if self.calls < len(extra) else 0
        self.calls, data["used"] = self.calls + 1, True


def facts_of(rng, start, n=12):
    return {
        "making": int(rng.integers(500, 900)),
        "start": start,
        "work": [int(t) for t in rng.integers(1000, 1100, n)],
    }


def benchmark_cases(rng):
    facts = {"making": 7, "start": [500, 50], "work": [100, 110, 120, 130]}
    yield Case("3 samples after 2 calls of warm-up", facts, 3, 2)
    yield Case("one sample", facts, 1, 2)
    yield Case("no sample", facts, 0, 2)
    yield Case("no warm-up wanted: the first call is a sample", facts, 3, 0)
    yield Case("nothing is compiled", facts_of(rng, []), 6, 1)
    yield Case("a long warm-up", facts_of(rng, [90_000, 800, 400, 200, 100]), 20, 5)


benchmark = Task(
    "benchmark",
    title="Repair a benchmark",
    criteria=[Correct(benchmark_spec, benchmark_cases, points=4, agree=exact())],
    hints=(
        "Go through the faulty function line by line: what does each call of work get, and what "
        "lies between the two readings of the clock?",
        "Warm up first, each time with a fresh input. Then for each sample: make the input, read "
        "the clock, work, read the clock.",
        "data = machine.fresh() stands inside the loop and above start = machine.clock(). Keep "
        "machine.clock() - start in a list, and return the list.",
    ),
    not_checked="how it behaves with a real clock",
)
### BEGIN HIDDEN


def benchmarking(*, warm=True, reuse=False, made_inside=False, clock_once=False, finish=list):
    def benchmark(facts, samples, warmup):
        m = PracticeMachine(facts)
        shared = m.fresh() if reuse else None
        for _ in range(warmup if warm else 0):
            m.work(shared or m.fresh())
        found, before = [], m.clock()
        for _ in range(samples):
            given = shared or (None if made_inside else m.fresh())
            if not clock_once:
                before = m.clock()
            m.work(given or m.fresh())
            found.append(m.clock() - before)
        return finish(found)

    return benchmark


benchmark.wrong += [
    Wrong(
        "the faulty benchmark as it was",
        benchmarking(warm=False, reuse=True, clock_once=True),
        says="This gives the times of the faulty function. Look for its three faults.",
    ),
    Wrong(
        "no warm-up",
        benchmarking(warm=False),
        says="The first calls are among your samples. Make `warmup` calls before, uncounted.",
    ),
    Wrong(
        "one input for all calls",
        benchmarking(reuse=True),
        says="work changes its input: from the second call on it has nearly nothing to do. "
        "Call machine.fresh() for each call.",
    ),
    Wrong(
        "making the input is timed too",
        benchmarking(made_inside=True),
        says="machine.fresh() lies between your two readings of the clock. Call it before.",
    ),
    Wrong(
        "the clock is started only once",
        benchmarking(clock_once=True),
        says="Each of your times holds all the calls before it. Read the clock for each sample.",
    ),
    Wrong(
        "the times are sorted",
        benchmarking(finish=sorted),
        says="The values are right and their order is lost. Without it nobody can see drift.",
    ),
    Wrong(
        "the median instead of all times",
        benchmarking(finish=lambda times: median(times) if times else 0),
        says="Return every sample, in order. One number can be made of them later.",
        fails="value",
    ),
]


def more_benchmark(rng):
    return [
        Case("more", facts_of(rng, [70_000, 7000, 700], 31), 40, 4, public=False),
        Case("and more", facts_of(rng, [70_000, 7000, 700, 70], 7), 20, 2, public=False),
    ]


unseen(benchmark, more_benchmark)
### END HIDDEN


# --------------------------------------------------------------------------------- ranking


### BEGIN PUBLIC SPEC
def ranking_spec(seconds, results, expected, cut):
    places = [0] * len(results)
    entered = [p for p in range(len(results)) if results[p] == expected]
    leader, place = None, 0
    for rank, p in enumerate(sorted(entered, key=lambda p: (median(seconds[p].tolist()), p)), 1):
        if leader is None or verdict_spec(seconds[p], seconds[leader], cut) == "faster":
            leader, place = p, rank
        places[p] = place
    return np.array(places, dtype=np.int64)


### END PUBLIC SPEC
def field_of(rng, levels, rounds, heat=1.0, tail=0.03):
    """Samples of several programs in turn on a machine that drifts."""
    level = np.linspace(1, heat, rounds)
    return np.array([level * durations(rng, rounds, level=x, tail=tail) for x in levels])


def ranking_cases(rng):
    yield Case("three programs", field_of(rng, (30, 10, 20), 10), np.array([7, 7, 7]), 7, 1)
    yield Case("one is wrong", field_of(rng, (30, 10, 20), 10), np.array([7, 8, 7]), 7, 1)
    yield Case("one program", field_of(rng, (30,), 9), np.array([7]), 7, 1)
    yield Case("all are wrong", field_of(rng, (30, 10), 9), np.array([1, 2]), 7, 1)
    same = np.tile(durations(rng, 9), (3, 1))
    yield Case("three times the same samples", same, np.array([5, 5, 5]), 5, 1)
    yield Case(
        "twins in front", field_of(rng, (20, 10, 10), 40, tail=0.2), np.array([4, 4, 4]), 4, 12
    )
    yield Case("drift", field_of(rng, (12, 10, 11, 9), 40, heat=3.0), np.array([9, 9, 9, 2]), 9, 12)
    steps = np.array([[10.0] * 8, [9.9] + [10.2] * 7, [10.4, 10.1] + [10.4] * 6])
    yield Case("small steps", steps, np.array([3, 3, 3]), 3, 1)


ranking = Task(
    "ranking",
    title="Rank programs fairly",
    criteria=[Correct(ranking_spec, ranking_cases, points=3, agree=exact())],
    hints=(
        "Who may take part? Then: who is in front, and which of the others can be told from it?",
        "Sort those that may take part by their median. Go through them with the leader of the "
        "present place in hand: is this program seen to be slower than the leader, by the ratios "
        "within the rounds?",
        "r = np.sort(seconds[p] / seconds[leader]); p is seen to be slower when r[cut - 1] > 1. "
        "Then p is the new leader, and its place is its position in the sorted list, from 1.",
    ),
)
### BEGIN HIDDEN


def ranked(enter=True, apart="leader", dense=False):
    def ranking(seconds, results, expected, cut):
        places = np.zeros(len(results), dtype=np.int64)
        entered = [p for p in range(len(results)) if not enter or results[p] == expected]
        entered.sort(key=lambda p: (np.median(seconds[p]), p))
        leader, place = None, 0
        for rank, p in enumerate(entered, 1):
            if leader is None:
                new = True
            elif apart == "torn":
                new = np.sort(seconds[p])[cut - 1] > np.sort(seconds[leader])[-cut]
            else:
                new = np.sort(seconds[p] / seconds[leader])[cut - 1] > 1
            if new or apart == "all":
                place = place + 1 if dense else rank
            if new or apart == "neighbour":
                leader = p
            places[p] = place
        return places

    return ranking


ranking.wrong += [
    Wrong(
        "wrong results take part",
        ranked(enter=False),
        says="A program with a wrong result does other work. Its place is 0.",
    ),
    Wrong(
        "a place for each, seen or not",
        ranked(apart="all"),
        says="Where no difference was seen there is no second place: both get the same.",
    ),
    Wrong(
        "the rounds torn apart",
        ranked(apart="torn"),
        says="You compared an interval of each program. The machine drifts: compare the ratios "
        "within the rounds.",
    ),
    Wrong(
        "compared with the neighbour, not with the leader",
        ranked(apart="neighbour"),
        says="Small steps add up: the last may be seen to be slower than the leader though none "
        "is seen to be slower than its neighbour.",
    ),
    Wrong(
        "no place left out after a shared one",
        ranked(dense=True),
        says="After two firsts comes the third: a place is 1 + the number of programs before it.",
    ),
]


def more_ranking(rng):
    return [
        Case(
            "more",
            field_of(rng, (10, 10.3, 13, 10.1, 13.1, 8), 40, 2.5, 0.1),
            np.array([6, 6, 6, 6, 6, 1]),
            6,
            12,
            public=False,
        )
    ]


unseen(ranking, more_ranking)
### END HIDDEN
