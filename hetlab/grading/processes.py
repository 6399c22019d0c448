"""The processes of a sandbox as the parent sees them: find them all, stop them, end them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["Group", "by_namespace", "by_origin"]


class Group:
    """All processes of one sandbox.

    Parameters
    ----------
    find : callable
        ``find()`` gives the ids of those that live now.
    """

    def __init__(self, find: Callable[[], Iterable[int]]) -> None:
        self.find = find

    def memory(self) -> tuple[int, int]:
        """Bytes of memory that all of them hold, shared pages counted once a process; how many."""
        page, total, count = os.sysconf("SC_PAGE_SIZE"), 0, 0
        for pid in self.find():
            with contextlib.suppress(OSError, ValueError, IndexError):
                _, resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[:3]
                total += (int(resident) - int(shared)) * page
                count += 1
        return total, count

    def ticks(self) -> int:
        """Processor time that they have used, in clock ticks."""
        return sum(_stat(pid)[1] for pid in self.find())

    def stop(self, seconds: float = 2.0) -> bool:
        """Stop them all; whether every one of them stands still."""
        end = time.monotonic() + seconds
        while True:
            running = [pid for pid in self.find() if _stat(pid)[0] not in "TtZX"]
            if not running:
                return True
            if time.monotonic() > end:
                return False
            for pid in running:
                _signal(pid, signal.SIGSTOP)
            time.sleep(0.0005)

    def go_on(self) -> None:
        """Let them run again."""
        for pid in self.find():
            _signal(pid, signal.SIGCONT)

    def kill(self, seconds: float = 5.0) -> bool:
        """End them all; whether none is left."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            alive = [pid for pid in self.find() if _stat(pid)[0] not in "ZX"]
            if not alive:
                return True
            # First stop, then kill: what forks without end must not outrun us.
            for pid in alive:
                _signal(pid, signal.SIGSTOP)
            for pid in alive:
                _signal(pid, signal.SIGKILL)
            time.sleep(0.002)
        return False


def _signal(pid: int, what: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, what)


def _stat(pid: int) -> tuple[str, int, int, int]:
    """State, clock ticks used, parent and session of a process; ``X`` when it has gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
        rest = text[text.rindex(b")") + 2 :].split()
        return rest[0].decode(), int(rest[11]) + int(rest[12]), int(rest[1]), int(rest[3])
    except (OSError, ValueError, IndexError):
        return "X", 0, 0, 0


def _pids() -> list[int]:
    names = os.listdir("/proc")  # noqa: PTH208 (it is polled)
    return [int(name) for name in names if name.isdigit()]


def by_namespace(namespace: str) -> list[int]:
    """Processes of a pid namespace, named as ``/proc/PID/ns/pid`` names it."""
    found = []
    for pid in _pids():
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/ns/pid") == namespace:  # noqa: PTH115 (it is polled)
                found.append(pid)
    return found


def by_origin(root: int, mark: bytes) -> list[int]:
    """`root`, what descends from it, its session, and what still carries `mark` around."""
    rows = {pid: _stat(pid) for pid in _pids()}
    found = {root} & rows.keys()
    found |= {pid for pid, row in rows.items() if row[3] == root}
    grown = True
    while grown:
        more = {pid for pid, row in rows.items() if row[2] in found} - found
        grown = bool(more)
        found |= more
    for pid in rows.keys() - found:
        with contextlib.suppress(OSError):
            if mark in Path(f"/proc/{pid}/environ").read_bytes():
                found.add(pid)
    return sorted(found)
