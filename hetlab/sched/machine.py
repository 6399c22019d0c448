"""The machine that a schedule is made for: devices, memories, and the links between them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from hetlab.errors import InvalidValue, UnknownName
from hetlab.sched.graph import Task
from hetlab.sched.heat import Heat
from hetlab.units import quantity

__all__ = ["CONTENTION", "Device", "Link", "Machine"]

# What happens to transfers that want the same link at the same time.
CONTENTION = ("none", "queue", "share")


@dataclass(frozen=True)
class Device:
    """Something that runs one task at a time.

    Attributes
    ----------
    name, kind : str
        The kind is "cpu", "gpu", "npu", "fpga", "dpu", or your own word.
    speed : float
        Divides the plain cost of a task.
    speeds : mapping of str to float
        Units of work a second, by kind of work; "*" for every other kind.
    memory : str
        The memory that it works in; several devices may share one.  Its own when "".
    start : float
        Seconds from the decision to the first operation of a task.
    reconfigure : float
        Seconds to become able to run another kind of work (an FPGA).
    features : tuple of str
        What a task may ask for in ``needs``, beside the name and the kind.
    idle_watts, busy_watts : float
    heat : Heat or None
        How it warms up, and where it slows down.
    pool : str
        What it shares with other devices, such as the cores or the power of one chip; see
        `Machine`.
    chip : str
        Which chip the figures are of.
    """

    name: str
    kind: str = "cpu"
    speed: float = 1.0
    speeds: Mapping[str, float] = field(default_factory=dict)
    memory: str = ""
    start: float = 0.0
    reconfigure: float = 0.0
    features: tuple[str, ...] = ()
    idle_watts: float = 0.0
    busy_watts: float = 0.0
    heat: Heat | None = None
    chip: str = ""
    pool: str = ""

    def __post_init__(self) -> None:
        where = f"device {self.name!r}"
        _number("speed", self.speed, where, above=True)
        for kind, speed in self.speeds.items():
            _number(f"the speed of {kind!r}", speed, where, above=True)
        for name in ("start", "reconfigure", "idle_watts", "busy_watts"):
            _number(name, getattr(self, name), where)
        object.__setattr__(self, "speeds", MappingProxyType(dict(self.speeds)))
        object.__setattr__(self, "features", tuple(self.features))
        if not self.memory:
            object.__setattr__(self, "memory", self.name)

    def able(self, task: Task) -> bool:
        """Whether it is one of the devices that the task asks for."""
        return not task.needs or not {self.name, self.kind, *self.features}.isdisjoint(task.needs)

    def seconds(self, task: Task) -> float:
        """Modelled time of a task here, without transfers and reconfiguration; inf: cannot."""
        if not self.able(task):
            return math.inf
        cost = task.cost
        if cost is None:
            speed = self.speeds.get(task.kind, self.speeds.get("*"))
            return math.inf if speed is None else self.start + task.work / speed
        if isinstance(cost, Mapping):
            found = cost.get(self.name, cost.get(self.kind))
            return math.inf if found is None else self.start + found
        return self.start + cost / self.speed


@dataclass(frozen=True)
class Link:
    """A way between two memories, the same in both directions.

    Attributes
    ----------
    a, b : str
        Names of memories.
    bandwidth : float
        Bytes a second; inf when only the latency counts.
    latency : float
        Seconds before the first byte arrives.
    duplex : bool
        Whether both directions work at once without slowing each other.
    """

    a: str
    b: str
    bandwidth: float
    latency: float = 0.0
    duplex: bool = True

    def __post_init__(self) -> None:
        where = f"link {self.a!r} to {self.b!r}"
        if not (isinstance(self.bandwidth, (int, float)) and self.bandwidth > 0):
            raise InvalidValue("bandwidth", "above 0", self.bandwidth, where=where)
        _number("latency", self.latency, where)


class Machine:
    """Devices, the memories they work in, and links.

    Parameters
    ----------
    devices : sequence of Device
    links : sequence of Link
        Data go the way with the least latency plus time for a megabyte, over several if need be.
    memories : mapping of str to float, optional
        Capacity in bytes; a memory that is not named has room for everything.
    home : str, optional
        Where data lie at the start, and where they go when a memory is full; the first device's
        memory otherwise.
    contention : str
        "none": transfers do not slow each other (the model of HEFT and its kin);
        "queue": a link carries one at a time, in order, as a DMA engine does;
        "share": those on a link at the same time share its bandwidth equally.
    pools : mapping of str to float, optional
        How many devices of a pool work at full speed at a time; when more are busy they share that
        equally.  1.2 for two: together they do a fifth more than one alone.
    name : str
    """

    def __init__(
        self,
        devices: Sequence[Device],
        links: Sequence[Link] = (),
        *,
        memories: Mapping[str, float] = {},
        home: str = "",
        contention: str = "none",
        pools: Mapping[str, float] = {},
        name: str = "machine",
    ) -> None:
        if not devices:
            raise InvalidValue("devices", "at least one device", devices)
        names = [d.name for d in devices]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise InvalidValue("the names of devices", "different", twice)
        if contention not in CONTENTION:
            raise InvalidValue("contention", " or ".join(map(repr, CONTENTION)), contention)
        self.name, self.contention = name, contention
        self.devices: tuple[Device, ...] = tuple(devices)
        self.links: tuple[Link, ...] = tuple(links)
        used = dict.fromkeys(d.memory for d in devices)
        used |= dict.fromkeys([*memories, home] if home else memories)
        for pool, size in pools.items():
            _number("the size of a pool", size, f"pool {pool!r}", above=True)
        for d in devices:
            if d.pool and d.pool not in pools:
                raise UnknownName("pool", d.pool, pools, where=f"device {d.name!r}")
        self.pools: Mapping[str, float] = MappingProxyType(dict(pools))
        self.home = home or devices[0].memory
        for link in links:
            used |= dict.fromkeys((link.a, link.b))
        self.memories: Mapping[str, float] = MappingProxyType(
            {m: _capacity(m, memories.get(m, math.inf)) for m in used}
        )
        self._index = {d.name: d for d in devices}
        self._routes: dict[tuple[str, str], tuple[int, ...] | None] = {}

    @classmethod
    def uniform(
        cls,
        devices: int | Iterable[str],
        *,
        bandwidth: float = 1.0,
        latency: float = 0.0,
        name: str = "uniform",
        **options,
    ) -> Machine:
        """Devices that all reach each other by equal links, as the scheduling papers have it.

        Parameters
        ----------
        devices : int or iterable of str
            How many (named P1, P2, ...), or their names.
        bandwidth, latency : float
            Of every link; with bandwidth 1 the size of data is their transfer time.
        """
        if isinstance(devices, int):
            devices = [f"P{i + 1}" for i in range(devices)]
        boxes = [Device(str(d)) for d in devices]
        names = [d.name for d in boxes]
        links = [Link(a, b, bandwidth, latency) for i, a in enumerate(names) for b in names[:i]]
        return cls(boxes, links, name=name, **options)

    def __getitem__(self, name: str) -> Device:
        if name not in self._index:
            raise UnknownName("device", name, self._index)
        return self._index[name]

    def __len__(self) -> int:
        return len(self.devices)

    def seconds(self, task: Task, device: str) -> float:
        """Modelled time of a task on a device; inf when it cannot run there."""
        return self[device].seconds(task)

    def route(self, source: str, target: str) -> tuple[int, ...]:
        """The links between two memories, as positions in ``links``.

        Raises
        ------
        UnknownName, InvalidValue
            For a memory that is not there, or that no link reaches.
        """
        from hetlab.sched.topology import route

        return route(self, source, target)

    def transfer(self, size: float, source: str, target: str) -> float:
        """Seconds that data take between two memories when nothing else moves.

        Latencies add up; the slowest link sets the pace (R. W. Hockney, "The communication
        challenge for MPP", Parallel Computing 20(3), 1994, for each link).
        """
        if source == target:
            return 0.0
        links = [self.links[i] for i in self.route(source, target)]
        return sum(x.latency for x in links) + size / min(x.bandwidth for x in links)

    def replace(self, **changes) -> Machine:
        """The same machine with other devices, links, memories, home, contention, pools or name."""
        now = {"devices": self.devices, "links": self.links, "memories": self.memories}
        now |= {"home": self.home, "contention": self.contention, "name": self.name}
        now["pools"] = self.pools
        return Machine(**{**now, **changes})

    def with_device(self, name: str, **changes) -> Machine:
        """The same machine with one device changed: ``machine.with_device("gpu", speed=2)``."""
        changed = replace(self[name], **changes)
        return self.replace(devices=[changed if d.name == name else d for d in self.devices])

    def to_dict(self) -> dict:
        """Plain data."""
        from hetlab.sched.plain import machine_to_dict

        return machine_to_dict(self)

    @classmethod
    def from_dict(cls, record: Mapping) -> Machine:
        """The machine of a plain record, as `to_dict` makes it."""
        from hetlab.sched.plain import machine_from_dict

        return machine_from_dict(record)

    def __repr__(self) -> str:
        lines = [f"Machine({self.name!r}: {len(self.devices)} devices, {len(self.links)} links)"]
        if len(self.devices) > 12:
            return lines[0]
        for d in self.devices:
            facts = [d.kind, *([d.chip] if d.chip else []), f"memory {d.memory}"]
            if math.isfinite(self.memories[d.memory]):
                facts.append(quantity(self.memories[d.memory], "B"))
            if d.busy_watts:
                facts.append(f"{d.idle_watts:g} to {d.busy_watts:g} W")
            if d.reconfigure:
                facts.append(f"reconfigures in {quantity(d.reconfigure, 's')}")
            lines.append(f"  {d.name}: {', '.join(facts)}")
        return "\n".join(lines)


def _number(name: str, value: object, where: str, *, above: bool = False) -> None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not good or value < 0 or (above and value == 0):
        rule = "a finite number above 0" if above else "a finite number, at least 0"
        raise InvalidValue(name, rule, value, where=where)


def _capacity(memory: str, value: object) -> float:
    if value is None:
        return math.inf
    if not isinstance(value, (int, float)) or math.isnan(value) or value < 0:
        raise InvalidValue("its capacity", "at least 0 bytes", value, where=f"memory {memory!r}")
    return float(value)
