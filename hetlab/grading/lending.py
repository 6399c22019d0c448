"""Timing a function in a process that may lie: memory that both sides see, and a freeze.

A clock around "the inputs arrive" and "the answer is here" would mostly measure how they
are copied.  A clock between messages that the student's process writes would measure what
it pleases: it could work before the start or after the end.  So

1. the inputs lie in memory that the process gets to see in the moment the clock starts;
2. its word that it is done names the addresses of the answer and stops the clock;
3. then all of it is frozen, and the parent itself reads the answer at these addresses.

What is not computed by then is not there.  The reference is timed by the same steps.
"""

from __future__ import annotations

import math
import mmap
import os
import socket
from typing import Any

import numpy as np

from . import wire

__all__ = ["Lent", "collect", "take"]

#: Arrays from this size on lie in the common memory; smaller ones travel in the message.
_LARGE = 16_384


class Lent:
    """Inputs in memory of the kernel's (``memfd``), to be given away once.

    Attributes
    ----------
    fd : int
        The memory.
    plan : list
        How the inputs are put together again, as plain data.
    """

    def __init__(self, inputs: tuple) -> None:
        self.inputs, self.plan, at = inputs, [], 0
        placed = []
        for value in inputs:
            if _lendable(value):
                self.plan.append([at, value.dtype.str, list(value.shape)])
                placed.append((at, value))
                at += -(-value.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
            else:
                self.plan.append([value])
        self.fd = os.memfd_create("inputs")
        self.size = max(at, mmap.PAGESIZE)
        os.ftruncate(self.fd, self.size)
        self.memory = mmap.mmap(self.fd, self.size)
        for at, value in placed:
            self._seen(at, value.dtype, value.shape)[...] = value

    def _seen(self, at: int, dtype: Any, shape: Any) -> np.ndarray:
        return np.frombuffer(self.memory, dtype, math.prod(shape), at).reshape(shape)

    def after(self) -> dict[int, np.ndarray]:
        """The inputs that are not what they were, by position."""
        found = {}
        for position, (value, plan) in enumerate(zip(self.inputs, self.plan)):
            if len(plan) == 3:
                now = self._seen(plan[0], value.dtype, value.shape)
                if now.tobytes() != value.tobytes():
                    found[position] = now.copy()
        return found

    def close(self) -> None:
        """Give the memory back."""
        os.close(self.fd)


def _lendable(value: Any) -> bool:
    plain = type(value) is np.ndarray and value.dtype.kind in "biufcmM"
    return plain and value.nbytes >= _LARGE


def take(namespace: Any, sock: socket.socket, request: dict, output_limit: int) -> dict[str, Any]:
    """The side of the student's process: call a function with lent inputs, say where the answer is.

    The inputs' memory arrives as a file descriptor behind the request.
    """
    from .worker import Performance

    _, (fd, *_), _, _ = socket.recv_fds(sock, 1, 1)
    memory = mmap.mmap(fd, request["size"], flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
    os.close(fd)
    inputs = []
    for plan in request["plan"]:
        if len(plan) == 1:
            inputs.append(plan[0])
        else:
            at, dtype, shape = plan
            array = np.frombuffer(memory, np.dtype(dtype), math.prod(shape), at)
            inputs.append(array.reshape(shape))
    performance = Performance(namespace.get(request["name"]), inputs, output_limit, keep=False)
    performance.act()
    reply = performance.reply
    if reply["status"] == "returned":
        reply["value"] = _point(reply["value"])
    return {**reply, "printed": performance.out.text()}


def _point(value: Any) -> Any:
    """The addresses of large arrays in their place, where they stay until the next call."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufcmM" and value.nbytes >= _LARGE:
        array = np.ascontiguousarray(value)
        _alive[:] = [*_alive[-7:], array]
        place = [array.__array_interface__["data"][0], array.nbytes]
        return {"at": place, "dtype": array.dtype.str, "shape": list(array.shape)}
    if type(value) in (tuple, list) and len(value) <= 8:
        return {"parts": [_point(v) for v in value], "tuple": type(value) is tuple}
    return {"value": value}


_alive: list[np.ndarray] = []


def collect(tree: Any, pid: int, limit: int) -> Any:
    """The side of the judge: read an answer out of a process that stands still.

    Parameters
    ----------
    tree : object
        What :func:`take` said, believed in nothing.
    pid : int
        The process that said it.
    limit : int
        Bytes that all of it may have.

    Raises
    ------
    wire.Garbled, wire.TooLarge
    OSError
        When this process may not look into that one.
    """
    budget = [limit]

    def read(node: Any, depth: int = 2) -> Any:
        if "value" in node:
            return node["value"]
        if "parts" in node:
            if not depth or len(node["parts"]) > 8:
                raise ValueError("parts")
            parts = [read(part, depth - 1) for part in node["parts"]]
            return tuple(parts) if node["tuple"] else parts
        (address, size), dtype, shape = node["at"], np.dtype(node["dtype"]), node["shape"]
        if dtype.hasobject or not all(type(n) is int and n >= 0 for n in (*shape, address, size)):
            raise ValueError("array")
        if size != math.prod(shape) * dtype.itemsize:
            raise ValueError("size")
        budget[0] -= size
        if budget[0] < 0:
            raise wire.TooLarge(f"more than {limit} bytes")
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:  # noqa: PTH123
            memory.seek(address)
            held = memory.read(size)
        if len(held) != size:
            raise ValueError("unreadable")
        return np.frombuffer(bytearray(held), dtype).reshape(shape)

    try:
        return read(tree)
    except (wire.TooLarge, PermissionError):
        raise
    except Exception as fault:
        raise wire.Garbled(type(fault).__name__) from None
