"""The live picture of warps that take turns (needs anywidget)."""

from __future__ import annotations

import traitlets

from hetlab.widgets.live import Live, script
from hetlab.widgets.warps import LIMITS, STATES, Warps

__all__ = ["WarpsWidget"]


class WarpsWidget(Live):
    """A scheduler to step through, with sliders for warps, latency and work.

    Attributes
    ----------
    warps, latency, work : int
        As of `Warps`.
    cycle : int
        How far the picture is drawn; -1 for all of it.
    """

    _esm = script("warps.js")
    figure_by = ("draw_warps", "warps_figure")
    fixed = traitlets.Dict().tag(sync=True)
    warps = traitlets.Int(1).tag(sync=True)
    latency = traitlets.Int(20).tag(sync=True)
    work = traitlets.Int(3).tag(sync=True)
    cycle = traitlets.Int(-1).tag(sync=True)

    def __init__(self, data: Warps) -> None:
        fixed = {"limits": LIMITS, "states": STATES}
        super().__init__(fixed=fixed, warps=data.warps, latency=data.latency, work=data.work)

    @property
    def shows(self) -> Warps:
        return Warps(self.warps, self.latency, self.work)
