"""The live picture of where a measurement's time went (needs anywidget)."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from hetlab.widgets.draw_time import PART_COLOURS
from hetlab.widgets.time_parts import TimeParts

__all__ = ["TimeWidget"]


class TimeWidget(anywidget.AnyWidget):
    """One measurement as a bar, and what its first call means for a program.

    Attributes
    ----------
    calls : int
        How many calls the program of the second bar makes.
    """

    _esm = Path(__file__).with_name("time_parts.js")
    time = traitlets.Dict().tag(sync=True)
    calls = traitlets.Int(1).tag(sync=True)

    def __init__(self, parts: TimeParts) -> None:
        self.text = repr(parts)
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
            "text": self.text,
        }
        super().__init__(time=data, calls=1)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **options):
        """The live view, and the text for everything that has no JavaScript."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": self.text}, metadata
