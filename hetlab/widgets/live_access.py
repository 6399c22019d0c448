"""The live picture of one request's sectors (needs anywidget)."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from hetlab.widgets.access import OFFSETS, ORDERS, SIZES, STRIDES, Access, sector_table

__all__ = ["AccessWidget"]


class AccessWidget(anywidget.AnyWidget):
    """Lanes above, sectors below, and controls for the pattern between them.

    Attributes
    ----------
    stride, offset, size, order
        As of `Access`.
    """

    _esm = Path(__file__).with_name("access.js")
    fixed = traitlets.Dict().tag(sync=True)
    stride = traitlets.Int(1).tag(sync=True)
    offset = traitlets.Int(0).tag(sync=True)
    size = traitlets.Int(4).tag(sync=True)
    order = traitlets.Unicode("in order").tag(sync=True)

    def __init__(self, data: Access) -> None:
        fixed = {
            "table": sector_table(),
            "orders": {name: list(order) for name, order in ORDERS.items()},
            "sizes": list(SIZES),
            "strides": [STRIDES[0], STRIDES[-1]],
            "offsets": [OFFSETS[0], OFFSETS[-1]],
        }
        super().__init__(
            fixed=fixed, stride=data.stride, offset=data.offset, size=data.size, order=data.order
        )

    @property
    def text(self) -> str:
        """What the picture says now."""
        return repr(Access(self.stride, self.offset, self.size, self.order))

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **options):
        """The live view, and the text for everything that has no JavaScript."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": self.text}, metadata
