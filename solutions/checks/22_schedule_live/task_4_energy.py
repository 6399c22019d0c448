"""Checks of lesson 22: energy under a deadline."""

import itertools

from hetlab.grading import Case, Correct, Task, Wrong, close, unseen


### BEGIN PUBLIC SPEC
def joules_spec(options, deadline, base_watts):
    """Every way is tried.  Tasks with the same options change places, so only counts matter."""
    kinds = {}
    for row in options:
        kinds[tuple(map(tuple, row))] = kinds.get(tuple(map(tuple, row)), 0) + 1
    ways = [itertools.combinations_with_replacement(row, n) for row, n in kinds.items()]
    found = []
    for way in itertools.product(*ways):
        chosen = [pair for part in way for pair in part]
        seconds = sum(pair[0] for pair in chosen)
        if seconds <= deadline:
            found.append(sum(pair[1] for pair in chosen) + base_watts * seconds)
    return min(found, default=None)


### END PUBLIC SPEC
def joules_cases(rng):
    two = [[(2, 30), (5, 10)], [(1, 20), (4, 8)]]
    yield Case("room for one slow task", two, 6, 0)
    yield Case("room for both", two, 9, 0)
    yield Case("no time", two, 2, 0)
    yield Case("the machine draws power too", two, 9, 12)
    yield Case("one way only", [[(3, 7)]], 3, 2)
    rows = [
        [(int(rng.integers(1, 9)), int(rng.integers(5, 60))) for _ in range(3)] for _ in range(6)
    ]
    yield Case("6 tasks, 3 devices", rows, 24, 3)
    yield Case("24 tasks: too many ways to try", [[(1, 9), (2, 4), (3, 1)]] * 24, 50, 0)


fewest_joules = Task(
    "fewest_joules",
    title="Save energy, meet the deadline",
    criteria=[Correct(joules_spec, joules_cases, points=4, agree=close(rtol=1e-9))],
    time_limit=6.0,
    hints=(
        "After some tasks only one thing matters for the rest: how much time has gone.",
        "Keep a dictionary: seconds used -> the least joules so far. Extend it task by task.",
        "For each task, a new dictionary: from each t and each (s, j) to t + s with joules + j + "
        "base_watts * s, if t + s is within the deadline; keep the smaller one.",
    ),
)


### BEGIN HIDDEN
def reference(options, deadline, base_watts):
    best = {0: 0.0}
    for row in options:
        longer = {}
        for used, joules in best.items():
            for seconds, more in row:
                then = used + seconds
                total = joules + more + base_watts * seconds
                if then <= deadline and total < longer.get(then, float("inf")):
                    longer[then] = total
        best = longer
    return min(best.values(), default=None)


def chosen_by(key, check=True, base=True):
    def function(options, deadline, base_watts):
        pairs = [min(row, key=key) for row in options]
        seconds = sum(s for s, _ in pairs)
        if check and seconds > deadline:
            return None
        return sum(j for _, j in pairs) + base_watts * seconds * base

    return function


def fair_share(options, deadline, base_watts):
    share, pairs = deadline / len(options), []
    for row in options:
        able = [(j + base_watts * s, s) for s, j in row if s <= share]
        if not able:
            return None
        pairs.append(min(able))
    return sum(total for total, _ in pairs)


def greedy(options, deadline, base_watts):
    """From the fastest way on, always the change that saves most."""
    rows = [[(s, j + base_watts * s) for s, j in row] for row in options]
    chosen = [min(row) for row in rows]
    while (left := deadline - sum(s for s, _ in chosen)) >= 0:
        changes = [
            (chosen[i][1] - pair[1], i, pair)
            for i, row in enumerate(rows)
            for pair in row
            if pair[1] < chosen[i][1] and pair[0] - chosen[i][0] <= left
        ]
        if not changes:
            return sum(j for _, j in chosen)
        _, i, pair = max(changes, key=lambda change: change[0])
        chosen[i] = pair
    return None


def every_way(options, deadline, base_watts):
    found = None
    for way in itertools.product(*options):
        seconds = sum(pair[0] for pair in way)
        if seconds <= deadline:
            joules = sum(pair[1] for pair in way) + base_watts * seconds
            found = joules if found is None else min(found, joules)
    return found


fewest_joules.criteria[0].spec = reference
fewest_joules.wrong += [
    Wrong(
        "the deadline is forgotten",
        lambda options, deadline, base_watts: reference(options, 10**9, base_watts),
        says="That way needs more time than there is.",
    ),
    Wrong(
        "the machine costs nothing",
        lambda options, deadline, base_watts: reference(options, deadline, 0),
        says="As long as the program runs, the machine draws base_watts as well.",
    ),
    Wrong(
        "paid until the deadline",
        lambda options, deadline, base_watts: (
            None
            if (found := _best(options, deadline, 0)) is None
            else found + base_watts * deadline
        ),
        says="The base power is paid until the program ends, which may be earlier.",
    ),
    Wrong(
        "always the fastest",
        chosen_by(lambda pair: pair[0]),
        says="The fastest device meets the deadline, and often wastes energy.",
    ),
    Wrong(
        "the thriftiest, or nothing",
        chosen_by(lambda pair: pair[1]),
        says="If the thriftiest way is too slow, make some tasks faster, not none possible.",
    ),
    Wrong(
        "a fair share of the time for each",
        fair_share,
        says="One task may take more than its share when another takes less.",
    ),
    Wrong(
        "the largest saving first",
        greedy,
        says="One large saving can use up the time for two smaller ones. Keep several ways open.",
    ),
    Wrong(
        "every way is tried",
        every_way,
        says="Right for a few tasks, and for ever with many: keep the best for each time used.",
        fails="timeout",
        when=lambda expected, got: False,  # it cannot be held against an answer: it never ends
    ),
]
unseen(fewest_joules, lambda rng: [_many(rng)])


def _best(options, deadline, base_watts):
    return reference(options, deadline, base_watts)


def _many(rng):
    rows = [[(int(s), int(60 / s) + int(rng.integers(9))) for s in (1, 2, 4)] for _ in range(25)]
    return Case("25 tasks", rows, 60, 2, public=False)


### END HIDDEN
