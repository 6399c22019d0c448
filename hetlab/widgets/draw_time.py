"""Where the time of a measurement went, as a Matplotlib figure: a pure function of its data."""

from __future__ import annotations

import textwrap

from hetlab.errors import optional
from hetlab.units import seconds
from hetlab.widgets.palette import INK, fonts
from hetlab.widgets.time_parts import TimeParts

__all__ = ["PART_COLOURS", "time_figure"]

# Fixed, so that a part looks the same in every picture.
PART_COLOURS = {
    "compiling": "#D55E00",
    "first call": "#E69F00",
    "warm-up": "#56B4E9",
    "runs": "#0072B2",
    "noise": "#CC79A7",
}


DEEP = ("#D55E00", "#0072B2")  # white text stands out on these, dark text on the others


def time_figure(parts: TimeParts):
    """Draw the parts of a measurement as one labelled bar.

    Parameters
    ----------
    parts : TimeParts
        From `hetlab.widgets.time_parts.time_parts`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingLibrary
        Without Matplotlib.
    """
    matplotlib = optional("matplotlib", "lab", "draw where the time went")
    with matplotlib.rc_context({"font.family": fonts()}):
        return _draw(parts)


def _draw(parts: TimeParts):
    from matplotlib.figure import Figure

    rows = len(parts.parts)
    figure = Figure(figsize=(7, 1.7 + 0.26 * rows), layout="constrained", facecolor="white")
    axes = figure.add_subplot(facecolor="white")
    left, total = 0.0, parts.total or 1.0
    for row, part in enumerate(parts.parts):
        colour, share = PART_COLOURS[part.name], part.seconds / total
        axes.barh(0, share, left=left, height=0.9, color=colour, edgecolor="white", linewidth=1)
        if share > 0.12:
            ink = "white" if colour in DEEP else INK
            axes.text(left + share / 2, 0, part.name, ha="center", va="center", color=ink)
        left += share
        height = -0.95 - 0.55 * row
        axes.plot([0.005], [height], "s", ms=9, color=colour, clip_on=False)
        text = f"{part.name}: {seconds(part.seconds)} ({share:.0%}), {part.says}"
        axes.text(0.025, height, text, va="center", fontsize=9, color=INK)
    axes.set_title(
        f"{parts.name}: where {seconds(parts.total)} went, {parts.label}", fontsize=10, loc="left"
    )
    advice = textwrap.fill(parts.advice, 95)
    axes.text(0, -0.75 - 0.55 * rows, advice, va="top", fontsize=9, color=INK)
    axes.set(xlim=(0, 1), ylim=(-1.7 - 0.55 * rows, 0.5))
    axes.axis("off")
    return figure
