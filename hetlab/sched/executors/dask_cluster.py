"""A Dask cluster: each device is a worker, the same scheduler and policies.

Dask's own scheduler is told where everything goes; what it adds is machines.  Copies are real: a
small task on the target's worker asks for the data, so that Dask moves them there.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Iterable, Iterator, Mapping

from hetlab.errors import HetlabError, one_line, optional
from hetlab.sched.executors.kernels import kernel_of, outputs_of
from hetlab.sched.faults import PolicyError, Unplaceable, listing
from hetlab.sched.messages import (
    Cancel,
    CancelMove,
    Drop,
    Failed,
    Finished,
    Lost,
    Move,
    Moved,
    Start,
    Wake,
    Woke,
)
from hetlab.sched.scheduler import Scheduler
from hetlab.sched.timeline import Span, Timeline, Transfer, in_order

__all__ = ["loopback", "run_on_dask"]

# How often to look whether the workers are still there.
_LOOK = 0.3


def run_on_dask(
    graph,
    machine,
    policy,
    client,
    kernels: Mapping = {},
    *,
    inputs: Mapping = {},
    paced: Iterable[str] = (),
    limit: float = 600.0,
) -> Timeline:
    """Run a graph on the workers of a Dask cluster.

    Parameters
    ----------
    graph : TaskGraph
    machine : Machine
        A device runs on the workers that have a resource of its name, or of its kind: start them
        with ``dask worker ADDRESS --resources "cpu0=1"``.  Each device gets a worker of its own.
    policy : object
        See `as_policy`.
    client : distributed.Client
    kernels, inputs, limit
        See `run_here`.
    paced : iterable of str
        Devices whose durations the model sets.

    Returns
    -------
    Timeline
        Labelled "measured", or "emulated" when a device is paced.  A worker's clock is set against
        this machine's by a few answers, so that times between machines are right to about half a
        round trip.

    Raises
    ------
    Unplaceable
        For a device that no worker has the resource of.
    PolicyError, HetlabError
        As `run_here`.
    """
    optional("distributed", "cluster", "run on a Dask cluster")
    run = _DaskRun(graph, machine, policy, client, kernels, inputs, paced)
    try:
        return run.go(limit)
    except PolicyError as error:
        error.timeline = run.timeline()
        raise
    finally:
        run.close()


@contextlib.contextmanager
def loopback(devices: Iterable[str] | object) -> Iterator[object]:
    """A Dask cluster on this machine: a process for each device, with a resource of its name.

    Parameters
    ----------
    devices : Machine or iterable of str

    Yields
    ------
    distributed.Client
    """
    names = [d.name for d in getattr(devices, "devices", ())] or list(devices)
    distributed = optional("distributed", "cluster", "start a Dask cluster")
    here = {"host": "127.0.0.1"}
    workers = {}
    for name in names:
        options = {**here, "nthreads": 1, "resources": {name: 1}, "dashboard": False}
        options["silence_logs"] = "CRITICAL"
        workers[name] = {"cls": distributed.Nanny, "options": options}
    options = {**here, "port": 0, "dashboard": False, "dashboard_address": None}
    scheduler = {"cls": distributed.Scheduler, "options": options}
    quiet = {"silence_logs": "critical", "name": "hetlab"}
    with (
        distributed.SpecCluster(workers=workers, scheduler=scheduler, **quiet) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(len(names), timeout=60)
        yield client


class _DaskRun:
    """One run; what arrives comes through one queue, from Dask's callbacks."""

    def __init__(self, graph, machine, policy, client, kernels, inputs, paced) -> None:
        self._graph, self._machine, self._client = graph, machine, client
        self._paced = set(paced)
        for name in self._paced:
            _ = machine[name]  # an unknown name is a sentence
        self._scheduler = Scheduler(graph, machine, policy)
        self._p = p = self._scheduler.problem
        self._worker = _workers_of(machine, client)
        self._kernels = {task.name: kernel_of(kernels, task) for task in p.tasks}
        self._at = {}
        for d in machine.devices:
            self._at.setdefault(d.memory, self._worker[d.name])
        self._events: queue.SimpleQueue = queue.SimpleQueue()
        self._copies: dict = {}  # (data, memory) -> (future, position in its result or None)
        self._running: dict = {}  # (task, device) -> (future, when it was sent)
        self._moving: dict = {}
        self._wakes: list[float] = []
        self._spans: list[Span] = []
        self._transfers: list[Transfer] = []
        self._lost: dict[str, tuple[float, str]] = {}
        addresses = dict.fromkeys(self._worker.values())
        self._offset = {address: _offset(client, address) for address in addresses}
        first = {d.name: d.size for d in graph.data.values() if d.by is None}
        self._given = {
            name: outputs_of(inputs.get(name), [size])[0] for name, size in first.items()
        }
        self._scatter(self._at.get(machine.home, self._worker[machine.devices[0].name]))

    def _scatter(self, address: str) -> None:
        """What lies in the home memory at the start goes to one of its workers."""
        for name, value in self._given.items():
            (future,) = self._client.scatter([value], workers=[address], hash=False)
            self._copies[name, self._machine.home] = (future, None)

    def go(self, limit: float) -> Timeline:
        """From the first instruction to the last event."""
        self._t0 = time.time()
        self._obey(self._scheduler.handle(0.0, []))
        looked = time.time()
        while not self._scheduler.done:
            now = time.time() - self._t0
            until = min([limit, now + _LOOK, *self._wakes])
            events = []
            try:
                events += self._event(self._events.get(timeout=max(0.0, until - now) + 1e-3))
                while True:
                    events += self._event(self._events.get_nowait())
            except queue.Empty:
                pass
            if time.time() - looked > _LOOK:
                looked = time.time()
                events += self._look()
            now = time.time() - self._t0
            events += [Woke() for at in self._wakes if at <= now]
            self._wakes = [at for at in self._wakes if at > now]
            if events:
                self._obey(self._scheduler.handle(now, events))
            if now > limit:
                names = listing(task for task, _ in self._running)
                what = f"the run took longer than {limit:g} s; still running: {names}"
                raise HetlabError(what, do="Raise limit=, or look at those kernels.")
        return self.timeline()

    def close(self) -> None:
        """Let Dask forget everything."""
        futures = [f for f, _ in self._copies.values()] + [f for f, _ in self._running.values()]
        self._client.cancel(futures + [f for f, *_ in self._moving.values()])
        self._copies, self._running, self._moving = {}, {}, {}

    def _obey(self, instructions: list) -> None:
        for each in instructions:
            kind = type(each)
            if kind is Start:
                self._start(each)
            elif kind is Move:
                self._move(each)
            elif kind is Drop:
                self._copies.pop((each.data, each.memory), None)
            elif kind is Wake:
                self._wakes.append(each.at)
            elif kind is Cancel:
                future, sent = self._running.pop((each.task, each.device), (None, 0.0))
                if future is not None:
                    now = time.time() - self._t0
                    self._client.cancel([future])
                    self._spans.append(Span(each.device, each.task, sent, now, "cancelled"))
            elif kind is CancelMove:
                self._moving.pop((each.data, each.target), None)

    def _start(self, each: Start) -> None:
        p, t, memory = self._p, self._p.index[each.task], self._machine[each.device].memory
        sources = [self._copies.get((p.data[x], memory)) for x in p.reads[t]]
        where = [None if s is None else s[1] for s in sources]
        futures = [None if s is None else s[0] for s in sources]
        sizes = [p.size[x] for x in p.writes[t]]
        d = p.device_index[each.device]
        seconds = float(p.cost[t, d]) if each.device in self._paced else 0.0
        work = (self._kernels[each.task], where, sizes, seconds)
        future = self._client.submit(_run, *work, *futures, **self._only(each.device))
        key = (each.task, each.device)
        self._running[key] = (future, time.time() - self._t0)
        future.add_done_callback(lambda f: self._events.put(("ran", key, f)))

    def _move(self, each: Move) -> None:
        future, position = self._copies[each.data, each.source]
        able = [d.name for d in self._machine.devices if d.memory == each.target]
        device = next((d for d in able if d not in self._lost), able[0])
        copy = self._client.submit(_copy, future, position, **self._only(device))
        key = (each.data, each.target)
        self._moving[key] = (copy, time.time() - self._t0, each)
        copy.add_done_callback(lambda f: self._events.put(("moved", key, f, each.source)))

    def _only(self, device: str) -> dict:
        # Others only when it is gone: a memory's other devices still need what was made there, and
        # Dask makes that again where it can.
        address = self._worker[device]
        return {"workers": [address], "allow_other_workers": True, "pure": False}

    def _event(self, item: tuple) -> list:
        kind, key, future, *rest = item
        now = time.time() - self._t0
        if kind == "moved":
            kept, begin, _ = self._moving.get(key, (None, 0.0, None))
            if kept is not future or future.status != "finished":
                return []  # given up, or what it copies is gone: the next look tells
            del self._moving[key]
            self._copies[key] = (future, None)
            data = self._graph.data[key[0]]
            self._transfers.append(Transfer(*key[:1], rest[0], key[1], begin, now, data.size))
            return [Moved(*key)]
        kept, begin = self._running.get(key, (None, 0.0))
        if kept is not future or future.status not in ("finished", "error"):
            return []  # cancelled, or its worker is gone: the next look tells
        task, device = key
        if future.status == "error":
            error = future.exception()
            if type(error).__name__ == "KilledWorker":
                return []
            del self._running[key]
            self._spans.append(Span(device, task, begin, now, "failed"))
            return [Failed(task, device, one_line(error))]
        del self._running[key]
        span = self._client.submit(_span, future, **self._only(device))
        try:
            start, end = span.result(30)
        except Exception:
            return []  # the worker died just now
        offset = self._offset[self._worker[device]] - self._t0
        joules = self._machine[device].busy_watts * (end - start)
        # Two clocks: a task began after it was sent and ended before its answer came.
        start = min(max(start + offset, begin), now)
        end = min(max(end + offset, start), now)
        self._spans.append(Span(device, task, start, end, "run", joules))
        p, memory = self._p, self._machine[device].memory
        for i, x in enumerate(p.writes[p.index[task]]):
            self._copies[p.data[x], memory] = (future, i)
        return [Finished(task, device)]

    def _look(self) -> list:
        """Whether the workers are still there."""
        known, events = set(self._client.scheduler_info(n_workers=-1)["workers"]), []
        now = time.time() - self._t0
        for device, address in self._worker.items():
            if address in known or device in self._lost:
                continue
            reason = f"Dask's worker {address} of {device} is gone"
            for key in [k for k in self._running if k[1] == device]:
                future, begin = self._running.pop(key)
                self._client.cancel([future])
                self._spans.append(Span(device, key[0], begin, now, "lost"))
                reason += f" while it ran task {key[0]!r}"
            self._lost[device] = (now, reason)
            events.append(Lost(device, reason))
            self._save(device)
        self._repeat()
        return events

    def _repeat(self) -> None:
        """Send again what Dask gave up, because data that it read were lost with a worker."""
        for (task, device), (future, _) in list(self._running.items()):
            if future.status == "cancelled" and device not in self._lost:
                self._start(Start(task, device))
        for future, _, each in list(self._moving.values()):
            if future.status == "cancelled":
                self._move(each)

    def _save(self, device: str) -> None:
        """What lay with a lost device: forgotten, or with another device of its memory."""
        memory = self._machine[device].memory
        others = [d.name for d in self._machine.devices if d.memory == memory]
        left = next((d for d in others if d not in self._lost), None)
        if memory == self._machine.home:
            alive = [a for d, a in self._worker.items() if d not in self._lost]
            if alive and self._at.get(memory) == self._worker[device]:
                self._at[memory] = self._worker[left] if left else alive[0]
                self._scatter(self._at[memory])
        elif left is None:
            for key in [k for k in self._copies if k[1] == memory]:
                del self._copies[key]  # or Dask would make it again

    def timeline(self) -> Timeline:
        """What has happened."""
        return Timeline(
            graph=self._graph,
            machine=self._machine,
            policy=self._scheduler.policy_name,
            spans=in_order(self._spans, self._p.devices),
            transfers=tuple(self._transfers),
            label="emulated" if self._paced else "measured",
            failures=dict(self._scheduler.failures),
            lost=dict(self._lost),
        )


def _offset(client, address: str) -> float:
    """Seconds that this machine's clock is ahead of a worker's; the quickest of five answers."""
    found = []
    for _ in range(5):
        before = time.time()
        there = client.submit(time.time, workers=[address], pure=False, priority=1).result(30)
        after = time.time()
        found.append((after - before, (before + after) / 2 - there))
    return min(found)[1]


def _workers_of(machine, client) -> dict[str, str]:
    """The address of the worker of each device."""
    known = client.scheduler_info(n_workers=-1)["workers"]
    free, found = dict(sorted(known.items())), {}
    for by in ("name", "kind"):
        for device in machine.devices:
            want = getattr(device, by)
            able = [a for a, w in free.items() if want in (w.get("resources") or {})]
            if device.name not in found and able:
                found[device.name] = able[0]
                del free[able[0]]
    missing = [d for d in machine.devices if d.name not in found]
    if missing:
        d = missing[0]
        have = sorted({r for w in known.values() for r in (w.get("resources") or {})})
        what = f"no free worker has the resource {d.name!r} or {d.kind!r} of device {d.name!r}"
        do = f'Start one: dask worker ADDRESS --resources "{d.name}=1". '
        do += f"The {len(known)} workers have: {listing(have)}."
        raise Unplaceable(what, where="the Dask cluster", do=do)
    return found


# What runs on a worker: these cross by name, so they are functions of this module.
def _run(kernel, where: list, sizes: list, seconds: float, *results):
    values = [r if i is None else r[0][i] for i, r in zip(where, results)]
    begin = time.time()
    outputs = outputs_of(kernel(*values) if kernel is not None else None, sizes)
    while (left := begin + seconds - time.time()) > 0:
        time.sleep(left)
    return outputs, begin, time.time()


def _copy(result, position):
    return result if position is None else result[0][position]


def _span(result) -> tuple[float, float]:
    return result[1], result[2]
