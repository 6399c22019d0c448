"""Where data lie, and that no memory ever holds more than it can.

A task reserves all it needs (inputs, outputs, its own bytes) when it is the next of its device and
ready, or it reserves nothing: so what holds memory always runs to its end, and nothing waits in a
circle.  Copies that came early are only a cache.  When room is missing, copies that exist elsewhere
are dropped first; a last copy is moved to the home memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hetlab.sched.board import DONE, QUEUED, Board
from hetlab.sched.indexed import Problem
from hetlab.sched.messages import CancelMove, Drop, Move
from hetlab.units import quantity

__all__ = ["Stores"]


class Stores:
    """The memories of a run.

    Parameters
    ----------
    p : Problem
    board : Board
        Read here; changed through ``both``.
    both : callable
        ``both("step", *arguments)`` takes a step on every board.
    """

    def __init__(self, p: Problem, board: Board, both: Callable) -> None:
        self._p, self._board, self._both = p, board, both
        self.out: list = []
        self._used = [sum(p.size[x] for x in held) for held in board.held]
        self._reserved: dict[tuple[int, int], float] = {}
        self._pins: Counter = Counter()  # (data, memory): read by a task or a transfer
        self._source: dict[tuple[int, int], int] = {}
        self._refused: tuple[int, int, float] | None = None

    def reserve(self, t: int, d: int) -> bool:
        """Take all that a task needs in its device's memory, or nothing; say which."""
        p, b, m = self._p, self._board, self._p.memory[d]
        held, coming = b.held[m], b.coming[m]
        new = [x for x in p.reads[t] if p.size[x] and x not in held and x not in coming]
        if (t, d) in self._reserved:
            for x in new:
                self._fetch(x, m)
            return True
        mine = p.tasks[t].memory + sum(p.size[x] for x in p.writes[t] if x not in held)
        need = mine + sum(p.size[x] for x in new)
        if not self._fits(m, need):
            self._make_room(m, need, keep=set(p.reads[t]))
            if not self._fits(m, need):
                self._refused = (t, m, need)
                return False
        self._reserved[t, d] = mine
        self._used[m] += mine
        for x in p.reads[t]:
            self._pins[x, m] += 1
        for x in new:
            self._fetch(x, m)
        return True

    def release(self, t: int, d: int) -> None:
        """A task no longer needs what it reserved."""
        m = self._p.memory[d]
        mine = self._reserved.pop((t, d), None)
        if mine is not None:
            self._used[m] -= mine
            for x in self._p.reads[t]:
                self._unpin(x, m)

    cancel_task = release

    def cancel(self, d: int) -> None:
        """Release everything that was reserved for a device."""
        for t, device in list(self._reserved):
            if device == d:
                self.release(t, d)

    def has_inputs(self, t: int, d: int) -> bool:
        """Whether all that a task reads lies in its device's memory."""
        held, size = self._board.held[self._p.memory[d]], self._p.size
        return all(x in held or size[x] == 0 for x in self._p.reads[t])

    def fetch_early(self, t: int, d: int) -> None:
        """Send for the inputs of a queued task that exist, as far as there is room."""
        for x in self._p.reads[t]:
            if self._board.copies[x]:
                self._early(x, self._p.memory[d])

    def making(self, t: int, d: int) -> None:
        """A task is about to leave its outputs in its device's memory."""
        p, m = self._p, self._p.memory[d]
        for x in p.writes[t]:
            if (x, m) in self._source:  # it ran again, while a copy from elsewhere is on its way
                self._stop_move(x, m)
            if x not in self._board.held[m]:
                self._used[m] += p.size[x]

    def made(self, t: int, d: int) -> None:
        """Its outputs are there: send them on, or drop what nobody reads."""
        p, b = self._p, self._board
        for x in p.writes[t]:
            if p.to[x] and b.readers[x] == 0:
                self.free(x)  # it ran again for another of its outputs
                continue
            for reader in p.to[x]:
                if b.status[reader] == QUEUED:
                    self._early(x, p.memory[b.place[reader]])

    def arrived(self, x: int, m: int) -> None:
        """A copy reached a memory."""
        if (x, m) not in self._source:
            return  # it was cancelled while it was on its way
        self._unpin(x, self._source.pop((x, m)))
        self._both("copied", x, m)
        if self._p.to[x] and self._board.readers[x] == 0:
            self.free(x)

    def free(self, x: int) -> None:
        """Nobody reads the data any more: drop every copy that has arrived."""
        first = self._p.home if self._p.by[x] < 0 else -1
        for m in [m for m in self._board.copies[x] if m != first and not self._pins[x, m]]:
            self._drop(x, m)

    def lost_memory(self, m: int) -> list[int]:
        """A memory's last device is gone; the data that are lost and needed are returned."""
        p, b = self._p, self._board
        if m == p.home or any(b.alive[d] for d, own in enumerate(p.memory) if own == m):
            return []
        for (x, target), source in list(self._source.items()):
            if m in (source, target):
                self._stop_move(x, target)
        gone = list(b.held[m])
        for x in gone:
            self._both("dropped", x, m)
        self._used[m] = 0.0
        return [x for x in gone if not b.copies[x] and (b.readers[x] or not p.to[x])]

    def why_full(self) -> str:
        """Why a task that is ready gets no memory, as a sentence; "" when none is refused."""
        if self._refused is None or self._board.status[self._refused[0]] >= DONE:
            return ""
        p, (t, m, need) = self._p, self._refused
        free = max(0.0, p.capacity[m] - self._used[m])
        return (
            f"Memory {p.memories[m]!r} is full: task {p.names[t]!r} needs {quantity(need, 'B')} "
            f"more, {quantity(free, 'B')} are free, and what lies there is still needed and cannot "
            f"go to {p.memories[p.home]!r}"
        )

    def _fits(self, m: int, need: float) -> bool:
        return self._used[m] + need <= self._p.capacity[m] * (1 + 1e-12)

    def _early(self, x: int, m: int) -> None:
        held, coming = self._board.held[m], self._board.coming[m]
        if self._p.size[x] and x not in held and x not in coming and self._fits(m, self._p.size[x]):
            self._fetch(x, m)

    def _fetch(self, x: int, m: int) -> None:
        """Send for a copy from the memory that is the nearest; at a tie the first."""
        p = self._p
        source = min(self._board.copies[x], key=lambda s: (self._seconds(x, s, m), s))
        self._source[x, m] = source
        self._pins[x, source] += 1
        self._used[m] += p.size[x]
        self._both("moving", x, m)
        self.out.append(Move(p.data[x], p.memories[source], p.memories[m]))

    def _seconds(self, x: int, source: int, target: int) -> float:
        memories = self._p.memories
        return self._p.machine.transfer(self._p.size[x], memories[source], memories[target])

    def _stop_move(self, x: int, target: int) -> None:
        self._unpin(x, self._source.pop((x, target)))
        self._used[target] -= self._p.size[x]
        self._both("dropped", x, target)
        self.out.append(CancelMove(self._p.data[x], self._p.memories[target]))

    def _make_room(self, m: int, need: float, keep: set[int]) -> None:
        p, b = self._p, self._board
        first = p.home == m
        idle = [x for x in b.held[m] if p.size[x] and x not in keep and not self._pins[x, m]]
        for x in idle:
            if self._fits(m, need):
                return
            if len(b.copies[x]) > 1 and not (first and p.by[x] < 0):
                self._drop(x, m)
        if first:
            return
        leaving = sum(p.size[x] for x in b.coming[p.home] if x in b.held[m])
        for x in idle:
            if self._fits(m, need - leaving):
                return
            if b.copies[x] == [m] and x not in b.coming[p.home] and self._fits(p.home, p.size[x]):
                leaving += p.size[x]
                self._fetch(x, p.home)

    def _drop(self, x: int, m: int) -> None:
        self._used[m] -= self._p.size[x]
        self._both("dropped", x, m)
        if self._p.size[x]:
            self.out.append(Drop(self._p.data[x], self._p.memories[m]))

    def _unpin(self, x: int, m: int) -> None:
        self._pins[x, m] -= 1
        if self._pins[x, m] <= 0:
            del self._pins[x, m]
