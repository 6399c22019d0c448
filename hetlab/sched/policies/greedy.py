"""Policies that place what is ready, one task after another, by one rule each.

A task is only offered to devices that are alive and can run it.  Ties go to the task that became
ready first, and to the device that the machine lists first.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable

from hetlab.sched.messages import Run

__all__ = ["Fifo", "ListScheduling", "Locality", "MinMin", "RandomChoice", "RoundRobin"]


class Fifo:
    """The task that became ready first, on the first idle device that can run it."""

    name = "FIFO"

    def decide(self, view) -> list:
        """Fill the idle devices."""
        return _fill(view, view.ready)


class ListScheduling:
    """Graham's rule: an idle device takes the first ready task of a list.

    R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied Mathematics
    17(2), 1969: at most 2 - 1/m times the optimum on m equal devices without transfers.

    Parameters
    ----------
    order : iterable, optional
        The list; the graph's order otherwise.
    """

    name = "list scheduling"

    def __init__(self, order: Iterable[Hashable] | None = None) -> None:
        self._order = None if order is None else tuple(order)
        self._position: dict | None = None

    def decide(self, view) -> list:
        """Fill the idle devices."""
        if self._position is None:
            order = view.graph.order if self._order is None else self._order
            self._position = {task: i for i, task in enumerate(order)}
        last = len(self._position)
        return _fill(view, sorted(view.ready, key=lambda t: self._position.get(t, last)))


class RoundRobin:
    """Each task to the next device in turn, whatever it costs there."""

    name = "round-robin"

    def __init__(self) -> None:
        self._turn = 0

    def decide(self, view) -> list:
        """Place everything that is ready."""
        devices, placed = [d.name for d in view.machine.devices], []
        for task in view.ready:
            for _ in devices:
                device = devices[self._turn % len(devices)]
                self._turn += 1
                if view.can_run(task, device):
                    placed.append((task, device))
                    break
        return placed


class RandomChoice:
    """Each task to a device drawn at random: what any idea has to beat.

    Parameters
    ----------
    seed : int
    """

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self._draw = random.Random(seed)

    def decide(self, view) -> list:
        """Place everything that is ready."""
        able = ((t, [d for d in view.devices if view.can_run(t, d)]) for t in view.ready)
        return [(task, self._draw.choice(devices)) for task, devices in able]


class MinMin:
    """Of all ready tasks the one that can end first goes where it does; then the next.

    O. H. Ibarra, C. E. Kim, "Heuristic algorithms for scheduling independent tasks on nonidentical
    processors", Journal of the ACM 24(2), 1977.
    """

    name = "min-min"

    def decide(self, view) -> list:
        """Place everything that is ready."""
        free = {d: view.available(d) for d in view.devices}
        rows = {
            task: {
                d: (view.arrival(task, d), view.setup(task, d) + view.cost(task, d) / view.speed(d))
                for d in free
                if view.can_run(task, d)
            }
            for task in view.ready
        }
        placed = []
        ends = {t: _first(row, free) for t, row in rows.items()}
        while ends:
            task = min(ends, key=lambda t: ends[t][0])
            end, device = ends.pop(task)
            free[device] = end
            placed.append((task, device))
            # Only those that counted on this device have to look again.
            ends |= {t: _first(rows[t], free) for t, (_, d) in ends.items() if d == device}
        return placed


class Locality:
    """Each task where the fewest bytes have to be moved to; at a tie where it ends first."""

    name = "locality"

    def decide(self, view) -> list:
        """Place everything that is ready."""
        placed, load = [], dict.fromkeys(view.devices, 0.0)
        for task in view.ready:
            able = [d for d in view.devices if view.can_run(task, d)]
            device = min(
                able, key=lambda d: (view.missing_bytes(task, d), view.finish(task, d) + load[d])
            )
            load[device] += view.cost(task, device)
            placed.append(Run(task, device))
        return placed


def _first(row: dict, free: dict) -> tuple[float, str]:
    """When and where a task would end first."""
    ends = {d: max(free[d], arrival) + cost for d, (arrival, cost) in row.items()}
    device = min(ends, key=ends.__getitem__)
    return ends[device], device


def _fill(view, tasks) -> list:
    """Give each idle device the first of the tasks that it can run."""
    idle, placed = list(view.idle), []
    for task in tasks:
        if not idle:
            break
        device = next((d for d in idle if view.can_run(task, d)), None)
        if device is not None:
            idle.remove(device)
            placed.append((task, device))
    return placed
