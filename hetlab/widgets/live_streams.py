"""The live timeline of streams (needs anywidget)."""

from __future__ import annotations

import traitlets

from hetlab.widgets.draw_streams import ENGINE_COLOURS
from hetlab.widgets.live import Live, script
from hetlab.widgets.streams import STREAMS, Stories

__all__ = ["StreamsWidget"]


class StreamsWidget(Live):
    """Chunks, streams and pinned memory to choose; the timeline follows.

    Attributes
    ----------
    chunk : int
        Position of the slider, from 0.
    lanes : int
        Number of streams.
    pinned : bool
    """

    _esm = script("streams.js")
    figure_by = ("draw_streams", "stories_figure")
    stories = traitlets.Dict().tag(sync=True)
    chunk = traitlets.Int(0).tag(sync=True)
    lanes = traitlets.Int(3).tag(sync=True)
    pinned = traitlets.Bool(True).tag(sync=True)

    def __init__(self, stories: Stories) -> None:
        self._shown = stories
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
            "text": repr(stories),
            "chunks": list(stories.chunks),
            "streams": list(STREAMS),
            "longest": stories.longest,
            "colours": ENGINE_COLOURS,
            "states": states,
        }
        super().__init__(stories=told)

    @property
    def shows(self) -> Stories:
        return self._shown
