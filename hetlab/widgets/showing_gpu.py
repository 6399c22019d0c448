"""`show_warps`: how warps hide the latency of memory."""

from __future__ import annotations

from hetlab.errors import InvalidValue
from hetlab.widgets.showing import _best
from hetlab.widgets.warps import LIMITS, Warps

__all__ = ["show_warps"]


def show_warps(warps: int = 1, latency: int = 24, work: int = 3):
    """Show how one scheduler of a GPU issues instructions of several warps, cycle by cycle.

    Parameters
    ----------
    warps : int
        Warps that the scheduler chooses from, 1 to 16.
    latency : int
        Cycles until loaded data have arrived, 4 to 400.
    work : int
        Arithmetic instructions between two loads of a warp, 0 to 30.

    Returns
    -------
    WarpsWidget or Shown
        In a notebook with anywidget a live widget with sliders, to be stepped through; elsewhere
        a figure with its text.  Modelled, see `hetlab.models.latency`.

    Raises
    ------
    InvalidValue
        For a number outside its range.
    """
    for name, value in (("warps", warps), ("latency", latency), ("work", work)):
        least, most = LIMITS[name]
        if not isinstance(value, int) or not least <= value <= most:
            raise InvalidValue(name, f"a whole number from {least} to {most}", value)
    data = Warps(warps, latency, work)
    return _best(data, "live_warps", "WarpsWidget", "draw_warps", "warps_figure")
