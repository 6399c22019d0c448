"""The live timeline of streams (needs anywidget)."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from hetlab.widgets.draw_streams import ENGINE_COLOURS
from hetlab.widgets.streams import STREAMS, Stories

__all__ = ["StreamsWidget"]


class StreamsWidget(anywidget.AnyWidget):
    """Chunks, streams and pinned memory to choose; the timeline follows.

    Attributes
    ----------
    chunk : int
        Position of the slider, from 0.
    lanes : int
        Number of streams.
    pinned : bool
    """

    _esm = Path(__file__).with_name("streams.js")
    stories = traitlets.Dict().tag(sync=True)
    chunk = traitlets.Int(0).tag(sync=True)
    lanes = traitlets.Int(3).tag(sync=True)
    pinned = traitlets.Bool(True).tag(sync=True)

    def __init__(self, stories: Stories) -> None:
        self.text = repr(stories)
        states = [
            {
                "chunks": s.chunks,
                "streams": s.streams,
                "pinned": s.pinned,
                "says": str(s),
                "pieces": [[p.name, p.engine, p.stream, p.start, p.end] for p in s.line.pieces],
            }
            for s in stories.states
        ]
        told = {
            "title": stories.title,
            "text": self.text,
            "chunks": list(stories.chunks),
            "streams": list(STREAMS),
            "longest": stories.longest,
            "colours": ENGINE_COLOURS,
            "states": states,
        }
        super().__init__(stories=told)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **options):
        """The live view, and the text for everything that has no JavaScript."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": self.text}, metadata
