"""What a learner handed in, as the checks see it: names that can be called.

A check is written once against :class:`Submission`.  In a notebook the calls go
to a fork of the notebook's own process; in a batch they go to a sandbox that ran
the learner's cells.  The check cannot tell the difference.
"""

from __future__ import annotations

import abc
import contextlib
import os
import signal
import socket
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import wire
from .busy import Clock, wait
from .confine import die_with_parent
from .launched import Launched, configured
from .worker import OUTPUT_LIMIT, Performance, is_callable, serve

__all__ = [
    "DirectSubmission",
    "ForkedSubmission",
    "Outcome",
    "Submission",
    "open_submission",
    "wait",
]


@dataclass(frozen=True)
class Outcome:
    """What one call did.

    Attributes
    ----------
    status : str
        ``returned``, ``raised``, ``timeout``, ``died``, ``flood``, ``too large`` or ``missing``.
    value : object
        What was returned.
    inputs : tuple
        The inputs as the call left them.
    changed : tuple of int
        Positions of the inputs that it altered.
    printed : str
        The beginning of what it printed.
    error, message, place
        For ``raised``: type, text, and ``[function, line, source]`` of the learner's line.
    seconds : float
        For ``timeout``: how long it was waited for.
    launches : tuple of Launched
        The kernels that an inspected call launched, in order.
    """

    status: str
    value: Any = None
    inputs: tuple = ()
    changed: tuple[int, ...] = ()
    printed: str = ""
    error: str = ""
    message: str = ""
    place: list | None = None
    seconds: float = 0.0
    launches: tuple[Launched, ...] = ()

    @property
    def returned(self) -> bool:
        return self.status == "returned"

    @property
    def not_started(self) -> bool:
        """Whether the stub of an untouched exercise was called."""
        return self.error == "NotImplementedError" and self.message.endswith("is not started")


class Submission(abc.ABC):
    """Names that can be called, wherever they live.  A context manager."""

    #: Seconds that one call may take, compilation included.
    time_limit: float = 20.0

    @abc.abstractmethod
    def has(self, name: str) -> bool:
        """Whether the learner defined `name` as something that can be called."""

    @abc.abstractmethod
    def call(self, name: str, *inputs: Any) -> Outcome:
        """Call a function on copies of `inputs`."""

    @abc.abstractmethod
    def inspect(
        self,
        name: str,
        *inputs: Any,
        grid: Any = None,
        block: Any = None,
        constants: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Call on copies of `inputs`, and keep what the virtual GPU saw of each launch.

        With a `grid`, `name` is a kernel and is launched: ``name[grid, block](*inputs)``, or
        without a block ``name[grid](*inputs, **constants)``.
        """

    def launch(self, name: str, grid: Any, block: Any, *inputs: Any) -> Outcome:
        """Launch a kernel, ``name[grid, block](*inputs)``, on copies of `inputs`."""
        return self.inspect(name, *inputs, grid=grid, block=block)

    @abc.abstractmethod
    def timed(self, name: str, *inputs: Any) -> tuple[float, Outcome]:
        """Call a function and take the time in seconds on the judge's own clock."""

    def beside(self, namespace: Mapping[str, Any]) -> Submission:
        """Trusted functions to be timed in turn with this submission's, by the same means."""
        return open_submission(namespace, time_limit=self.time_limit)

    def close(self) -> None:  # noqa: B027
        """Give everything back."""

    def __enter__(self) -> Submission:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass
class ForkedSubmission(Submission):
    """The calls go to a fork of this process, which may hang or crash without harm."""

    namespace: Mapping[str, Any]
    time_limit: float = 20.0
    output_limit: int = OUTPUT_LIMIT
    _sock: socket.socket | None = field(default=None, repr=False)
    _pid: int = field(default=0, repr=False)

    def has(self, name: str) -> bool:
        return is_callable(self.namespace.get(name))

    def call(self, name: str, *inputs: Any) -> Outcome:
        return self._ask({"do": "call", "name": name, "inputs": list(inputs)})

    def inspect(
        self,
        name: str,
        *inputs: Any,
        grid: Any = None,
        block: Any = None,
        constants: Mapping[str, Any] | None = None,
    ) -> Outcome:
        request = {"do": "inspect", "name": name, "inputs": list(inputs)}
        return self._ask({**request, "grid": grid, "block": block, "constants": constants})

    def timed(self, name: str, *inputs: Any) -> tuple[float, Outcome]:
        if not self.has(name):
            return 0.0, Outcome("missing")
        request = {"do": "call", "name": name, "inputs": list(inputs)}
        ready = self._ask({"do": "stage", "request": request})
        clock = Clock(self._pid)
        clock.start()
        done = self._ask({"do": "go"}) if ready.status == "staged" else ready
        seconds = clock.stop()
        if done.status != "done":
            return seconds, done
        return seconds, self._ask({"do": "fetch"}, inputs)

    def _ask(self, request: dict[str, Any], inputs: tuple | None = None) -> Outcome:
        if request["do"] in ("call", "inspect") and not self.has(request["name"]):
            return Outcome("missing")
        if inputs is None:
            inputs = tuple(request.get("inputs", ()))
        if self._sock is None:
            self._start()
        try:
            wire.send(self._sock, request)
            wait(self._sock, self.time_limit, self._pid)
            reply = wire.recv(self._sock, self.time_limit)
        except wire.TimedOut:
            self.close()
            return Outcome("timeout", seconds=self.time_limit)
        except wire.Closed:
            return Outcome("died", message=self._cause_of_death())
        except wire.TooLarge as size:
            return Outcome("too large", message=str(size))
        except BaseException:
            # The learner pressed "interrupt" while waiting: the fork must not live on.
            self.close()
            raise
        return _outcome(reply, inputs)

    def _start(self) -> None:
        here, there = socket.socketpair()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        with warnings.catch_warnings():
            # Python 3.12 warns of forks in processes with threads.  The child runs
            # the learner's function only, and the parent bounds its time.
            warnings.simplefilter("ignore", DeprecationWarning)
            parent, pid = os.getpid(), os.fork()
        if pid == 0:
            code = 1
            try:
                here.close()
                _detach(parent)
                serve(self.namespace, there, self.output_limit)
                code = 0
            finally:
                os._exit(code)
        there.close()
        self._sock, self._pid = here, pid

    def _cause_of_death(self) -> str:
        pid, self._pid = self._pid, 0
        self._sock.close()
        self._sock = None
        with contextlib.suppress(ChildProcessError):
            status = os.waitpid(pid, 0)[1]
            if os.WIFSIGNALED(status):
                return signal.strsignal(os.WTERMSIG(status)) or f"signal {os.WTERMSIG(status)}"
            return f"exit status {os.WEXITSTATUS(status)}"
        return "for an unknown reason"

    def close(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None
        if self._pid:
            pid, self._pid = self._pid, 0
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _detach(parent: int) -> None:
    """Cut the fork off from the notebook: its signals, its terminal, its garbage, its death.

    That the other end of its socket closes does not tell it of the notebook's end: it may be
    in an endless loop, and forks made later hold copies of that end.
    """
    import faulthandler
    import gc

    die_with_parent(parent)
    gc.freeze()
    faulthandler.disable()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


@dataclass
class DirectSubmission(Submission):
    """The calls happen in this process: for platforms and libraries that cannot be forked.

    Python code that does not return is interrupted where the platform has timers;
    compiled code is not.
    """

    namespace: Mapping[str, Any]
    time_limit: float = 20.0
    output_limit: int = OUTPUT_LIMIT

    def has(self, name: str) -> bool:
        return is_callable(self.namespace.get(name))

    def call(self, name: str, *inputs: Any) -> Outcome:
        return self.timed(name, *inputs)[1]

    def inspect(
        self,
        name: str,
        *inputs: Any,
        grid: Any = None,
        block: Any = None,
        constants: Mapping[str, Any] | None = None,
    ) -> Outcome:
        if not self.has(name):
            return Outcome("missing")
        target = self.namespace[name]
        if grid is not None:
            target = configured(target, grid, block, constants)
        return self._run(name, target, inputs, watch=True)[1]

    def timed(self, name: str, *inputs: Any) -> tuple[float, Outcome]:
        return self._run(name, self.namespace.get(name), inputs)

    def _run(
        self, name: str, action: Any, inputs: tuple, watch: bool = False
    ) -> tuple[float, Outcome]:
        if not self.has(name):
            return 0.0, Outcome("missing")
        performance = Performance(action, list(inputs), self.output_limit, watch)
        # The learner gets the copies; the caller's arrays stay as they are.
        performance.before, performance.inputs = performance.inputs, performance.before
        start = time.perf_counter()
        try:
            with _alarm(self.time_limit):
                performance.act()
        except _TimeIsUp:
            return self.time_limit, Outcome("timeout", seconds=self.time_limit)
        return time.perf_counter() - start, _outcome(performance.result(), inputs)


class _TimeIsUp(KeyboardInterrupt):
    """The alarm rang; it passes through the call as an interrupt does."""


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    import threading

    if not hasattr(signal, "setitimer") or (
        threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def ring(*_: object) -> None:
        raise _TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _outcome(reply: dict[str, Any], inputs: tuple) -> Outcome:
    changed = {int(k): v for k, v in (reply.get("changed") or {}).items()}
    after = tuple(changed.get(i, v) for i, v in enumerate(inputs))
    known = {
        k: reply[k]
        for k in ("status", "value", "printed", "error", "message", "place")
        if k in reply
    }
    launches = tuple(map(Launched.from_plain, reply.get("launches") or ()))
    return Outcome(inputs=after, changed=tuple(sorted(changed)), launches=launches, **known)


def open_submission(namespace: Mapping[str, Any], *, time_limit: float = 20.0) -> Submission:
    """Open what a notebook defined, guarded as well as this platform can.

    Parameters
    ----------
    namespace : mapping
        Names and what they stand for.
    time_limit : float
        Seconds that one call may take, compilation included.
    """
    guarded = ForkedSubmission if _can_fork() else DirectSubmission
    return guarded(namespace, time_limit)


def _can_fork() -> bool:
    """Linux forks safely, unless GNU OpenMP's threads already run: they would not survive."""
    if not sys.platform.startswith("linux"):
        return False
    numba = sys.modules.get("numba")
    try:
        return numba is None or numba.threading_layer() != "omp"
    except (ValueError, AttributeError):
        return True  # no parallel function has run yet
