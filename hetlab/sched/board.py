"""Who is where: the state of a run by number, and the few steps that change it.

The scheduler keeps one board to decide with and a second one, changed by the same steps, for the
policy to look at.  Whatever a policy does to what it sees, the first one never learns of it.
"""

from __future__ import annotations

from collections import OrderedDict

from hetlab.sched.indexed import Problem

__all__ = ["DONE", "FAILED", "QUEUED", "READY", "RUNNING", "SKIPPED", "STATES", "WAITING", "Board"]

WAITING, READY, QUEUED, RUNNING, DONE, FAILED, SKIPPED = range(7)
STATES = ("waiting", "ready", "queued", "running", "done", "failed", "skipped")


class Board:
    """The state of a run.

    Attributes
    ----------
    time : float
        Of the last event.
    status : list of int
        By task.
    missing : list of int
        Data that a task waits for, by task: not yet made, or lost.
    ready : OrderedDict of int to None
        Tasks that could start and are in no queue, in the order in which they became ready.
    queue : list of OrderedDict of int to None
        Tasks that each device will run, in order.
    running, backup : list of int
        The task on each device, and the one that it shall run a second copy of; or -1.
    place : list of int
        The device whose queue a task is in, or that ran it; -1 before.
    began, ended : list of float
        By task; -1 before.
    since : list of float
        When the task on each device began.
    alive : list of bool
    held : list of dict of int to None
        Copies in each memory.
    coming : list of dict of int to None
        Copies on their way to each memory.
    waits : list of float
        Modelled seconds of what is in each queue.
    loaded : list of str
        The kind of work that each device is configured for.
    degrees : list of float or None
    pace : list of float
        Speed as a share of the modelled one.
    """

    def __init__(self, p: Problem) -> None:
        n, devices, memories = len(p.names), len(p.devices), len(p.memories)
        self.problem = p
        self.cost = p.cost.tolist()
        self.time = 0.0
        self.status = [WAITING] * n
        self.missing = [sum(p.by[x] >= 0 for x in p.reads[t]) for t in range(n)]
        # Linked lists that find a member at once: queues lose their first one again and again.
        self.ready: OrderedDict[int, None] = OrderedDict()
        self.queue: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(devices)]
        self.running = [-1] * devices
        self.backup = [-1] * devices
        self.place = [-1] * n
        self.began, self.ended = [-1.0] * n, [-1.0] * n
        self.since = [0.0] * devices
        self.alive = [True] * devices
        self.held: list[dict[int, None]] = [{} for _ in range(memories)]
        self.coming: list[dict[int, None]] = [{} for _ in range(memories)]
        self.copies: list[list[int]] = [[] for _ in p.data]
        self.readers = [len(to) for to in p.to]
        self.waits = [0.0] * devices
        self.loaded = [""] * devices
        self.degrees: list[float | None] = [None] * devices
        self.pace = [1.0] * devices
        self.lost: dict[int, str] = {}
        self.left = n
        for x, maker in enumerate(p.by):
            if maker < 0:
                self.held[p.home][x] = None
                self.copies[x].append(p.home)
        for t in range(n):
            if self.missing[t] == 0:
                self._offer(t)

    def queued(self, t: int, d: int, front: bool) -> None:
        """A task goes into a queue, perhaps out of another one."""
        self.unqueued(t)
        self.ready.pop(t, None)
        self.queue[d][t] = None
        self.queue[d].move_to_end(t, last=not front)
        self.waits[d] += self.cost[t][d]
        self.status[t], self.place[t] = QUEUED, d

    def unqueued(self, t: int) -> None:
        """A task leaves its queue, if it is in one."""
        d = self.place[t]
        if self.status[t] == QUEUED:
            del self.queue[d][t]
            self.waits[d] = self.waits[d] - self.cost[t][d] if self.queue[d] else 0.0
            self.status[t], self.place[t] = WAITING, -1

    def started(self, t: int, d: int) -> None:
        """A task, or a second copy of it, starts on a device."""
        if self.status[t] == QUEUED:
            self.unqueued(t)
            self.began[t], self.status[t], self.place[t] = self.time, RUNNING, d
        self.running[d], self.since[d], self.backup[d] = t, self.time, -1
        self.loaded[d] = self.problem.tasks[t].kind or self.loaded[d]

    def stopped(self, d: int) -> None:
        """A device no longer runs what it ran."""
        self.running[d] = -1

    def finished(self, t: int, d: int) -> list[int]:
        """A task is done; the tasks that can start now are returned."""
        p = self.problem
        self.status[t], self.place[t], self.ended[t] = DONE, d, self.time
        self.left -= 1
        free = []
        for x in p.writes[t]:
            new = not self.copies[x]
            self.copied(x, p.memory[d])
            for reader in p.to[x] if new else ():
                if self.status[reader] < RUNNING:
                    self.missing[reader] -= 1
                    if self.missing[reader] == 0:
                        free.append(reader)
        for reader in sorted(free):
            if self.status[reader] == WAITING:
                self._offer(reader)
        return free

    def gave_up(self, t: int, status: int) -> None:
        """A task failed, or is skipped because one that it needs failed."""
        self.unqueued(t)
        self.ready.pop(t, None)
        self.status[t], self.ended[t] = status, self.time
        self.left -= 1

    def reopened(self, t: int) -> None:
        """A task has to run (again): its device or its outputs are gone."""
        if self.status[t] == DONE:
            self.left += 1
            for x in self.problem.reads[t]:
                self.readers[x] += 1
        if self.status[t] == QUEUED:
            self.unqueued(t)
        self.ready.pop(t, None)
        self.status[t], self.place[t] = WAITING, -1
        self.began[t] = self.ended[t] = -1.0
        self.missing[t] = sum(not self.copies[x] for x in self.problem.reads[t])
        if self.missing[t] == 0:
            self._offer(t)

    def lacks(self, t: int) -> None:
        """One of the inputs that a task had is lost."""
        self.missing[t] += 1
        if self.status[t] == READY:
            del self.ready[t]
            self.status[t] = WAITING

    def moving(self, x: int, m: int) -> None:
        """Data are on their way to a memory."""
        self.coming[m][x] = None

    def copied(self, x: int, m: int) -> None:
        """Data lie in a memory."""
        self.coming[m].pop(x, None)
        if x not in self.held[m]:
            self.held[m][x] = None
            self.copies[x].append(m)

    def dropped(self, x: int, m: int) -> None:
        """A copy is gone, arrived or not."""
        self.coming[m].pop(x, None)
        if x in self.held[m]:
            del self.held[m][x]
            self.copies[x].remove(m)

    def died(self, d: int, reason: str) -> None:
        """A device is gone."""
        self.alive[d], self.running[d], self.backup[d] = False, -1, -1
        self.lost[d] = reason

    def sensed(self, d: int, degrees: float | None, pace: float | None) -> None:
        """A device's temperature and speed."""
        self.degrees[d] = self.degrees[d] if degrees is None else degrees
        self.pace[d] = self.pace[d] if pace is None else pace

    def at(self, time: float) -> None:
        """The time of an event; it never runs backwards."""
        self.time = max(self.time, time)

    def doubled(self, t: int, d: int) -> None:
        """A device shall run a second copy of a task; -1: no longer."""
        self.backup[d] = t

    def read(self, x: int) -> None:
        """One reader fewer wants the data."""
        self.readers[x] -= 1

    def _offer(self, t: int) -> None:
        self.ready[t] = None
        self.status[t] = READY
