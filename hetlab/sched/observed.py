"""What the timelines of real runs say of a machine: samples to calibrate it with.

Taken from whole runs and not from kernels alone, they contain what a simulation leaves out: the
time until a thread hears of its task, and what the cores lose to each other and to copies.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator

from hetlab.errors import InvalidValue, UnknownName
from hetlab.sched.calibrate import fit
from hetlab.sched.timeline import RUN, Timeline

__all__ = ["samples", "together"]

Samples = list[tuple[float, float]]
# A task ran alone when it did so for all but a tenth of its time.
_TENTH = 0.1


def samples(
    timelines: Iterable[Timeline], devices: Iterable[str]
) -> tuple[dict[str, dict[str, Samples]], dict[tuple[str, str], Samples]]:
    """Samples for `hetlab.sched.calibrated`: ``calibrated(machine, *samples(runs, ["cpu0"]))``.

    Only tasks that ran while no other of the ``devices`` was busy count: how these slow each other
    is what `together` says.

    Parameters
    ----------
    timelines : iterable of Timeline
        Runs of a plan on real devices (with a plan, no task waits for a decision).
    devices : iterable of str
        The devices to calibrate; not the paced ones, whose times come from the model.

    Returns
    -------
    work : dict of device to kind of work to list of (units, seconds)
        A task's seconds count from when its device was free and its inputs were there.
    links : dict of (memory, memory) to list of (bytes, seconds)
        Seconds on the way, without the wait for a copy before it.

    Raises
    ------
    UnknownName
        For a device that a timeline's machine does not have.
    """
    wanted = list(devices)
    work: dict[str, dict[str, Samples]] = {name: defaultdict(list) for name in wanted}
    links: dict[tuple[str, str], Samples] = defaultdict(list)
    for timeline in timelines:
        for name in wanted:
            for kind, units, seconds, crowd in _tasks(timeline, name, wanted):
                if crowd < _TENTH:
                    work[name][kind].append((units, seconds))
        direct = {(link.a, link.b) for link in timeline.machine.links}
        for move in timeline.transfers:
            ends = (move.source, move.target)
            ends = ends if ends in direct else ends[::-1]
            if ends in direct:  # over several links no single one can be blamed
                links[ends].append((move.size, move.end - move.start))
    return {name: dict(kinds) for name, kinds in work.items()}, dict(links)


def together(timelines: Iterable[Timeline], devices: Iterable[str]) -> float:
    """How many devices' worth of work some devices do when all of them are busy.

    A task that shared its time with all others for the part ``o`` of it and was alone for the rest
    did as much work as it does in ``alone`` seconds alone: in ``seconds`` it ran at the pace
    ``(alone / seconds - (1 - o)) / o`` meanwhile.  The median pace times the number of devices is
    the size of their pool, see `hetlab.sched.Machine`.

    Raises
    ------
    InvalidValue
        When no kind of work ran both ways.
    """
    runs, wanted = list(timelines), list(devices)
    alone: dict[str, Samples] = defaultdict(list)
    full: list[tuple[str, float, float, float]] = []
    for timeline in runs:
        for name in wanted:
            for kind, units, seconds, crowd in _tasks(timeline, name, wanted):
                if crowd < _TENTH:
                    alone[kind].append((units, seconds))
                elif crowd > (len(wanted) - 1) / 2:
                    full.append((kind, units, seconds, crowd / (len(wanted) - 1)))
    lines = {kind: fit(found, name=f"times of {kind!r} alone") for kind, found in alone.items()}
    paces = [(lines[k](units) / s - 1 + o) / o for k, units, s, o in full if k in lines]
    if not paces:
        rule = "runs in which some kind of work ran alone and with all other devices busy"
        raise InvalidValue("timelines", rule, f"{sum(map(len, alone.values()))} tasks alone")
    return len(wanted) * min(1.0, max(_TENTH, statistics.median(paces)))


def _tasks(timeline: Timeline, device: str, devices: list[str]) -> Iterator[tuple]:
    """(kind, units, seconds, mean number of other busy devices) of each task on a device."""
    if device not in timeline.rows:
        raise UnknownName("device", device, timeline.rows, where="devices to calibrate")
    graph, memory = timeline.graph, timeline.machine[device].memory
    arrived: dict = {}
    for move in timeline.transfers:
        if move.target == memory:
            arrived.setdefault(move.data, move.end)
    others = [s for name in devices if name != device for s in timeline.rows[name]]
    free = 0.0
    for span in timeline.rows[device]:
        task, ready = graph.tasks[span.task], free
        for data in graph.reads(span.task):
            made = timeline.runs[data.by].end if data.by in timeline.runs else 0.0
            ready = max(ready, arrived.get(data.name, made))
        free = span.end
        if span.kind == RUN and task.work and span.seconds:
            both = sum(max(0.0, min(span.end, o.end) - max(span.start, o.start)) for o in others)
            seconds = span.end - min(ready, span.start)
            yield task.kind, task.work, seconds, both / span.seconds
