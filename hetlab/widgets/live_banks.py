"""The live picture of the banks (needs anywidget)."""

from __future__ import annotations

import traitlets

from hetlab.widgets.banks import BANKS, LIMITS, WAYS, Banks
from hetlab.widgets.live import Live, script

__all__ = ["BanksWidget"]


class BanksWidget(Live):
    """A tile in shared memory, and the banks that a read of a warp keeps busy.

    Attributes
    ----------
    width, padding : int
        Elements of a row, and unused ones added to it.
    way : str
        What the lanes read: "column", "row" or "one".
    """

    _esm = script("banks.js")
    figure_by = ("draw_banks", "banks_figure")
    banks = traitlets.Dict().tag(sync=True)
    width = traitlets.Int(32).tag(sync=True)
    padding = traitlets.Int(0).tag(sync=True)
    way = traitlets.Unicode("column").tag(sync=True)

    def __init__(self, banks: Banks) -> None:
        widths = range(LIMITS["width"][0], sum(top for _, top in LIMITS.values()) + 1)
        # Counted here, by the code that counts for reports; the browser looks it up.
        counted = {"row": Banks(way="row").wavefronts, "one": Banks(way="one").wavefronts}
        counted["column"] = {str(w): _column(w).wavefronts for w in widths}
        data = {
            "text": repr(banks),
            "banks": BANKS,
            "limits": {name: list(ends) for name, ends in LIMITS.items()},
            "ways": WAYS,
            "wavefronts": counted,
        }
        super().__init__(banks=data, width=banks.width, padding=banks.padding, way=banks.way)

    @property
    def shows(self) -> Banks:
        return Banks(self.width, self.padding, self.way)


def _column(stride: int) -> Banks:
    """A tile whose rows are `stride` elements apart."""
    width = min(stride, LIMITS["width"][1])
    return Banks(width, stride - width, "column")
