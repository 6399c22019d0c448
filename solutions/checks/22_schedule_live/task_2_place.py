"""Checks of lesson 22: placing by what is seen, and stealing."""

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen

from .common import drawn_costs, drawn_devices


### BEGIN PUBLIC SPEC
def place_spec(ready, devices, cost, arrives):
    busy_until = {name: facts["free"] for name, facts in devices.items()}
    answer = []
    for task in ready:
        table = []
        for number, (device, seconds) in enumerate(cost[task].items()):
            start = max(busy_until[device], arrives[task][device])
            table.append((start + seconds / devices[device]["speed"], number, device))
        soonest, _, chosen = min(table)
        busy_until[chosen] = soonest
        answer.append((task, chosen))
    return answer


def steal_spec(thief, devices, cost, now):
    """Every theft that pays, and then the victim that is free last."""
    thefts = []
    for number, (victim, facts) in enumerate(devices.items()):
        able = [task for task in facts["queue"] if victim != thief and thief in cost[task]]
        if able:
            ends = now + cost[able[-1]][thief] / devices[thief]["speed"]
            if ends < facts["free"]:
                thefts.append((-facts["free"], number, able[-1], victim))
    return min(thefts)[2:] if thefts else None


### END PUBLIC SPEC
def one_ready():
    """What the draft of the exercise passes."""
    return ["a"], {"d0": {"free": 0, "speed": 1.0}, "d1": {"free": 5, "speed": 1.0}}


def place_cases(rng):
    ready, devices = one_ready()
    costs, now = {"a": {"d0": 4, "d1": 3}}, {"a": {"d0": 0, "d1": 0}}
    yield Case("one task", ready, devices, costs, now)
    slow = {**devices, "d0": {"free": 0, "speed": 0.25}}
    yield Case("a slowed device", ready, slow, costs, now)
    three = {t: {"d0": 2, "d1": 3} for t in "abc"}
    level = {d: {"free": 0, "speed": 1.0} for d in devices}
    yield Case(
        "three tasks at once",
        list("abc"),
        level,
        three,
        {t: dict.fromkeys(level, 0) for t in "abc"},
    )
    yield Case("data come late", ready, level, costs, {"a": {"d0": 1, "d1": 9}})
    waits = {"a": {"d0": 2}, "b": {"d0": 2, "d1": 7}}
    late = {"a": {"d0": 6}, "b": {"d0": 0, "d1": 0}}
    yield Case("waiting blocks the device", ["a", "b"], level, waits, late)
    yield Case("a tie", ready, level, {"a": {"d0": 3, "d1": 3}}, now)
    devices = drawn_devices(rng, 3)
    cost = drawn_costs(rng, 8, devices)
    arrives = {t: {d: int(rng.integers(0, 20)) for d in row} for t, row in cost.items()}
    yield Case("8 tasks, 3 devices", list(cost)[::-1], devices, cost, arrives)


place = Task(
    "place",
    title="Repair: place by what is seen",
    criteria=[Correct(place_spec, place_cases, points=3, agree=exact())],
    hints=(
        "Try the draft with three equal tasks and two equal devices. Where do they go?",
        "After each decision the chosen device is free later. Remember that in a copy of your own.",
        "free = {d: ...}; end = max(free[d], arrives[task][d]) + cost[task][d] / speed; then "
        "free[best] = end.",
    ),
)

QUEUES = {
    "a": {"free": 20, "queue": ["t1", "t2"], "speed": 1.0},
    "b": {"free": 9, "queue": ["t3", "t4", "t5"], "speed": 1.0},
    "c": {"free": 2, "queue": [], "speed": 1.0},
}


def steal_cases(rng):
    cost = {f"t{i}": {"a": 4, "b": 4, "c": 4} for i in range(1, 6)}
    yield Case("one victim", "c", {"a": QUEUES["a"], "c": QUEUES["c"]}, cost, 2)
    yield Case("the longest time, not the longest queue", "c", QUEUES, cost, 2)
    slow = {**QUEUES, "c": {**QUEUES["c"], "speed": 0.2}}
    yield Case("it would end later on the thief", "c", slow, cost, 2)
    only = {t: ({"a": 4, "b": 4} if t == "t2" else row) for t, row in cost.items()}
    yield Case("the thief cannot run the last one", "c", QUEUES, only, 2)
    dear = {t: ({**row, "c": 40} if t in ("t1", "t2") else row) for t, row in cost.items()}
    yield Case("it pays with the second victim only", "c", QUEUES, dear, 2)
    yield Case("too late to help", "c", {"a": QUEUES["a"], "c": QUEUES["c"]}, cost, 17)
    last = {t: ({**row, "c": 40} if t == "t2" else row) for t, row in cost.items()}
    yield Case("the last one does not pay", "c", QUEUES, last, 2)
    yield Case("nothing to steal", "a", {"a": QUEUES["c"], "c": QUEUES["c"]}, cost, 2)
    devices = drawn_devices(rng, 4)
    cost = drawn_costs(rng, 9, devices)
    names = list(cost)
    for facts in devices.values():
        facts["queue"] = [names.pop() for _ in range(min(3, len(names)))]
    yield Case("drawn", "d3", devices, cost, 3)


steal = Task(
    "steal",
    title="Steal work",
    criteria=[Correct(steal_spec, steal_cases, points=3, agree=exact())],
    hints=(
        "Sort the possible victims by when they are free; the last one comes first.",
        "For a victim, go through its queue from the back until the thief can run a task.",
        "Compare now + cost[task][thief] / speed of the thief with the victim's free. If it is not "
        "earlier, go on with the next victim.",
    ),
)


### BEGIN HIDDEN
def herd(ready, devices, cost, arrives):
    return [place_spec([task], devices, cost, arrives)[0] for task in ready]


def full_speed(ready, devices, cost, arrives):
    believed = {d: {**facts, "speed": 1.0} for d, facts in devices.items()}
    return place_spec(ready, believed, cost, arrives)


def draft(ready, devices, cost, arrives):
    believed = {d: {**facts, "speed": 1.0} for d, facts in devices.items()}
    return herd(ready, believed, cost, arrives)


def upside_down(ready, devices, cost, arrives):
    turned = {d: {**facts, "speed": 1 / facts["speed"]} for d, facts in devices.items()}
    return place_spec(ready, turned, cost, arrives)


def only_work(ready, devices, cost, arrives):
    free, answer = {d: facts["free"] for d, facts in devices.items()}, []
    for task in ready:
        now = {d: {**devices[d], "free": free[d]} for d in devices}
        answer += place_spec([task], now, cost, arrives)
        device = answer[-1][1]
        free[device] += cost[task][device] / devices[device]["speed"]
    return answer


def no_data(ready, devices, cost, arrives):
    return place_spec(ready, devices, cost, {t: dict.fromkeys(row, 0) for t, row in cost.items()})


def from_front(thief, devices, cost, now):
    turned = {d: {**f, "queue": f["queue"][::-1]} for d, f in devices.items()}
    return steal_spec(thief, turned, cost, now)


def most_tasks(thief, devices, cost, now):
    victims = [d for d in devices if d != thief and devices[d]["queue"]]
    for victim in sorted(victims, key=lambda d: -len(devices[d]["queue"])):
        found = steal_spec(thief, {victim: devices[victim], thief: devices[thief]}, cost, now)
        if found:
            return found
    return None


def always(thief, devices, cost, now):
    quick = {t: dict.fromkeys(row, 0) for t, row in cost.items()}
    return steal_spec(thief, devices, quick, now)


def one_victim(thief, devices, cost, now):
    victims = [d for d in devices if d != thief and devices[d]["queue"]]
    if not victims:
        return None
    victim = min(victims, key=lambda d: -devices[d]["free"])
    return steal_spec(thief, {victim: devices[victim], thief: devices[thief]}, cost, now)


def no_clock(thief, devices, cost, now):
    return steal_spec(thief, devices, cost, 0)


def digs_deeper(thief, devices, cost, now):
    order = sorted(devices, key=lambda d: -devices[d]["free"])
    for victim in [d for d in order if d != thief]:
        for task in devices[victim]["queue"][::-1]:
            one = {victim: {**devices[victim], "queue": [task]}, thief: devices[thief]}
            if found := steal_spec(thief, one, cost, now):
                return found
    return None


place.wrong += [
    Wrong(
        "nothing changed",
        draft,
        says="This is still the draft: it errs with a slow device, and with several tasks.",
    ),
    Wrong(
        "the herd",
        herd,
        says="All run to the device that is free now. It is not, once the first is placed.",
    ),
    Wrong("full speed is believed", full_speed, says="Divide the cost by the speed that was seen."),
    Wrong("speed upside down", upside_down, says="At half speed a task takes twice as long."),
    Wrong(
        "data not waited for",
        no_data,
        says="A task starts when the device is free and its data are there.",
    ),
]
steal.wrong += [
    Wrong(
        "from the front", from_front, says="The front is next on the victim. Take from the back."
    ),
    Wrong("the longest queue", most_tasks, says="Count time, not tasks: who is free last?"),
    Wrong("always steals", always, says="A theft that ends later than the victim helps nobody."),
    Wrong("now is forgotten", no_clock, says="The thief begins now, not at 0."),
    Wrong(
        "digs deeper",
        digs_deeper,
        says="If the last task that the thief can run does not pay, go on with the next victim.",
    ),
    Wrong("one victim only", one_victim, says="If it does not pay there, look at the next victim."),
]
unseen(place, lambda rng: [_more(rng)])


def _more(rng):
    four = drawn_devices(rng, 4)
    cost = drawn_costs(rng, 12, four)
    return Case("more", list(cost), four, cost, cost, public=False)


### END HIDDEN
