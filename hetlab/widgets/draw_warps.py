"""Warps that take turns, as a Matplotlib figure: a pure function of three numbers."""

from __future__ import annotations

from hetlab.errors import optional
from hetlab.widgets.figures_cpu import _axes
from hetlab.widgets.palette import BLUE, FAINT, GREEN, INK, ORANGE, VERMILION, fonts
from hetlab.widgets.warps import Warps, runs_of

__all__ = ["warps_figure"]


def warps_figure(data: Warps):
    """Draw what each warp does in each cycle, and below it when the scheduler is idle.

    Parameters
    ----------
    data : Warps

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingLibrary
        Without Matplotlib.
    """
    matplotlib = optional("matplotlib", "lab", "draw warps")
    with matplotlib.rc_context({"font.family": fonts()}):
        return _draw(data)


def _draw(data: Warps):
    from matplotlib.patches import Patch

    issue, rows = data.issue, data.warps
    figure, (axes,) = _axes(8, 1.5 + 0.24 * rows)
    for row, states in enumerate(issue.states):
        for state, first, cycles in runs_of(states):
            if state == "w":
                axes.plot([first, first + cycles], [row, row], color=FAINT, lw=1, zorder=1)
            else:
                face = {"a": BLUE, "l": GREEN, "r": ORANGE}[state]
                tall = 0.3 if state == "r" else 0.8
                axes.barh(row, cycles, left=first, height=tall, color=face, zorder=2)
    idle = "".join("_" if who < 0 else "#" for who in issue.chosen)
    for state, first, cycles in runs_of(idle):
        if state == "_":
            bar = {"facecolor": "white", "edgecolor": VERMILION, "hatch": "////"}
        else:
            bar = {"facecolor": INK}
        axes.barh(rows + 0.4, cycles, left=first, height=0.8, linewidth=0.8, **bar)
    names = [f"warp {w}" for w in range(rows)]
    axes.set_yticks([*range(rows), rows + 0.4], [*names, "scheduler"], fontsize=8)
    axes.set(xlim=(0, data.cycles), ylim=(rows + 1, -0.6))
    axes.set_xlabel("cycles", fontsize=9)
    keys = [(BLUE, "arithmetic"), (GREEN, "load"), (ORANGE, "could go on"), (FAINT, "waits")]
    keys += [(INK, "scheduler busy"), ("white", "scheduler idle")]
    idle_look = {"edgecolor": VERMILION, "hatch": "////"}
    patches = [
        Patch(facecolor=face, label=text, **(idle_look if face == "white" else {}))
        for face, text in keys
    ]
    figure.legend(handles=patches, loc="outside lower center", ncols=6, fontsize=8, frameon=False)
    head = (
        f"memory latency {data.latency} cycles, {data.work} arithmetic instructions between loads; "
        f"idle in {issue.idle} of {data.cycles} cycles, modelled"
    )
    axes.set_title(head, fontsize=9, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    return figure
