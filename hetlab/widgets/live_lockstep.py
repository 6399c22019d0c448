"""The live picture of warps in a branch or a loop (needs anywidget)."""

from __future__ import annotations

import traitlets

from hetlab.widgets.live import Live, script
from hetlab.widgets.lockstep import Lockstep

__all__ = ["LockstepWidget"]


class LockstepWidget(Live):
    """Lanes downwards, steps to the right; a slider changes the rule.

    Attributes
    ----------
    stop : int
        Position of the slider, from 0.
    """

    _esm = script("lockstep.js")
    figure_by = ("figures_warps", "lockstep_figure")
    lockstep = traitlets.Dict().tag(sync=True)
    stop = traitlets.Int(0).tag(sync=True)

    def __init__(self, data: Lockstep) -> None:
        self._shown = data
        stops = [
            {
                "label": stop.label,
                "says": str(stop),
                "walks": [[list(step) for step in walk.steps] for walk in stop.walks],
            }
            for stop in data.stops
        ]
        told = {"kind": data.kind, "name": data.name, "width": data.width, "stops": stops}
        super().__init__(lockstep={**told, "text": repr(data)}, stop=0)

    @property
    def shows(self) -> Lockstep:
        return self._shown
