"""Checks of lesson 02: first call."""

from statistics import mean, median

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, close, exact, unseen

from .common import durations


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
