"""Pictures of how busy devices are over time, and of what a deadline costs.

Pure functions, from timelines to a Matplotlib figure on white, so that it reads the same on a light
and on a dark page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hetlab.errors import InvalidValue
from hetlab.widgets.figures_cpu import _axes
from hetlab.widgets.palette import BLUE, COLOURS, FAINT, INK, MARKERS, VERMILION

__all__ = ["energy_by_deadline", "ratios", "use_over_time", "useful"]

_POINTS = 120


def use_over_time(timelines: Mapping[str, object], devices: Sequence[str] = ()):
    """Of each run the share of devices that work, and below it the temperatures.

    Parameters
    ----------
    timelines : mapping of str to Timeline
        By label; at most four.
    devices : sequence of str, optional
        Which of the devices count; all otherwise.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not 0 < len(timelines) <= 4:
        raise InvalidValue("timelines", "one to four", list(timelines))
    warm = any(line.degrees for line in timelines.values())
    figure, panels = _axes(7.4, 4.4 if warm else 2.6)
    top = panels[0]
    if warm:
        top.remove()
        grid = figure.add_gridspec(2, 1, height_ratios=(3, 2))
        top, below = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
    length = max(line.makespan for line in timelines.values())
    window = length / 12
    for i, (label, line) in enumerate(timelines.items()):
        times = [line.makespan * k / _POINTS for k in range(_POINTS + 1)]
        names = list(devices) or list(line.rows)
        shares = [_share(line, names, t - window / 2, t + window / 2) for t in times]
        style = {"color": COLOURS[i], "linestyle": ("-", "--", "-.", ":")[i]}
        top.plot(times, shares, label=label, **style)
        top.plot(line.makespan, shares[-1], marker=MARKERS[i], color=COLOURS[i])
        for name, points in line.degrees.items() if warm else ():
            text = f"{name}, {label}"
            below.plot([p[0] for p in points], [p[1] for p in points], label=text, **style)
    unit = next(iter(timelines.values())).time_unit or "units of the graph"
    top.set(xlim=(0, length * 1.02), ylim=(0, 105), ylabel="devices at work (%)")
    top.legend(fontsize=8, frameon=False, loc="lower left")
    last = below if warm else top
    last.set_xlabel(f"time ({unit})")
    if warm:
        below.set(xlim=(0, length * 1.02), ylabel="°C")
        below.legend(fontsize=8, frameon=False, loc="lower right")
    for ax in (top, last):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def useful(timelines: Mapping[str, object]):
    """Of each device: how long it was busy, and how much of it full speed would have needed."""
    names = list(next(iter(timelines.values())).rows)
    figure, panels = _axes(7.4, 1.3 + 0.45 * len(names), len(timelines))
    for ax, (label, line) in zip(panels, timelines.items()):
        for y, name in enumerate(names):
            busy, need = line.busy[name], line.useful[name]
            length = line.makespan or 1.0
            ax.barh(y, 100 * busy / length, 0.8, facecolor="none", edgecolor=FAINT, hatch="////")
            ax.barh(y, 100 * need / length, 0.8, color=BLUE)
        title = f"{label}: {line.amount(line.makespan)}"
        ax.set_title(title, fontsize=10, loc="left", color=INK)
        ax.set(yticks=range(len(names)), xlim=(0, 105), xlabel="% of the makespan")
        ax.set_yticklabels(names if ax is panels[0] else [""] * len(names))
        ax.invert_yaxis()
        ax.spines[["top", "right"]].set_visible(False)
    note = "Filled: what full speed would have needed. Hatched: how much longer it took."
    figure.supxlabel(note, fontsize=8, color=INK, x=0.01, ha="left")
    return figure


def energy_by_deadline(points: Sequence[tuple[float, float, float]], unit: str = "s"):
    """Joules over deadlines.

    Parameters
    ----------
    points : sequence of (deadline, makespan, joules)
    """
    figure, (ax,) = _axes(6.4, 3.0)
    ax.plot([p[0] for p in points], [p[2] for p in points], "o-", color=BLUE)
    for deadline, _, joules in (points[0], points[-1]):
        ax.annotate(f"{joules:,.0f} J", (deadline, joules), (0, 9), textcoords="offset points")
    ax.set(xlabel=f"deadline ({unit})", ylabel="energy (J, modelled)")
    ax.set_ylim(0, max(p[2] for p in points) * 1.2)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def ratios(races: Mapping[str, object]):
    """How far from the bound each policy ends on each machine; shorter is better.

    Parameters
    ----------
    races : mapping of str to Race
    """
    worlds = list(next(iter(races.values())).ratios)
    figure, (ax,) = _axes(7.4, 0.9 + 0.5 * len(worlds))
    for i, (label, race) in enumerate(races.items()):
        y = [k + (i - (len(races) - 1) / 2) * 0.2 for k in range(len(worlds))]
        x = [race.ratios[w] for w in worlds]
        style = {"marker": MARKERS[i % 6], "color": COLOURS[i % 6], "linestyle": ""}
        ax.plot(x, y, label=label, **style)
    ax.axvline(1, color=VERMILION, linewidth=1)
    ax.set_xscale("log")
    ax.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    ax.minorticks_off()
    ax.set(xlabel="makespan / lower bound (modelled, logarithmic)", yticks=range(len(worlds)))
    ax.set_yticklabels(worlds)
    ax.invert_yaxis()
    ax.grid(axis="x", color="#dddddd", linewidth=0.6)
    ax.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    ax.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _share(line, names: Sequence[str], start: float, end: float) -> float:
    """Per cent of a window that devices work in, spans that did not count included."""
    start, end = max(0.0, start), min(line.makespan, end)
    if end <= start:
        return 0.0
    rows = [line.rows[name] for name in names]
    work = sum(max(0.0, min(s.end, end) - max(s.start, start)) for row in rows for s in row)
    return 100 * work / ((end - start) * len(names))
