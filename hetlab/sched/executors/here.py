"""This machine: real kernels, real copies, a real clock; the same scheduler and policies.

Devices that work in the home memory are threads of this process; any other memory is a process of
its own.  *Paced* devices run their kernels too, but take as long as the model says, from the
decision on, so that reaching the process costs no time of its own: what is learnt there about
order, overlap and transfers is real, their speed is not, and the label is "emulated".
"""

from __future__ import annotations

import queue
import statistics
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from hetlab.errors import HetlabError, InvalidValue, UnknownName
from hetlab.sched import messages as say
from hetlab.sched.executors.kernels import kernel_of, outputs_of, pack
from hetlab.sched.executors.pacing import Pacing
from hetlab.sched.executors.places import ProcessPlace, ThreadPlace, bring_home
from hetlab.sched.executors.scenario import Scenario
from hetlab.sched.faults import PolicyError, listing
from hetlab.sched.scheduler import Scheduler
from hetlab.sched.timeline import Span, Timeline, Transfer, in_order

__all__ = ["Here", "run_here"]


def run_here(
    graph,
    machine,
    policy="heft",
    kernels: Mapping = {},
    *,
    inputs: Mapping = {},
    paced: Iterable[str] | None = None,
    scenario: Scenario | None = None,
    repeats: int = 1,
    limit: float = 600.0,
    patience: float = 10.0,
) -> Timeline:
    """Run a graph on this machine.

    Parameters
    ----------
    graph : TaskGraph
    machine : Machine
        Devices in its home memory are threads here; other memories are processes.
    policy : object
        See `as_policy`; it must be a class, a name or a plan to be run several times.
    kernels : mapping
        From the name or the kind of a task to ``kernel(*inputs) -> output``, inputs in the order of
        ``graph.reads(task)``.  Arrays are shared: a kernel must not write into its inputs.  A task
        without a kernel makes bytes of the right number.
    inputs : mapping
        Values of the data that no task makes, by name.
    paced : iterable of str, optional
        Devices whose durations the model sets; every one that is not of kind "cpu" otherwise.
        With a thermal model they warm up and slow down.
    scenario : Scenario, optional
        Its incidents happen to paced devices; a device that dies takes its process with it.
    repeats : int
        How often to run; the timeline is the run of the median makespan, ``times`` has them all.
    limit : float
        Seconds that one run may take.
    patience : float
        Seconds that someone else's policy may take for one answer.

    Returns
    -------
    Timeline
        Labelled "measured", or "emulated" when a device is paced.

    Raises
    ------
    PolicyError
        When the policy raised, stalled or decided something impossible.
    HetlabError
        When the limit is over, with what still runs.
    """
    if not isinstance(repeats, int) or repeats < 1:
        raise InvalidValue("repeats", "a whole number, at least 1", repeats)
    with Here(machine, kernels, paced=paced) as here:
        how = {"inputs": inputs, "scenario": scenario, "limit": limit, "patience": patience}
        runs = [here.run(graph, policy, **how) for _ in range(repeats)]
    times = tuple(run.makespan for run in runs)
    middle = statistics.median_low(times)
    return replace(next(run for run in runs if run.makespan == middle), times=times)


class Here:
    """The places of a machine, kept open for several runs: ``with Here(machine) as here: ...``.

    Attributes
    ----------
    results : dict
        After a run: the data that no task reads, by name.
    """

    def __init__(self, machine, kernels: Mapping = {}, *, paced: Iterable[str] | None = None):
        self._machine, self._kernels = machine, dict(kernels)
        names = {d.name for d in machine.devices}
        others = (d.name for d in machine.devices if d.kind != "cpu")
        self._paced = set(others if paced is None else paced)
        for name in self._paced - names:
            raise UnknownName("device", name, names, where="paced")
        self._events: queue.SimpleQueue = queue.SimpleQueue()
        self._places: dict[str, ThreadPlace | ProcessPlace] = {}
        self.results: dict = {}

    def __enter__(self) -> Here:
        groups: dict[str, list[str]] = {self._machine.home: []}
        for d in self._machine.devices:
            groups.setdefault(d.memory, []).append(d.name)
        packed = pack(self._kernels) if len(groups) > 1 else b""
        try:
            for memory, devices in groups.items():
                post = self._events.put
                if memory == self._machine.home:
                    self._places[memory] = ThreadPlace(devices, self._kernels, post)
                else:
                    self._places[memory] = ProcessPlace(memory, devices, packed, post)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *reason) -> None:
        self.close()

    def close(self) -> None:
        """End every thread and process."""
        for place in self._places.values():
            place.close()
        self._places = {}

    def kill(self, device: str) -> None:
        """End the process of a device, as a crash would; a thread of this process cannot end so."""
        place = self._places[self._machine[device].memory]
        if not isinstance(place, ProcessPlace):
            do = "Let only devices die that have a memory of their own."
            raise HetlabError(f"{device} works in the home memory and cannot die", do=do)
        place.kill()

    @property
    def label(self) -> str:
        """What its times are."""
        return "emulated" if self._paced else "measured"

    @property
    def processes(self) -> dict[str, int]:
        """The process id of each memory that is a process."""
        places = self._places.items()
        return {memory: place.pid for memory, place in places if isinstance(place, ProcessPlace)}

    def run(
        self,
        graph,
        policy="heft",
        *,
        inputs: Mapping = {},
        scenario: Scenario | None = None,
        limit: float = 600.0,
        patience: float = 10.0,
    ) -> Timeline:
        """Run a graph once; see `run_here`."""
        if not self._places:
            raise HetlabError("the machine is not open", do="Use: with Here(machine) as here: ...")
        run = _Run(self, graph, policy, inputs, scenario or Scenario(), patience)
        try:
            return run.go(limit)
        except PolicyError as error:
            error.timeline = run.timeline()
            raise
        finally:
            self.results = run.results()
            for place in self._places.values():
                place.clear()


class _Run:
    """One run."""

    def __init__(
        self, here: Here, graph, policy, inputs: Mapping, scenario: Scenario, patience: float
    ) -> None:
        self._here, self._graph, self._machine = here, graph, here._machine
        scenario.check(self._machine)
        paced = [d for d in self._machine.devices if d.name in here._paced]
        self._pacing = Pacing(paced, scenario.incidents)
        self._deaths = sorted((i.at, i.device) for i in scenario.incidents if not i.factor)
        self._scheduler = Scheduler(graph, self._machine, policy, patience=patience)
        self._p = p = self._scheduler.problem
        self._keys = {}
        for task in p.tasks:
            if kernel_of(here._kernels, task) is not None:
                self._keys[task.name] = task.name if task.name in here._kernels else task.kind
        self._memory = {d.name: d.memory for d in self._machine.devices}
        self._home = here._places[self._machine.home]
        for data in graph.data.values():
            if data.by is None:
                given = inputs.get(data.name)
                self._home.data[data.name] = outputs_of(given, [data.size])[0]
        self._number = 0
        self._started: dict[tuple, say.Start] = {}
        self._begun: dict[tuple, float] = {}
        self._moves: set[tuple] = set()
        self._wakes: list[float] = []
        self._spans: list[Span] = []
        self._transfers: list[Transfer] = []
        self._lost: dict[str, tuple[float, str]] = {}

    def go(self, limit: float) -> Timeline:
        """From the first instruction to the last event."""
        self._t0 = time.perf_counter()
        self._obey(self._scheduler.handle(0.0, []))
        while not self._scheduler.done:
            events = self._wait(limit)
            now = time.perf_counter() - self._t0
            if events:
                self._obey(self._scheduler.handle(now, events))
            if now > limit:
                names = listing(s.task for s in self._started.values())
                what = f"the run took longer than {limit:g} s; still running: {names}"
                raise HetlabError(what, do="Raise limit=, or look at those kernels.")
        return self.timeline()

    def _wait(self, limit: float) -> list:
        """What happened next, and all else that has happened by then."""
        now = time.perf_counter() - self._t0
        change = self._pacing.change(now)
        until = min([limit, change, *self._wakes, *(at for at, _ in self._deaths)])
        items = []
        try:
            items.append(self._here._events.get(timeout=max(0.0, until - now) + 1e-4))
            while True:
                items.append(self._here._events.get_nowait())
        except queue.Empty:
            pass
        events = [event for item in items for event in self._event(item)]
        now = time.perf_counter() - self._t0
        due = [at for at in self._wakes if at <= now]
        self._wakes = [at for at in self._wakes if at > now]
        while self._deaths and self._deaths[0][0] <= now:
            self._here.kill(self._deaths.pop(0)[1])
        if events or change <= now:
            warm = self._pacing.degrees(now)
            paces = {name: self._pacing.speed(name, now) for name in warm}
            events += [say.Sensed(warm, paces)] if warm else []
        return [*events, *[say.Woke()] * len(due)]

    def _event(self, item: tuple) -> list:
        kind, *rest = item
        if kind == "moved":
            key, begin, end, size = rest
            if key not in self._moves:
                return []
            self._moves.discard(key)
            data, source, target = key[1:]
            span = (begin - self._t0, end - self._t0)
            self._transfers.append(Transfer(data, source, target, *span, float(size)))
            return [say.Moved(data, target)]
        if kind == "gone":
            return self._gone(rest[0])
        device, number, status, begin, end, reason = rest
        start = self._started.pop(number, None)
        if start is None:
            return []  # of an earlier run, or cancelled
        if device in self._here._paced:
            begin = self._begun[number] + self._t0
        self._pacing.stop(device, end - self._t0)
        span = (begin - self._t0, end - self._t0)
        mark = {"done": "run", "failed": "failed"}[status]
        watts = self._machine[device].busy_watts
        joules = watts * (end - begin)
        self._spans.append(Span(device, start.task, *span, mark, joules))
        if status == "failed":
            return [say.Failed(start.task, device, reason)]
        task, d = self._p.index[start.task], self._p.device_index[device]
        modelled = float(self._p.cost[task, d])
        known = not modelled or self._machine[device].heat
        speeds = {} if known else {device: round(modelled / max(end - begin, 1e-9), 3)}
        return [say.Sensed({}, speeds), say.Finished(start.task, device)]

    def _gone(self, memory: str) -> list:
        place, now, events = self._here._places[memory], time.perf_counter() - self._t0, []
        why = place.ended()
        for device in (d.name for d in self._machine.devices if d.memory == memory):
            if device in self._lost:
                continue
            number, start = next(
                ((n, s) for n, s in self._started.items() if s.device == device), (None, None)
            )
            reason = f"{why}, nothing ran on {device}"
            if start is not None:
                reason = f"{why} while {device} ran task {start.task!r}"
                del self._started[number]
                begin = self._begun.get(number, now)
                self._spans.append(Span(device, start.task, begin, now, "lost"))
            self._lost[device] = (now, reason)
            events.append(say.Lost(device, reason))
        return events

    # What the scheduler wants.
    def _obey(self, instructions: list) -> None:
        for each in instructions:
            kind = type(each)
            if kind is say.Start:
                self._start(each)
            elif kind is say.Move:
                self._move(each)
            elif kind is say.Drop:
                self._here._places[each.memory].drop(each.data)
            elif kind is say.Wake:
                self._wakes.append(each.at)
            elif kind is say.Cancel:
                self._cancel(each)
            elif kind is say.CancelMove:
                self._moves = {k for k in self._moves if (k[1], k[3]) != (each.data, each.target)}

    def _start(self, each: say.Start) -> None:
        p, t = self._p, self._p.index[each.task]
        d, self._number = p.device_index[each.device], self._number + 1
        number = (id(self), self._number)
        paced = each.device in self._here._paced
        now = time.perf_counter() - self._t0
        seconds = self._pacing.start(each.device, now, float(p.cost[t, d])) if paced else None
        if each.setup:
            seconds = (seconds or 0.0) + self._machine.devices[d].reconfigure
        self._started[number], self._begun[number] = each, now
        until = None if seconds is None else self._t0 + now + seconds
        reads, writes = [p.data[x] for x in p.reads[t]], [p.data[x] for x in p.writes[t]]
        sizes = [p.size[x] for x in p.writes[t]]
        place = self._here._places[self._memory[each.device]]
        place.run(each.device, number, self._keys.get(each.task), reads, writes, sizes, until)

    def _move(self, each: say.Move) -> None:
        self._number += 1
        key = (self._number, each.data, each.source, each.target)
        self._moves.add(key)
        source, target = self._here._places[each.source], self._here._places[each.target]
        post = self._here._events.put

        def arrived(begin: float, end: float, size: int) -> None:
            post(("moved", key, begin, end, size))

        def left(value, begin: float, end: float) -> None:
            if isinstance(target, ThreadPlace):
                target.data[each.data] = value
                arrived(begin, end, getattr(value, "nbytes", 0))
            else:
                target.take_in(each.data, value, lambda _, end, size: arrived(begin, end, size))

        if isinstance(source, ThreadPlace):
            target.take_in(each.data, source.data[each.data], arrived)
        else:
            source.give_out(each.data, left)

    def _cancel(self, each: say.Cancel) -> None:
        now = time.perf_counter() - self._t0
        for number, start in list(self._started.items()):
            if (start.task, start.device) == (each.task, each.device):
                del self._started[number]
                begin = self._begun[number]
                self._pacing.stop(each.device, now)
                self._spans.append(Span(each.device, each.task, begin, now, "cancelled"))
                place = self._here._places[self._memory[each.device]]
                if isinstance(place, ProcessPlace):
                    place.cancel(each.device)

    def timeline(self) -> Timeline:
        """What has happened."""
        return Timeline(
            graph=self._graph,
            machine=self._machine,
            policy=self._scheduler.policy_name,
            spans=in_order(self._spans, self._p.devices),
            transfers=tuple(sorted(self._transfers, key=lambda m: m.start)),
            label=self._here.label,
            failures=dict(self._scheduler.failures),
            lost=dict(self._lost),
            degrees=self._pacing.series,
        )

    def results(self) -> dict:
        """The data that no task reads, brought home."""
        ends = {d.name: self._where(d.by) for d in self._graph.data.values() if not d.to}
        return bring_home(ends, self._here._places, self._machine.home)

    def _where(self, task) -> str | None:
        done = [s for s in self._spans if s.task == task and s.kind == "run"]
        return self._memory[done[-1].device] if done else None
