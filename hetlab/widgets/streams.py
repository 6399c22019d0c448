"""`show_streams`: the same work in one stream or several, in few chunks or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hetlab.errors import InvalidValue
from hetlab.models.streams import StreamTimeline, chunked
from hetlab.units import binary_bytes, seconds
from hetlab.widgets.showing import _best

__all__ = ["Stories", "Story", "show_streams", "stories_of"]

STREAMS = (1, 2, 3)
MOST_CHUNKS = 32


@dataclass(frozen=True)
class Story:
    """One way to do the work."""

    chunks: int
    streams: int
    pinned: bool
    line: StreamTimeline

    def __str__(self) -> str:
        many = "chunk" if self.chunks == 1 else "chunks"
        lanes = "stream" if self.streams == 1 else "streams"
        memory = "pinned" if self.pinned else "not pinned"
        return (
            f"{self.chunks} {many} in {self.streams} {lanes}, {memory}: "
            f"{seconds(self.line.seconds)} (modelled)"
        )


@dataclass(frozen=True, repr=False)
class Stories:
    """All of them.

    Attributes
    ----------
    title : str
    chunks : tuple of int
        The positions of the slider.
    states : tuple of Story
    """

    title: str
    chunks: tuple[int, ...]
    states: tuple[Story, ...]

    @property
    def longest(self) -> float:
        """Seconds of the slowest."""
        return max(s.line.seconds for s in self.states)

    def __repr__(self) -> str:
        return "\n".join([self.title, *(f"  {state}" for state in self.states)])


def stories_of(nbytes: float, took: float, chunks: Sequence[int], over: str) -> Stories:
    """The work in every way that the widget can show.

    Raises
    ------
    InvalidValue
        For no chunks or too many.
    """
    if not chunks or min(chunks) < 1 or max(chunks) > MOST_CHUNKS or len(chunks) > 12:
        raise InvalidValue("chunks", f"up to 12 numbers from 1 to {MOST_CHUNKS}", chunks)
    states = tuple(
        Story(c, s, pinned, chunked(nbytes, took, c, s, over=over, pinned=pinned))
        for pinned in (True, False)
        for s in STREAMS
        for c in chunks
    )
    title = (
        f"{binary_bytes(round(nbytes))} in, {seconds(took)} of computing, as much out, over {over}"
    )
    return Stories(title, tuple(chunks), states)


def show_streams(
    nbytes: float = 2**25,
    took: float = 2e-3,
    chunks: Sequence[int] = (1, 2, 4, 8, 16),
    over: str = "PCIe 4",
):
    """Show copies and kernels in streams, and how cutting the work overlaps them.

    Parameters
    ----------
    nbytes : float
        Bytes to copy in, and as many to copy out.
    took : float
        Seconds of computing on all of them.
    chunks : sequence of int
        Into how many pieces the work may be cut.
    over : str
        A key of `hetlab.models.transfer.LINKS`.

    Returns
    -------
    StreamsWidget or Shown
        In a notebook with anywidget a live widget; elsewhere a figure with its text.
    """
    stories = stories_of(nbytes, took, tuple(chunks), over)
    return _best(stories, "live_streams", "StreamsWidget", "draw_streams", "stories_figure")
