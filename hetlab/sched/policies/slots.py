"""The times that a plan has given away on each device, and the gaps between them."""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np

from hetlab.sched.indexed import Problem
from hetlab.sched.policy import Plan

__all__ = ["Slots", "first_least"]


class Slots:
    """A plan that grows: tasks are placed one after another, each after those it needs.

    Parameters
    ----------
    p : Problem
    insertion : bool
        Whether a task may go into a gap between two others; at the end only otherwise.
    """

    def __init__(self, p: Problem, insertion: bool = True) -> None:
        devices = range(len(p.devices))
        self.p, self.insertion = p, insertion
        # By device: (start, end, task) of what is placed, and (end, start) of the gaps, sorted.
        self._placed: list[list[tuple[float, float, int]]] = [[] for _ in devices]
        self._gaps: list[list[tuple[float, float]]] = [[] for _ in devices]
        self._last = [0.0] * len(p.devices)
        self.device = [-1] * len(p.names)
        self.start, self.end = [0.0] * len(p.names), [0.0] * len(p.names)
        self.cost = p.cost.tolist()
        self._latency, self._pace = p.latency.tolist(), p.per_byte.tolist()
        self._elsewhere = _equal_links(p)
        self._first = p.from_home.tolist() if any(maker < 0 for maker in p.by) else None

    def arrivals(self, t: int) -> list[float]:
        """When a task's inputs can be on each device, given where its predecessors are.

        A predecessor that is not placed counts as done at the start, everywhere.
        """
        if self._elsewhere and not self._first:
            return self._arrivals_over_equal_links(t)
        devices = range(len(self._last))
        latest = list(self._first[t]) if self._first else [0.0] * len(self._last)
        for b, size in self.p.before[t]:
            end, at = self.end[b], self.device[b]
            if size and at >= 0:
                latency, pace = self._latency[at], self._pace[at]
                for d in devices:
                    arrival = end + latency[d] + size * pace[d]
                    if arrival > latest[d]:
                        latest[d] = arrival
            else:
                latest = [end if end > x else x for x in latest]
        return latest

    def _arrivals_over_equal_links(self, t: int) -> list[float]:
        """The same where a copy takes as long between any two devices.

        What arrives last arrives at one time everywhere but on the device that made it: so one
        number for each predecessor is enough, and only that device needs a second look.
        """
        latency, pace = self._elsewhere
        last, owner, waits = 0.0, -1, []
        for b, size in self.p.before[t]:
            end = arrival = self.end[b]
            at = self.device[b] if size else -1
            if at >= 0:
                arrival = end + latency + size * pace
            if arrival > last:
                last, owner = arrival, at
            waits.append((end, arrival, at))
        latest = [last] * len(self._last)
        if owner >= 0:
            latest[owner] = max(end if at == owner else arrival for end, arrival, at in waits)
        return latest

    def starts(self, t: int) -> list[float]:
        """The earliest start of a task on each device; inf where it cannot run."""
        return [
            at if at >= last and cost < math.inf else self._slot(d, at, cost)
            for d, (at, last, cost) in enumerate(zip(self.arrivals(t), self._last, self.cost[t]))
        ]

    def finishes(self, t: int) -> list[float]:
        """When a task would end on each device; inf where it cannot run."""
        return [start + cost for start, cost in zip(self.starts(t), self.cost[t])]

    def _slot(self, d: int, earliest: float, cost: float) -> float:
        """The first start at which a task of this length fits on a device."""
        last = self._last[d]
        if cost == math.inf:
            return cost
        if earliest >= last or not self.insertion:
            return earliest if earliest >= last else last
        gaps = self._gaps[d]
        for i in range(bisect_left(gaps, (earliest + cost,)), len(gaps)):
            end, start = gaps[i]
            if start < earliest:
                start = earliest
            if start + cost <= end:
                return start
        return last

    def place(self, t: int, d: int, start: float | None = None) -> None:
        """Give a task its slot on a device; ``start`` as `starts` said, where that is known."""
        cost = self.cost[t][d]
        start = self._slot(d, self.arrivals(t)[d], cost) if start is None else start
        end = start + cost
        self.device[t], self.start[t], self.end[t] = d, start, end
        self._placed[d].append((start, end, t))
        gaps, last = self._gaps[d], self._last[d]
        if start >= last:
            if start > last:
                gaps.append((start, last))
            self._last[d] = end
            return
        i = bisect_left(gaps, (end,))
        gap_end, gap_start = gaps.pop(i)
        if end < gap_end:
            gaps.insert(i, (gap_end, end))
        if gap_start < start:
            gaps.insert(i, (start, gap_start))

    def copy(self) -> Slots:
        """A second plan that grows on its own."""
        other = object.__new__(Slots)
        other.__dict__ |= self.__dict__
        for name in ("_placed", "_gaps"):
            setattr(other, name, [list(row) for row in getattr(self, name)])
        for name in ("_last", "device", "start", "end"):
            setattr(other, name, list(getattr(self, name)))
        return other

    def plan(self, made_by: str) -> Plan:
        """What was placed."""
        names = self.p.names
        rows = zip(self.p.devices, map(sorted, self._placed))
        return Plan({d: [(names[t], s, e) for s, e, t in row] for d, row in rows}, made_by)


def first_least(values) -> int:
    """The position of the least value; of several, the first (within the last digits)."""
    values = list(values)
    least = min(values)
    near = least + 1e-12 * max(1.0, abs(least)) if math.isfinite(least) else least
    for i, value in enumerate(values):
        if value <= near:
            return i
    raise AssertionError("the least of the values is one of them")


def _equal_links(p: Problem) -> tuple[float, float] | None:
    """Latency and seconds a byte, where they are the same between any two devices; else None."""
    apart = ~np.eye(len(p.devices), dtype=bool)
    pairs = set(zip(p.latency[apart].tolist(), p.per_byte[apart].tolist()))
    return pairs.pop() if len(pairs) == 1 else None
