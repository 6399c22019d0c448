"""The live picture of where a measurement's time went (needs anywidget)."""

from __future__ import annotations

import traitlets

from hetlab.widgets.draw_time import PART_COLOURS
from hetlab.widgets.live import Live, script
from hetlab.widgets.time_parts import TimeParts

__all__ = ["TimeWidget"]


class TimeWidget(Live):
    """One measurement as a bar, and what its first call means for a program.

    Attributes
    ----------
    calls : int
        How many calls the program of the second bar makes.
    """

    _esm = script("time_parts.js")
    figure_by = ("draw_time", "time_figure")
    time = traitlets.Dict().tag(sync=True)
    calls = traitlets.Int(1).tag(sync=True)

    def __init__(self, parts: TimeParts) -> None:
        self._shown = parts
        rows = [
            {"name": p.name, "seconds": p.seconds, "says": p.says, "colour": PART_COLOURS[p.name]}
            for p in parts.parts
        ]
        data = {
            "name": parts.name,
            "label": parts.label,
            "parts": rows,
            "once": parts.once,
            "each": parts.each,
            "even": parts.even,
            "text": repr(parts),
        }
        super().__init__(time=data, calls=1)

    @property
    def shows(self) -> TimeParts:
        return self._shown
