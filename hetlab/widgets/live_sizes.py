"""The live picture of who is fastest at which size (needs anywidget)."""

from __future__ import annotations

import traitlets

from hetlab.widgets.live import Live, script
from hetlab.widgets.sizes import Sizes

__all__ = ["SizesWidget"]


class SizesWidget(Live):
    """Bars of modelled times, and a slider for the size.

    Attributes
    ----------
    stop : int
        Where the slider stands: a place in the grid of sizes.
    host : bool
        Whether the data lie in main memory.
    """

    _esm = script("sizes.js")
    figure_by = ("figures_machine", "sizes_figure")
    sizes = traitlets.Dict().tag(sync=True)
    stop = traitlets.Int(0).tag(sync=True)
    host = traitlets.Bool(True).tag(sync=True)

    def __init__(self, sizes: Sizes) -> None:
        self._shown = sizes
        names = list(sizes.times["host"])
        data = {
            "text": repr(sizes),
            "title": sizes.title,
            "what": sizes.workload.size_is,
            "grid": list(sizes.grid),
            "names": names,
            "times": sizes.times,
            "verdicts": {
                place: [sizes.verdict(name, place) for name in names if name != "CPU"]
                for place in sizes.times
            },
        }
        super().__init__(sizes=data, stop=len(sizes.grid) // 2, host=sizes.data == "host")

    @property
    def shows(self) -> Sizes:
        return self._shown
