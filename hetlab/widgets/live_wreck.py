"""The live benchmark to wreck (needs anywidget)."""

from __future__ import annotations

import traitlets

from hetlab.widgets.live import Live, script
from hetlab.widgets.wreck import FEW, NEW, OLD, ROUNDS, SWITCHES, WARM, Wreck, set_aside

__all__ = ["WreckWidget"]


class WreckWidget(Live):
    """Measured samples, and switches that choose among them.

    Attributes
    ----------
    no_warmup, dropped, cold, few : bool
        The switches.
    start : int
        With ``few``: the first of the rounds.
    """

    _esm = script("wreck.js")
    figure_by = ("draw_wreck", "wreck_figure")
    wreck = traitlets.Dict().tag(sync=True)
    no_warmup = traitlets.Bool(False).tag(sync=True)
    dropped = traitlets.Bool(False).tag(sync=True)
    cold = traitlets.Bool(False).tag(sync=True)
    few = traitlets.Bool(False).tag(sync=True)
    start = traitlets.Int(0).tag(sync=True)

    def __init__(self, wreck: Wreck) -> None:
        self._shown = wreck
        names = {(False, False): "used warm", (True, False): "dropped warm"}
        names |= {(False, True): "used cold", (True, True): "dropped cold"}
        data = {
            "text": repr(wreck),
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

    @property
    def shows(self) -> Wreck:
        return self._shown
