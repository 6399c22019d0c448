"""The live roofline (needs anywidget)."""

from __future__ import annotations

import traitlets

from hetlab.widgets.live import Live, script
from hetlab.widgets.roof import Roof

__all__ = ["RooflineWidget"]


class RooflineWidget(Live):
    """A roofline whose slider moves the arithmetic intensity.

    Attributes
    ----------
    intensity : float
        FLOP per byte under the slider; follows it and moves it.
    """

    _esm = script("roofline.js")
    figure_by = ("draw_roofline", "roofline_figure")
    roof = traitlets.Dict().tag(sync=True)
    intensity = traitlets.Float(1.0).tag(sync=True)

    def __init__(self, roof: Roof) -> None:
        self._shown = roof
        points = [
            {
                "name": p.name,
                "intensity": p.intensity,
                "flops": p.flops,
                "low": p.low,
                "high": p.high,
                "label": p.label,
                "says": roof.standing(p),
            }
            for p in roof.points
        ]
        data = {
            "title": f"Roofline of {roof.title}, ceilings {roof.source}",
            "text": repr(roof),
            "bandwidths": [list(item) for item in roof.roofline.bandwidths.items()],
            "peaks": [list(item) for item in roof.roofline.peaks.items()],
            "limits": list(roof.limits()),
            "points": points,
        }
        start = roof.points[0].intensity if roof.points else roof.ridge / 10
        super().__init__(roof=data, intensity=start)

    @property
    def shows(self) -> Roof:
        return self._shown
