"""Tasks, the data between them, and the rules that make them a graph that can run.

A task's cost is a number (the same everywhere, divided by a device's speed), a number for each
device or kind of device, or an amount of work of some kind, which a device's speed turns into
seconds.  Data have a size and one producer; every reader on another memory needs a copy.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from types import MappingProxyType

from hetlab.errors import InvalidValue, UnknownName
from hetlab.sched.faults import GraphError

__all__ = ["Data", "Task", "TaskGraph"]

Name = Hashable


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work that runs on one device from its start to its end.

    Attributes
    ----------
    name : hashable
    cost : float or mapping of str to float or None
        Seconds (or the graph's own unit): on a device of speed 1, or by the name or kind of a
        device.  A device that a mapping leaves out cannot run the task.  None: see ``work``.
    kind : str
        Kind of work ("matmul"); an FPGA is reconfigured between kinds.
    work : float
        Units of that work; a device does ``device.speeds[kind]`` of them a second.
    memory : float
        Bytes that it needs beside its inputs and outputs while it runs.
    needs : tuple of str
        Names, kinds or features of devices, one of which is enough; () means any device.
    """

    name: Name
    cost: float | Mapping[str, float] | None = None
    kind: str = ""
    work: float = 0.0
    memory: float = 0.0
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Data:
    """Bytes that one task makes and others read.

    Attributes
    ----------
    name : hashable
        For the data of an edge the pair (producer, consumer).
    size : float
        Bytes (or the unit that the machine's links count in).
    by : hashable or None
        The task that makes it; None when it lies in the machine's home memory from the start.
    to : tuple
        The tasks that read it.
    """

    name: Name
    size: float
    by: Name | None
    to: tuple[Name, ...]


class TaskGraph:
    """A directed graph of tasks without cycles.

    Parameters
    ----------
    name : str, optional
    devices : sequence of str, optional
        The order in which a sequence of costs is meant: ``add("a", [3, 5])``.
    unit : str
        Of every time: "s", or "" for a published graph without a unit.

    Examples
    --------
    >>> graph = TaskGraph("two", devices=["P1", "P2"])
    >>> graph.add("a", [3, 5])
    >>> graph.add("b", [2, 1], after={"a": 4})
    >>> graph.order
    ('a', 'b')
    """

    def __init__(self, name: str = "graph", *, devices: Sequence[str] = (), unit: str = "") -> None:
        self.name, self.devices, self.unit = name, tuple(devices), unit
        self._tasks: dict[Name, Task] = {}
        self._data: dict[Name, Data] = {}
        self._order: tuple[Name, ...] | None = None
        self._links: dict | None = None

    @property
    def tasks(self) -> Mapping[Name, Task]:
        """Tasks by name, in the order they were added."""
        return MappingProxyType(self._tasks)

    @property
    def data(self) -> Mapping[Name, Data]:
        """Data by name."""
        return MappingProxyType(self._data)

    def __len__(self) -> int:
        return len(self._tasks)

    def __contains__(self, name: object) -> bool:
        return name in self._tasks

    def __repr__(self) -> str:
        tasks, edges = len(self._tasks), sum(len(d.to) for d in self._data.values())
        return f"TaskGraph({self.name!r}: {tasks:,} tasks, {edges:,} edges)"

    def add(
        self,
        name: Name,
        cost: float | Sequence[float] | Mapping[str, float] | None = None,
        after: Iterable[Name] | Mapping[Name, float] = (),
        *,
        kind: str = "",
        work: float = 0.0,
        memory: float = 0.0,
        needs: str | Iterable[str] = (),
    ) -> None:
        """Add a task.

        Parameters
        ----------
        name : hashable
        cost : float, sequence or mapping, optional
            See `Task.cost`; a sequence goes with the graph's ``devices``, in order, with None for
            a device that cannot run it.
        after : iterable, or mapping to bytes
            The tasks whose results it needs; they may be added later.
        kind, work, memory, needs
            See `Task`.

        Raises
        ------
        GraphError
            When the name is taken.
        InvalidValue
            For a cost, a size or an amount that is negative, infinite or not a number.
        """
        try:
            hash(name)
        except TypeError:
            raise InvalidValue("a task's name", "hashable, such as text", name) from None
        if name in self._tasks:
            raise GraphError(f"there are two tasks named {name!r}", do="Give one another name.")
        where = f"task {name!r}"
        if isinstance(cost, Mapping):
            cost = {str(d): _amount("cost", c, where) for d, c in cost.items() if c is not None}
            cost = MappingProxyType(cost)
        elif isinstance(cost, Real) and not isinstance(cost, bool):
            cost = _amount("cost", cost, where)
        elif cost is not None:
            cost = MappingProxyType(self._by_device(cost, where))
        needs = (needs,) if isinstance(needs, str) else tuple(map(str, needs))
        work, memory = _amount("work", work, where), _amount("memory", memory, where)
        self._tasks[name] = Task(name, cost, str(kind), work, memory, needs)
        self._order = self._links = None
        sizes = after if isinstance(after, Mapping) else dict.fromkeys(after, 0.0)
        for before, size in sizes.items():
            self.connect(before, name, size)

    def connect(self, before: Name, after: Name, size: float = 0.0) -> None:
        """Say that ``after`` needs ``size`` bytes that ``before`` makes, for it alone."""
        where = f"edge {before!r} to {after!r}"
        size = _amount("size", size, where)
        if (before, after) in self._data:
            raise GraphError(f"the {where} is there twice", do="Add their sizes.")
        self._data[before, after] = Data((before, after), size, before, (after,))
        self._order = self._links = None

    def put(self, name: Name, size: float, *, by: Name | None = None, to: Iterable[Name]) -> None:
        """Add data that several tasks may read: a memory gets one copy, however many read it.

        Parameters
        ----------
        name : hashable
        size : float
            Bytes.
        by : hashable, optional
            The task that makes it; without one it lies in the machine's home memory at the start.
        to : iterable
            The tasks that read it.
        """
        if name in self._data:
            raise GraphError(f"there are two data named {name!r}", do="Give one another name.")
        size = _amount("size", size, f"data {name!r}")
        self._data[name] = Data(name, size, by, tuple(dict.fromkeys(to)))
        self._order = self._links = None

    @property
    def order(self) -> tuple[Name, ...]:
        """Every task after those it needs; among equals, the one that was added first.

        Raises
        ------
        GraphError
            For an unknown name or a cycle, with the tasks on it.
        """
        if self._order is None:
            from hetlab.sched.ordering import topological

            self._order = topological(self)
        return self._order

    def check(self) -> TaskGraph:
        """Raise for anything that cannot run; return the graph itself."""
        if not self._tasks:
            raise GraphError(f"the graph {self.name!r} has no task", do="Add one with add().")
        _ = self.order
        return self

    def reads(self, name: Name) -> tuple[Data, ...]:
        """The data that a task needs."""
        return self._ends(name)[0]

    def writes(self, name: Name) -> tuple[Data, ...]:
        """The data that a task makes."""
        return self._ends(name)[1]

    def before(self, name: Name) -> dict[Name, float]:
        """The tasks that a task waits for, each with the bytes it sends."""
        found: dict[Name, float] = {}
        for data in self.reads(name):
            if data.by is not None:
                found[data.by] = found.get(data.by, 0.0) + data.size
        return found

    def after(self, name: Name) -> dict[Name, float]:
        """The tasks that wait for a task, each with the bytes it gets."""
        found: dict[Name, float] = {}
        for data in self.writes(name):
            for reader in data.to:
                found[reader] = found.get(reader, 0.0) + data.size
        return found

    def _copy(self) -> TaskGraph:
        """The same graph, sharing nothing that could be changed."""
        other = TaskGraph(self.name, devices=self.devices, unit=self.unit)
        other._tasks = {name: replace(task) for name, task in self._tasks.items()}
        other._data = {name: replace(data) for name, data in self._data.items()}
        other._order = self._order
        return other

    def to_dict(self) -> dict:
        """Plain data: the form that ``hetlab schedule`` reads, with names as text."""
        from hetlab.sched.plain import graph_to_dict

        return graph_to_dict(self)

    @classmethod
    def from_dict(cls, record: Mapping) -> TaskGraph:
        """The graph of a plain record: ``{"devices": [...], "tasks": {...}, "edges": [...]}``."""
        from hetlab.sched.plain import graph_from_dict

        return graph_from_dict(record)

    def _ends(self, name: Name) -> tuple[tuple[Data, ...], tuple[Data, ...]]:
        if self._links is None:
            _ = self.order  # no link may lead to a task that is not there
            reads: dict[Name, list[Data]] = {task: [] for task in self._tasks}
            writes: dict[Name, list[Data]] = {task: [] for task in self._tasks}
            for data in self._data.values():
                if data.by is not None:
                    writes[data.by].append(data)
                for reader in data.to:
                    reads[reader].append(data)
            self._links = {t: (tuple(reads[t]), tuple(writes[t])) for t in self._tasks}
        if name not in self._links:
            raise UnknownName("task", str(name), self._tasks)
        return self._links[name]

    def _by_device(self, costs, where: str) -> dict[str, float]:
        try:
            costs = list(costs)
        except TypeError:
            rule = "a number, a sequence or a mapping from devices to numbers"
            raise InvalidValue("cost", rule, costs, where=where) from None
        if not self.devices and costs:
            self.devices = tuple(f"P{i + 1}" for i in range(len(costs)))
        if len(costs) != len(self.devices):
            rule = f"a number for each of the {len(self.devices)} devices"
            raise InvalidValue("cost", rule, costs, where=where)
        pairs = zip(self.devices, costs)
        return {d: _amount("cost", c, where) for d, c in pairs if c is not None}


def _amount(name: str, value: object, where: str) -> float:
    """A finite number, at least 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidValue(name, "a number", value, where=where)
    number = float(value)
    if math.isnan(number) or math.isinf(number):
        raise InvalidValue(name, "finite", value, where=where)
    if number < 0:
        raise InvalidValue(name, "at least 0", value, where=where)
    return number
