"""The live picture of warps that take turns (needs anywidget)."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from hetlab.widgets.warps import LIMITS, STATES, Warps

__all__ = ["WarpsWidget"]


class WarpsWidget(anywidget.AnyWidget):
    """A scheduler to step through, with sliders for warps, latency and work.

    Attributes
    ----------
    warps, latency, work : int
        As of `Warps`.
    cycle : int
        How far the picture is drawn; -1 for all of it.
    """

    _esm = Path(__file__).with_name("warps.js")
    fixed = traitlets.Dict().tag(sync=True)
    warps = traitlets.Int(1).tag(sync=True)
    latency = traitlets.Int(20).tag(sync=True)
    work = traitlets.Int(3).tag(sync=True)
    cycle = traitlets.Int(-1).tag(sync=True)

    def __init__(self, data: Warps) -> None:
        fixed = {"limits": LIMITS, "states": STATES}
        super().__init__(fixed=fixed, warps=data.warps, latency=data.latency, work=data.work)

    @property
    def text(self) -> str:
        """What the picture says now."""
        return repr(Warps(self.warps, self.latency, self.work))

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **options):
        """The live view, and the text for everything that has no JavaScript."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": self.text}, metadata
