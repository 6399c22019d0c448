"""Why a makespan is what it is: its chain of causes, and the reason for every idle gap."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from hetlab.sched.timeline import RUN, Span, Timeline

__all__ = ["Gap", "Step", "critical", "gaps"]

Name = Hashable


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which a device did nothing.

    Attributes
    ----------
    device : str
    start, end : float
    why : str
        "data": what it runs next waited for data; "device": it waited for a task on another
        device; "nothing": all was there (overhead, or the policy let it wait); "end": nothing more
        came; "lost": it was gone.
    says : str
        The reason as a sentence without its full stop.
    """

    device: str
    start: float
    end: float
    why: str
    says: str

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Step:
    """A link of the chain that the makespan consists of.

    Attributes
    ----------
    task : hashable
    device : str
    start, end : float
        Of the task.
    waited : float
        From the end of what it waited for to its start.
    moving : float
        The part of it in which the data were on their way; in the rest a link was busy, or the
        task was not placed yet.
    cause : str
        "start of the run", "device": the one before it on its device; "data": a predecessor.
    """

    task: Name
    device: str
    start: float
    end: float
    waited: float
    moving: float
    cause: str


def critical(timeline: Timeline) -> tuple[Step, ...]:
    """From the last task back to the beginning, always to what let it start, in order of time."""
    if not timeline.runs:
        return ()
    before = _before(timeline)
    by_device = _previous(timeline)
    span = max(timeline.runs.values(), key=lambda s: s.end)
    chain: list[Step] = []
    while True:
        begin = by_device[span.task][1]
        last = by_device[span.task][0]
        inputs = [timeline.runs[b] for b in before.get(span.task, ()) if b in timeline.runs]
        arrived = max(inputs, key=lambda s: _arrival(timeline, s, span), default=None)
        when = _arrival(timeline, arrived, span) if arrived else 0.0
        if last is not None and last.end >= when:
            cause, then = "device", last
        elif arrived is not None:
            cause, then = "data", arrived
        else:
            step = (span.task, span.device, begin, span.end, begin, 0.0, "start of the run")
            chain.append(Step(*step))
            break
        waited, moving = max(0.0, begin - then.end), 0.0
        if cause == "data":
            start, end = _moves(timeline).get((then.task, span.task), (0.0, 0.0))
            moving = min(waited, end - start)
        chain.append(Step(span.task, span.device, begin, span.end, waited, moving, cause))
        span = then
        if span.kind != RUN:
            break
    return tuple(reversed(chain))


def gaps(timeline: Timeline) -> tuple[Gap, ...]:
    """Every idle time of every device, with its reason."""
    before, found = _before(timeline), []
    near = 1e-9 * max(1e-300, timeline.makespan)
    for device in timeline.machine.devices:
        gone = timeline.lost.get(device.name)
        stop = timeline.makespan if gone is None else min(gone[0], timeline.makespan)
        at = 0.0
        for span in timeline.rows[device.name]:
            if span.start - at > near:
                found += _why(timeline, device.name, at, span, before)
            at = max(at, span.end)
        if stop - at > near:
            found.append(Gap(device.name, at, stop, "end", "no more tasks came"))
        if timeline.makespan - max(at, stop) > near and gone is not None:
            found.append(Gap(device.name, max(at, stop), timeline.makespan, "lost", gone[1]))
    return tuple(found)


def _why(timeline: Timeline, device: str, at: float, span: Span, before: dict) -> list[Gap]:
    """Split a gap before a task: first it waits for others to end, then for transfers."""
    runs = timeline.runs
    inputs = [runs[b] for b in before.get(span.task, ()) if b in runs]
    task, near = span.task, 1e-9 * max(1e-300, timeline.makespan)
    found, now = [], at
    last = max(inputs, key=lambda s: s.end, default=None)
    if last is not None and last.end - now > near:
        end = min(last.end, span.start)
        says = f"{task!r} waits for {last.task!r} on {last.device}"
        found.append(Gap(device, now, end, "device", says))
        now = end
    late = max(inputs, key=lambda s: _arrival(timeline, s, span), default=None)
    arrives = max(_arrival(timeline, late, span) if late else 0.0, _first(timeline, span))
    if arrives - now > near:
        end = min(arrives, span.start)
        source = f"from {late.task!r} on {late.device}" if late else "from the home memory"
        found.append(Gap(device, now, end, "data", f"{task!r} waits for data {source}"))
        now = end
    if span.start - now > near:
        found.append(Gap(device, now, span.start, "nothing", f"all that {task!r} needs was there"))
    return found


def _before(timeline: Timeline) -> dict[Name, list[Name]]:
    """The predecessors of each task."""
    found: dict[Name, list[Name]] = {}
    for data in timeline.graph.data.values():
        if data.by is not None:
            for reader in data.to:
                found.setdefault(reader, []).append(data.by)
    return found


def _previous(timeline: Timeline) -> dict[Name, tuple[Span | None, float]]:
    """What ran before each task on its device; and its begin, reconfiguration included."""
    found: dict[Name, tuple[Span | None, float]] = {}
    for spans in timeline.rows.values():
        last, setup = None, None
        for span in spans:
            if span.kind == "setup":
                setup = span
                continue
            begin = setup.start if setup is not None and setup.task == span.task else span.start
            if span.kind == RUN:
                found[span.task] = (last, begin)
            last, setup = span, None
    return found


def _arrival(timeline: Timeline, source: Span, target: Span) -> float:
    """When what a task made was where another one ran."""
    return max(source.end, _moves(timeline).get((source.task, target.task), (0.0, 0.0))[1])


def _moves(timeline: Timeline) -> dict[tuple[Name, Name], tuple[float, float]]:
    """By producer and reader: start and end of the last transfer that brought its data."""
    known = timeline.__dict__.get("_moves")
    if known is None:
        memory = {d.name: d.memory for d in timeline.machine.devices}
        where = {task: memory[s.device] for task, s in timeline.runs.items()}
        known = {}
        for move in timeline.transfers:
            data = timeline.graph.data[move.data]
            for reader in data.to:
                if where.get(reader) == move.target and move.end <= timeline.runs[reader].start:
                    key = (data.by, reader)
                    if move.end > known.get(key, (0.0, -1.0))[1]:
                        known[key] = (move.start, move.end)
        timeline.__dict__["_moves"] = known
    return known


def _first(timeline: Timeline, span: Span) -> float:
    """When the first data of a task had come from the home memory."""
    return _moves(timeline).get((None, span.task), (0.0, 0.0))[1]
