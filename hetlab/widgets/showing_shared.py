"""`show_banks` and `show_steps`: how a warp meets shared memory, and algorithms step by step."""

from __future__ import annotations

from hetlab.widgets.array_steps import Steps
from hetlab.widgets.banks import Banks
from hetlab.widgets.showing import _best

__all__ = ["show_banks", "show_steps"]


def show_banks(width: int = 32, padding: int = 0, way: str = "column"):
    """Show which banks of shared memory a read of one warp keeps busy.

    Parameters
    ----------
    width : int
        Elements of 4 bytes in a row of a tile with 32 rows, 1 to 32.
    padding : int
        Elements added to each row that nobody uses, 0 to 4.
    way : str
        What the 32 lanes read together: "column", "row" or "one" element.

    Returns
    -------
    BanksWidget or Shown
        In a notebook with anywidget a live widget; elsewhere a figure with its text.

    Raises
    ------
    InvalidValue
        For a tile outside these limits.
    """
    return _best(
        Banks(width, padding, way), "live_banks", "BanksWidget", "draw_banks", "banks_figure"
    )


def show_steps(algorithm: str = "sum: interleaved"):
    """Show a parallel sum or scan step by step: who reads what, who stores, who idles.

    Parameters
    ----------
    algorithm : str
        "sum: interleaved", "sum: strided", "sum: sequential", "sum: shuffles",
        "scan: Hillis-Steele" or "scan: Blelloch".

    Returns
    -------
    StepsWidget or Shown
        In a notebook with anywidget a live widget; elsewhere a figure with its text.

    Raises
    ------
    UnknownName
        For another algorithm; the close ones are listed.
    """
    return _best(Steps(algorithm), "live_steps", "StepsWidget", "draw_steps", "steps_figure")
