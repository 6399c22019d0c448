"""Checks of lesson 21: ready tasks, critical path, lower bound."""

from hetlab.grading import Case, Correct, Task, Wrong, close, exact, unseen

from .common import drawn, shuffled

SMALL = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": []}


### BEGIN PUBLIC SPEC
def ready_spec(before, done):
    ready = []
    for task in before:
        waits = False
        for other in before[task]:
            waits = waits or other not in done
        if not waits and task not in done:
            ready.append(task)
    return ready


def path_spec(cost, edges):
    """All ways, one after another."""
    ways = [[task] for task in cost]
    longest = 0
    while ways:
        way = ways.pop()
        longest = max(longest, sum(cost[t] for t in way))
        ways += [[*way, then] for first, then in edges if first == way[-1]]
    return longest


def bound_spec(work, path, devices):
    area = sum(work) / devices
    return path if path > area else area


### END PUBLIC SPEC
def ready_cases(rng):
    yield Case("nothing is done", SMALL, [])
    yield Case("one of two is done", SMALL, ["a", "b"])
    yield Case("all but the last", SMALL, ["e", "c", "b", "a"])
    yield Case("everything is done", SMALL, list(SMALL))
    costs, edges = drawn(rng, 12, 1)
    before = {t: [a for a, b in edges if b == t] for t in costs}
    yield Case("12 tasks", shuffled(rng, before), list(costs)[:5])


ready_tasks = Task(
    "ready_tasks",
    title="Find the ready tasks",
    criteria=[Correct(ready_spec, ready_cases, points=2, agree=exact())],
    hints=(
        "A task is ready when it is not done, and every task before it is.",
        "A set knows whether it holds all elements of a list: issuperset.",
        "Keep t when t not in done and all(b in done for b in before[t]).",
    ),
)


def path_cases(rng):
    yield Case("no task", {}, [])
    yield Case("one task", {"a": 3}, [])
    yield Case("two ways", {"c": 1, "a": 2, "b": 9, "d": 1}, [("a", "b"), ("a", "c"), ("c", "d")])
    yield Case("the dearest task alone", {"x": 5, "a": 3, "b": 4}, [("a", "b")])
    costs, edges = drawn(rng, 9, 1)
    cost = {t: c[0] for t, c in costs.items()}
    yield Case("9 tasks", shuffled(rng, cost), list(edges))


critical_path = Task(
    "critical_path",
    title="Measure the critical path",
    criteria=[Correct(path_spec, path_cases, points=3, agree=exact())],
    hints=(
        "From one task on, the dearest way is its own cost and the dearest way of a successor.",
        "Write a function that calls itself for each task that comes after, and remembers.",
        "The longest way from t: cost of t, plus the largest longest way of what follows, or 0.",
    ),
)


def bound_cases(rng):
    yield Case("one device", [2.0, 3.0], 3.0, 1)
    yield Case("the path decides", [2.0, 3.0, 1.0], 5.0, 4)
    yield Case("the area decides", [2.0] * 9, 2.0, 2)
    yield Case("drawn", [float(w) for w in rng.integers(1, 9, 20)], 11.0, 3)


lower_bound = Task(
    "lower_bound",
    title="State a lower bound",
    criteria=[Correct(bound_spec, bound_cases, points=2, agree=close(rtol=1e-12))],
    hints=(
        "Two things are impossible: to be faster than the path, and to share better than evenly.",
        "The area is all the work divided by the number of devices.",
        "The larger of path and sum(work) / devices.",
    ),
)


### BEGIN HIDDEN
ready_tasks.wrong += [
    Wrong(
        "one is enough",
        lambda before, done: [
            t for t, n in before.items() if t not in done and (not n or any(b in done for b in n))
        ],
        says="You take a task when one of the tasks before it is done. All of them must be.",
    ),
    Wrong(
        "done tasks come again",
        lambda before, done: [t for t, n in before.items() if all(b in done for b in n)],
        says="A task that is done needs nothing any more and would run twice.",
    ),
    Wrong(
        "only tasks without needs",
        lambda before, done: [t for t, n in before.items() if not n and t not in done],
        says="You find the tasks that need nothing. Others become ready when theirs are done.",
    ),
]
critical_path.wrong += [
    Wrong(
        "all tasks added",
        lambda cost, edges: sum(cost.values()),
        says="That is the whole work. Tasks on different ways overlap.",
    ),
    Wrong(
        "the dearest task",
        lambda cost, edges: max(cost.values(), default=0),
        says="That is one task. The path is a chain of tasks that wait for each other.",
    ),
    Wrong(
        "the number of tasks on it",
        lambda cost, edges: path_spec(dict.fromkeys(cost, 1), edges),
        says="You counted tasks. Add up their costs.",
    ),
]
lower_bound.wrong += [
    Wrong(
        "the two added",
        lambda work, path, devices: path + sum(work) / devices,
        says="Both bounds hold at the same time; the larger one is the stronger. Do not add them.",
    ),
    Wrong(
        "the smaller one",
        lambda work, path, devices: min(path, sum(work) / devices),
        says="A lower bound is the better the larger it is.",
    ),
    Wrong(
        "only the area",
        lambda work, path, devices: sum(work) / devices,
        says="You forgot the path: many devices do not shorten a chain.",
    ),
]
unseen(critical_path, lambda rng: [Case("more", {"a": 1, "b": 2}, [("b", "a")], public=False)])
### END HIDDEN
