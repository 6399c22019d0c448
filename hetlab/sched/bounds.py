"""Lower bounds: no schedule can end earlier, whoever makes it.

A makespan says little alone; its ratio to the best bound says how much could be gained at most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetlab.sched.problem import problem

__all__ = ["Bound", "area", "bound", "bounds", "critical_path", "transfers"]


@dataclass(frozen=True)
class Bound:
    """A lower bound of the makespan.

    Attributes
    ----------
    value : float
        In the graph's unit of time.
    name : str
        "critical path", "area", "critical path with transfers", or "optimum" when it is known.
    says : str
        Why no schedule can be shorter, as a sentence without its full stop.
    """

    value: float
    name: str
    says: str = ""

    def __str__(self) -> str:
        return f"{self.value:.6g} ({self.name})"


def critical_path(graph, machine=None) -> Bound:
    """The longest chain of tasks, each at its least time, transfers left out."""
    p = problem(graph, machine)
    least, end = p.cost.min(axis=1).tolist(), [0.0] * len(p.names)
    for t in range(len(p.names)):
        end[t] = least[t] + max((end[b] for b, _ in p.before[t]), default=0.0)
    says = "a chain of tasks takes so long even if each runs on its fastest device"
    return Bound(max(end), "critical path", says)


def area(graph, machine=None) -> Bound:
    """The work of the tasks that only some devices can run, shared among those without a gap.

    For the devices as a whole and for each set of devices that some task is bound to: the sum of
    the least times of the tasks that only devices of the set can run, over their number.
    """
    p = problem(graph, machine)
    able, least = np.isfinite(p.cost), p.cost.min(axis=1)
    sets, members = np.unique(able, axis=0, return_inverse=True)
    work = np.bincount(members.ravel(), weights=least, minlength=len(sets))
    best = 0.0
    for chosen in [*sets, np.ones(len(p.devices), bool)]:
        inside = ~(sets & ~chosen).any(axis=1)
        best = max(best, float(work[inside].sum() / chosen.sum()))
    says = "the devices would have to work so long even if none was ever idle"
    return Bound(best, "area", says)


def transfers(graph, machine=None) -> Bound:
    """The longest chain with the transfers that no placement avoids.

    Earliest ends on each device: every predecessor is placed as it suits this task best, so
    what two tasks want of one predecessor may differ; hence a bound, and no schedule.
    """
    p = problem(graph, machine)
    latency, pace = p.latency, p.per_byte
    end = np.full(p.cost.shape, 0.0)
    first = p.from_home
    for t in range(len(p.names)):
        start = first[t]
        for b, size in p.before[t]:
            if size:
                arrives = (end[b][:, None] + latency + size * pace).min(axis=0)
            else:
                arrives = end[b].min()
            start = np.maximum(start, arrives)
        end[t] = start + p.cost[t]
    says = "a chain of tasks and transfers takes so long wherever its tasks run"
    return Bound(float(end.min(axis=1).max()), "critical path with transfers", says)


def bounds(graph, machine=None) -> tuple[Bound, ...]:
    """Every bound, the best first."""
    p = problem(graph, machine)
    found = [transfers(p), critical_path(p), area(p)]
    return tuple(sorted(found, key=lambda b: -b.value))


def bound(graph, machine=None) -> Bound:
    """The best bound known."""
    return bounds(graph, machine)[0]
