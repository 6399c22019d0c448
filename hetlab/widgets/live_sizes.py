"""The live picture of who is fastest at which size: one class, one JavaScript file."""

from __future__ import annotations

import functools
from pathlib import Path

from hetlab.errors import optional
from hetlab.widgets.sizes import Sizes

__all__ = ["sizes_widget"]


def sizes_widget(sizes: Sizes):
    """A live widget of the data.

    Raises
    ------
    MissingLibrary
        Without anywidget.
    """
    optional("anywidget", "lab", "show a live widget")
    return _widget_class()(sizes)


@functools.cache
def _widget_class():
    import anywidget
    import traitlets

    class SizesWidget(anywidget.AnyWidget):
        """Bars of modelled times, and a slider for the size.

        Attributes
        ----------
        stop : int
            Where the slider stands: a place in the grid of sizes.
        host : bool
            Whether the data lie in main memory.
        """

        _esm = Path(__file__).with_name("sizes.js")
        sizes = traitlets.Dict().tag(sync=True)
        stop = traitlets.Int(0).tag(sync=True)
        host = traitlets.Bool(True).tag(sync=True)

        def __init__(self, sizes: Sizes) -> None:
            self.text = repr(sizes)
            names = list(sizes.times["host"])
            data = {
                "text": self.text,
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

        def __repr__(self) -> str:
            return self.text

        def _repr_mimebundle_(self, **options):
            """The live view, and the text for everything that has no JavaScript."""
            bundle = super()._repr_mimebundle_(**options)
            data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
            return {**data, "text/plain": self.text}, metadata

    return SizesWidget
