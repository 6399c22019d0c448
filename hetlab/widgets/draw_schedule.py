"""A schedule as a Matplotlib figure: a pure function of its data."""

from __future__ import annotations

import textwrap

from hetlab.errors import optional
from hetlab.widgets.gantt import Gantt
from hetlab.widgets.palette import COLOURS, FAINT, INK, fonts

__all__ = ["schedule_figure"]

DEEP = ("#D55E00", "#0072B2", "#009E73")  # white text stands out on these, dark text on the others
HATCH = {"setup": "////", "cancelled": "xxxx", "failed": "xxxx", "lost": "xxxx"}


def schedule_figure(gantt: Gantt):
    """Draw a schedule: a row a device and a link, the critical path outlined.

    Parameters
    ----------
    gantt : Gantt
        From `hetlab.widgets.gantt.gantt_of`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingLibrary
        Without Matplotlib.
    """
    matplotlib = optional("matplotlib", "lab", "draw a schedule")
    with matplotlib.rc_context({"font.family": fonts()}):
        return _draw(gantt)


def _draw(gantt: Gantt):
    from matplotlib.figure import Figure

    rows, warm = list(gantt.rows), bool(gantt.degrees)
    height = 1.6 + 0.3 * len(rows) + (1.2 if warm else 0)
    figure = Figure(figsize=(8, min(height, 14)), layout="constrained", facecolor="white")
    if warm:
        axes, below = figure.subplots(
            2, 1, sharex=True, height_ratios=[max(2, len(rows)), 3], squeeze=True
        )
        _temperatures(below, gantt)
    else:
        axes = below = figure.add_subplot(facecolor="white")
    length = gantt.length or 1.0
    for y, name in enumerate(rows):
        for bar in gantt.rows[name]:
            wide = bar.end - bar.start
            thin = bar.kind == "transfer"
            axes.barh(
                y,
                wide,
                left=bar.start,
                height=0.4 if thin else 0.8,
                color=bar.colour if bar.kind in ("run", "transfer") else "white",
                edgecolor=INK if bar.critical else (FAINT if bar.kind in HATCH else "white"),
                linewidth=1.8 if bar.critical else 0.6,
                hatch=HATCH.get(bar.kind),
            )
            if bar.kind == "run" and wide / length > 0.011 * len(bar.name) + 0.006:
                ink = "white" if bar.colour in DEEP else INK
                middle = bar.start + wide / 2
                axes.text(middle, y, bar.name, ha="center", va="center", color=ink, fontsize=8)
    axes.set(xlim=(0, length), ylim=(len(rows) - 0.4, -0.6), yticks=range(len(rows)))
    axes.set_yticklabels(rows, fontsize=8)
    axes.set_title(f"{gantt.title}\n{gantt.headline}", fontsize=10, loc="left")
    below.set_xlabel(f"time ({gantt.unit or 'units of the graph'})")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    note = "Outlined: the critical path. Hatched: reconfiguration, or work that did not count."
    if gantt.left_out:
        note += f" {gantt.left_out:,} short pieces are left out."
    figure.supxlabel(textwrap.fill(note, 110), fontsize=8, color=INK, x=0.01, ha="left")
    return figure


def _temperatures(axes, gantt: Gantt) -> None:
    styles = ("-", "--", "-.", ":")
    for i, (name, points) in enumerate(gantt.degrees.items()):
        times, degrees = [p[0] for p in points], [p[1] for p in points]
        style = styles[i % len(styles)]
        axes.plot(times, degrees, style, color=COLOURS[i % len(COLOURS)], label=name)
    axes.set_ylabel("°C")
    axes.legend(fontsize=8, loc="lower right", frameon=False)
