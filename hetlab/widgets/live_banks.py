"""The live picture of the banks (needs anywidget)."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from hetlab.widgets.banks import BANKS, LIMITS, WAYS, Banks

__all__ = ["BanksWidget"]


class BanksWidget(anywidget.AnyWidget):
    """A tile in shared memory, and the banks that a read of a warp keeps busy.

    Attributes
    ----------
    width, padding : int
        Elements of a row, and unused ones added to it.
    way : str
        What the lanes read: "column", "row" or "one".
    """

    _esm = Path(__file__).with_name("banks.js")
    banks = traitlets.Dict().tag(sync=True)
    width = traitlets.Int(32).tag(sync=True)
    padding = traitlets.Int(0).tag(sync=True)
    way = traitlets.Unicode("column").tag(sync=True)

    def __init__(self, banks: Banks) -> None:
        self.text = repr(banks)
        widths = range(LIMITS["width"][0], sum(top for _, top in LIMITS.values()) + 1)
        # Counted here, by the code that counts for reports; the browser looks it up.
        counted = {"row": Banks(way="row").wavefronts, "one": Banks(way="one").wavefronts}
        counted["column"] = {str(w): _column(w).wavefronts for w in widths}
        data = {
            "text": self.text,
            "banks": BANKS,
            "limits": {name: list(ends) for name, ends in LIMITS.items()},
            "ways": WAYS,
            "wavefronts": counted,
        }
        super().__init__(banks=data, width=banks.width, padding=banks.padding, way=banks.way)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **options):
        """The live view, and the text for everything that has no JavaScript."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": self.text}, metadata


def _column(stride: int) -> Banks:
    """A tile whose rows are `stride` elements apart."""
    width = min(stride, LIMITS["width"][1])
    return Banks(width, stride - width, "column")
