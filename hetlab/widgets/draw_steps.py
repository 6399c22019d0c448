"""Sums and scans as a Matplotlib figure: one row of the array after each step."""

from __future__ import annotations

from hetlab.errors import optional
from hetlab.widgets.array_steps import Steps
from hetlab.widgets.palette import BLUE, FAINT, INK, ORANGE, fonts

__all__ = ["steps_figure"]

CELL, GAP = 1.0, 1.5


def steps_figure(steps: Steps):
    """Draw every step: who reads what, and what the array holds afterwards.

    Parameters
    ----------
    steps : Steps

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingLibrary
        Without Matplotlib.
    """
    matplotlib = optional("matplotlib", "lab", "draw the steps")
    with matplotlib.rc_context({"font.family": fonts()}):
        return _draw(steps)


def _draw(steps: Steps):
    from matplotlib.figure import Figure

    n, every = len(steps.values), steps.steps
    height = 0.8 + 0.52 * len(every)
    figure = Figure(figsize=(8, height), layout="constrained", facecolor="white")
    axes = figure.add_subplot(facecolor="white")
    _row(axes, 0, steps.values, {})
    for k, step in enumerate(every, 1):
        top, low = (k - 1) * GAP + 0.6, k * GAP
        for move in step.moves:
            for source in move.sources:
                straight = source == move.into
                colour = FAINT if straight else BLUE
                ends = [source + 0.5, move.into + 0.5], [top, low]
                axes.plot(*ends, color=colour, lw=1 if straight else 1.6, solid_capstyle="round")
        _row(axes, k, step.after, {move.into: move.thread for move in step.moves})
        told = step.says if step.additions else "clear the last"
        axes.text(n + 0.4, low + 0.3, told, va="center", fontsize=8, color=INK)
    for warp in range(n // steps.warp + 1):
        axes.axvline(warp * steps.warp, color=FAINT, lw=0.6, ls=":", zorder=0)
    axes.set(xlim=(-0.3, n + 3.2), ylim=(len(every) * GAP + 0.9, -0.3))
    note = (
        f"orange: stored in this step, with the thread's number; dots: warps of {steps.warp} lanes"
    )
    axes.set_title(f"{steps.algorithm}\n{note}", fontsize=9, color=INK, loc="left")
    axes.axis("off")
    return figure


def _row(axes, k: int, values, threads) -> None:
    from matplotlib.patches import Rectangle

    for i, value in enumerate(values):
        face = ORANGE if i in threads else "white"
        axes.add_patch(Rectangle((i + 0.06, k * GAP), 0.88, 0.6, fc=face, ec=FAINT, lw=0.7))
        at = (i + 0.13, "left") if i in threads else (i + 0.5, "center")
        axes.text(at[0], k * GAP + 0.32, value, ha=at[1], va="center", fontsize=8, color=INK)
        if i in threads:
            place = (i + 0.91, k * GAP + 0.57)
            axes.text(*place, f"t{threads[i]}", ha="right", va="bottom", fontsize=6, color=INK)
