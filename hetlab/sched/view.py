"""What a policy sees: names, numbers and estimates; nothing that it does to them changes a run."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import replace
from types import MappingProxyType

from hetlab.errors import UnknownName
from hetlab.sched.board import DONE, QUEUED, RUNNING, STATES, Board
from hetlab.sched.indexed import Problem

__all__ = ["View"]

Name = Hashable


class View:
    """The state of a run as a policy sees it.

    Times are seconds (or the graph's unit) since the start of the run.  Estimates use modelled
    costs and the speeds that were last seen; they do not know what other decisions will bring.
    """

    def __init__(self, p: Problem) -> None:
        # Copies all the way down: a policy may write into them, and only fools itself.
        graph = p.graph._copy()
        machine = p.machine.replace(devices=[replace(d) for d in p.machine.devices])
        self._problem = Problem(graph, machine)
        self._board = Board(self._problem)
        self._ways: dict[tuple[int, int], tuple[float, float]] = {}

    @property
    def graph(self):
        """The task graph (a copy)."""
        return self._problem.graph

    @property
    def machine(self):
        """The machine (a copy)."""
        return self._problem.machine

    @property
    def problem(self) -> Problem:
        """Both as arrays (a copy)."""
        return self._problem

    @property
    def time(self) -> float:
        """Now."""
        return self._board.time

    @property
    def ready(self) -> tuple[Name, ...]:
        """Tasks that could start and that you have not placed, in the order they became ready."""
        names = self._problem.names
        return tuple(names[t] for t in self._board.ready)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that are alive."""
        return tuple(n for n, ok in zip(self._problem.devices, self._board.alive) if ok)

    @property
    def idle(self) -> tuple[str, ...]:
        """The devices that run nothing, have an empty queue, and wait for no second copy."""
        b, names = self._board, self._problem.devices
        return tuple(
            names[d]
            for d, ok in enumerate(b.alive)
            if ok and b.running[d] < 0 and not b.queue[d] and b.backup[d] < 0
        )

    def copying(self, device: str) -> Name | None:
        """The running task of which a device will run a second copy, once its inputs are there."""
        t = self._board.backup[self._device(device)]
        return None if t < 0 else self._problem.names[t]

    @property
    def lost(self) -> Mapping[str, str]:
        """The devices that are gone, with the reason."""
        return MappingProxyType({self._problem.devices[d]: w for d, w in self._board.lost.items()})

    @property
    def left(self) -> int:
        """How many tasks have not ended."""
        return self._board.left

    def status(self, task: Name) -> str:
        """One of "waiting", "ready", "queued", "running", "done", "failed", "skipped"."""
        return STATES[self._board.status[self._task(task)]]

    def place(self, task: Name) -> str | None:
        """The device whose queue a task is in, or that runs or ran it."""
        d = self._board.place[self._task(task)]
        return None if d < 0 else self._problem.devices[d]

    def queue(self, device: str) -> tuple[Name, ...]:
        """The tasks that a device will run, in order."""
        return tuple(self._problem.names[t] for t in self._board.queue[self._device(device)])

    def running(self, device: str) -> Name | None:
        """The task that a device runs."""
        t = self._board.running[self._device(device)]
        return None if t < 0 else self._problem.names[t]

    def since(self, device: str) -> float:
        """When the task that a device runs began."""
        return self._board.since[self._device(device)]

    def can_run(self, task: Name, device: str) -> bool:
        """Whether a device is alive and can run a task."""
        d = self._device(device)
        return self._board.alive[d] and math.isfinite(self._board.cost[self._task(task)][d])

    def cost(self, task: Name, device: str) -> float:
        """Modelled seconds of a task on a device at full speed; inf where it cannot run."""
        return self._board.cost[self._task(task)][self._device(device)]

    def speed(self, device: str) -> float:
        """The device's speed as it was last seen, as a share of the modelled one."""
        return self._board.pace[self._device(device)]

    def temperature(self, device: str) -> float | None:
        """Degrees Celsius as last seen; None without a sensor."""
        return self._board.degrees[self._device(device)]

    def configured(self, device: str) -> str:
        """The kind of work that a device is configured for; "" before the first."""
        return self._board.loaded[self._device(device)]

    def setup(self, task: Name, device: str) -> float:
        """Seconds to reconfigure a device for a task, after what is in its queue."""
        return self._setup(self._task(task), self._device(device))

    def free_memory(self, device: str) -> float:
        """Bytes that are not taken by copies in the device's memory."""
        p, b = self._problem, self._board
        m = p.memory[self._device(device)]
        return p.capacity[m] - sum(p.size[x] for x in (*b.held[m], *b.coming[m]))

    def missing_bytes(self, task: Name, device: str) -> float:
        """Bytes of a task's inputs that do not lie in the device's memory."""
        p, held = self._problem, self._board.held[self._problem.memory[self._device(device)]]
        return sum(p.size[x] for x in p.reads[self._task(task)] if x not in held)

    def available(self, device: str) -> float:
        """When a device will have done all that it runs and has in its queue; an estimate."""
        return self._available(self._device(device))

    def arrival(self, task: Name, device: str) -> float:
        """When a task's inputs can be in the device's memory; an estimate."""
        return self._arrival(self._task(task), self._device(device))

    def finish(self, task: Name, device: str) -> float:
        """When a task would end if it were put at the end of a device's queue; an estimate."""
        t, d = self._task(task), self._device(device)
        start = max(self._available(d), self._arrival(t, d))
        return start + self._setup(t, d) + self._board.cost[t][d] / self._board.pace[d]

    def best(self, task: Name) -> str:
        """The device on which a task would end first; at a tie the first of the machine.

        Raises
        ------
        UnknownName
            When no device that is alive can run it.
        """
        able = [d for d in self.devices if self.can_run(task, d)]
        if not able:
            raise UnknownName("living device for task", str(task), [])
        return min(able, key=lambda d: self.finish(task, d))

    def to_dict(self) -> dict:
        """Plain data of the state: what is ready, idle, running and queued, and where."""
        return {
            "time": self.time,
            "ready": list(self.ready),
            "idle": list(self.idle),
            "devices": {
                d: {
                    "running": self.running(d),
                    "queue": list(self.queue(d)),
                    "available": self.available(d),
                    "speed": self.speed(d),
                    "temperature": self.temperature(d),
                }
                for d in self.devices
            },
            "lost": dict(self.lost),
            "done": [n for n, s in zip(self._problem.names, self._board.status) if s == DONE],
        }

    def __repr__(self) -> str:
        return (
            f"View at {self.time:g}: {self.left} tasks left, {len(self._board.ready)} ready, "
            f"idle devices: {', '.join(self.idle) or 'none'}"
        )

    def _available(self, d: int) -> float:
        b = self._board
        t, pace = b.running[d], b.pace[d]
        end = max(b.time, b.since[d] + b.cost[t][d] / pace) if t >= 0 else b.time
        return end + b.waits[d] / pace

    def _arrival(self, t: int, d: int) -> float:
        p, b = self._problem, self._board
        m = p.memory[d]
        last = b.time
        for x in p.reads[t]:
            if x in b.held[m]:
                continue
            sources, start = b.copies[x], b.time
            if not sources:
                maker, start = p.by[x], b.time
                place = b.place[maker]
                if b.status[maker] in (QUEUED, RUNNING):
                    start = self._available(place)
                sources = [p.memory[place]] if place >= 0 else []
            if p.size[x] and m not in sources and sources:
                start += min(self._transfer(p.size[x], s, m) for s in sources)
            last = max(last, start)
        return last

    def _transfer(self, size: float, source: int, target: int) -> float:
        latency, pace = self._way(source, target)
        return latency + size * pace

    def _way(self, source: int, target: int) -> tuple[float, float]:
        if (source, target) not in self._ways:
            p = self._problem
            way = p.machine.route(p.memories[source], p.memories[target])
            links = [p.machine.links[i] for i in way]
            pace = max(1 / x.bandwidth for x in links)
            self._ways[source, target] = sum(x.latency for x in links), pace
        return self._ways[source, target]

    def _setup(self, t: int, d: int) -> float:
        p, b = self._problem, self._board
        device = p.machine.devices[d]
        if not device.reconfigure:
            return 0.0
        last = next(reversed(b.queue[d]), -1)
        kind = p.tasks[last].kind if last >= 0 else b.loaded[d]
        return device.reconfigure if p.tasks[t].kind not in ("", kind) else 0.0

    def _task(self, name: Name) -> int:
        try:
            return self._problem.index[name]
        except (KeyError, TypeError):
            raise UnknownName("task", str(name), self._problem.names) from None

    def _device(self, name: str) -> int:
        try:
            return self._problem.device_index[name]
        except (KeyError, TypeError):
            raise UnknownName("device", str(name), self._problem.devices) from None
