"""`show_roofline` and `show_distribution`: live, drawn or written, as the place allows."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable, Mapping

from hetlab.errors import MissingLibrary, optional
from hetlab.widgets.roof import roof_of
from hetlab.widgets.spread import spread_of

__all__ = ["Shown", "show_distribution", "show_roofline", "show_sizes"]


class Shown:
    """A picture where nothing can be live: a figure in a notebook, text in a terminal.

    Attributes
    ----------
    text : str
        What the picture says.
    figure : matplotlib.figure.Figure or None
        The picture; None without Matplotlib.  ``shown.figure.savefig("name.png")`` keeps it.
    """

    def __init__(self, text: str, figure: object | None) -> None:
        self.text, self.figure = text, figure

    def __repr__(self) -> str:
        return self.text

    def _repr_png_(self) -> bytes | None:
        if self.figure is None:
            return None
        page = io.BytesIO()
        with warnings.catch_warnings():
            # A name in a script that no installed font knows: boxes in the picture, not a warning.
            warnings.filterwarnings("ignore", "Glyph .* missing")
            self.figure.savefig(page, format="png", dpi=110)
        return page.getvalue()


def show_roofline(peaks=None, points: Mapping = {}, *, precision: str = "fp64"):
    """Show a processor's roofline with kernels on it.

    Parameters
    ----------
    peaks : Peaks or Roofline, optional
        The ceilings; those of this machine (`hetlab.peaks`) otherwise.
    points : dict
        Name -> (FLOP per byte, FLOP/s).  The second may be a Rate:
        ``measurement.rate(flop_of_one_call, "FLOP/s")``.
    precision : str
        "fp64" or "fp32": which arithmetic ceilings to show.

    Returns
    -------
    RooflineWidget or Shown
        In a notebook with anywidget a live widget; elsewhere a figure with its text.

    Raises
    ------
    InvalidValue
        For points without a place on a logarithmic scale.
    """
    if peaks is None:
        from hetlab.timing import peaks as measured

        peaks = measured()
    roof = roof_of(peaks, points, precision)
    return _best(roof, "live_roofline", "RooflineWidget", "draw_roofline", "roofline_figure")


def show_distribution(*what):
    """Show every sample of one or several measurements.

    Parameters
    ----------
    *what : Measurement or Comparison
        One Comparison, or one or more Measurements side by side.

    Returns
    -------
    DistributionWidget or Shown
        In a notebook with anywidget a live widget; elsewhere a figure with its text.

    Raises
    ------
    InvalidValue
        For anything else.
    """
    spread = spread_of(what[0] if len(what) == 1 else what)
    return _best(
        spread,
        "live_distribution",
        "DistributionWidget",
        "draw_distribution",
        "distribution_figure",
    )


def show_sizes(workload: str = "matrix product", data: str = "host", *, bits: int = 16):
    """Show which of the modelled devices is fastest at which size.

    Parameters
    ----------
    workload : str
        A key of `hetlab.workloads()`.
    data : str
        Where the data lie: "host" (main memory) or "device" (each device's own memory).
    bits : int
        Width of the numbers of the matrix product: 16 or 64.

    Returns
    -------
    SizesWidget or Shown
        In a notebook with anywidget a slider; elsewhere a figure with its text.
    """
    from hetlab.widgets.sizes import sizes_of

    sizes = sizes_of(workload, data, bits)
    return _best(sizes, "live_sizes", "SizesWidget", "figures_machine", "sizes_figure")


def _best(data, live: str, widget: str, drawn: str, figure: str):
    from importlib import import_module

    if in_notebook():
        try:
            optional("anywidget", "lab", "show a live widget")
        except MissingLibrary:
            pass  # a figure says the same
        else:
            return getattr(import_module(f"hetlab.widgets.{live}"), widget)(data)
    draw: Callable = getattr(import_module(f"hetlab.widgets.{drawn}"), figure)
    try:
        return Shown(repr(data), draw(data))
    except MissingLibrary:
        return Shown(repr(data), None)


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this, so that a front end can show a widget."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return hasattr(shell, "kernel")
