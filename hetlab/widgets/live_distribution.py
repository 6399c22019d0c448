"""The live picture of measurements: one class, one JavaScript file (needs anywidget)."""

from __future__ import annotations

import functools
import math
from pathlib import Path

from hetlab.errors import optional
from hetlab.timing.rate import percent, span
from hetlab.units import seconds
from hetlab.widgets.spread import Spread

__all__ = ["distribution_widget"]


def distribution_widget(spread: Spread):
    """A live widget of the data.

    Raises
    ------
    MissingLibrary
        Without anywidget.
    """
    optional("anywidget", "lab", "show a live widget")
    return _widget_class()(spread)


@functools.cache
def _widget_class():
    import anywidget
    import traitlets

    class DistributionWidget(anywidget.AnyWidget):
        """Measurements side by side.

        Attributes
        ----------
        show_all : bool
            Whether the axis reaches to the slowest sample.
        """

        _esm = Path(__file__).with_name("distribution.js")
        spread = traitlets.Dict().tag(sync=True)
        show_all = traitlets.Bool(False).tag(sync=True)

        def __init__(self, spread: Spread) -> None:
            self.text = repr(spread)
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
                "text": self.text,
                "rows": rows,
                "notes": list(spread.notes),
                "focus": list(spread.focus),
                "whole": list(spread.whole),
                "logarithmic": spread.logarithmic,
                "confidence": percent(spread.measurements[0].confidence),
            }
            super().__init__(spread=data)

        def __repr__(self) -> str:
            return self.text

        def _repr_mimebundle_(self, **options):
            """The live view, and the text for everything that has no JavaScript."""
            bundle = super()._repr_mimebundle_(**options)
            data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
            return {**data, "text/plain": self.text}, metadata

    return DistributionWidget
