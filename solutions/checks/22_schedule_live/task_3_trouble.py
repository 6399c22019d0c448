"""Checks of lesson 22: stragglers and dead devices."""

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen

from .common import drawn_costs


### BEGIN PUBLIC SPEC
def copies_spec(running, idle, cost, now, late):
    """One after another: who is furthest behind gets the fastest device that is left."""
    left, answer = list(idle), []
    names = [task for task, _, _ in running.values()]
    behind = [((now - since) / seconds, task) for task, since, seconds in running.values()]
    for ratio, task in sorted(behind, key=lambda pair: -pair[0]):
        able = [device for device in left if device in cost[task]]
        if ratio > late and names.count(task) == 1 and able:
            best = min(able, key=lambda device: cost[task][device])
            left.remove(best)
            answer.append((task, best))
    return answer


def again_spec(reads, done, copies, dead):
    """Begin with nothing, and add what is missing until nothing changes."""
    again = set()
    while True:
        missing = set()
        for task in done:
            readers = [reader for reader, inputs in reads.items() if task in inputs]
            wanted = not readers or any(r not in done or r in again for r in readers)
            gone = all(device == dead for device in copies[task])
            if wanted and gone and task not in again:
                missing.add(task)
        if not missing:
            return [task for task in reads if task in again]
        again |= missing


### END PUBLIC SPEC
def copies_cases(rng):
    cost = {"a": {"d0": 4, "d1": 4, "d2": 2}, "b": {"d0": 40, "d1": 40, "d2": 20}}
    cost |= {"c": {"d0": 4, "d1": 4, "d2": 4}}
    yield Case("one late task", {"d0": ("a", 0, 4)}, ["d1"], cost, 10, 2.0)
    yield Case("in time", {"d0": ("a", 4, 4)}, ["d1"], cost, 10, 2.0)
    yield Case("exactly at the limit", {"d0": ("a", 2, 4)}, ["d1"], cost, 10, 2.0)
    yield Case("long is not late", {"d0": ("b", 0, 40), "d1": ("a", 5, 4)}, ["d2"], cost, 20, 2.0)
    yield Case("two idle devices", {"d0": ("a", 0, 4)}, ["d1", "d2"], cost, 10, 2.0)
    yield Case("a copy runs already", {"d0": ("a", 0, 4), "d1": ("a", 8, 4)}, ["d2"], cost, 12, 2.0)
    two = {"d0": ("c", 0, 4), "d1": ("a", 8, 4)}
    yield Case("two late, one idle", two, ["d2"], cost, 30, 2.0)
    yield Case("the idle one cannot run it", two, ["d3"], cost, 30, 2.0)
    devices = [f"d{i}" for i in range(6)]
    cost = drawn_costs(rng, 4, devices)
    running = {
        d: (t, int(rng.integers(0, 40)), int(rng.integers(5, 20))) for d, t in zip(devices, cost)
    }
    yield Case("drawn", running, devices[4:], cost, 60, 1.5)


late_copies = Task(
    "late_copies",
    title="Repair: copy what is late",
    criteria=[Correct(copies_spec, copies_cases, points=3, agree=exact())],
    hints=(
        "A task of an hour that has run for half an hour is not late. One of a second is.",
        "How late: the time it has run, divided by the time it should take. Sort by that.",
        "Skip what is not above late, and what runs twice. min(able, key=lambda d: cost[task][d]) "
        "is the device; remove it from a list of your own.",
    ),
)

READS = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": []}


def again_cases(rng):
    yield Case("nothing is lost", READS, ["a", "b"], {"a": ["cpu"], "b": ["cpu"]}, "gpu")
    yield Case("one result", READS, ["a", "b"], {"a": ["cpu"], "b": ["gpu"]}, "gpu")
    yield Case(
        "a copy lies elsewhere", READS, ["a", "b"], {"a": ["cpu"], "b": ["gpu", "cpu"]}, "gpu"
    )
    held = {"a": ["gpu"], "b": ["cpu"], "c": ["cpu"]}
    yield Case("nobody needs it any more", READS, ["a", "b", "c"], held, "gpu")
    held = {"a": ["gpu"], "b": ["gpu"], "c": ["cpu"]}
    yield Case("two steps back", READS, ["a", "b", "c"], held, "gpu")
    held = {"a": ["gpu"], "b": ["gpu"], "c": ["gpu"], "d": ["cpu"], "e": ["gpu"]}
    yield Case("a result of the program", READS, list("abcde"), held, "gpu")
    names = [f"t{i}" for i in range(14)]
    reads = {n: [m for m in names[:i] if rng.random() < 0.25] for i, n in enumerate(names)}
    done = names[:9]
    places = [["gpu"], ["cpu"], ["gpu"], ["gpu", "cpu"]]
    copies = {n: places[int(rng.integers(4))] for n in done}
    order = list(rng.permutation(names))
    yield Case("14 tasks", {str(n): reads[str(n)] for n in order}, done, copies, "gpu")


run_again = Task(
    "run_again",
    title="Find what must run again",
    criteria=[Correct(again_spec, again_cases, points=4, agree=exact())],
    hints=(
        "Two questions for each result: is it gone, and does anybody still want it?",
        "Who runs again reads its inputs again. If those are gone too, their makers run again.",
        "Begin with the lost results that an unfinished task reads, or that no task reads. Then go "
        "from each to its inputs, as long as they are lost.",
    ),
)


### BEGIN HIDDEN
def draft_copies(running, idle, cost, now, late):
    longest = sorted(running, key=lambda device: running[device][1])
    return [(running[device][0], free) for device, free in zip(longest, idle)]


def longest_first(running, idle, cost, now, late):
    ok = {d: r for d, r in running.items() if (now - r[1]) / r[2] > late}
    order = dict(sorted(ok.items(), key=lambda item: item[1][1]))
    names = [r[0] for r in running.values()]
    left, answer = list(idle), []
    for task, _, _ in order.values():
        able = [d for d in left if d in cost[task]]
        if able and names.count(task) == 1:
            answer.append((task, min(able, key=lambda d: cost[task][d])))
            left.remove(answer[-1][1])
    return answer


def any_idle(running, idle, cost, now, late):
    return copies_spec(
        running, idle, {t: dict.fromkeys(row, 1) for t, row in cost.items()}, now, late
    )


def copies_of_copies(running, idle, cost, now, late):
    left, answer = list(idle), []
    behind = sorted(running.values(), key=lambda r: -(now - r[1]) / r[2])
    for task, since, seconds in behind:
        able = [d for d in left if d in cost[task]]
        if (now - since) / seconds > late and able:
            answer.append((task, min(able, key=lambda d: cost[task][d])))
            left.remove(answer[-1][1])
    return answer


def at_the_limit(running, idle, cost, now, late):
    return copies_spec(running, idle, cost, now, late - 1e-9)


def all_lost(reads, done, copies, dead):
    return [t for t in reads if t in done and all(d == dead for d in copies[t])]


def one_step(reads, done, copies, dead):
    needed = {i for t, inputs in reads.items() if t not in done for i in inputs}
    ends = {t for t in done if not any(t in inputs for inputs in reads.values())}
    return [t for t in all_lost(reads, done, copies, dead) if t in needed | ends]


def any_copy(reads, done, copies, dead):
    return again_spec(reads, done, {t: [dead] if dead in c else c for t, c in copies.items()}, dead)


def no_results(reads, done, copies, dead):
    readers = {**reads, "end of the program": []}
    kept = {t: c if any(t in i for i in reads.values()) else ["home"] for t, c in copies.items()}
    return [t for t in again_spec(readers, done, kept, dead) if t in reads]


late_copies.wrong += [
    Wrong(
        "nothing changed",
        draft_copies,
        says="This is still the draft: it copies whatever has run for long.",
    ),
    Wrong(
        "long is taken for late",
        longest_first,
        says="Sort by how late a task is for its own length.",
    ),
    Wrong(
        "any idle device",
        any_idle,
        says="Give each the idle device that needs the least time for it.",
    ),
    Wrong("at the limit", at_the_limit, says="Late means more than so many times as long."),
    Wrong(
        "copies of copies", copies_of_copies, says="A task that runs on two devices has its copy."
    ),
]
run_again.wrong += [
    Wrong(
        "all that lay there",
        all_lost,
        says="Some of it was read by all who wanted it. Go back only from tasks that must run.",
    ),
    Wrong(
        "one step only",
        one_step,
        says="A task that runs again needs its inputs again; they may be gone too.",
    ),
    Wrong(
        "copies elsewhere forgotten",
        any_copy,
        says="A result with a copy on another device is not lost.",
    ),
    Wrong(
        "results of the program forgotten",
        no_results,
        says="What no task reads is what the user waits for.",
    ),
]
unseen(run_again, lambda rng: [_chain()])


def _chain():
    names = [f"s{i}" for i in range(8)]
    reads = {n: [names[i - 1]] if i else [] for i, n in enumerate(names)}
    copies = {n: ["x"] if i != 1 else ["y"] for i, n in enumerate(names[:6])}
    return Case("a chain", reads, names[:6], copies, "x", public=False)


### END HIDDEN
