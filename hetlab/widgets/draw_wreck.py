"""The wrecked benchmark as a Matplotlib figure: one row for each way to wreck it."""

from __future__ import annotations

import math

from hetlab.errors import optional
from hetlab.units import ratio
from hetlab.widgets.palette import BLUE, FAINT, INK, VERMILION, fonts
from hetlab.widgets.wreck import Wreck

__all__ = ["wreck_figure"]


def wreck_figure(wreck: Wreck):
    """Draw what is reported, and what the rounds allow, for the careful benchmark and each wreck.

    Parameters
    ----------
    wreck : Wreck
        From `hetlab.widgets.wreck.measure_wreck`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingLibrary
        Without Matplotlib.
    """
    matplotlib = optional("matplotlib", "lab", "draw a benchmark")
    with matplotlib.rc_context({"font.family": fonts()}):
        return _draw(wreck)


def _draw(wreck: Wreck):
    from matplotlib.figure import Figure

    rows = wreck.shown
    figure = Figure(figsize=(7, 1.1 + 0.5 * len(rows)), layout="constrained", facecolor="white")
    axes = figure.add_subplot(facecolor="white")
    for row, switches in enumerate(rows.values()):
        found = wreck.conclude(**switches)
        if math.isfinite(found.ratio.high):
            ends = [found.ratio.low, found.ratio.high]
            axes.plot(ends, [row, row], color=BLUE, lw=7, alpha=0.5, solid_capstyle="butt")
            axes.plot([found.ratio.value], [row], "|", ms=14, color=BLUE, mew=2)
        axes.plot([found.quick], [row], "D", ms=7, color=VERMILION)
        axes.annotate(
            f" {found.claim}", (found.quick, row), (6, 7), textcoords="offset points", fontsize=8
        )
    axes.axvline(1, color=INK, lw=1)
    careful = wreck.conclude().ratio.value
    axes.axvline(careful, color=FAINT, lw=1, ls=":")
    low, high = wreck.ratio_limits
    axes.set_xscale("log")
    axes.set(xlim=(low / 2, high * 40), ylim=(len(rows) - 0.4, -0.8))
    axes.set_yticks(range(len(rows)), list(rows))
    axes.xaxis.set_major_formatter(lambda value, _: ratio(value) if value >= 1 else f"{value:g}x")
    axes.set_xlabel(
        f"times faster, {wreck.label}; diamond: the report, bar: interval the rounds allow",
        fontsize=9,
    )
    axes.spines[["top", "right"]].set_visible(False)
    return figure
