"""`show_warps` and `show_access`: how warps hide latency, and what their requests move."""

from __future__ import annotations

from hetlab.errors import InvalidValue
from hetlab.widgets.access import Access
from hetlab.widgets.showing import _best
from hetlab.widgets.warps import LIMITS, Warps

__all__ = ["show_access", "show_warps", "warps_of"]


def show_access(stride: int = 1, offset: int = 0, size: int = 4, order: str = "in order"):
    """Show which 32-byte sectors of global memory the lanes of one request touch.

    Parameters
    ----------
    stride : int
        Elements from one lane to the next, 0 to 32.
    offset : int
        Elements from a sector's beginning to the first, 0 to 31.
    size : int
        Bytes of an element: 1, 2, 4, 8 or 16.
    order : str
        "in order", "reversed", "shuffled" or "every second lane".

    Returns
    -------
    AccessWidget or Shown
        In a notebook with anywidget a live widget with a control for each; elsewhere a figure with
        its text.  Counted by the virtual GPU's own code.

    Raises
    ------
    InvalidValue
        For a value outside these.
    """
    data = Access(stride, offset, size, order)
    return _best(data, "live_access", "AccessWidget", "figures_memory", "access_figure")


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
    data = warps_of(warps, latency, work)
    return _best(data, "live_warps", "WarpsWidget", "draw_warps", "warps_figure")


def warps_of(warps: int, latency: int, work: int) -> Warps:
    """The three numbers, held to what the sliders reach."""
    for name, value in (("warps", warps), ("latency", latency), ("work", work)):
        least, most = LIMITS[name]
        if not isinstance(value, int) or not least <= value <= most:
            raise InvalidValue(name, f"a whole number from {least} to {most}", value)
    return Warps(warps, latency, work)
