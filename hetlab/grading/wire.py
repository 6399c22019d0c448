"""How values cross between the learner's process and the judge: JSON and raw bytes.

Nothing is ever unpickled, so a value cannot bring code along; and nothing is believed: a
message whose parts do not fit each other is refused as a whole.  A message is

    8 bytes   length of the header, 8 bytes length of all blobs (big-endian)
    header    UTF-8 JSON; a blob stands in it as its length
    blobs     raw array bytes, C order

A value of a type that cannot cross arrives as :class:`Opaque`, which says what
it was; what it held is not looked at.
"""

from __future__ import annotations

import json
import math
import socket
import struct
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "LIMIT",
    "Closed",
    "Garbled",
    "Opaque",
    "TimedOut",
    "TooLarge",
    "decode",
    "encode",
    "recv",
    "send",
]

#: Largest message in bytes.  Above it a result is refused, not truncated.
LIMIT = 512 * 2**20
_DEPTH = 20
#: Hexadecimal digits of the longest integer; Python writes no longer ones in decimal either.
_DIGITS = 3_500
_LENGTHS = struct.Struct(">QQ")


class TooLarge(Exception):
    """A message is above the limit."""


class Closed(Exception):
    """The other side has gone."""


class Garbled(Exception):
    """The bytes are no message: the other side writes what it should not."""


class TimedOut(Exception):
    """The other side did not answer in time."""


@dataclass(frozen=True)
class Opaque:
    """A value that cannot cross: only the name of its type and a short text arrive."""

    type: str
    text: str = ""


def encode(value: Any) -> tuple[bytes, list[memoryview]]:
    """Turn a value into a header and the blobs that follow it."""
    blobs: list[memoryview] = []
    tree = _pack(value, blobs, _DEPTH)
    header = json.dumps({"v": tree, "b": [b.nbytes for b in blobs]}, ensure_ascii=False)
    return header.encode("utf-8", "surrogatepass"), blobs


def decode(header: bytes, body: memoryview) -> Any:
    """Rebuild a value; arrays are fresh and writable.

    Raises
    ------
    Garbled
        When header and body are not what :func:`encode` makes.
    """
    try:
        message = json.loads(header.decode("utf-8", "surrogatepass"))
        blobs = _Blobs(message["b"], body)
        return _unpack(message["v"], blobs)
    except (RecursionError, MemoryError, Exception) as fault:
        raise Garbled(type(fault).__name__) from None


class _Blobs:
    """The pieces of a body; each may be taken once, so that a short text cannot fill memory."""

    def __init__(self, sizes: list[int], body: memoryview) -> None:
        self.pieces: dict[int, memoryview] = {}
        start = 0
        for n, size in enumerate(sizes):
            if type(size) is not int or size < 0:
                raise ValueError("size")
            self.pieces[n] = body[start : start + size]
            start += size
        if start != len(body):
            raise ValueError("sizes")

    def take(self, n: int) -> memoryview:
        return self.pieces.pop(n)


def _pack(value: Any, blobs: list, depth: int) -> Any:
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if abs(value) < 2**53 else {"t": "int", "x": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"t": "float", "x": repr(value)}
    if kind is complex:
        return {"t": "complex", "x": [repr(value.real), repr(value.imag)]}
    if depth == 0:
        return {"t": "opaque", "x": [kind.__name__, "nested too deeply"]}
    if kind in (list, tuple):
        return {"t": kind.__name__, "x": [_pack(v, blobs, depth - 1) for v in value]}
    if kind is dict:
        pairs = [[_pack(k, blobs, depth - 1), _pack(v, blobs, depth - 1)] for k, v in value.items()]
        return {"t": "dict", "x": pairs}
    if kind is bytes:
        blobs.append(memoryview(value))
        return {"t": "bytes", "n": len(blobs) - 1}
    # np.memmap and other subclasses hold ordinary arrays; object arrays hold anything.
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        array = np.ascontiguousarray(value).reshape(np.shape(value))
        if array.nbytes:
            blobs.append(memoryview(array.reshape(-1).view(np.uint8)))
        dtype = array.dtype.descr if array.dtype.names else array.dtype.str
        scalar = isinstance(value, np.generic)
        where = len(blobs) - 1 if array.nbytes else None
        return {"t": "array", "d": dtype, "s": list(array.shape), "n": where, "scalar": scalar}
    if isinstance(value, Opaque):
        return {"t": "opaque", "x": [value.type, value.text]}
    return {"t": "opaque", "x": [kind.__name__, _describe(value)]}


def _describe(value: Any) -> str:
    try:
        return repr(value)[:200]
    except Exception:
        return ""


def _unpack(tree: Any, blobs: _Blobs) -> Any:
    if not isinstance(tree, dict):
        if isinstance(tree, list):
            raise ValueError("untagged")
        return tree
    kind = tree["t"]
    if kind == "int":
        digits = tree["x"]
        return int(digits, 16) if len(digits) <= _DIGITS else Opaque("int", "of too many digits")
    if kind == "float":
        return float(tree["x"])
    if kind == "complex":
        return complex(*map(float, tree["x"]))
    if kind == "list":
        return [_unpack(v, blobs) for v in tree["x"]]
    if kind == "tuple":
        return tuple(_unpack(v, blobs) for v in tree["x"])
    if kind == "dict":
        return {_hashable(_unpack(k, blobs)): _unpack(v, blobs) for k, v in tree["x"]}
    if kind == "bytes":
        return bytes(blobs.take(tree["n"]))
    if kind == "array":
        return _array(tree, blobs)
    name, text = tree["x"]
    return Opaque(str(name)[:100], str(text)[:200])


def _array(tree: Any, blobs: _Blobs) -> Any:
    dtype = tree["d"]
    if isinstance(dtype, list):
        dtype = [tuple(tuple(p) if isinstance(p, list) else p for p in f) for f in dtype]
    dtype = np.dtype(dtype)
    shape = tree["s"]
    if dtype.hasobject or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("array")
    held = blobs.take(tree["n"]) if tree["n"] is not None else memoryview(b"")
    # Memory that nobody filled would show what lay there before: the judge's own values.
    if len(held) != math.prod(shape) * dtype.itemsize:
        raise ValueError("bytes of an array")
    array = np.empty(shape, dtype)
    array.reshape(-1).view(np.uint8)[:] = np.frombuffer(held, np.uint8)
    return array[()] if tree["scalar"] else array


def _hashable(key: Any) -> Any:
    try:
        hash(key)
    except TypeError:
        return str(key)
    return key


def send(sock: socket.socket, value: Any, limit: int = LIMIT) -> None:
    """Send one message.

    Raises
    ------
    TooLarge
        Before anything is sent, when the message is above `limit` bytes.
    """
    header, blobs = encode(value)
    body = sum(b.nbytes for b in blobs)
    if len(header) + body > limit:
        raise TooLarge(f"{len(header) + body} bytes")
    try:
        sock.sendall(_LENGTHS.pack(len(header), body))
        sock.sendall(header)
        for blob in blobs:
            sock.sendall(blob)
    except OSError as gone:
        raise Closed from gone


def recv(
    sock: socket.socket, seconds: float | None = None, limit: int = LIMIT, header: int = LIMIT
) -> Any:
    """Receive one message, waiting at most `seconds` for all of it.

    Parameters
    ----------
    sock : socket.socket
    seconds : float, optional
    limit : int
        Bytes of the whole message.
    header : int
        Bytes of JSON in it, which take many times their size once they are read.

    Raises
    ------
    TimedOut, Closed, TooLarge, Garbled
        When it does not come, cannot come, announces more than it may, or is no message.
    """
    end = None if seconds is None else time.monotonic() + seconds
    size, body = _LENGTHS.unpack(_exactly(sock, _LENGTHS.size, end))
    if size + body > limit or size > header:
        raise TooLarge(f"{size + body} bytes")
    text = bytes(_exactly(sock, size, end))
    return decode(text, _exactly(sock, body, end))


def _exactly(sock: socket.socket, size: int, end: float | None) -> memoryview:
    data = memoryview(bytearray(size))
    got = 0
    while got < size:
        try:
            sock.settimeout(None if end is None else max(end - time.monotonic(), 1e-3))
            n = sock.recv_into(data[got:])
        except TimeoutError as late:
            raise TimedOut from late
        except OSError as gone:
            raise Closed from gone
        if n == 0:
            raise Closed
        got += n
        if end is not None and time.monotonic() > end and got < size:
            raise TimedOut
    return data
