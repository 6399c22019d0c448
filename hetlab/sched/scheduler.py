"""The scheduler: events in, instructions out.  It has no clock, no threads and does no I/O.

An executor reports what happened and when; the policy is asked; what it says is checked; then
queues move: data travel as soon as they exist and their reader is placed, and a task starts when
its device is free, it is first in the queue and its inputs are there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import ClassVar

from hetlab.errors import one_line
from hetlab.sched.board import DONE, FAILED, QUEUED, RUNNING, SKIPPED, WAITING, Board
from hetlab.sched.faults import PolicyError, Stalled, listing
from hetlab.sched.guard import Asker
from hetlab.sched.indexed import problem
from hetlab.sched.messages import (
    Backup,
    Cancel,
    Failed,
    Finished,
    Lost,
    Moved,
    Sensed,
    Start,
    Wait,
    Wake,
    Woke,
)
from hetlab.sched.stores import Stores
from hetlab.sched.view import View

__all__ = ["Scheduler"]

# A policy that only waits would run for ever: so many waits in a row that change nothing.
_IDLE_WAKES = 1000


class Scheduler:
    """Decides what runs where, for any executor.

    Parameters
    ----------
    graph : TaskGraph
    machine : Machine
    policy : Policy
        See `hetlab.sched.policy`.
    tries : int
        How often a task is started when the device under it is lost.
    patience : float
        Seconds that a policy of someone else may take for one answer.

    Examples
    --------
    >>> scheduler = Scheduler(graph, machine, policy)                      # doctest: +SKIP
    >>> scheduler.handle(0.0, [])                                          # doctest: +SKIP
    [Start(task='a', device='P1', setup=False)]
    """

    def __init__(self, graph, machine, policy, *, tries: int = 3, patience: float = 10.0) -> None:
        self._p = p = problem(graph, machine)
        self._view = View(p)
        self._board = Board(p)
        self._shown = self._view._board
        self._asker = Asker(policy, self._view, patience)
        self._stores = Stores(p, self._board, self._both)
        self._tries, self._tried = tries, [0] * len(p.names)
        self._wakes, self._idle_wakes = 0, 0
        self._out: list = []
        self.failures: dict = {}

    @property
    def done(self) -> bool:
        """Whether nothing is left to run."""
        return self._board.left == 0

    @property
    def problem(self):
        """The graph and the machine as arrays; executors read them."""
        return self._p

    @property
    def policy_name(self) -> str:
        """What the policy calls itself."""
        return self._asker.name

    @property
    def view(self) -> View:
        """What the policy sees."""
        return self._view

    def handle(self, time: float, events: Iterable) -> list:
        """Take in what happened at a time, and say what to do next.

        Parameters
        ----------
        time : float
            Seconds since the start of the run.
        events : iterable
            Of `hetlab.sched.messages`; [] at the start.

        Returns
        -------
        list
            Instructions, in the order in which they are meant.

        Raises
        ------
        PolicyError
            When the policy raised or decided something impossible.
        Stalled
            When nothing runs, nothing moves, and tasks are left.
        """
        self._out, b = self._stores.out, self._board
        self._out.clear()
        self._both("at", time)
        ask = not events
        progress = False
        for event in events:
            handler = self._HANDLERS[type(event)]
            ask |= bool(handler(self, event))
            progress |= not isinstance(event, (Woke, Sensed))
        if b.left and ask:
            for decision in self._asker.ask():
                self._decide(decision)
        self._pump()
        self._idle_wakes = 0 if progress or not events else self._idle_wakes + 1
        if b.left and not self._busy() and (not self._wakes or self._idle_wakes > _IDLE_WAKES):
            raise self._stalled()
        return list(self._out)

    # What happened.
    def _finished(self, event: Finished) -> bool:
        b, p = self._board, self._p
        t, d = p.index[event.task], p.device_index[event.device]
        if b.running[d] != t or b.status[t] != RUNNING:
            return False  # it was cancelled while this was on its way
        self._both("stopped", d)
        self._stores.release(t, d)
        self._cancel_copies(t)
        self._stores.making(t, d)
        self._both("finished", t, d)
        self._stores.made(t, d)
        self._forget_inputs(t)
        return True

    def _failed(self, event: Failed) -> bool:
        b, p = self._board, self._p
        t, d = p.index[event.task], p.device_index[event.device]
        if b.running[d] != t:
            return False
        self._both("stopped", d)
        self._stores.release(t, d)
        self._cancel_copies(t)
        self._give_up(t, event.reason)
        return True

    def _moved(self, event: Moved) -> bool:
        p = self._p
        self._stores.arrived(p.data_index[event.data], p.memory_index[event.memory])
        return False

    def _lost(self, event: Lost) -> bool:
        b, p = self._board, self._p
        d = p.device_index[event.device]
        if not b.alive[d]:
            return False
        t = b.running[d]
        held = [*b.queue[d]] + ([t] if t >= 0 else [])
        if t >= 0:
            self._stores.release(t, d)
        self._stores.cancel(d)
        self._both("died", d, event.reason)
        gone = self._stores.lost_memory(p.memory[d])
        for x in gone:
            for reader in p.to[x]:
                if b.status[reader] < RUNNING:
                    self._both("lacks", reader)
        for t in held:
            if b.status[t] == RUNNING and t in b.running:
                continue  # a second copy goes on elsewhere
            self._both("reopened", t)
        for x in gone:
            self._make_again(x)
        for t in held:
            if b.status[t] == WAITING or t in b.ready:
                if self._tried[t] >= self._tries:
                    count = f"started {self._tries} times, each time the device was lost"
                    self._give_up(t, f"{count}; the last: {event.reason}")
                else:
                    self._find_device(t, event.reason)
        for t in self._only_on(d):
            self._find_device(t, event.reason)
        self._unqueue_stranded()
        return True

    def _sensed(self, event: Sensed) -> bool:
        index = self._p.device_index
        changed = False
        for name, degrees in event.temperatures.items():
            self._both("sensed", index[name], degrees, None)
        for name, pace in event.speeds.items():
            changed |= pace != self._board.pace[index[name]]
            self._both("sensed", index[name], None, pace)
        return changed

    def _woke(self, event: Woke) -> bool:
        self._wakes -= 1
        return True

    _HANDLERS: ClassVar[dict] = {
        Finished: _finished,
        Failed: _failed,
        Moved: _moved,
        Lost: _lost,
        Sensed: _sensed,
        Woke: _woke,
    }

    # What the policy said.
    def _decide(self, decision) -> None:
        b, p = self._board, self._p
        if isinstance(decision, Wait):
            self._wakes += 1
            self._out.append(Wake(b.time + decision.seconds))
            return
        t, d = p.index[decision.task], p.device_index[decision.device]
        name, where = decision.task, f"policy {self._asker.name}"
        if not b.alive[d]:
            why = b.lost[d]
            raise PolicyError(f"task {name!r} cannot go to {p.devices[d]}: {why}", where=where)
        if not math.isfinite(b.cost[t][d]):
            able = [p.devices[i] for i, c in enumerate(b.cost[t]) if math.isfinite(c)]
            what = f"task {name!r} cannot run on {p.devices[d]}"
            raise PolicyError(what, where=where, do=f"It can run on {listing(able)}.")
        if isinstance(decision, Backup):
            if b.status[t] != RUNNING or b.running[d] >= 0 or b.queue[d] or b.backup[d] >= 0:
                what = f"no second copy of task {name!r} can start on {p.devices[d]}"
                do = "Back up a running task, on an idle device."
                raise PolicyError(what, where=where, do=do)
            self._both("doubled", t, d)
            return
        if b.status[t] >= RUNNING:
            verb = {RUNNING: "is running", DONE: "is done", FAILED: "failed", SKIPPED: "is skipped"}
            what = f"task {name!r} cannot be placed: it {verb[b.status[t]]}"
            raise PolicyError(what, where=where, do="Place each task once, before it starts.")
        if b.status[t] == QUEUED:
            self._stores.cancel_task(t, b.place[t])
        if decision.front and b.queue[d]:
            self._stores.cancel_task(next(iter(b.queue[d])), d)  # it is no longer the next
        self._both("queued", t, d, decision.front)
        self._stores.fetch_early(t, d)

    # What follows.
    def _pump(self) -> None:
        """Start what can start."""
        b, p = self._board, self._p
        for d in range(len(p.devices)):
            if not b.alive[d]:
                continue
            t = b.backup[d]
            if t >= 0 and b.status[t] != RUNNING:
                self._stores.cancel_task(t, d)
                self._both("doubled", -1, d)
                t = -1
            if t < 0:
                t = next(iter(b.queue[d]), -1)
            if t < 0:
                continue
            if b.missing[t]:
                self._stores.cancel_task(t, d)  # an input was lost after it had arrived
                continue
            if not self._stores.reserve(t, d):
                continue
            if b.running[d] < 0 and self._stores.has_inputs(t, d):
                device, task = p.machine.devices[d], p.tasks[t]
                setup = device.reconfigure > 0 and task.kind not in ("", b.loaded[d])
                self._both("started", t, d)
                self._tried[t] += 1
                self._out.append(Start(task.name, device.name, setup))

    def _cancel_copies(self, t: int) -> None:
        for d, running in enumerate(self._board.running):
            if running == t:
                self._both("stopped", d)
                self._stores.release(t, d)
                self._out.append(Cancel(self._p.names[t], self._p.devices[d]))

    def _give_up(self, t: int, reason: str) -> None:
        """A task failed: what depends on it is skipped, all else goes on."""
        b, p = self._board, self._p
        self.failures[p.names[t]] = reason
        todo, status = [t], FAILED
        while todo:
            t = todo.pop()
            if b.status[t] >= DONE:
                continue
            if b.status[t] == QUEUED:
                self._stores.cancel_task(t, b.place[t])
            self._both("gave_up", t, status)
            self._forget_inputs(t)
            todo += [reader for reader, _ in p.after[t]]
            status = SKIPPED

    def _make_again(self, x: int) -> None:
        """Data are lost while someone needs them: their producer, or theirs, runs again."""
        b, p = self._board, self._p
        todo, again = [x], {}
        while todo:
            maker = p.by[todo.pop()]
            if b.status[maker] == DONE and maker not in again:
                again[maker] = None
                todo += [y for y in p.reads[maker] if not b.copies[y]]
        for maker in sorted(again):
            self._both("reopened", maker)
            self._find_device(maker, "its outputs were lost")

    def _unqueue_stranded(self) -> None:
        """Queued tasks that wait for a task in no queue would block what has to run first."""
        b, p = self._board, self._p
        for t in range(len(p.names)):
            waits = [p.by[x] for x in p.reads[t] if not b.copies[x]] if b.missing[t] else ()
            if b.status[t] == QUEUED and any(b.status[w] < QUEUED for w in waits):
                self._stores.cancel_task(t, b.place[t])
                self._both("unqueued", t)

    def _find_device(self, t: int, reason: str) -> None:
        b = self._board
        if not any(b.alive[d] and math.isfinite(c) for d, c in enumerate(b.cost[t])):
            self._give_up(t, f"no device is left that can run it; {reason}")

    def _only_on(self, d: int) -> list[int]:
        """Unfinished tasks that a lost device could run."""
        b = self._board
        return [
            t
            for t in range(len(self._p.names))
            if b.status[t] < RUNNING and b.cost[t][d] < math.inf
        ]

    def _forget_inputs(self, t: int) -> None:
        for x in self._p.reads[t]:
            self._both("read", x)
            if self._board.readers[x] == 0:
                self._stores.free(x)

    def _both(self, step: str, *arguments) -> None:
        getattr(self._board, step)(*arguments)
        try:
            getattr(self._shown, step)(*arguments)
        except Exception as error:
            what = (
                f"the policy changed what it is shown, which cannot be kept up: {one_line(error)}"
            )
            raise PolicyError(what, where=f"policy {self._asker.name}") from None

    def _busy(self) -> bool:
        b = self._board
        return any(t >= 0 for t in b.running) or any(b.coming)

    def _stalled(self) -> Stalled:
        b, p = self._board, self._p
        ready = [p.names[t] for t in b.ready]
        idle = [p.devices[d] for d in range(len(p.devices)) if b.alive[d] and b.running[d] < 0]
        what = (
            f"stalled at {b.time:g}: {b.left} tasks are left, nothing runs and nothing moves; "
            f"ready tasks: {listing(ready)}; idle devices: {listing(idle)}"
        )
        where, do = f"policy {self._asker.name}", "Place a ready task on an idle device."
        full = self._stores.why_full()
        heads = [(d, next(iter(q))) for d, q in enumerate(b.queue) if q]
        if full:
            do = f"{full}."
        elif heads and not ready:
            stuck = "; ".join(
                f"{p.devices[d]} waits for {p.names[t]!r}, which needs "
                f"{listing(p.names[p.by[x]] for x in p.reads[t] if not b.copies[x])}"
                for d, t in heads[:4]
            )
            do = f"The queues block each other: {stuck}. Queue each task after those it needs."
        return Stalled(what, where=where, do=do, ready=ready, idle=idle)
