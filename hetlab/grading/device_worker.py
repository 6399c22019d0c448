"""The trusted worker: it owns the memory of launches, executes PTX and counts.

It runs in a sandbox of its own, because PTX that a student wrote becomes Python code in
it.  Launches come from a snapshot of the notebook; what was seen goes to the parent only.
"""

from __future__ import annotations

import contextlib
import select
import socket
from typing import Any

from . import wire

__all__ = ["connect", "obey"]

#: Launches of one call that are kept for the judge.
_MOST = 2_000


def connect(fd: int) -> None:
    """In the student's process: let launches be carried out at the other end of a socket."""
    from ..vgpu.device import device
    from ..vgpu.elsewhere import client

    there = socket.socket(fileno=fd)

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        wire.send(there, request)
        return wire.recv(there)

    device().elsewhere = client(ask)


def obey(control: socket.socket) -> None:
    """Serve the parent: open a connection, report what was launched over it."""
    launches: list[dict[str, Any]] = []
    evidence: list[dict[str, Any]] = []
    guest: socket.socket | None = None
    while True:
        ready = select.select([control, *([guest] if guest else [])], [], [])[0]
        if control in ready:
            try:
                request = wire.recv(control)
            except wire.Closed:
                return
            if request["do"] == "open":
                _, (fd, *_), _, _ = socket.recv_fds(control, 1, 1)
                launches, evidence, guest = [], [], socket.socket(fileno=fd)
                wire.send(control, {"status": "open"})
            else:
                while guest is not None and select.select([guest], [], [], 0)[0]:
                    guest = _serve(guest, launches, evidence)
                wire.send(control, {"status": "seen", "launches": launches, "evidence": evidence})
        elif guest in ready:
            guest = _serve(guest, launches, evidence)


def _serve(guest: socket.socket, launches: list, evidence: list) -> socket.socket | None:
    """Carry one launch out; None when the guest has gone or talks nonsense."""
    from ..vgpu.elsewhere import carry_out
    from ..vgpu.report import Launch
    from .launched import Launched

    try:
        request = wire.recv(guest, 60.0)
        reply, trace, seen = carry_out(request)
        if trace is not None and len(launches) < _MOST:
            launches.append(Launched.of(Launch(trace)).to_plain())
            evidence.append(seen)
        wire.send(guest, reply)
    except Exception as fault:
        with contextlib.suppress(wire.Closed):
            text = f"the launch cannot be carried out ({type(fault).__name__})"
            wire.send(guest, {"error": text, "where": "", "do": ""})
        return guest if not isinstance(fault, wire.Closed | wire.Garbled | wire.TimedOut) else None
    return guest
