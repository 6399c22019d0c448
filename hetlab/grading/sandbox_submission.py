"""A submission that lives in a sandbox, as the checks see it.

Each check talks to a snapshot: a fork of the sandboxed process as it was when its cells
had come as far as the check.  What the snapshot answers is plain data that is taken
apart with care; that it answers is all that it can do.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from . import wire
from .busy import Clock, wait
from .launched import Launched
from .lending import Lent, collect
from .provenance import proven
from .sandbox import Gone, Sandbox, sender
from .submission import ForkedSubmission, Outcome, _outcome

__all__ = ["SandboxSubmission", "plain_text"]

_STATUS = {"returned", "raised", "flood", "too large", "has"}
_HEADER = 8 << 20
#: Seconds within which a kernel that is idle makes a snapshot of itself.
_FORK = 20.0


class SandboxSubmission(ForkedSubmission):
    """Names that are called in a sandbox.

    Parameters
    ----------
    sandbox : Sandbox
        Started, with its cells run as far as they shall be.
    time_limit : float
        Seconds that one call may take.
    """

    def __init__(self, sandbox: Sandbox, time_limit: float = 20.0) -> None:
        super().__init__({}, time_limit)
        self.sandbox, self._known, self._codes = sandbox, {}, {}
        self._pid_outside = 0

    def has(self, name: str) -> bool:
        if name not in self._known:
            reply = self._reply({"do": "has", "name": name})
            if not isinstance(reply, dict):
                # A kernel that is gone answers every question with the reason.
                return True
            self._known[name] = reply.get("value") is True
        return self._known[name]

    def timed(self, name: str, *inputs: Any) -> tuple[float, Outcome]:
        if not self.has(name):
            return 0.0, Outcome("missing")
        lent = Lent(inputs)
        try:
            seconds, reply = self._take(name, lent)
            if isinstance(reply, Outcome):
                return seconds, reply
            with self._still():
                return seconds, self._collected(reply, lent)
        finally:
            lent.close()

    def beside(self, namespace: Mapping[str, Any]) -> _Peer:
        return _Peer(namespace, self.time_limit, sandbox=self.sandbox)

    # -- one question and its answer

    def inspect(self, name: str, *inputs: Any, grid: Any = None, **how: Any) -> Outcome:
        if not self.has(name):
            return Outcome("missing")
        worker, (here, there) = self.sandbox.device, socket.socketpair()
        seen: dict[str, Any] = {}
        try:
            worker.ask({"do": "open"}, _FORK, there.fileno())
            request = {"do": "inspect", "name": name, "inputs": list(inputs), "device": True}
            request |= {"grid": grid, "block": None, "constants": None, **how}
            outcome = self._ask(request, inputs, here.fileno())
            seen = worker.ask({"do": "report"}, self.time_limit)
        except (Gone, wire.TimedOut):
            worker.end("a kernel did not come to its end")
            if not seen:
                outcome = Outcome("timeout", seconds=self.time_limit)
        finally:
            here.close()
            there.close()
        # Only the worker's word counts: what the notebook's process says of launches does not.
        launches = tuple(Launched.from_plain(one) for one in seen.get("launches", ()))
        outcome = replace(outcome, launches=launches)
        if grid is None or not outcome.returned:
            return outcome
        kinds = self._codes.setdefault((name, repr(how.get("constants"))), {})
        return proven(outcome, inputs, seen.get("evidence", ()), kinds, self._noticed)

    def _ask(
        self, request: dict[str, Any], inputs: tuple | None = None, gift: int | None = None
    ) -> Outcome:
        if not self.has(request["name"]):
            return Outcome("missing")
        reply = self._reply(request, gift)
        if isinstance(reply, Outcome):
            return reply
        return clean(reply, tuple(request.get("inputs", ())) if inputs is None else inputs)

    def _take(self, name: str, lent: Lent) -> tuple[float, dict | Outcome]:
        request = {"do": "take", "name": name, "plan": lent.plan, "size": lent.size}
        self._reply({"do": "has", "name": name})  # it is there, and waits
        clock = self._clock()
        clock.start()
        reply = self._reply(request, lent.fd)
        return clock.stop(), reply

    def _reply(self, request: dict[str, Any], gift: int | None = None) -> dict | Outcome:
        try:
            if self._sock is None:
                self._start()
            wire.send(self._sock, request)
            if gift is not None:
                socket.send_fds(self._sock, [b"d"], [gift])
            self._wait()
            self._pid_outside = sender(self._sock, self.time_limit)
            reply = wire.recv(self._sock, self.time_limit, self._limit, _HEADER)
        except wire.TimedOut:
            self._let_go(stop=True)
            return Outcome("timeout", seconds=self.time_limit)
        except wire.Closed:
            return Outcome("died", message=self._let_go(stop=False) or "for an unknown reason")
        except wire.TooLarge as size:
            self._let_go(stop=True)
            return Outcome("too large", message=str(size))
        except wire.Garbled:
            self._noticed("an answer to a check was no message of the grader's")
            self._let_go(stop=True)
            return Outcome("died", message="its answers cannot be read")
        except Gone as reason:
            self._sock = None
            return Outcome("died", message=str(reason))
        # A process that runs as root may name another one as the sender.
        honest = not self._knows_sender or self._pid_outside in self.sandbox.group.find()
        if not honest or not isinstance(reply, dict) or reply.get("status") not in _STATUS:
            self._noticed("an answer to a check was none of those that there are")
            self._let_go(stop=True)
            return Outcome("died", message="its answers cannot be read")
        return reply

    def _collected(self, reply: dict, lent: Lent) -> Outcome:
        """The answer to a timed call, read while nothing of the sandbox runs."""
        value = None
        if reply["status"] == "returned":
            try:
                value = collect(reply.get("value"), self._pid_outside, self._limit)
            except wire.TooLarge as size:
                return Outcome("too large", message=str(size))
            except (wire.Garbled, OSError):
                self._noticed("an answer to a timed call was not where it was said to be")
                return Outcome("died", message="its answers cannot be read")
        return clean({**reply, "value": value, "changed": lent.after()}, lent.inputs)

    # -- what a peer does otherwise

    _knows_sender = True

    @property
    def _limit(self) -> int:
        return self.sandbox.limits.reply

    def _wait(self) -> None:
        self.sandbox.wait(self._sock, self.time_limit, self._pid_outside)

    def _clock(self) -> Clock:
        return Clock(self._pid_outside, self.sandbox.group.find())

    def _still(self) -> contextlib.AbstractContextManager:
        return self.sandbox.frozen(self._pid_outside)

    def _noticed(self, what: str) -> None:
        if what not in self.sandbox.incidents:
            self.sandbox.incidents.append(what)

    def _start(self) -> None:
        here, there = socket.socketpair()
        here.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        try:
            reply = self.sandbox.ask({"do": "fork"}, _FORK, there.fileno())
        except wire.TimedOut:
            here.close()
            self.sandbox.end("the kernel no longer answered")
            raise Gone(self.sandbox.death) from None
        finally:
            there.close()
        self._sock, self._pid, self._pid_outside = here, reply.get("pid", 0), 0

    def _let_go(self, stop: bool) -> str:
        """End the snapshot and say how it ended."""
        if self._sock is None:
            return self.sandbox.death
        self._sock.close()
        self._sock, pid, self._pid = None, self._pid, 0
        try:
            reply = self.sandbox.ask({"do": "end", "pid": pid, "stop": stop}, _FORK)
            return plain_text(reply.get("message", ""), 100)
        except wire.TimedOut:
            self.sandbox.end("the kernel no longer answered")
        except Gone:
            pass
        return self.sandbox.death

    def close(self) -> None:
        self._let_go(stop=True)


class _Peer(SandboxSubmission):
    """Trusted functions in a fork of this process, timed by the steps of a sandboxed one.

    The sandbox stands still meanwhile: no thread of it can slow the reference.
    """

    def __init__(self, namespace: Mapping[str, Any], time_limit: float, sandbox: Sandbox) -> None:
        super().__init__(sandbox, time_limit)
        self.namespace = namespace

    _knows_sender = False

    def timed(self, name: str, *inputs: Any) -> tuple[float, Outcome]:
        with self.sandbox.frozen():
            return super().timed(name, *inputs)

    def _wait(self) -> None:
        wait(self._sock, self.time_limit, self._pid)

    def _clock(self) -> Clock:
        return Clock(self._pid)

    def _still(self) -> contextlib.AbstractContextManager:
        return contextlib.nullcontext()

    def _start(self) -> None:
        ForkedSubmission._start(self)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)

    def _let_go(self, stop: bool) -> str:
        if self._sock is None:
            return ""
        if stop:
            ForkedSubmission.close(self)
            return "it was stopped"
        return self._cause_of_death()


def clean(reply: dict[str, Any], inputs: tuple) -> Outcome:
    """An outcome from an answer of which nothing is certain but that it is plain data."""
    changed = reply.get("changed")
    known = {
        int(k): v
        for k, v in (changed.items() if isinstance(changed, dict) else ())
        if isinstance(k, int) and 0 <= k < len(inputs)
    }
    place = reply.get("place")
    if isinstance(place, list) and len(place) == 3 and isinstance(place[1], int):
        place = [plain_text(place[0], 80), place[1], plain_text(place[2], 200)]
    else:
        place = None
    sure = {
        "status": reply["status"],
        "value": reply.get("value"),
        "changed": known,
        "printed": plain_text(reply.get("printed", ""), 2_000),
        "error": plain_text(reply.get("error", ""), 100),
        "message": plain_text(reply.get("message", ""), 600),
        "place": place,
    }
    return _outcome(sure, inputs)


def plain_text(text: Any, size: int) -> str:
    """Text that any file and any page can hold."""
    if not isinstance(text, str):
        return ""
    whole = text[:size].encode("utf-8", "replace").decode()
    return "".join(c if c.isprintable() or c == "\n" else " " for c in whole)
