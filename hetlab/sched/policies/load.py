"""Decisions by what devices are like now: how loaded, how hot, how fast they were last seen."""

from __future__ import annotations

import math

from hetlab.sched.messages import Backup, Run, Wait
from hetlab.sched.policies.ranks import by_rank, upward

__all__ = ["LoadAware"]


class LoadAware:
    """HEFT's priorities, but each task is placed when it is ready, by the speeds seen now.

    A device takes at most one task beside the one it runs, so that little is decided early.  Near
    the temperature at which a device slows down its speed counts as the slowed one, in proportion,
    so that work moves away before it throttles.  A task that takes much longer than modelled gets
    a second copy on an idle device (J. Dean, S. Ghemawat, "MapReduce", OSDI 2004, section 3.6).

    Parameters
    ----------
    margin : float
        Kelvin below a device's limit from which on it counts as slower.
    late : float
        How many times its modelled time a task may take before it is copied; inf: never.
    """

    name = "load- and heat-aware"

    def __init__(self, margin: float = 5.0, late: float = 2.0) -> None:
        self._margin, self._late = margin, late
        self._position: dict | None = None
        self._copied: set = set()

    def decide(self, view) -> list:
        """Place ready tasks by rank while a device has room for one more."""
        if self._position is None:
            names = view.problem.names
            self._position = {names[t]: i for i, t in enumerate(by_rank(upward(view.problem)))}
        free = {d: view.available(d) for d in view.devices}
        held = {d: len(view.queue(d)) for d in free}
        decisions: list = []
        for task in sorted(view.ready, key=self._position.__getitem__):
            able = [d for d in free if view.can_run(task, d)]
            ends = {d: self._end(view, task, d, free[d]) for d in able}
            device = min(ends, key=ends.__getitem__)
            if held[device]:
                continue  # it will be asked for again when the device has room
            held[device] += view.running(device) is not None or free[device] > view.time
            free[device] = ends[device]
            decisions.append(Run(task, device))
        if not decisions and not view.ready and math.isfinite(self._late):
            decisions += self._back_up(view)
        return decisions

    def _end(self, view, task, device: str, free: float) -> float:
        start = max(free, view.arrival(task, device))
        return start + view.setup(task, device) + view.cost(task, device) / self._pace(view, device)

    def _pace(self, view, device: str) -> float:
        heat, degrees = view.machine[device].heat, view.temperature(device)
        pace = view.speed(device)
        if heat is None or degrees is None or pace < 1:
            return pace
        near = min(1.0, max(0.0, (degrees - heat.limit + self._margin) / self._margin))
        return pace * (1 - near * (1 - heat.slowed))

    def _back_up(self, view) -> list:
        """Copy what is late; ask again when the next may be."""
        idle = list(view.idle)
        decisions: list = []
        soonest = math.inf
        for device in view.devices:
            task = view.running(device)
            if task is None or task in self._copied:
                continue
            due = view.since(device) + self._late * view.cost(task, device)
            able = [d for d in idle if view.can_run(task, d)]
            if not able:
                continue
            if due > view.time * (1 + 1e-12):
                soonest = min(soonest, due)
                continue
            best = min(able, key=lambda d: view.finish(task, d))
            idle.remove(best)
            self._copied.add(task)
            decisions.append(Backup(task, best))
        if math.isfinite(soonest):
            decisions.append(Wait(soonest - view.time))
        return decisions
