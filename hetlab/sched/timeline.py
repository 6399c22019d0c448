"""What happened in a run: who ran what when, what moved, and what that says."""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from hetlab.units import quantity

__all__ = ["Span", "Timeline", "Transfer", "in_order"]

Name = Hashable
# Work that counted; the other kinds of spans are "setup", "cancelled", "lost" and "failed".
RUN = "run"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a device's time.

    Attributes
    ----------
    device : str
    task : hashable
    start, end : float
        Seconds (or the graph's unit) since the start of the run.
    kind : str
        "run"; "setup": the device was reconfigured for the task; "cancelled", "failed", "lost":
        work that did not count.
    joules : float
        Energy of the device during it.
    """

    device: str
    task: Name
    start: float
    end: float
    kind: str = RUN
    joules: float = 0.0

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Transfer:
    """A copy between two memories."""

    data: Name
    source: str
    target: str
    start: float
    end: float
    size: float


@dataclass(frozen=True, repr=False)
class Timeline:
    """One run of a graph on a machine.

    Attributes
    ----------
    graph : TaskGraph
    machine : Machine
    policy : str
    spans : tuple of Span
        By device, then time.
    transfers : tuple of Transfer
        By time.
    label : str
        "modelled" (simulated), "measured" (real devices) or "emulated" (paced devices among them).
    failures : mapping
        Tasks that failed, with the reason; those that needed them did not run.
    lost : mapping of str to (float, str)
        Devices that were lost, when and why.
    degrees : mapping of str to tuple of (float, float)
        Time and degrees Celsius of the devices that have a thermal model.
    peak_memory : mapping of str to float
        The most bytes that each memory held.
    times : tuple of float
        Makespans of repeated runs, when the run was repeated.
    known : Bound or None
        A bound that someone proved, such as `hetlab.sched.optimum` does.
    """

    graph: object
    machine: object
    policy: str
    spans: tuple[Span, ...]
    transfers: tuple[Transfer, ...] = ()
    label: str = "modelled"
    failures: Mapping = field(default_factory=dict)
    lost: Mapping = field(default_factory=dict)
    degrees: Mapping = field(default_factory=dict)
    peak_memory: Mapping = field(default_factory=dict)
    times: tuple[float, ...] = ()
    known: object = None

    @functools.cached_property
    def makespan(self) -> float:
        """The end of the last task that counted."""
        return max((s.end for s in self.spans if s.kind == RUN), default=0.0)

    @functools.cached_property
    def runs(self) -> dict[Name, Span]:
        """The span of each task that was done."""
        return {s.task: s for s in self.spans if s.kind == RUN}

    def against(self, known) -> Timeline:
        """The same timeline, its ratio taken to a bound or an optimum that is known."""
        return replace(self, known=getattr(known, "bound", known))

    @property
    def complete(self) -> bool:
        """Whether every task was done."""
        return len(self.runs) == len(self.graph)

    @property
    def places(self) -> dict[Name, str]:
        """The device of each task that was done."""
        return {task: span.device for task, span in self.runs.items()}

    @functools.cached_property
    def bound(self):
        """The best lower bound known: `hetlab.sched.lower_bounds.Bound`, and its name."""
        from hetlab.sched.lower_bounds import bound

        found = bound(self.graph, self.machine)
        return self.known if self.known and self.known.value >= found.value else found

    @property
    def ratio(self) -> float:
        """Makespan over the best bound known: 1 is optimal; inf when not every task was done."""
        if not self.complete:
            return math.inf
        return self.makespan / self.bound.value if self.bound.value else 1.0

    @functools.cached_property
    def rows(self) -> dict[str, tuple[Span, ...]]:
        """The spans of each device, in order of time."""
        found: dict[str, list[Span]] = {d.name: [] for d in self.machine.devices}
        for span in self.spans:
            found[span.device].append(span)
        return {name: tuple(sorted(spans, key=_start)) for name, spans in found.items()}

    @functools.cached_property
    def busy(self) -> dict[str, float]:
        """Seconds that each device worked on what counted."""
        return {
            name: sum(s.seconds for s in spans if s.kind == RUN)
            for name, spans in self.rows.items()
        }

    @functools.cached_property
    def useful(self) -> dict[str, float]:
        """Seconds that each device would have needed at full speed for what it did."""
        seconds, tasks = self.machine.seconds, self.graph.tasks
        return {
            name: sum(seconds(tasks[s.task], name) for s in spans if s.kind == RUN)
            for name, spans in self.rows.items()
        }

    @property
    def utilisation(self) -> dict[str, float]:
        """Share of the makespan that each device worked on what counted."""
        length = self.makespan
        return {name: busy / length if length else 0.0 for name, busy in self.busy.items()}

    @property
    def energy(self) -> dict[str, float]:
        """Joules of each device until the makespan: what its spans took, and idle power between."""
        found = {}
        for device in self.machine.devices:
            spans = self.rows[device.name]
            alive = min(self.makespan, self.lost.get(device.name, (math.inf, ""))[0])
            idle = max(0.0, alive - sum(s.seconds for s in spans))
            found[device.name] = device.idle_watts * idle + sum(s.joules for s in spans)
        return found

    def idle(self) -> tuple:
        """Every gap of every device with its reason: `hetlab.sched.explain.Gap`."""
        from hetlab.sched.explain import gaps

        return gaps(self)

    def critical_path(self) -> tuple:
        """The chain of tasks, transfers and waits that the makespan consists of."""
        from hetlab.sched.explain import critical

        return critical(self)

    def to_dict(self) -> dict:
        """Plain data."""
        from hetlab.sched.plain import timeline_to_dict

        return timeline_to_dict(self)

    def to_trace(self) -> dict:
        """Chrome's trace format, which Perfetto opens: ``json.dump(timeline.to_trace(), file)``."""
        from hetlab.sched.trace import trace

        return trace(self)

    @property
    def time_unit(self) -> str:
        """The unit of every time; "" for a published graph without one."""
        return self.graph.unit

    def amount(self, value: float) -> str:
        """A time with its unit."""
        return quantity(value, "s") if self.graph.unit == "s" else f"{value:.6g}"

    def __repr__(self) -> str:
        lines = [f"{self.graph.name} with {self.policy}: {self.headline}"]
        if self.runs and len(self.machine.devices) <= 32:
            lines += _bars(self)
        for name, reason in self.failures.items():
            lines.append(f"  failed: {name!r}: {reason}")
        for name, (when, why) in self.lost.items():
            lines.append(f"  lost: {name} at {self.amount(when)}: {why}")
        return "\n".join(lines)

    @property
    def headline(self) -> str:
        """Makespan, bound and ratio in a sentence."""
        text = f"makespan {self.amount(self.makespan)} ({self.label})"
        if not self.complete:
            return f"{text}, {len(self.graph) - len(self.runs)} of {len(self.graph)} tasks not done"
        bound = f"{self.amount(self.bound.value)} ({self.bound.name})"
        what = "the bound" if self.label == "modelled" else "the modelled bound"
        return f"{text}, {self.ratio:.3g} x {what} {bound}"


def in_order(spans, devices) -> tuple[Span, ...]:
    """Spans by device and time; what ran again later, because its outputs were lost, is "lost"."""
    last: dict[Name, float] = {}
    for span in spans:
        if span.kind == RUN:
            last[span.task] = max(last.get(span.task, -math.inf), span.end)
    row = {name: i for i, name in enumerate(devices)}
    kept = [replace(s, kind="lost") if s.kind == RUN and s.end < last[s.task] else s for s in spans]
    return tuple(sorted(kept, key=lambda s: (row[s.device], s.start, s.end)))


def _start(span: Span) -> float:
    return span.start


def _bars(timeline: Timeline, wide: int = 60) -> list[str]:
    """One line of letters a device: how busy it is, at a glance."""
    length, lines = timeline.makespan or 1.0, []
    label = max(len(name) for name in timeline.rows)
    for name, spans in timeline.rows.items():
        row = ["."] * wide
        for i, span in enumerate(spans):
            first = min(wide - 1, int(span.start / length * wide))
            last = max(first + 1, min(wide, round(span.end / length * wide)))
            text = str(span.task)
            mark = {RUN: "=" if i % 2 else "#", "setup": "%"}.get(span.kind, "x")
            room = last - first
            piece = text.center(room, mark) if len(text) <= room - 2 else mark * room
            row[first:last] = piece
        share = timeline.utilisation[name]
        lines.append(f"  {name:<{label}} |{''.join(row[:wide])}| {share:4.0%}")
    return lines
