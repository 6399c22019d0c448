"""The live picture of measurements (needs anywidget)."""

from __future__ import annotations

import math

import traitlets

from hetlab.timing.rate import percent, span
from hetlab.units import seconds
from hetlab.widgets.live import Live, script
from hetlab.widgets.spread import Spread

__all__ = ["DistributionWidget"]


class DistributionWidget(Live):
    """Measurements side by side.

    Attributes
    ----------
    show_all : bool
        Whether the axis reaches to the slowest sample.
    """

    _esm = script("distribution.js")
    figure_by = ("draw_distribution", "distribution_figure")
    spread = traitlets.Dict().tag(sync=True)
    show_all = traitlets.Bool(False).tag(sync=True)

    def __init__(self, spread: Spread) -> None:
        self._shown = spread
        rows = [
            {
                "samples": list(m.samples),
                "median": m.median,
                "interval": list(m.interval) if math.isfinite(m.interval[1]) else None,
                "says": f"{m.name}: {seconds(m.median)} ({span(*m.interval, 's')}), {m.label}",
            }
            for m in spread.measurements
        ]
        data = {
            "text": repr(spread),
            "rows": rows,
            "notes": list(spread.notes),
            "focus": list(spread.focus),
            "whole": list(spread.whole),
            "logarithmic": spread.logarithmic,
            "confidence": percent(spread.measurements[0].confidence),
        }
        super().__init__(spread=data)

    @property
    def shows(self) -> Spread:
        return self._shown
