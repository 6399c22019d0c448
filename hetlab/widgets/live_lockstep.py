"""The live picture of warps in a branch or a loop (needs anywidget)."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from hetlab.widgets.lockstep import Lockstep

__all__ = ["LockstepWidget"]


class LockstepWidget(anywidget.AnyWidget):
    """Lanes downwards, steps to the right; a slider changes the rule.

    Attributes
    ----------
    stop : int
        Position of the slider, from 0.
    """

    _esm = Path(__file__).with_name("lockstep.js")
    lockstep = traitlets.Dict().tag(sync=True)
    stop = traitlets.Int(0).tag(sync=True)

    def __init__(self, data: Lockstep) -> None:
        self.text = repr(data)
        stops = [
            {
                "label": stop.label,
                "says": str(stop),
                "walks": [[list(step) for step in walk.steps] for walk in stop.walks],
            }
            for stop in data.stops
        ]
        told = {"kind": data.kind, "name": data.name, "width": data.width, "stops": stops}
        super().__init__(lockstep={**told, "text": self.text}, stop=0)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **options):
        """The live view, and the text for everything that has no JavaScript."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": self.text}, metadata
