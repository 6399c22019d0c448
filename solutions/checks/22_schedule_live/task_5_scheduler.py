"""Checks of lesson 22: a scheduler of one's own, on machines that go wrong."""

from hetlab.grading import Races, Task, Wrong


def worlds():
    """The six machines of the lesson, and the same with other durations."""
    from hetlab.sched import faulty_machines

    return [*faulty_machines(), *faulty_machines(seed=3)]


decide = Task(
    "decide",
    title="Finish your scheduler",
    criteria=[Races(worlds, finish=2, near=2, than="load", times=1.1)],
    hints=(
        "Two things to do at each call: place what is ready, then copy what is late.",
        "Do not fill long queues: at most one task behind the one that runs. What you do not place "
        "you are asked about again.",
        "When nothing was placed, collect the idle devices and the running tasks for late_copies, "
        "and return ('wait', seconds) until the next task would be late.",
    ),
    not_checked="machines of another kind, and real devices",
)


### BEGIN HIDDEN
def _ends(state, task, free):
    table = {}
    for device, seconds in state["cost"][task].items():
        start = max(free[device], state["arrives"][task][device])
        table[device] = start + seconds / state["devices"][device]["speed"]
    return table


def at_once(state):
    """Everything that is ready goes somewhere at once, and nothing is ever copied."""
    free, answer = {d: facts["free"] for d, facts in state["devices"].items()}, []
    for task in state["ready"]:
        ends = _ends(state, task, free)
        best = min(ends, key=ends.get)
        free[best] = ends[best]
        answer.append((task, best))
    return answer


def in_turn(state):
    names = list(state["devices"])
    return [(task, names[i % len(names)]) for i, task in enumerate(state["ready"])]


def only_first(state):
    return at_once(state) if state["time"] == 0 else []


def twice(state):
    answer = at_once(state)
    running = [f["running"] for f in state["devices"].values() if f["running"] is not None]
    return answer + [(task, next(iter(state["cost"][task]))) for task in running]


def to_gpu(state):
    return [(task, "gpu1") for task in state["ready"]]


decide.wrong += [
    Wrong(
        "nothing is ever copied",
        at_once,
        says="You decide early and never look back: what hangs on a slow device waits there.",
        fails="slow",
    ),
    Wrong(
        "a share for each device",
        in_turn,
        says="Every device gets its share, whatever it can do. Look at the ends.",
        fails="slow",
    ),
    Wrong(
        "decided once",
        only_first,
        says="You are asked again and again. Tasks that become ready later must be placed then.",
        fails="stalled",
    ),
    Wrong(
        "running tasks are placed again",
        twice,
        says="A running task is not yours to place; run a copy of it, or leave it alone.",
        fails="impossible",
    ),
    Wrong(
        "a device by its name",
        to_gpu,
        says="That device may be gone. Take the devices from the state.",
        fails="impossible",
    ),
    Wrong("does nothing", lambda state: [], fails="stalled"),
    Wrong("None", lambda state: None, fails="stalled"),
    Wrong("a number", lambda state: 1, fails="impossible"),
]
### END HIDDEN
