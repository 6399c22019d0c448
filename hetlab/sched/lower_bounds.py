"""Lower bounds: no schedule can end earlier, whoever makes it.

A makespan says little alone; its ratio to the best bound says how much could be gained at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from hetlab.sched.indexed import Problem, problem

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

    The earliest end of each task on each device, when every predecessor is placed as it suits this
    task best.  What two tasks want of one predecessor may differ: hence a bound, and no schedule.
    """
    p = problem(graph, machine)
    latency, pace = _least_transfer(p)
    rows = np.array(p.memory)
    between, per_byte = latency[np.ix_(rows, rows)], pace[np.ix_(rows, rows)]
    end = np.zeros(p.cost.shape)
    for t in range(len(p.names)):
        start = np.zeros(len(p.devices))
        for x in p.reads[t]:
            size, maker = p.size[x], p.by[x]
            if maker < 0:
                arrives = latency[p.home, rows] + size * pace[p.home, rows] if size else 0.0
            elif size:
                arrives = (end[maker][:, None] + between + size * per_byte).min(axis=0)
            else:
                arrives = end[maker].min()
            start = np.maximum(start, arrives)
        end[t] = start + p.cost[t]
    says = "a chain of tasks and transfers takes so long wherever its tasks run"
    return Bound(float(end.min(axis=1).max()), "critical path with transfers", says)


def bounds(graph, machine=None) -> tuple[Bound, ...]:
    """Every bound, the best first."""
    p = problem(graph, machine)
    found = [transfers(p), critical_path(p), area(p)]
    if _whole(p):
        found = [replace(b, value=float(math.ceil(b.value - 1e-9))) for b in found]
    return tuple(sorted(found, key=lambda b: -b.value))


def bound(graph, machine=None) -> Bound:
    """The best of the bounds."""
    return bounds(graph, machine)[0]


def _least_transfer(p: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Least latency and least seconds a byte between memories, whatever the way.

    The two may belong to different ways, and a copy may travel in steps: nothing is faster.
    """
    n = len(p.memories)
    latency, pace = np.full((n, n), math.inf), np.full((n, n), math.inf)
    np.fill_diagonal(latency, 0.0)
    np.fill_diagonal(pace, 0.0)
    for link in p.machine.links:
        a, b = p.memory_index[link.a], p.memory_index[link.b]
        latency[a, b] = latency[b, a] = min(latency[a, b], link.latency)
        pace[a, b] = pace[b, a] = min(pace[a, b], 1 / link.bandwidth)
    for via in range(n):  # R. W. Floyd, "Shortest path", Communications of the ACM 5(6), 1962
        latency = np.minimum(latency, latency[:, via, None] + latency[None, via])
        pace = np.minimum(pace, np.maximum(pace[:, via, None], pace[None, via]))
    return latency, pace


def _whole(p: Problem) -> bool:
    """Whether every time in the problem is a whole number, so that every makespan is one."""
    finite = p.cost[np.isfinite(p.cost)]
    sizes = np.array([s for s in p.size if s] or [0.0])
    times = [finite, np.array([d.reconfigure for d in p.machine.devices])]
    if sizes.any():
        times += [np.array([x.latency for x in p.machine.links] or [0.0])]
        times += [sizes / x.bandwidth for x in p.machine.links]
    quiet = p.machine.contention != "share" and all(
        d.heat is None and not d.pool for d in p.machine.devices
    )
    return quiet and all((np.mod(t, 1) == 0).all() for t in times)
