"""The live benchmark to wreck (needs anywidget)."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from hetlab.widgets.wreck import FEW, NEW, OLD, ROUNDS, SWITCHES, WARM, Wreck, set_aside

__all__ = ["WreckWidget"]


class WreckWidget(anywidget.AnyWidget):
    """Measured samples, and switches that choose among them.

    Attributes
    ----------
    no_warmup, dropped, cold, few : bool
        The switches.
    start : int
        With ``few``: the first of the rounds.
    """

    _esm = Path(__file__).with_name("wreck.js")
    wreck = traitlets.Dict().tag(sync=True)
    no_warmup = traitlets.Bool(False).tag(sync=True)
    dropped = traitlets.Bool(False).tag(sync=True)
    cold = traitlets.Bool(False).tag(sync=True)
    few = traitlets.Bool(False).tag(sync=True)
    start = traitlets.Int(0).tag(sync=True)

    def __init__(self, wreck: Wreck) -> None:
        self.text = repr(wreck)
        names = {(False, False): "used warm", (True, False): "dropped warm"}
        names |= {(False, True): "used cold", (True, True): "dropped cold"}
        data = {
            "text": self.text,
            "label": wreck.label,
            "machine": wreck.machine,
            "old": OLD,
            "new": NEW,
            "series": {
                names[key]: {name: list(taken) for name, taken in one.items()}
                for key, one in wreck.series.items()
            },
            "switches": SWITCHES,
            "warm": WARM,
            "rounds": ROUNDS,
            "few": FEW,
            "ranks": {str(n): set_aside(n) for n in (FEW, ROUNDS)},
            "limits": list(wreck.limits),
            "ratios": list(wreck.ratio_limits),
        }
        super().__init__(wreck=data)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **options):
        """The live view, and the text for everything that has no JavaScript."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": self.text}, metadata
