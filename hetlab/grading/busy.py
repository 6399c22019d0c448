"""What a busy machine adds to a time: the seconds that a process was kept waiting for a core.

Wall-clock time is what a learner is judged by, but on a machine with more work than cores it
also holds the time that others computed.  Linux counts that time apart, for each thread: it
stands second in ``/proc/PID/schedstat`` (Documentation/scheduler/sched-stats.rst).  It is taken out
of a time only where a process cannot have made it itself:

- never below the processor time that the process used in all its threads, so that work
  in other threads does not count as waiting;
- not at all when another process of its sandbox worked meanwhile, or when any process was
  started on the machine, which may have done the work and gone.
"""

from __future__ import annotations

import contextlib
import select
import socket
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from . import wire

__all__ = ["Clock", "kept_waiting", "own_seconds", "wait"]

#: Seconds between two looks at what is waited for.
_POLL = 0.25
#: Seconds of processor time that processes may use which only wait.
_IDLE = 0.001


class Clock:
    """A stopwatch for one call in another process.

    Parameters
    ----------
    pid : int
        The process that computes.
    others : iterable of int, optional
        Processes that could do its work in secret; None when it is trusted.
    """

    def __init__(self, pid: int, others: Iterable[int] | None = None) -> None:
        self.pid = pid
        self.others = None if others is None else [p for p in others if p != pid]

    def start(self) -> None:
        self._forks, self._helped = self._guards()
        self._waited, self._used = self._waits(), _used(self.pid)
        self._begin = time.perf_counter()

    def stop(self) -> float:
        """Seconds since the start, without what others on this machine took."""
        # The waiting is read first: what comes after it is part of the time, and stays in it.
        waited, used = self._waits() - self._waited, _used(self.pid) - self._used
        seconds = time.perf_counter() - self._begin
        if self.others is not None:
            forks, helped = self._guards()
            if forks != self._forks or helped - self._helped > _IDLE:
                return seconds
        return own_seconds(seconds, waited, used)

    def _waits(self) -> float:
        # The judge itself may have to wait before it can look at its clock.
        return kept_waiting(self.pid) + kept_waiting("thread-self")

    def _guards(self) -> tuple[int, float]:
        if self.others is None:
            return 0, 0.0
        return _started(), sum(map(_used, self.others))


def wait(
    sock: socket.socket, seconds: float, pid: int, look: Callable[[], None] = lambda: None
) -> None:
    """Wait until a socket has something to say.

    The time that the other process was kept waiting for a core is given on top, up to three
    times the limit: a busy machine is not the learner's fault.

    Parameters
    ----------
    sock : socket
    seconds : float
    pid : int
        The process that is to answer.
    look : callable
        Is called a few times a second meanwhile.

    Raises
    ------
    wire.TimedOut
    """
    begin, waited = time.monotonic(), kept_waiting(pid)
    end = begin + seconds
    while True:
        left = end - time.monotonic()
        if left <= 0:
            given = min(kept_waiting(pid) - waited, 3 * seconds)
            if begin + seconds + given <= end:
                raise wire.TimedOut
            end = begin + seconds + given
        elif select.select([sock], [], [], min(left, _POLL))[0]:
            return
        else:
            look()


def own_seconds(seconds: float, waited: float, used: float) -> float:
    """A wall-clock time without waiting, and never less than the processor time in it.

    Parameters
    ----------
    seconds, waited, used : float
        Wall-clock time, waiting for a core, and processor time of all threads, in s.
    """
    return max(seconds - max(waited, 0.0), min(seconds, used))


def kept_waiting(pid: int | str) -> float:
    """Seconds that a process's first thread has waited for a core; 0 where nobody counts them."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    return 0.0


def _used(pid: int) -> float:
    """Seconds of processor time that a process has used, its ended threads included."""
    if not sys.platform.startswith("linux") or pid <= 0:
        return 0.0
    with contextlib.suppress(OSError, OverflowError):
        # The number of another process's clock: clock_getcpuclockid(3).
        return time.clock_gettime((~pid << 3) | 2)
    return 0.0


def _started() -> int:
    """Processes and threads that this machine has started so far."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path("/proc/stat").read_text()
        return int(text.split("\nprocesses ", 1)[1].split(None, 1)[0])
    return time.perf_counter_ns()  # unknown: it differs each time, and nothing is taken out
