"""Checks of lesson 02: ranking."""

from statistics import median

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen

from .common import durations
from .task_6_verdict import verdict_spec


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
