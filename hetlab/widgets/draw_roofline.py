"""The roofline as a Matplotlib figure: a pure function of its data."""

from __future__ import annotations

import math

from hetlab.errors import optional
from hetlab.units import quantity
from hetlab.widgets.palette import COLOURS, FAINT, INK, MARKERS, fonts
from hetlab.widgets.roof import Roof

__all__ = ["roofline_figure"]


def roofline_figure(roof: Roof):
    """Draw a roofline.

    Parameters
    ----------
    roof : Roof
        From `hetlab.widgets.roof.roof_of`.

    Returns
    -------
    matplotlib.figure.Figure
        Logarithmic axes: FLOP per byte to the right, FLOP/s upwards.

    Raises
    ------
    MissingLibrary
        Without Matplotlib.
    """
    matplotlib = optional("matplotlib", "lab", "draw a roofline")
    with matplotlib.rc_context({"font.family": fonts()}):
        return _draw(roof)


def _draw(roof: Roof):
    from matplotlib.figure import Figure

    left, right, bottom, top = roof.limits()
    figure = Figure(figsize=(7, 4.4), layout="constrained", facecolor="white")
    axes = figure.add_subplot(xscale="log", yscale="log", facecolor="white")
    axes.set(xlim=(left, right), ylim=(bottom, top))
    bandwidths, peaks = list(roof.roofline.bandwidths.items()), list(roof.roofline.peaks.items())
    for i, (name, peak) in enumerate(peaks):
        start = peak / bandwidths[0][1]
        style = {"color": INK, "lw": 2} if i == 0 else {"color": FAINT, "lw": 1.2, "ls": "--"}
        axes.plot([start, right], [peak, peak], **style)
        axes.annotate(
            f"{name}: {quantity(peak, 'FLOP/s')}",
            (right, peak),
            (-5, 4),
            textcoords="offset points",
            ha="right",
            color=INK,
            fontsize=9,
            zorder=2,
        )
    for i, (_, slope) in enumerate(bandwidths):
        style = {"color": INK, "lw": 2} if i == 0 else {"color": FAINT, "lw": 1.2, "ls": "--"}
        end = peaks[0][1] / slope
        axes.plot([left, end], [left * slope, peaks[0][1]], **style)
    for i, point in enumerate(roof.points):
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        if point.low is not None:
            axes.plot([point.intensity] * 2, [point.low, point.high], color=colour, lw=2)
        axes.plot(
            [point.intensity],
            [point.flops],
            marker,
            color=colour,
            ms=8,
            mec="white",
            label=f"{point.name}: {quantity(point.flops, 'FLOP/s')}",
            clip_on=False,
            zorder=3,
        )
    if roof.points:
        axes.legend(loc="lower right", fontsize=9, framealpha=0.9, edgecolor="#cccccc")
    axes.set_xlabel("arithmetic intensity (FLOP per byte)")
    axes.set_ylabel("performance (FLOP/s)")
    axes.yaxis.set_major_formatter(lambda value, _: _tick(value))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter("")  # measuring labels that nobody sees takes half of the time
    axes.set_title(f"{roof.title} (ceilings {roof.source})", fontsize=10, color=INK, loc="left")
    axes.grid(which="major", color="#e4e4e4", lw=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    _name_slopes(figure, axes, bandwidths, left, bottom)
    return figure


def _name_slopes(figure, axes, bandwidths, left: float, bottom: float) -> None:
    """Write each bandwidth along its line; the angle is known only once all else is laid out."""
    figure.draw_without_rendering()
    for i, (name, slope) in enumerate(bandwidths):
        at = max(left, bottom / slope) * 1.6
        (x0, y0), (x1, y1) = axes.transData.transform([(at, at * slope), (at * 2, at * 2 * slope)])
        axes.annotate(
            f"{name}: {quantity(slope, 'B/s')}",
            (at, at * slope),
            (-3, 5) if i == 0 else (4, -5),
            textcoords="offset points",
            va="bottom" if i == 0 else "top",
            rotation=math.degrees(math.atan2(y1 - y0, x1 - x0)),
            rotation_mode="anchor",
            color=INK,
            fontsize=9,
            zorder=2,
        )


def _tick(value: float) -> str:
    """A power of ten with its prefix: ``'10 G'``."""
    number, _, prefix = quantity(value, "").partition(" ")
    return f"{float(number):g} {prefix}".strip()
