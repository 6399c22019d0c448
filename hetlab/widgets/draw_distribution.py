"""The distribution of measurements as a Matplotlib figure: a pure function of its data."""

from __future__ import annotations

import math

from hetlab.errors import optional
from hetlab.timing.rate import percent, span
from hetlab.units import seconds
from hetlab.widgets.palette import COLOURS, FAINT, INK, fonts
from hetlab.widgets.spread import Spread

__all__ = ["distribution_figure", "jitter"]


def jitter(i: int) -> float:
    """A height in [0, 1) for the i-th dot: even, without pattern (golden ratio)."""
    return (i * 0.6180339887498949) % 1.0


def distribution_figure(spread: Spread):
    """Draw every sample as a dot under a histogram, with median and interval.

    Parameters
    ----------
    spread : Spread
        From `hetlab.widgets.spread.spread_of`.

    Returns
    -------
    matplotlib.figure.Figure
        One row a measurement, one axis of time for all.

    Raises
    ------
    MissingLibrary
        Without Matplotlib.
    """
    matplotlib = optional("matplotlib", "lab", "draw a distribution")
    with matplotlib.rc_context({"font.family": fonts()}):
        return _draw(spread)


def _draw(spread: Spread):
    from matplotlib.figure import Figure

    rows, limits = spread.measurements, spread.focus
    figure = Figure(figsize=(7, 1.0 + 1.15 * len(rows)), layout="constrained", facecolor="white")
    axes = figure.add_subplot(facecolor="white")
    axes.set_xscale("log" if spread.logarithmic else "linear")
    axes.set(xlim=limits, ylim=(-len(rows) + 0.02, 0.2))
    for i, m in enumerate(rows):
        colour, floor = COLOURS[i % len(COLOURS)], -i - 0.55
        counts = spread.bins(m, limits, 60)
        edges = [_at(limits, spread.logarithmic, k / 60) for k in range(61)]
        top = max(counts) or 1
        axes.stairs(
            [floor + 0.42 * c / top for c in counts],
            edges,
            baseline=floor,
            fill=True,
            color=colour,
            alpha=0.45,
        )
        inside = [(s, floor - 0.06 - 0.26 * jitter(k)) for k, s in enumerate(m.samples)]
        inside = [dot for dot in inside if dot[0] <= limits[1]]
        axes.plot(*zip(*inside), "o", ms=3, color=colour, alpha=0.6, mec="none")
        low, high = m.interval
        if math.isfinite(high):
            axes.fill_betweenx([floor - 0.36, floor + 0.44], low, high, color=INK, alpha=0.18, lw=0)
        axes.plot([m.median] * 2, [floor - 0.36, floor + 0.44], color=INK, lw=1.6)
        beyond = len(m.samples) - len(inside)
        text = f"{m.name}: {seconds(m.median)} ({span(low, high, 's')}), {m.label}"
        text += f"; {beyond} slower, up to {seconds(max(m.samples))} →" if beyond else ""
        axes.text(0.005, floor + 0.52, text, transform=axes.get_yaxis_transform(), fontsize=9)
        axes.axhline(floor, color=FAINT, lw=0.5)
    axes.set_yticks([])
    axes.xaxis.set_major_formatter(lambda value, _: seconds(value))
    if spread.logarithmic:
        axes.xaxis.set_minor_formatter(lambda value, _: "")
    axes.set_xlabel(
        f"time a call; line: median, band: {percent(rows[0].confidence)} interval, dots: samples"
    )
    axes.spines[["left", "top", "right"]].set_visible(False)
    return figure


def _at(limits: tuple[float, float], logarithmic: bool, share: float) -> float:
    low, high = limits
    return low * (high / low) ** share if logarithmic else low + share * (high - low)
