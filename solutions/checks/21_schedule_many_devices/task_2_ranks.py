"""Checks of lesson 21: upward ranks and the earliest start."""

from statistics import mean

from hetlab.grading import Case, Correct, Task, Wrong, close, exact, unseen

from .common import drawn, published, shuffled


### BEGIN PUBLIC SPEC
def ranks_spec(costs, edges):
    """Begin with the means, and raise what is too low until nothing changes."""
    ranks = {t: sum(c) / len(c) for t, c in costs.items()}
    for _ in costs:
        for (first, then), size in edges.items():
            ranks[first] = max(ranks[first], mean(costs[first]) + size + ranks[then])
    return ranks


def start_spec(busy, ready, seconds):
    """Only two kinds of times can be the earliest: ready itself, and the end of something."""
    times = [ready, *(end for _, end in busy if end > ready)]
    free = [t for t in times if all(t + seconds <= begin or t >= end for begin, end in busy)]
    return min(free)


### END PUBLIC SPEC
def ranks_cases(rng):
    yield Case("one task", {"a": [2, 4]}, {})
    yield Case("a chain", {"a": [1, 3], "b": [4, 4]}, {("a", "b"): 5})
    yield Case("the lesson's graph", *published())
    costs, edges = drawn(rng, 12, 4)
    yield Case("12 tasks, 4 devices", shuffled(rng, costs), edges)


upward_ranks = Task(
    "upward_ranks",
    title="Rank the tasks upwards",
    criteria=[Correct(ranks_spec, ranks_cases, points=3, agree=close(rtol=1e-9))],
    hints=(
        "A task after which nothing comes has its mean cost as its rank. Begin there.",
        "A function rank(task) may call itself for the tasks that come after.",
        "The mean of costs[t], plus the largest of (size + rank(then)) over its arrows, or 0.",
    ),
)


def start_cases(rng):
    yield Case("nothing to do yet", [], 3, 2)
    yield Case("after the only task", [(0, 4)], 1, 2)
    yield Case("a gap that fits exactly", [(0, 2), (5, 9)], 1, 3)
    yield Case("a gap that is too short", [(0, 2), (4, 9)], 0, 3)
    yield Case("in any order", [(10, 12), (0, 2), (5, 6)], 1, 4)
    yield Case("before everything", [(8, 9)], 2, 5)
    yield Case("ready in the middle of a task", [(0, 6), (8, 9)], 3, 2)
    cuts = sorted(int(c) for c in rng.choice(60, 12, replace=False))
    busy = list(zip(cuts[::2], cuts[1::2]))
    rng.shuffle(busy)
    yield Case("drawn", [tuple(map(int, b)) for b in busy], int(rng.integers(0, 20)), 4)


earliest_start = Task(
    "earliest_start",
    title="Find the earliest start",
    criteria=[Correct(start_spec, start_cases, points=3, agree=exact())],
    hints=(
        "Go through what is there in the order of time, and carry the earliest start along.",
        "When the task fits before the next begin, stop. Otherwise wait for that end.",
        "For begin, end in the sorted list: fits if start + seconds <= begin, else start becomes "
        "the larger of itself and end.",
    ),
)


### BEGIN HIDDEN
def without_transfer(costs, edges):
    return ranks_spec(costs, dict.fromkeys(edges, 0))


def fastest(costs, edges):
    return ranks_spec({t: [min(c)] for t, c in costs.items()}, edges)


def downward(costs, edges):
    return ranks_spec(costs, {(then, first): size for (first, then), size in edges.items()})


def at_the_end(busy, ready, seconds):
    return max([ready, *(end for _, end in busy)])


def unsorted_list(busy, ready, seconds):
    start = ready
    for begin, end in busy:
        if start + seconds <= begin:
            break
        start = max(start, end)
    return start


def data_forgotten(busy, ready, seconds):
    return start_spec(busy, 0, seconds)


upward_ranks.wrong += [
    Wrong("transfers forgotten", without_transfer, says="The data travel: add the transfer."),
    Wrong("the fastest device", fastest, says="Nobody knows yet where it runs: take the mean."),
    Wrong("ranked downwards", downward, says="You went to the tasks before. Go to those after."),
]
earliest_start.wrong += [
    Wrong("no insertion", at_the_end, says="You always wait for the last end. Use the gaps."),
    Wrong("the list is taken as sorted", unsorted_list, says="The list comes in any order."),
    Wrong("the data are not waited for", data_forgotten, says="Before ready nothing can start."),
]
unseen(upward_ranks, lambda rng: [Case("more", *drawn(rng, 20, 3), public=False)])
### END HIDDEN
