"""The program that runs in a sandbox: an IPython shell that the parent tells what to do.

It runs a cell, or forks a snapshot of what the cells defined, which then answers the
checks as :func:`hetlab.grading.worker.serve` does.  It holds no expected value, no clock
and no secret: whatever the student's code does to it, it does to itself.

Cells run in IPython's own shell rather than behind Jupyter's messages.  Those carry all
that a cell prints to the parent before anybody can count it, are signed with a key that
lies in the student's process, and leave the timing to whoever reads them; and nbclient
waits for its kernel's word where a parent must not.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import socket
import sys
import time
from typing import Any

__all__ = ["main"]


def main() -> None:
    """Serve the parent at the socket whose number the environment holds."""
    settings = json.loads(os.environ.pop("HETLAB_SETTINGS"))
    sock = socket.socket(fileno=settings["control"])
    sock.set_inheritable(False)
    parent = _stand_above(sock) if settings.get("shim") else 0
    from .confine import confine, die_with_parent

    confine(settings)
    if parent:  # after the change of its user, which makes the kernel forget it
        die_with_parent(parent)
    from . import wire

    device = settings["role"] == "device"
    try:
        shell = None if device else _Shell()
    except Exception as fault:  # the parent says it to the instructor
        from ..errors import one_line

        wire.send(sock, {"status": "unfit", "message": one_line(fault)})
        return
    wire.send(sock, {"status": "ready", "uid": os.getuid(), "pid": os.getpid()})
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    if device:
        from .device_worker import obey

        obey(sock)
        return
    _obey(shell, sock, settings["output"])


def _stand_above(sock: socket.socket) -> int:
    """Without a pid namespace: stay as the parent of all that comes, and work in a child.

    Returns the parent's process id, in the child.
    """
    from .confine import adopt_orphans, die_with_parent

    adopt_orphans()
    # While a reference is timed all stand still, and a process that stands still notices
    # nothing of a grader that was killed.
    die_with_parent(os.getppid())
    parent, child = os.getpid(), os.fork()
    if child == 0:
        return parent
    sock.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = 1
    while True:
        try:
            pid, ended = os.waitpid(-1, 0)
        except ChildProcessError:
            os._exit(status)
        if pid == child:
            code = os.waitstatus_to_exitcode(ended)
            status = code if code >= 0 else 128 - code


class OutputSink(io.TextIOBase):
    """Standard output of the cells: counted, kept nowhere, and stopped above a limit."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self) -> None:
        self.size, self.limit = 0, 1 << 62

    def write(self, text: str) -> int:
        from .worker import OutputFlood

        self.size += len(text)
        if self.size > self.limit:
            raise OutputFlood
        return len(text)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def close(self) -> None:
        """A notebook's output cannot be closed either."""


class _Shell:
    """IPython's shell and one event loop, as a notebook has them."""

    def __init__(self) -> None:
        import asyncio

        from ..errors import optional

        shells = optional("IPython.core.interactiveshell", "lab", "run notebooks")
        config = optional("traitlets.config", "lab", "run notebooks").Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"

        class NotebookShell(shells.InteractiveShell):
            """Does nothing where a terminal would ask or leave."""

            def ask_exit(self) -> None:
                pass

        self.shell = NotebookShell.instance(config=config)
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.sink = OutputSink()
        sys.stdout = sys.stderr = self.sink
        sys.stdin = open(os.devnull)  # noqa: PTH123, SIM115
        _no_questions()

    @property
    def names(self) -> dict[str, Any]:
        return self.shell.user_ns

    def run(self, source: str, limit: int) -> dict[str, str]:
        """Run a cell and say how it ended."""
        from .worker import OutputFlood

        self.sink.size, self.sink.limit = 0, limit
        try:
            result = self.loop.run_until_complete(self._run(source))
            error = result.error_before_exec or result.error_in_exec
        except OutputFlood as flood:
            error = flood
        except KeyboardInterrupt as stop:
            error = stop
        except BaseException as fault:
            error = fault
        finally:
            self.sink.limit = 1 << 62
        if error is None:
            return {"status": "ok"}
        if isinstance(error, OutputFlood):
            return {"status": "flood"}
        name, text = type(error).__name__, _text(error)
        return {"status": "error", "error": name[:100], "message": text[:300]}

    async def _run(self, source: str) -> Any:
        fault, transformed = None, source
        try:
            transformed = self.shell.transform_cell(source)
        except Exception:
            fault = sys.exc_info()
        return await self.shell.run_cell_async(
            source, store_history=True, transformed_cell=transformed, preprocessing_exc_tuple=fault
        )


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return ""


def _no_questions() -> None:
    """``input()`` says why it cannot work, as a notebook does that runs without a reader."""
    import builtins
    import getpass

    def ask(prompt: object = "") -> str:
        raise RuntimeError("input() needs somebody who answers, and a check has nobody")

    builtins.input = getpass.getpass = ask


def _obey(shell: _Shell, sock: socket.socket, output: int) -> None:
    from . import wire

    children: set[int] = set()
    while True:
        try:
            request = wire.recv(sock)
        except KeyboardInterrupt:  # an interrupt that came after the cell had ended
            continue
        except wire.Closed:
            return
        what = request["do"]
        if what == "cell":
            reply = shell.run(request["source"], output)
        elif what == "fork":
            reply = _fork(shell, sock, children)
        else:
            reply = {"status": "ended", "message": _end(request["pid"], request["stop"], children)}
        wire.send(sock, reply)


def _fork(shell: _Shell, sock: socket.socket, children: set[int]) -> dict[str, Any]:
    """A snapshot of the notebook, which answers the checks at a socket of its own."""
    from .submission import _detach
    from .worker import serve

    _, descriptors, _, _ = socket.recv_fds(sock, 1, 1)
    there = socket.socket(fileno=above(descriptors[0]))
    parent, pid = os.getpid(), os.fork()
    if pid == 0:
        code = 1
        try:
            sock.close()
            _detach(parent)
            serve(shell.names, there)
            code = 0
        finally:
            os._exit(code)
    there.close()
    children.add(pid)
    return {"status": "forked", "pid": pid}


def above(fd: int) -> int:
    """The same file at a number that nobody takes for standard output, which may be closed."""
    import fcntl

    if fd > 2:
        return fd
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 16)
    os.close(fd)
    return moved


def _end(pid: int, stop: bool, children: set[int]) -> str:
    """Let a snapshot go and say how it ended."""
    if pid not in children:
        return ""
    children.discard(pid)
    end = time.monotonic() + (0 if stop else 1)
    with contextlib.suppress(ChildProcessError, ProcessLookupError):
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() >= end:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return "it was stopped"
            time.sleep(0.005)
        if os.WIFSIGNALED(status):
            return signal.strsignal(os.WTERMSIG(status)) or f"signal {os.WTERMSIG(status)}"
        return f"exit status {os.WEXITSTATUS(status)}"
    return ""


if __name__ == "__main__":
    main()
