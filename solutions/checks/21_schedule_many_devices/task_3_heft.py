"""Checks of lesson 21: HEFT, and an FPGA."""

from itertools import permutations

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen

from .common import drawn, published

FOUR = {"a": [1, 2], "b": [2, 1], "c": [9, 1], "d": [1, 1]}
FOUR_EDGES = {("a", "c"): 1, ("a", "d"): 5}


### BEGIN PUBLIC SPEC
def heft_spec(costs, edges):
    """What was published: 80 on the graph of 2002, and the case that shows insertion."""
    known = {
        10: "t1:2:0:9 t3:2:9:28 t4:1:18:26 t2:0:27:40 t5:2:28:38 t6:1:26:42 t9:1:56:68 "
        "t7:2:38:49 t8:0:57:62 t10:1:73:80",
        4: "a:0:0:1 d:0:1:2 c:1:2:3 b:1:0:1",
        1: "a:1:0:2",
    }
    places = (entry.split(":") for entry in known[len(costs)].split())
    return {task: tuple(map(int, numbers)) for task, *numbers in places}


def fpga_spec(jobs, setup, loaded):
    """Every order is tried."""

    def seconds(order):
        total, now = 0, loaded
        for kind, work in order:
            total += work + (setup if kind != now else 0)
            now = kind
        return total

    return seconds(jobs), min(map(seconds, permutations(jobs)))


### END PUBLIC SPEC
def heft_cases(rng):
    yield Case("one task", {"a": [5, 2, 7]}, {})
    yield Case("four tasks that show insertion", FOUR, FOUR_EDGES)
    yield Case("the lesson's graph", *published())


heft = Task(
    "heft",
    title="Put it together: HEFT",
    criteria=[Correct(heft_spec, heft_cases, points=4, agree=exact())],
    hands_in=("heft",),
    hints=(
        "Two loops: over the tasks by falling rank, and inside it over the devices.",
        "Data are there at the latest of: end of a task before it, plus the transfer if that one "
        "ran elsewhere.",
        "Keep, for each device, the list of (start, end). The best place is the one with the "
        "smallest end; on equal ends keep the first.",
    ),
)


def fpga_cases(rng):
    yield Case("nothing to do", [], 5, None)
    yield Case("loaded already", [("a", 2)], 5, "a")
    yield Case("another kind is loaded", [("a", 2)], 5, "b")
    yield Case("in turn", [("a", 2), ("b", 1), ("a", 2), ("b", 1)], 5, None)
    yield Case("the loaded kind comes last", [("b", 3), ("a", 1), ("a", 1)], 7, "a")
    kinds = [str(k) for k in rng.choice(list("abc"), 6)]
    yield Case("drawn", [(k, int(rng.integers(1, 9))) for k in kinds], 4, "c")


fpga_seconds = Task(
    "fpga_seconds",
    title="Load an FPGA rarely",
    criteria=[Correct(fpga_spec, fpga_cases, points=3, agree=exact())],
    hints=(
        "The work is the same in every order. Only the number of reconfigurations changes.",
        "In the given order: one for each job whose kind is not the one loaded just before.",
        "In the best order: one for each different kind, less the kind that is loaded already.",
    ),
)


### BEGIN HIDDEN
from .task_2_ranks import at_the_end, ranks_spec, start_spec  # noqa: E402


def reference(costs, edges, insertion=True, transfers=True, by="end", rank=True):
    """HEFT, and its misconceptions by switches."""
    ranks = ranks_spec(costs, edges)
    order = sorted(costs, key=lambda t: -ranks[t]) if rank else _waves(costs, edges)
    places, busy = {}, {}
    for task in order:
        found = []
        for device, seconds in enumerate(costs[task]):
            ready = 0
            for (first, then), size in edges.items():
                if then == task:
                    other, _, end = places[first]
                    ready = max(ready, end + (size if other != device and transfers else 0))
            find = start_spec if insertion else at_the_end
            start = find(busy.get(device, []), ready, seconds)
            key = {"end": start + seconds, "start": start, "cost": seconds}[by]
            found.append((key, device, start, start + seconds))
        _, device, start, end = min(found)
        places[task] = (device, start, end)
        busy.setdefault(device, []).append((start, end))
    return places


def _waves(costs, edges):
    order = []
    while len(order) < len(costs):
        for task in costs:
            if task not in order and all(a in order for a, b in edges if b == task):
                order.append(task)
    return order


heft.criteria[0].spec = reference
heft.wrong += [
    Wrong(
        "no insertion",
        lambda costs, edges: reference(costs, edges, insertion=False),
        says="A task that fits into a gap may start earlier. Use earliest_start.",
    ),
    Wrong(
        "transfers forgotten",
        lambda costs, edges: reference(costs, edges, transfers=False),
        says="Data that come from another device arrive later: add the transfer.",
    ),
    Wrong(
        "the earliest start, not the earliest end",
        lambda costs, edges: reference(costs, edges, by="start"),
        says="You took the device on which it starts first. A slow one may still end later.",
    ),
    Wrong(
        "the fastest device, always",
        lambda costs, edges: reference(costs, edges, by="cost"),
        says="The fastest device may be busy, or far from the data. Compare the ends.",
    ),
    Wrong(
        "not by rank",
        lambda costs, edges: reference(costs, edges, rank=False),
        says="You took the tasks as they become ready. Take them by falling rank.",
    ),
]
unseen(heft, lambda rng: [Case("12 tasks", *drawn(rng, 12, 3), public=False)])
unseen(heft, lambda rng: [Case("20 tasks", *drawn(rng, 20, 4), public=False)])
fpga_seconds.wrong += [
    Wrong(
        "the first load is free",
        lambda jobs, setup, loaded: fpga_spec(jobs, setup, jobs[0][0] if jobs else None),
        says="Unless its kind is loaded already, the first job needs a reconfiguration too.",
    ),
    Wrong(
        "one load a job",
        lambda jobs, setup, loaded: (
            sum(s for _, s in jobs) + setup * len(jobs),
            fpga_spec(jobs, setup, loaded)[1],
        ),
        says="A job of the kind that is loaded needs no reconfiguration.",
    ),
    Wrong(
        "what is loaded is forgotten",
        lambda jobs, setup, loaded: (
            fpga_spec(jobs, setup, loaded)[0],
            sum(s for _, s in jobs) + setup * len({k for k, _ in jobs}),
        ),
        says="In the best order the kind that is loaded already comes first, without a load.",
    ),
]
### END HIDDEN
