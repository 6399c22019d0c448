"""Copies and kernels in streams, on a modelled clock: what overlaps, and what has to wait.

The rules of CUDA's streams (CUDA C++ Programming Guide, "Asynchronous Concurrent Execution"):
what one stream is given runs in order; different streams do not wait for each other, unless an
event says so.  A GPU here has three engines that work at the same time, each at one thing at a
time and in the order of the calls: copies in, kernels, copies out.  (Real kernels may also share a
GPU when each leaves a part of it empty.)  A copy from memory that is not pinned holds up the host.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hetlab.errors import InvalidValue
from hetlab.models.transfer import Link, link, transfer_seconds
from hetlab.units import seconds

__all__ = ["ENGINES", "Event", "Piece", "Stream", "StreamTimeline", "chunked"]

ENGINES = ("copy in", "kernel", "copy out")


@dataclass(frozen=True)
class Piece:
    """One copy or kernel, with its place on the clock (seconds)."""

    name: str
    engine: str
    stream: str
    start: float
    end: float
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Event:
    """A mark in a stream: reached when all that the stream was given before is done."""

    stream: str
    time: float
    seen: frozenset[int]


class Stream:
    """A queue of copies and kernels; made by :meth:`StreamTimeline.stream`."""

    def __init__(self, timeline: StreamTimeline, name: str) -> None:
        self.timeline, self.name = timeline, name
        self.free, self.seen = 0.0, frozenset()

    def copy_in(self, nbytes: float, name: str = "copy in", *, pinned: bool = True) -> Stream:
        """Copy to the GPU; ``name`` is also the name of the data."""
        took = transfer_seconds(nbytes, self.timeline.link, pinned=pinned)
        return self.timeline._add(self, "copy in", took, name, (), (name,), holds=not pinned)

    def kernel(
        self, took: float, name: str = "kernel", *, reads: Sequence[str] = (), writes=()
    ) -> Stream:
        """Run a kernel of so many seconds."""
        return self.timeline._add(self, "kernel", took, name, reads, writes)

    def copy_out(self, nbytes: float, name: str = "copy out", *, pinned: bool = True) -> Stream:
        """Copy from the GPU; ``name`` is also the name of the data."""
        took = transfer_seconds(nbytes, self.timeline.link, pinned=pinned)
        return self.timeline._add(self, "copy out", took, name, (name,), (), holds=not pinned)

    def record(self) -> Event:
        """An event that is reached when everything before it in this stream is done."""
        return Event(self.name, self.free, self.seen)

    def wait(self, event: Event) -> Stream:
        """Start what comes next in this stream only after the event."""
        self.free = max(self.free, event.time)
        self.seen |= event.seen
        return self


class StreamTimeline:
    """What several streams do, and when: modelled.

    Parameters
    ----------
    over : str or Link
        The link of the copies, as in `hetlab.models.transfer.LINKS`.

    Examples
    --------
    >>> line = hetlab.StreamTimeline("PCIe 4")
    >>> a, b = line.stream("a"), line.stream("b")
    >>> a.copy_in(8e6, "x").kernel(300e-6, "f", reads=["x"])
    >>> b.wait(a.record()).kernel(100e-6, "g", reads=["x"])
    >>> line.seconds, line.hazards()
    """

    def __init__(self, over: str | Link = "PCIe 4") -> None:
        self.link = link(over)
        self.pieces: list[Piece] = []
        self._streams: dict[str, Stream] = {}
        self._engines = dict.fromkeys(ENGINES, 0.0)
        self._before: list[frozenset[int]] = []
        self._host = 0.0

    def stream(self, name: str) -> Stream:
        """The stream of this name; a new one when there is none yet."""
        return self._streams.setdefault(str(name), Stream(self, str(name)))

    def _add(self, stream, engine, took, name, reads, writes, holds: bool = False) -> Stream:
        if not took >= 0:
            raise InvalidValue(name, "0 seconds or more", took)
        start = max(stream.free, self._engines[engine], self._host)
        end = start + took
        self._before.append(stream.seen)
        self.pieces.append(
            Piece(name, engine, stream.name, start, end, tuple(reads), tuple(writes))
        )
        stream.seen |= {len(self.pieces) - 1}
        stream.free = self._engines[engine] = end
        if holds:
            self._host = end  # the host comes back from this call only when the copy is done
        return stream

    @property
    def seconds(self) -> float:
        """From the first start to the last end (0 without any piece)."""
        return max((p.end for p in self.pieces), default=0.0)

    @property
    def work(self) -> dict[str, float]:
        """Seconds that each engine is busy; the largest is a bound that no plan can beat."""
        return {e: sum(p.end - p.start for p in self.pieces if p.engine == e) for e in ENGINES}

    def hazards(self) -> list[str]:
        """Sentences about data that two streams use with no order between."""
        found = []
        for j, late in enumerate(self.pieces):
            for i, early in enumerate(self.pieces[:j]):
                if early.stream == late.stream or i in self._before[j]:
                    continue
                shared = sorted(
                    {*early.writes} & {*late.reads, *late.writes} | {*early.reads} & {*late.writes}
                )
                if shared:
                    found.append(
                        f"{late.name} in stream {late.stream} and {early.name} in stream "
                        f"{early.stream} both use {shared[0]}, with no order between: "
                        "record an event and wait for it"
                    )
        return found

    def to_perfetto(self, path: str | Path | None = None) -> dict:
        """The timeline in the Trace Event Format, which ui.perfetto.dev opens.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it as JSON.

        Returns
        -------
        dict
            Times in microseconds, as the format wants them; one track a stream.
        """
        names = list(self._streams)
        events: list[dict] = [
            {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "GPU (modelled)"}}
        ]
        for number, name in enumerate(names, 1):
            head = {"ph": "M", "name": "thread_name", "pid": 1, "tid": number}
            events.append({**head, "args": {"name": f"stream {name}"}})
        for p in self.pieces:
            place = {"ph": "X", "pid": 1, "tid": names.index(p.stream) + 1, "cat": p.engine}
            times = {"ts": p.start * 1e6, "dur": (p.end - p.start) * 1e6}
            events.append({"name": p.name, **place, **times, "args": {"label": "modelled"}})
        trace = {"traceEvents": events, "displayTimeUnit": "ns"}
        if path is not None:
            Path(path).write_text(json.dumps(trace), encoding="utf-8")
        return trace

    def __repr__(self) -> str:
        lines = [f"{len(self._streams)} streams over {self.link.name}, {seconds(self.seconds)} "
                 "in all (modelled)"]  # fmt: skip
        for p in self.pieces:
            span = f"{seconds(p.start) if p.start else '0 s':>8} to {seconds(p.end):>8}"
            lines.append(f"  {span}  stream {p.stream}  {p.engine:<8}  {p.name}")
        return "\n".join([*lines, *(f"  ! {text}" for text in self.hazards())])


def chunked(
    nbytes: float,
    took: float,
    chunks: int,
    streams: int = 2,
    *,
    over: str | Link = "PCIe 4",
    pinned: bool = True,
) -> StreamTimeline:
    """Copy in, compute and copy out in equal chunks, dealt out to streams in turn.

    Parameters
    ----------
    nbytes : float
        Bytes to copy in, and as many to copy out.
    took : float
        Seconds of computing on all of them.
    chunks, streams : int
        At least 1.

    Returns
    -------
    StreamTimeline

    Raises
    ------
    InvalidValue
        For fewer than one chunk or stream.
    """
    for name, value in (("chunks", chunks), ("streams", streams)):
        if value < 1 or value != int(value):
            raise InvalidValue(name, "a whole number, 1 or more", value)
    line = StreamTimeline(over)
    for k in range(chunks):
        stream = line.stream(str(k % streams + 1))
        stream.copy_in(nbytes / chunks, f"in {k + 1}", pinned=pinned)
        stream.kernel(took / chunks, f"k {k + 1}", reads=[f"in {k + 1}"], writes=[f"out {k + 1}"])
        stream.copy_out(nbytes / chunks, f"out {k + 1}", pinned=pinned)
    return line
