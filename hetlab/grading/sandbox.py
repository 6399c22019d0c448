"""A sandbox: the processes that run a student's cells, started, watched, stopped, removed.

The parent talks to it over one socket (``wire.py``) and believes nothing that it says
about time, about expected values or about itself.  What each tier promises stands in
``docs/pages/sandbox.md``.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import HetlabError
from . import bubblewrap, wire
from .busy import wait
from .processes import Group, by_namespace, by_origin
from .tiers import Limits, Tier, probe, tier_named

__all__ = [
    "Gone",
    "Limits",
    "Sandbox",
    "Tier",
    "environment",
    "fresh_uid",
    "probe",
    "sender",
    "tier_named",
]

#: Seconds that a sandbox may take to start: importing IPython and NumPy from a cold disk.
_START = 60.0
#: Bytes of JSON in one message; arrays travel beside it.
_HEADER = 8 << 20


class Gone(Exception):
    """The sandbox has ended, or was ended, with the reason in words."""


def fresh_uid() -> int:
    """A user id that no other sandbox has now: limits are counted for each id apart."""
    return 2_000_000_000 + secrets.randbelow(100_000_000)


def environment(home: str) -> dict[str, str]:
    """The environment variables of a sandbox: an allow-list, nothing of the instructor's."""
    package = Path(__file__).resolve().parents[2]
    folders = [str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]
    found = {
        "HOME": home,
        "LANG": "C.UTF-8",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PATH": ":".join(folders),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(package),
        "TMPDIR": str(Path(home).parent) if home == bubblewrap.HOME else home,
    }
    kept = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "TZ")
    return found | {name: os.environ[name] for name in kept if name in os.environ}


class Sandbox:
    """One sandbox, for one submission.  A context manager; afterwards nothing of it is left.

    Parameters
    ----------
    tier : Tier
    limits : Limits
    hidden : sequence of path
        Folders that must not be seen even where their parents are.
    role : str
        ``notebook``, or ``device`` for the process that carries out its launches.

    Attributes
    ----------
    incidents : list of str
        What a person may want to look at.
    """

    def __init__(
        self, tier: Tier, limits: Limits | None = None, hidden=(), role: str = "notebook"
    ) -> None:
        self.role, self._device = role, None
        self.tier, self.limits = tier, limits or Limits()
        self.hidden = [Path(p) for p in hidden]
        self.incidents: list[str] = []
        self.death = ""
        self._mark = f"HETLAB_SANDBOX_ID={secrets.token_hex(12)}"
        self._folder: tempfile.TemporaryDirectory | None = None
        self._process: subprocess.Popen | None = None
        self.group = Group(list)

    def __enter__(self) -> Sandbox:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- its life

    def _start(self) -> None:
        if not sys.platform.startswith("linux"):
            raise HetlabError(
                "notebooks are graded in processes that only Linux can watch over",
                do="Grade in WSL2 or in the dev container; hetlab check works everywhere.",
            )
        self.control, there = socket.socketpair()
        self.control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        bubble, limits = self.tier.name == "bubblewrap", self.limits
        settings: dict[str, Any] = {"control": there.fileno(), "output": limits.output}
        if self.tier.name != "none":
            settings |= {"memory": limits.memory, "processes": limits.processes}
            settings |= {"file": limits.file, "files": 512}
        settings["uid"] = fresh_uid() if self.tier.drop_uid else 0
        settings |= {"shim": not bubble, "role": self.role}
        program = [sys.executable, "-m", "hetlab.grading.inside"]
        if bubble:
            home, line = (
                bubblewrap.HOME,
                bubblewrap.command(
                    program,
                    drop_uid=self.tier.drop_uid,
                    disk=limits.disk,
                    shared=limits.file,
                    hidden=self.hidden,
                ),
            )
        else:
            self._folder = tempfile.TemporaryDirectory(prefix="hetlab-", ignore_cleanup_errors=True)
            home, line = self._folder.name, program
            if settings["uid"]:
                os.chown(home, settings["uid"], -1)
        mark = dict([self._mark.split("=")])
        told = {"HETLAB_SETTINGS": json.dumps(settings), "HETLAB_SANDBOX": self.tier.name}
        with tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                env=environment(home) | told | mark,
                cwd=home if not bubble else "/",
                pass_fds=[there.fileno()],
                start_new_session=True,
            )
            there.close()
            root = self._process.pid
            self.group = Group(lambda: by_origin(root, self._mark.encode()))
            self._meet(errors)

    def _meet(self, errors: Any) -> None:
        """Wait for its first word, which the kernel signs with the sender's real process id."""
        ready: dict[str, Any] = {}
        with contextlib.suppress(wire.Closed, wire.TimedOut, wire.Garbled):
            self._pid = sender(self.control, _START)
            ready = wire.recv(self.control, _START, _HEADER)
        if ready.get("status") != "ready":
            errors.seek(0)
            said = errors.read()[-2000:].decode("utf-8", "replace").strip().splitlines()
            why = ready.get("message") or (said[-1] if said else "it said nothing")
            raise HetlabError(
                f"the sandbox ({self.tier.name}) did not start: {why}",
                do="Run hetlab doctor, and look whether IPython and NumPy are installed.",
            )
        if self.tier.name == "bubblewrap":
            namespace = str(Path(f"/proc/{self._pid}/ns/pid").readlink())
            self.group = Group(lambda: by_namespace(namespace))

    @property
    def device(self) -> Sandbox:
        """The sandbox of the trusted worker that executes its kernels, started when needed."""
        if self._device is not None and self._device.death:
            self._device.close()
            self._device = None
        if self._device is None:
            self._device = Sandbox(self.tier, self.limits, self.hidden, "device")
            self._device.__enter__()
        return self._device

    def close(self) -> None:
        """End every process of it and remove its files."""
        if self._device is not None:
            self._device.close()
            self._device = None
        with contextlib.suppress(AttributeError):
            self.control.close()
        if self._process is not None:
            if not self.group.kill():
                self.incidents.append("some of its processes could not be ended")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.kill()
                self._process.wait(5)
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def end(self, reason: str) -> None:
        """End it now; whatever is asked of it later gets `reason`."""
        self.death = self.death or reason
        self.group.kill()

    # -- talking to it

    def ask(
        self, request: dict[str, Any], seconds: float, gift: int | None = None
    ) -> dict[str, Any]:
        """Send a request and wait for the answer.

        Parameters
        ----------
        request : dict
        seconds : float
        gift : int, optional
            A file descriptor that goes with it.

        Raises
        ------
        Gone
            When it has ended, also when it is ended here for what it uses.
        wire.TimedOut
        """
        if self.death:
            raise Gone(self.death)
        try:
            wire.send(self.control, request)
            if gift is not None:
                socket.send_fds(self.control, [b"d"], [gift])
        except wire.Closed:
            pass  # what it said last, or how it ended, is heard below
        return self.hear(seconds)

    def hear(self, seconds: float) -> dict[str, Any]:
        """Wait for the answer to what was asked."""
        try:
            self.wait(self.control, seconds)
            reply = wire.recv(self.control, max(seconds, 1.0), _HEADER)
        except wire.Closed:
            self.death = self.death or self._how_it_ended()
            raise Gone(self.death) from None
        except (wire.Garbled, wire.TooLarge):
            self.incidents.append("something was written into the channel to the grader")
            self.end("the kernel's answers cannot be read any more")
            raise Gone(self.death) from None
        except OSError as fault:
            self.end(f"the kernel cannot be reached: {fault.strerror}")
            raise Gone(self.death) from None
        if not isinstance(reply, dict):
            reply = {}
        return reply

    def wait(self, sock: socket.socket, seconds: float, pid: int = 0) -> None:
        """Wait until a socket has something to say, and watch over memory meanwhile.

        Raises
        ------
        Gone, wire.TimedOut
        """
        wait(sock, seconds, pid or self._pid, self._watch)

    def _watch(self) -> None:
        if self.tier.name == "none":
            return
        held, count = self.group.memory()
        if held > self.limits.memory:
            self.end(f"the kernel used more than {self.limits.memory >> 20} MB of memory")
        elif count > self.limits.processes:
            self.end(f"the kernel started more than {self.limits.processes} processes")
        if self.death:
            raise Gone(self.death)

    def interrupt(self) -> None:
        """What the stop button does."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self._pid, signal.SIGINT)

    def _how_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(1.0)
            if code - 128 in set(signal.Signals):
                return f"the kernel died ({signal.strsignal(code - 128)})"
        return "the kernel died"

    @contextlib.contextmanager
    def frozen(self, first: int = 0) -> Iterator[None]:
        """Let nothing of it run: it is measured against, or looked into.

        Parameters
        ----------
        first : int
            The process that is to be stopped before all others are looked for.
        """
        if first:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(first, signal.SIGSTOP)
        still = self.group.stop()
        before = self.group.ticks()
        try:
            yield
        finally:
            if not still or self.group.ticks() > before + 1:
                self.incidents.append("something ran while the sandbox was to stand still")
            self.group.go_on()


def sender(sock: socket.socket, seconds: float) -> int:
    """The process that wrote what waits in a socket, as the system tells it."""
    sock.settimeout(seconds)
    size = socket.CMSG_SPACE(struct.calcsize("3i"))
    try:
        _, extra, _, _ = sock.recvmsg(1, size, socket.MSG_PEEK)
    except TimeoutError as late:
        raise wire.TimedOut from late
    except OSError as gone:
        raise wire.Closed from gone
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            pid = struct.unpack("3i", data[:12])[0]
            if pid:
                return pid
    raise wire.Closed
