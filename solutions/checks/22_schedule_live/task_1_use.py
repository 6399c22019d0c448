"""Checks of lesson 22: how much devices worked, and how much they may."""

from hetlab.grading import Case, Correct, Task, Wrong, close, unseen

SPANS = [("cpu", 0.0, 4.0, "run"), ("gpu", 1.0, 3.0, "run"), ("gpu", 3.0, 6.0, "cancelled")]
SPANS += [("cpu", 4.0, 5.0, "run"), ("npu", 2.0, 4.0, "lost")]


### BEGIN PUBLIC SPEC
def use_spec(spans, devices):
    counted = [span for span in spans if span[3] == "run"]
    makespan = max([end for _, _, end, _ in counted], default=0)
    shares = {}
    for device in devices:
        work = [end - start for name, start, end, _ in counted if name == device]
        shares[device] = sum(work) / makespan if makespan else 0.0
    return shares


def cool_spec(resistance, ambient, limit, idle_watts, busy_watts):
    """Halve the range until nothing is left of it."""
    low, high = 0.0, 1.0
    for share in (0.0, 1.0):
        degrees = ambient + resistance * (share * busy_watts + (1 - share) * idle_watts)
        if share == 0.0 and degrees > limit:
            return 0.0
        if share == 1.0 and degrees <= limit:
            return 1.0
    for _ in range(200):
        share = (low + high) / 2
        watts = share * busy_watts + (1 - share) * idle_watts
        low, high = (share, high) if ambient + resistance * watts <= limit else (low, share)
    return low


### END PUBLIC SPEC
def use_cases(rng):
    yield Case("one device", [("cpu", 1.0, 4.0, "run")], ["cpu"])
    yield Case("cancelled and lost work", SPANS, ["cpu", "gpu", "npu"])
    yield Case("a device that did nothing", SPANS[:2], ["cpu", "gpu", "fpga"])
    yield Case("one of three is asked for", SPANS, ["gpu"])
    yield Case("nothing ran", [("cpu", 0.0, 2.0, "failed")], ["cpu"])
    cuts = sorted(float(c) for c in rng.choice(90, 16, replace=False))
    kinds = [str(k) for k in rng.choice(["run", "run", "cancelled"], 8)]
    names = [str(d) for d in rng.choice(["p", "q", "r"], 8)]
    yield Case("drawn", list(zip(names, cuts[::2], cuts[1::2], kinds)), ["p", "q", "r"])


utilisation = Task(
    "utilisation",
    title="Measure the utilisation",
    criteria=[Correct(use_spec, use_cases, points=2, agree=close(rtol=1e-12))],
    hints=(
        "Only spans of kind 'run' counted. Both the work and the makespan come from them.",
        "The makespan is the same for all devices: the last end of any span that counted.",
        "For each device: the sum of end - start of its counted spans, over the makespan.",
    ),
)


def cool_cases(rng):
    yield Case("half of the time", 0.5, 20.0, 70.0, 0.0, 200.0)
    yield Case("idle power counts", 0.5, 20.0, 70.0, 50.0, 150.0)
    yield Case("always", 0.1, 25.0, 85.0, 20.0, 300.0)
    yield Case("never", 0.5, 40.0, 60.0, 50.0, 300.0)
    for i in range(3):
        busy = float(rng.integers(150, 400))
        values = (float(rng.uniform(0.15, 0.4)), 25.0, float(rng.integers(60, 90)), 30.0, busy)
        yield Case(f"drawn {i}", *values)


cool_share = Task(
    "cool_share",
    title="Stay below the limit",
    criteria=[Correct(cool_spec, cool_cases, points=2, agree=close(rtol=1e-6, atol=1e-9))],
    hints=(
        "First find the power that leads exactly to the limit in the end.",
        "The mean power of a device that works a share s: s * busy + (1 - s) * idle.",
        "Solve ambient + resistance * mean power = limit for s; then keep it between 0 and 1.",
    ),
)


### BEGIN HIDDEN
def all_spans(spans, devices):
    return use_spec([(*span[:3], "run") for span in spans], devices)


def own_end(spans, devices):
    last = {
        d: max([s[2] for s in spans if s[0] == d and s[3] == "run"], default=0) for d in devices
    }
    work = {d: sum(s[2] - s[1] for s in spans if s[0] == d and s[3] == "run") for d in devices}
    return {d: work[d] / last[d] if last[d] else 0.0 for d in devices}


def any_end(spans, devices):
    work, last = use_spec(spans, devices), max(span[2] for span in spans)
    makespan = max([s[2] for s in spans if s[3] == "run"], default=0)
    return {d: share * makespan / last for d, share in work.items()}


def first_start(spans, devices):
    counted = [s for s in spans if s[3] == "run"]
    begin = min([s[1] for s in counted], default=0)
    return use_spec([(d, s - begin, e - begin, k) for d, s, e, k in counted], devices)


def only_used(spans, devices):
    used = {span[0] for span in spans}
    return {d: share for d, share in use_spec(spans, devices).items() if d in used}


def no_idle(resistance, ambient, limit, idle_watts, busy_watts):
    return cool_spec(resistance, ambient, limit, 0.0, busy_watts)


def no_ambient(resistance, ambient, limit, idle_watts, busy_watts):
    return cool_spec(resistance, 0.0, limit, idle_watts, busy_watts)


def open_ended(resistance, ambient, limit, idle_watts, busy_watts):
    return ((limit - ambient) / resistance - idle_watts) / (busy_watts - idle_watts)


utilisation.wrong += [
    Wrong(
        "lost work counted", all_spans, says="Cancelled and lost work helps nobody: leave it out."
    ),
    Wrong("each by its own end", own_end, says="Divide by the makespan, the same for all devices."),
    Wrong(
        "a makespan of lost work", any_end, says="What did not count does not end the run either."
    ),
    Wrong(
        "from the first start",
        first_start,
        says="Times count from the start of the run, 0: the makespan is the last end itself.",
    ),
    Wrong("idle devices left out", only_used, says="A device that did nothing has a share of 0."),
]


def per_cent(*values):
    return 100 * cool_spec(*values)


def times_resistance(resistance, ambient, limit, idle_watts, busy_watts):
    return cool_spec(1 / resistance, ambient, limit, idle_watts, busy_watts)


cool_share.wrong += [
    Wrong("per cent", per_cent, says="A share of one half is 0.5."),
    Wrong(
        "the resistance upside down",
        times_resistance,
        says="Resistance is kelvin for each watt: kelvin divided by it are watts.",
    ),
    Wrong("idle costs nothing", no_idle, says="Between its tasks the device draws its idle power."),
    Wrong("the room is at 0 degrees", no_ambient, says="The room's temperature comes on top."),
    Wrong("more than always", open_ended, says="A share lies between 0 and 1."),
]
unseen(utilisation, lambda rng: [Case("more", SPANS[1:], ["gpu", "cpu", "x"], public=False)])
### END HIDDEN
