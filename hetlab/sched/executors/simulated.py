"""Virtual time: a run of days in milliseconds, the same every time."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import ClassVar

from hetlab.sched.executors.crowd import Crowd
from hetlab.sched.executors.scenario import Incident, Scenario
from hetlab.sched.executors.wires import Wires
from hetlab.sched.faults import PolicyError
from hetlab.sched.messages import (
    Cancel,
    CancelMove,
    Drop,
    Failed,
    Finished,
    Lost,
    Move,
    Moved,
    Sensed,
    Start,
    Wake,
    Woke,
)
from hetlab.sched.scheduler import Scheduler
from hetlab.sched.timeline import Span, Timeline, Transfer, in_order

__all__ = ["Simulation", "simulate"]


def simulate(
    graph,
    machine,
    policy="heft",
    *,
    scenario: Scenario | None = None,
    patience: float = 10.0,
) -> Timeline:
    """Run a graph on a machine in virtual time.

    Parameters
    ----------
    graph : TaskGraph
    machine : Machine
    policy : object
        A policy, its class or its name, a function of a view, or a plan: see `as_policy`.
    scenario : Scenario, optional
        Noise, and devices that slow down or die; a quiet day otherwise.
    patience : float
        Seconds (of a real clock) that someone else's policy may take for one answer.

    Returns
    -------
    Timeline
        Labelled "modelled".

    Raises
    ------
    GraphError, Unplaceable
        For a graph that cannot run at all.
    PolicyError
        When the policy raised, stalled or decided something impossible; its ``timeline`` is what
        had happened until then.
    """
    return Simulation(graph, machine, policy, scenario, patience).run()


@dataclass
class _Work:
    """What a device does now."""

    task: object
    begin: float
    setup: float  # seconds of it left, at full speed
    left: float  # seconds of the task left, at full speed
    run_begin: float = -1.0
    mine: float = 0.0  # bytes that it holds beside its inputs
    joules: float = 0.0
    setup_joules: float = 0.0


class Simulation:
    """One run in virtual time; see `simulate`."""

    def __init__(self, graph, machine, policy, scenario=None, patience: float = 10.0) -> None:
        self._graph, self._machine = graph, machine
        self._scenario = scenario or Scenario()
        self._scenario.check(machine)
        self._scheduler = Scheduler(graph, machine, policy, patience=patience)
        self._p = p = self._scheduler.problem
        self._now = 0.0
        self._heap: list[tuple] = []
        self._number = 0
        self._wires, self._crowd = Wires(machine), Crowd(machine)
        self._moves: dict = {}
        self._work: dict[int, _Work] = {}
        self._stamp = [0] * len(p.devices)  # an older event of the device no longer counts
        self._factor = [1.0] * len(p.devices)
        self._hot = [False] * len(p.devices)
        self._degrees = [d.heat.ambient if d.heat else 0.0 for d in machine.devices]
        self._at = [0.0] * len(p.devices)  # until when each device's state is known
        self._spans: list[Span] = []
        self._transfers: list[Transfer] = []
        self._series = {d.name: [(0.0, d.heat.ambient)] for d in machine.devices if d.heat}
        self._dead: dict[str, tuple[float, str]] = {}
        self._copies = {(x, p.home) for x, maker in enumerate(p.by) if maker < 0}
        self._held = [0.0] * len(p.memories)
        self._held[p.home] = sum(p.size[x] for x, _ in self._copies)
        self._peak = list(self._held)
        self._noise = self._scenario.factors(p.cost.shape)

    def run(self) -> Timeline:
        """Run until nothing is left."""
        for incident in self._scenario.incidents:
            self._push(incident.at, ("incident", incident))
            if incident.factor and math.isfinite(incident.until):
                over = Incident(incident.device, incident.until, 1.0)
                self._push(incident.until, ("incident", over))
        for d in range(len(self._p.devices)):
            self._plan(d)
        try:
            self._obey(self._scheduler.handle(0.0, []))
            while not self._scheduler.done:
                self._step()
        except PolicyError as error:
            error.timeline = self._timeline()
            raise
        return self._timeline()

    def _step(self) -> None:
        """Go to the next moment at which something happens, and report all of it at once."""
        now = min(self._heap[0][0] if self._heap else math.inf, self._wires.next())
        slack = 1e-12 * max(1.0, now)  # equal sums of floats differ in their last digits
        self._now = now
        events: list = []
        while self._heap and self._heap[0][0] <= now + slack:
            self._happen(heapq.heappop(self._heap)[2], events)
        for data, target in self._wires.pop(now, slack):
            begin, source, size = self._moves.pop((data, target))
            self._transfers.append(Transfer(data, source, target, begin, now, size))
            events.append(Moved(data, target))
        if events:
            self._obey(self._scheduler.handle(now, [*self._sense(), *events]))

    def _happen(self, what: tuple, events: list) -> None:
        kind, *rest = what
        if kind == "wake":
            events.append(Woke())
        elif kind == "incident":
            self._incident(rest[0], events)
        else:
            d, stamp = rest
            if stamp != self._stamp[d]:
                return
            self._advance(d)
            device, work = self._machine.devices[d], self._work.get(d)
            if work:
                self._round(work)
            if device.heat and self._crossed(d):
                events.append(Sensed({device.name: self._degrees[d]}, {device.name: self._pace(d)}))
            if work and work.setup <= 0 and work.left <= 0:
                self._end(d, events)
            else:
                self._plan(d)

    def _incident(self, incident: Incident, events: list) -> None:
        d = self._p.device_index[incident.device]
        if incident.device in self._dead:
            return
        self._advance(d)
        if incident.factor == 0:
            self._stop(d, "lost")
            self._dead[incident.device] = (self._now, incident.says)
            self._stamp[d] += 1
            events.append(Lost(incident.device, incident.says))
            return
        self._factor[d] = incident.factor
        self._plan(d)

    def _end(self, d: int, events: list) -> None:
        name, work = self._p.devices[d], self._work[d]
        if work.task in self._scenario.raises:
            self._stop(d, "failed")
            events.append(Failed(work.task, name, self._scenario.raises[work.task]))
            return
        self._stop(d, "run")
        t = self._p.index[work.task]
        for x in self._p.writes[t]:
            self._copy(x, self._p.memory[d])
        took = self._now - work.run_begin
        modelled = float(self._p.cost[t, d])
        if not self._machine.devices[d].heat and took > 0 and modelled > 0:
            # What anyone can see of a device: how long its last task took.
            events.append(Sensed({}, {name: round(modelled / took, 3)}))
        events.append(Finished(work.task, name))

    # What the scheduler wants.
    def _obey(self, instructions: list) -> None:
        for each in instructions:
            self._ACTIONS[type(each)](self, each)

    def _start(self, each: Start) -> None:
        p = self._p
        t, d = p.index[each.task], p.device_index[each.device]
        near = [d, *self._crowd.others(d, self._work)]
        for one in near:
            self._advance(one)
        seconds = float(p.cost[t, d])
        if self._noise is not None:
            seconds *= float(self._noise[t, d])
        setup = self._machine.devices[d].reconfigure if each.setup else 0.0
        begin = -1.0 if setup else self._now
        m = p.memory[d]
        mine = p.tasks[t].memory
        mine += sum(p.size[x] for x in p.writes[t] if (x, m) not in self._copies)
        self._work[d] = _Work(each.task, self._now, setup, seconds, begin, mine)
        self._fill(m, mine)
        for one in near:
            self._plan(one)

    def _move(self, each: Move) -> None:
        x = self._p.data_index[each.data]
        size, key = self._p.size[x], (each.data, each.target)
        begin = self._wires.start(self._now, key, size, each.source, each.target)
        self._moves[key] = (begin, each.source, size)
        self._copy(x, self._p.memory_index[each.target])

    def _drop(self, each: Drop) -> None:
        self._uncopy(self._p.data_index[each.data], self._p.memory_index[each.memory])

    def _cancel(self, each: Cancel) -> None:
        d = self._p.device_index[each.device]
        if d in self._work:
            self._advance(d)
            self._stop(d, "cancelled")

    def _cancel_move(self, each: CancelMove) -> None:
        self._wires.cancel(self._now, (each.data, each.target))
        self._moves.pop((each.data, each.target), None)
        self._uncopy(self._p.data_index[each.data], self._p.memory_index[each.target])

    def _wake(self, each: Wake) -> None:
        self._push(each.at, ("wake",))

    _ACTIONS: ClassVar[dict] = {
        Start: _start,
        Move: _move,
        Drop: _drop,
        Cancel: _cancel,
        CancelMove: _cancel_move,
        Wake: _wake,
    }

    # Devices between two events.
    def _pace(self, d: int) -> float:
        heat = self._machine.devices[d].heat
        pace = self._factor[d] * self._crowd.pace(d, self._work)
        return pace * (heat.slowed if heat and self._hot[d] else 1.0)

    def _watts(self, d: int) -> float:
        device = self._machine.devices[d]
        if d not in self._work:
            return device.idle_watts
        share = device.heat.slowed_watts if device.heat and self._hot[d] else 1.0
        return max(device.idle_watts, device.busy_watts * share)

    def _advance(self, d: int) -> None:
        """Bring a device from its last event to now."""
        seconds = self._now - self._at[d]
        if seconds <= 0:
            return
        device, work, watts = self._machine.devices[d], self._work.get(d), self._watts(d)
        if device.heat:
            self._warm(d, seconds, watts)
        self._at[d] = self._now
        if work is None:
            return
        pace = self._pace(d)
        if work.setup > 0:  # configuring does not depend on the clock of what is configured
            part = min(seconds, work.setup)
            work.setup -= part
            work.setup_joules += watts * part
            seconds -= part
            self._round(work)
            if work.setup == 0:
                work.run_begin = self._now - seconds
        if work.setup == 0 and seconds > 0:
            work.left -= seconds * pace
            work.joules += watts * seconds
            self._round(work)

    def _round(self, work: _Work) -> None:
        """What is too short for the clock's digits is over."""
        least = 1e-12 * max(1.0, self._now)
        work.setup = work.setup if work.setup > least else 0.0
        work.left = work.left if work.left > least else 0.0

    def _warm(self, d: int, seconds: float, watts: float) -> None:
        heat, name = self._machine.devices[d].heat, self._p.devices[d]
        start, steps = self._degrees[d], max(1, min(8, math.ceil(4 * seconds / heat.seconds)))
        for i in range(1, steps + 1):
            degrees = heat.after(start, watts, seconds * i / steps)
            self._series[name].append((self._at[d] + seconds * i / steps, degrees))
        self._degrees[d] = degrees

    def _crossed(self, d: int) -> bool:
        """Whether the device starts or stops to be slow."""
        heat, near = self._machine.devices[d].heat, 1e-6
        if not self._hot[d] and self._degrees[d] >= heat.limit - near:
            self._hot[d], self._degrees[d] = True, heat.limit
        elif self._hot[d] and self._degrees[d] <= heat.recover + near:
            self._hot[d], self._degrees[d] = False, heat.recover
        else:
            return False
        return True

    def _plan(self, d: int) -> None:
        """When something will happen on the device by itself."""
        self._stamp[d] += 1
        device, work = self._machine.devices[d], self._work.get(d)
        soonest = math.inf
        if work:
            soonest = work.setup if work.setup > 0 else work.left / self._pace(d)
        if device.heat:
            target = device.heat.recover if self._hot[d] else device.heat.limit
            reach = device.heat.reaches(self._degrees[d], self._watts(d), target)
            soonest = min(soonest, reach if reach > 0 else math.inf)
        if math.isfinite(soonest):
            self._push(self._now + soonest, ("device", d, self._stamp[d]))

    def _stop(self, d: int, kind: str) -> None:
        """The device stops what it does, with this result."""
        near = self._crowd.others(d, self._work)
        for other in near:
            self._advance(other)
        work = self._work.pop(d, None)
        for other in near:
            self._plan(other)
        if work is not None:
            self._fill(self._p.memory[d], -work.mine)
            name, ran = self._p.devices[d], work.run_begin >= 0
            if not ran or work.run_begin > work.begin:
                end = work.run_begin if ran else self._now
                self._spans.append(
                    Span(name, work.task, work.begin, end, "setup", work.setup_joules)
                )
            if ran:
                span = Span(name, work.task, work.run_begin, self._now, kind, work.joules)
                self._spans.append(span)
        self._plan(d)

    def _sense(self) -> list:
        warm = {}
        for d, device in enumerate(self._machine.devices):
            if device.heat and device.name not in self._dead:
                self._advance(d)
                warm[device.name] = self._degrees[d]
        return [Sensed(warm)] if warm else []

    # This executor's own account of memory, so that tests can hold it against the scheduler's.
    def _copy(self, x: int, m: int) -> None:
        if (x, m) not in self._copies:
            self._copies.add((x, m))
            self._fill(m, self._p.size[x])

    def _uncopy(self, x: int, m: int) -> None:
        if (x, m) in self._copies:
            self._copies.discard((x, m))
            self._fill(m, -self._p.size[x])

    def _fill(self, m: int, size: float) -> None:
        self._held[m] += size
        self._peak[m] = max(self._peak[m], self._held[m])

    def _push(self, at: float, what: tuple) -> None:
        self._number += 1
        heapq.heappush(self._heap, (at, self._number, what))

    def _timeline(self) -> Timeline:
        for d in range(len(self._p.devices)):
            if self._p.devices[d] not in self._dead:
                self._advance(d)
        return Timeline(
            graph=self._graph,
            machine=self._machine,
            policy=self._scheduler.policy_name,
            spans=in_order(self._spans, self._p.devices),
            transfers=tuple(self._transfers),
            failures=dict(self._scheduler.failures),
            lost=dict(self._dead),
            degrees={name: tuple(points) for name, points in self._series.items()},
            peak_memory=dict(zip(self._p.memories, self._peak)),
        )
