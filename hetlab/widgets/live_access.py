"""The live picture of one request's sectors (needs anywidget)."""

from __future__ import annotations

import traitlets

from hetlab.widgets.access import OFFSETS, ORDERS, SIZES, STRIDES, Access, sector_table
from hetlab.widgets.live import Live, script

__all__ = ["AccessWidget"]


class AccessWidget(Live):
    """Lanes above, sectors below, and controls for the pattern between them.

    Attributes
    ----------
    stride, offset, size, order
        As of `Access`.
    """

    _esm = script("access.js")
    figure_by = ("figures_memory", "access_figure")
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
    def shows(self) -> Access:
        return Access(self.stride, self.offset, self.size, self.order)
