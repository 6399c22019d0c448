"""A graph on a machine as arrays: what planners, bounds and the scheduler compute with.

Tasks are numbered in the graph's order, so that a smaller number never waits for a larger one,
and "the first in the graph's order" is a rule for ties that needs nothing else.
"""

from __future__ import annotations

import functools
import math
from types import MappingProxyType

import numpy as np

from hetlab.errors import InvalidValue
from hetlab.sched.faults import Unplaceable, listing
from hetlab.sched.machine import Device
from hetlab.units import quantity

__all__ = ["Problem", "problem"]


class Problem:
    """A checked graph and a machine, by number.

    Attributes
    ----------
    names, devices, memories, data : tuple
        Names by number.
    cost : array (tasks, devices)
        Modelled seconds; inf where a task cannot run.
    before, after : list of list of (task, bytes)
        Bytes that pass between two tasks.  Several data of one producer count as the largest when
        transfers do not slow each other, and together otherwise.
    reads, writes : list of tuple of int
        Numbers of data, by task.
    size : list of float
        Bytes, by data.
    by : list of int
        The producer of data; -1 when they lie in the home memory at the start.
    to : list of tuple of int
        The readers of data.
    memory : list of int
        The memory that each device works in.
    latency, per_byte : array (devices, devices)
        A transfer between two devices takes latency + bytes * per_byte.
    """

    def __init__(self, graph, machine) -> None:
        self.graph, self.machine = graph.check(), machine
        self.names = graph.order
        self.index = {name: i for i, name in enumerate(self.names)}
        self.tasks = [graph.tasks[name] for name in self.names]
        self.devices = tuple(d.name for d in machine.devices)
        self.device_index = {name: i for i, name in enumerate(self.devices)}
        self.memories = tuple(machine.memories)
        self.memory_index = {name: i for i, name in enumerate(self.memories)}
        self.capacity = [machine.memories[m] for m in self.memories]
        self.memory = [self.memory_index[d.memory] for d in machine.devices]
        self.home = self.memory_index[machine.home]
        self._read_data()
        self.cost = _costs(self.tasks, machine.devices)
        self._limit_memory()

    def _read_data(self) -> None:
        index, items = self.index, list(self.graph.data.values())
        self.data = tuple(d.name for d in items)
        self.data_index = {name: i for i, name in enumerate(self.data)}
        self.size = [d.size for d in items]
        self.by = [-1 if d.by is None else index[d.by] for d in items]
        # Most data have one reader; sorting a single one would take a third of the time here.
        self.to = [
            (index[d.to[0]],) if len(d.to) == 1 else tuple(sorted(index[t] for t in d.to))
            for d in items
        ]
        reads: list[list[int]] = [[] for _ in self.names]
        writes: list[list[int]] = [[] for _ in self.names]
        before: list[dict[int, float]] = [{} for _ in self.names]
        together = max if self.machine.contention == "none" else sum
        for x, (maker, size, to) in enumerate(zip(self.by, self.size, self.to)):
            if maker >= 0:
                writes[maker].append(x)
            for reader in to:
                reads[reader].append(x)
                if maker >= 0:
                    waits = before[reader]
                    waits[maker] = together((waits[maker], size)) if maker in waits else size
        self.reads = [tuple(r) for r in reads]
        self.writes = [tuple(w) for w in writes]
        self.before = [list(b.items()) for b in before]
        self.after: list[list[tuple[int, float]]] = [[] for _ in self.names]
        for t, waits in enumerate(self.before):
            for b, size in waits:
                self.after[b].append((t, size))

    def _limit_memory(self) -> None:
        """A task that no device can hold or run is an error now, not a wait for ever."""
        finite = [d for d, m in enumerate(self.memory) if math.isfinite(self.capacity[m])]
        for t in range(len(self.names)) if finite else ():
            for d in finite:
                if self.room(t) > self.capacity[self.memory[d]]:
                    self.cost[t, d] = math.inf
        for t in np.flatnonzero(~np.isfinite(self.cost).any(axis=1)):
            raise self._unplaceable(int(t))
        first = sum(s for s, maker in zip(self.size, self.by) if maker < 0)
        if first > self.capacity[self.home]:
            rule = f"at least {quantity(first, 'B')}, what lies there at the start"
            where = f"memory {self.memories[self.home]!r}, the home memory"
            raise InvalidValue("its capacity", rule, self.capacity[self.home], where=where)

    def room(self, t: int) -> float:
        """Bytes that a task needs in its device's memory: inputs, outputs and its own."""
        return self.tasks[t].memory + sum(self.size[x] for x in (*self.reads[t], *self.writes[t]))

    def _unplaceable(self, t: int) -> Unplaceable:
        task, machine = self.tasks[t], self.machine
        able = [d for d in machine.devices if math.isfinite(d.seconds(task))]
        if able:
            most = max(machine.memories[d.memory] for d in able)
            what = (
                f"task {task.name!r} needs {quantity(self.room(t), 'B')} of memory for its inputs, "
                f"outputs and itself, and the largest of {listing(d.name for d in able)} has "
                f"{quantity(most, 'B')}"
            )
            return Unplaceable(what, where=machine.name, do="Split the task, or add memory.")
        if task.needs:
            asks = " or ".join(map(repr, task.needs))
        elif task.cost is None:
            asks = f"a device with a speed for the kind of work {task.kind!r}"
        else:
            asks = f"a device that it has a cost for ({listing(task.cost, 8)})"
        what = f"no device can run task {task.name!r}: it needs {asks}"
        have = ", ".join(f"{d.name} ({', '.join((d.kind, *d.features))})" for d in machine.devices)
        return Unplaceable(what, where=machine.name, do=f"The devices are: {have}.")

    @functools.cached_property
    def latency(self) -> np.ndarray:
        """Seconds before the first byte arrives, by device and device."""
        return self._between(lambda links: sum(x.latency for x in links))

    @functools.cached_property
    def per_byte(self) -> np.ndarray:
        """Seconds a byte, by device and device."""
        return self._between(lambda links: 1 / min(x.bandwidth for x in links))

    def _between(self, of) -> np.ndarray:
        machine, n = self.machine, len(self.devices)
        table = np.zeros((n, n))
        for a in range(n):
            for b in range(n):
                if self.memory[a] != self.memory[b]:
                    way = machine.route(machine.devices[a].memory, machine.devices[b].memory)
                    table[a, b] = of([machine.links[i] for i in way])
        return table

    @functools.cached_property
    def mean_link(self) -> tuple[float, float]:
        """Mean latency and mean seconds a byte over all ordered pairs of two devices."""
        n = len(self.devices)
        pairs = max(1, n * (n - 1))
        return float(self.latency.sum() / pairs), float(self.per_byte.sum() / pairs)

    @functools.cached_property
    def mean_cost(self) -> np.ndarray:
        """Mean seconds of each task over the devices that can run it."""
        able = np.isfinite(self.cost)
        return np.where(able, self.cost, 0).sum(axis=1) / able.sum(axis=1)

    @functools.cached_property
    def from_home(self) -> np.ndarray:
        """Earliest time at which a task's first data can be on each device, (tasks, devices)."""
        table = np.zeros(self.cost.shape)
        home, machine = self.machine.home, self.machine
        for x, maker in enumerate(self.by):
            if maker >= 0:
                continue
            times = [machine.transfer(self.size[x], home, d.memory) for d in machine.devices]
            for reader in self.to[x]:
                np.maximum(table[reader], times, out=table[reader])
        return table


def _costs(tasks: list, devices: tuple) -> np.ndarray:
    """`Device.seconds` of every task on every device, many at once where the task is simple."""
    table = np.empty((len(tasks), len(devices)))
    starts, speeds = np.array([[d.start, d.speed] for d in devices]).T
    names = [d.name for d in devices]
    simple = all(type(d) is Device for d in devices)
    plain, named, rows = [], [], []
    for t, task in enumerate(tasks):
        cost = task.cost
        if simple and not task.needs and type(cost) is float:
            plain.append(t)
            continue
        if simple and not task.needs and type(cost) is MappingProxyType:
            row = list(map(cost.get, names))
            if None not in row:
                named.append(t)
                rows.append(row)
                continue
        table[t] = [d.seconds(task) for d in devices]
    if plain:
        table[plain] = starts + np.array([tasks[t].cost for t in plain])[:, None] / speeds
    if named:
        table[named] = starts + np.array(rows)
    return table


def problem(graph, machine) -> Problem:
    """The arrays of a graph on a machine.

    Raises
    ------
    GraphError
        For a graph that contradicts itself.
    Unplaceable
        For a task that no device can run.
    """
    return graph if isinstance(graph, Problem) else Problem(graph, machine)
