"""The learner's side of a check: a small loop that calls their functions when asked.

It runs in a process of its own (a fork of the notebook's kernel, or a sandbox),
so a function that never returns, crashes the interpreter or prints without end
costs that process and nothing else.  It knows no expected value and no clock.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import wire
from .launched import Recording, configured

__all__ = ["OUTPUT_LIMIT", "OutputFlood", "Performance", "is_callable", "serve"]

#: Characters a function may print in one call before it is stopped.
OUTPUT_LIMIT = 200_000
#: Characters of it that a verdict keeps.
_KEEP = 2_000
#: Frames of these files are not the learner's.
_LIBRARIES = (
    str(Path(os.__file__).parent),
    str(Path(__file__).parents[1]) + os.sep,  # all of hetlab: its launches are below a call
    str(Path(np.__file__).parents[1]),
    "<frozen",
    "<string>",
)
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class OutputFlood(BaseException):
    """Raised inside a function that prints more than the limit.

    It derives from BaseException so that ``except Exception`` in a learner's
    loop does not swallow it.
    """


class _Capped(io.TextIOBase):
    """Standard output that remembers a little and stops a flood."""

    def __init__(self, limit: int) -> None:
        self.kept: list[str] = []
        self.size, self.limit = 0, limit

    def write(self, text: str) -> int:
        if self.size < _KEEP:
            self.kept.append(text[: _KEEP - self.size])
        self.size += len(text)
        if self.size > self.limit:
            raise OutputFlood
        return len(text)

    def writable(self) -> bool:
        return True

    def text(self) -> str:
        return "".join(self.kept)


class Performance:
    """One call in three steps, so that a clock can be put around the middle one alone."""

    def __init__(
        self,
        action: Callable,
        inputs: list,
        limit: int = OUTPUT_LIMIT,
        watch: bool = False,
        keep: bool = True,
    ) -> None:
        self.action, self.inputs, self.out = action, inputs, _Capped(limit)
        self.recording = Recording() if watch else None
        self.before = [_copy(v) for v in inputs] if keep else inputs
        self.reply: dict[str, Any] = {"status": "returned", "value": None}

    def act(self) -> None:
        """Call the learner's function."""
        around = self.recording or contextlib.nullcontext()
        try:
            with contextlib.redirect_stdout(self.out), contextlib.redirect_stderr(self.out), around:
                self.reply["value"] = self.action(*self.inputs)
        except OutputFlood:
            self.reply["status"] = "flood"
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.reply.update(status="raised", **_explain(error))

    def result(self) -> dict[str, Any]:
        """What happened, as a message for the judge.

        ``status`` is ``returned``, ``raised`` or ``flood``; ``value`` the result; ``changed``
        maps the position of each input that the call altered to its new value; ``printed``
        holds the beginning of what it printed; ``launches`` what the virtual GPU saw.
        """
        pairs = enumerate(zip(self.before, self.inputs))
        changed = {i: after for i, (before, after) in pairs if not _same(before, after)}
        told = {"changed": changed, "printed": self.out.text()}
        if self.recording:
            told["launches"] = [one.to_plain() for one in self.recording.launches]
        return {**self.reply, **told}


def _copy(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list | tuple):
        return type(value)(_copy(v) for v in value)
    if isinstance(value, dict):
        return {k: _copy(v) for k, v in value.items()}
    return value


def _same(a: Any, b: Any) -> bool:
    """Equal to the bit: a NaN equals itself, 0.0 differs from -0.0."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and _bits(a) == _bits(b)
    if isinstance(a, list | tuple) and type(a) is type(b):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    return a is b or bool(a == b) or (a != a and b != b)


def _bits(array: np.ndarray) -> memoryview:
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def _explain(error: BaseException) -> dict[str, Any]:
    """The error, and the innermost line of it that the learner wrote.

    What a frontend says of a compiler's error in plain words, as ``in_words`` or in notes, takes
    the place of the compiler's own text.
    """
    import linecache

    if hasattr(error, "in_words"):
        told = error.in_words()
    else:
        told = "\n".join(map(str, getattr(error, "__notes__", ()))) or str(error)
    lines = [x for x in _ANSI.sub("", told).splitlines() if x.strip()]
    place = None
    frame = error.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        if not code.co_filename.startswith(_LIBRARIES):
            text = linecache.getline(code.co_filename, frame.tb_lineno).strip()
            if text:  # TVM adds frames of C++ to the stack
                place = [code.co_name, frame.tb_lineno, text]
        frame = frame.tb_next
    message = "\n".join(lines[:6])[:600]
    return {"error": type(error).__name__, "message": message, "place": place}


def serve(
    namespace: Mapping[str, Any], sock: socket.socket, output_limit: int = OUTPUT_LIMIT
) -> None:
    """Answer the judge until it hangs up.

    Requests: ``{"do": "call", "name", "inputs"}``; ``{"do": "inspect", "name", "inputs",
    "grid", "block", "constants"}``, a call or a launch that the virtual GPU watches;
    ``{"do": "stage", ...}`` keeps such a request, ``{"do": "go"}`` performs it and answers
    only that it is done, ``{"do": "fetch"}`` hands over the result; ``{"do": "has", "name"}``
    says whether there is such a function; ``{"do": "take", ...}`` calls one with memory that
    both sides see (``lending.py``).
    """
    staged: Performance | None = None
    while True:
        try:
            request = wire.recv(sock)
        except wire.Closed:
            return
        what = request["do"]
        if request.get("device"):
            from .device_worker import connect

            connect(socket.recv_fds(sock, 1, 1)[1][0])
        if what == "stage":
            staged = _prepare(namespace, request["request"], output_limit)
            reply = {"status": "staged"}
        elif what == "go":
            staged.act()
            reply = {"status": "done"}
        elif what == "fetch":
            reply, staged = staged.result(), None
        elif what == "has":
            reply = {"status": "has", "value": is_callable(namespace.get(request["name"]))}
        elif what == "take":
            from .lending import take

            reply = take(namespace, sock, request, output_limit)
        else:
            performance = _prepare(namespace, request, output_limit)
            performance.act()
            reply = performance.result()
        try:
            wire.send(sock, reply)
        except wire.TooLarge as size:
            wire.send(sock, {"status": "too large", "message": str(size)})
        except MemoryError:
            wire.send(sock, {"status": "too large", "message": "no memory is left to copy it"})
        except (TypeError, ValueError, RecursionError) as fault:
            # What was returned behaves as no value should: a length that lies, no shape.
            wire.send(sock, {"status": "raised", **_explain(fault), "place": None})


def is_callable(thing: Any) -> bool:
    """Whether a check can use it.  A kernel is launched by indexing; it need not be callable."""
    return callable(thing) or (hasattr(thing, "__getitem__") and not isinstance(thing, str | bytes))


def _prepare(namespace: Mapping[str, Any], request: dict[str, Any], limit: int) -> Performance:
    target = namespace.get(request["name"])
    if request.get("grid") is not None:
        target = configured(target, request["grid"], request["block"], request["constants"])
    return Performance(target, request["inputs"], limit, request["do"] == "inspect")
