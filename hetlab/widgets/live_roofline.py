"""The live roofline: one class, one JavaScript file (needs anywidget)."""

from __future__ import annotations

import functools
from pathlib import Path

from hetlab.errors import optional
from hetlab.widgets.roof import Roof

__all__ = ["roofline_widget"]


def roofline_widget(roof: Roof):
    """A live widget of the data.

    Raises
    ------
    MissingLibrary
        Without anywidget.
    """
    optional("anywidget", "lab", "show a live widget")
    return _widget_class()(roof)


@functools.cache
def _widget_class():
    import anywidget
    import traitlets

    class RooflineWidget(anywidget.AnyWidget):
        """A roofline whose slider moves the arithmetic intensity.

        Attributes
        ----------
        intensity : float
            FLOP per byte under the slider; follows it and moves it.
        """

        _esm = Path(__file__).with_name("roofline.js")
        roof = traitlets.Dict().tag(sync=True)
        intensity = traitlets.Float(1.0).tag(sync=True)

        def __init__(self, roof: Roof) -> None:
            self.text = repr(roof)
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
                "text": self.text,
                "bandwidths": [list(item) for item in roof.roofline.bandwidths.items()],
                "peaks": [list(item) for item in roof.roofline.peaks.items()],
                "limits": list(roof.limits()),
                "points": points,
            }
            start = roof.points[0].intensity if roof.points else roof.ridge / 10
            super().__init__(roof=data, intensity=start)

        def __repr__(self) -> str:
            return self.text

        def _repr_mimebundle_(self, **options):
            """The live view, and the text for everything that has no JavaScript."""
            bundle = super()._repr_mimebundle_(**options)
            data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
            return {**data, "text/plain": self.text}, metadata

    return RooflineWidget
