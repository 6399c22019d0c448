"""Pictures of samples: in order, set aside at both ends, and what groups of them say.

Pure functions, from data to a Matplotlib figure on white, so that it reads the same on a light and
on a dark page.  Where a colour carries meaning, shape or position carries it too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hetlab.errors import InvalidValue
from hetlab.units import seconds
from hetlab.widgets.figures_cpu import _axes
from hetlab.widgets.palette import BLUE, COLOURS, FAINT, INK, VERMILION

__all__ = ["in_order", "intervals", "medians", "order_interval", "over_time"]

MOST = 8  # rows of one picture


def _rows(width: float, height: float, rows: int, ratios: Sequence[float] = (1,)):
    """A figure that shows itself in a notebook, as a table of panels."""
    figure, (panel,) = _axes(width, height)
    panel.remove()
    grid = figure.add_gridspec(rows, len(ratios), width_ratios=ratios)
    return figure, [
        [figure.add_subplot(grid[r, c]) for c in range(len(ratios))] for r in range(rows)
    ]


def _quiet(ax: Any, *sides: str) -> None:
    ax.spines[list(sides or ("top", "right"))].set_visible(False)


def _seconds_axis(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(4))
    axis.set_major_formatter(lambda value, _: seconds(value) if value > 0 else "0")


def _samples(name: str, values: object) -> list[float]:
    found = [float(v) for v in values]
    if not found or not all(math.isfinite(v) for v in found):
        raise InvalidValue(name, "one or more finite durations in seconds", found)
    return found


def _top(values: Sequence[float]) -> float:
    """An end of the axis that rare slow samples do not decide."""
    ordered, n = sorted(values), len(values)
    low, high = ordered[n // 4], ordered[(3 * n) // 4]
    return min(ordered[-1], high + max(6 * (high - low), high / 5)) * 1.05 or 1e-9


def over_time(series: Mapping[str, Sequence[float]]):
    """Samples in the order they were taken, and beside them how often each duration came.

    Parameters
    ----------
    series : mapping of str to sequence of float
        Name -> seconds; one row of the picture for each.

    Returns
    -------
    matplotlib.figure.Figure
        Samples beyond the axis stand at its top as triangles.
    """
    if not 1 <= len(series) <= MOST:
        raise InvalidValue("series", f"a dict of one to {MOST} lists of samples", series)
    figure, rows = _rows(9, 0.5 + 1.55 * len(series), len(series), (4, 1))
    for row, ((name, values), (ax, side)) in enumerate(zip(series.items(), rows)):
        values, colour = _samples(name, values), COLOURS[row % len(COLOURS)]
        top = _top(values)
        inside = [(i, v) for i, v in enumerate(values) if v <= top]
        beyond = [i for i, v in enumerate(values) if v > top]
        ax.plot(*zip(*inside), "o", ms=3, color=colour, alpha=0.7, mec="none")
        ax.plot(beyond, [top] * len(beyond), "^", ms=5, color=colour, clip_on=False)
        more = f", {len(beyond)} above, up to {seconds(max(values))}" if beyond else ""
        ax.set_title(f"{name}: {len(values)} samples{more}", fontsize=9, loc="left")
        side.hist(
            [v for _, v in inside], bins=40, range=(0, top), orientation="horizontal", color=colour
        )
        side.set_xticks([])
        side.set_yticklabels([])
        for panel in (ax, side):
            panel.set_ylim(0, top)
            _quiet(panel)
        _seconds_axis(ax.yaxis)
    rows[-1][0].set_xlabel("order in which the samples were taken")
    rows[-1][1].set_xlabel("how often")
    return figure


def in_order(runs: Mapping[str, tuple[Sequence[int], Sequence[float]]], names=("A", "B")):
    """Samples of two programs in the order they were taken, with the median of each.

    Parameters
    ----------
    runs : mapping of str to (who, samples)
        Title -> for each sample 0 or 1, and its seconds.
    names : pair of str
        Of programs 0 and 1.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not 1 <= len(runs) <= MOST:
        raise InvalidValue("runs", f"a dict of one to {MOST} runs", runs)
    figure, rows = _rows(9, 0.5 + 1.6 * len(runs), len(runs))
    for (title, (who, values)), (ax,) in zip(runs.items(), rows):
        values = _samples(title, values)
        who = [int(w) for w in who]
        if len(who) != len(values) or set(who) != {0, 1}:
            raise InvalidValue("who", "a 0 or a 1 for each sample, and both of them", who)
        top, middles = _top(values), []
        for program, (colour, marker) in enumerate([(BLUE, "o"), (VERMILION, "s")]):
            mine = [(i, v) for i, (w, v) in enumerate(zip(who, values)) if w == program]
            middles.append(_median([v for _, v in mine]))
            inside = [(i, v) for i, v in mine if v <= top]
            text = f"{names[program]}: median {seconds(middles[-1])}"
            ax.plot(*zip(*inside), marker, ms=3.5, color=colour, mec="none", label=text)
            ax.axhline(middles[-1], color=colour, lw=1.2, ls=("-", "--")[program])
        apart = middles[1] / middles[0] - 1
        ax.set_title(
            f"{title}: {names[1]} seems {abs(apart):.0%} {'slower' if apart > 0 else 'faster'}",
            fontsize=9,
            loc="left",
        )
        ax.set_ylim(0.97 * min(values), top)
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=9)
        _seconds_axis(ax.yaxis)
        _quiet(ax)
    rows[-1][0].set_xlabel("order in which the samples were taken")
    return figure


def _median(values: Sequence[float]) -> float:
    ordered, n = sorted(values), len(values)
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2


def medians(groups: Mapping[int, Sequence[float]]):
    """How far the medians of many groups of samples lie apart, by the size of the groups.

    Parameters
    ----------
    groups : mapping of int to sequence of float
        Samples a group -> the medians of the groups in seconds.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not 1 <= len(groups) <= MOST:
        raise InvalidValue("groups", f"a dict of one to {MOST} lists of medians", groups)
    every = {size: sorted(_samples(str(size), found)) for size, found in groups.items()}
    low = min(found[len(found) // 100] for found in every.values())
    high = max(found[(99 * len(found)) // 100] for found in every.values())
    high = high if high > low else low * 1.01 or 1e-9
    figure, rows = _rows(9, 0.5 + 0.85 * len(every), len(every))
    for row, ((size, found), (ax,)) in enumerate(zip(every.items(), rows)):
        ax.hist(found, bins=80, range=(low, high), color=COLOURS[row % len(COLOURS)])
        text = f"{size} sample{'s' * (size != 1)}\na group"
        ax.text(1.01, 0.5, text, transform=ax.transAxes, va="center", fontsize=9)
        ax.set_yticks([])
        ax.set_xlim(low, high)
        _seconds_axis(ax.xaxis)
        _quiet(ax, "top", "right", "left")
        if row < len(rows) - 1:
            ax.set_xticklabels([])
    rows[-1][0].set_xlabel("median of the group")
    return figure


def order_interval(samples: Sequence[float], aside: int):
    """Sorted samples, the ones set aside at both ends, and the interval that is left.

    Parameters
    ----------
    samples : sequence of float
        Seconds.
    aside : int
        The interval goes from the ``aside``-th smallest to the ``aside``-th largest sample.

    Returns
    -------
    matplotlib.figure.Figure
    """
    ordered = sorted(_samples("samples", samples))
    n = len(ordered)
    if not 1 <= aside <= (n + 1) // 2:
        raise InvalidValue("aside", f"between 1 and {(n + 1) // 2}", aside)
    figure, (ax,) = _axes(9, 2.6)
    low, high = ordered[aside - 1], ordered[-aside]
    ax.axhspan(low, high, color=INK, alpha=0.13, lw=0)
    top = max(high, min(ordered[-1], high + 2 * (high - ordered[0]))) * 1.01
    left = [i for i in range(n) if i < aside - 1 or i > n - aside]
    kept = [i for i in range(n) if i not in left]
    inside, beyond = [i for i in left if ordered[i] <= top], [i for i in left if ordered[i] > top]
    ax.plot(inside, [ordered[i] for i in inside], "x", color=FAINT, label="set aside")
    ax.plot(beyond, [top] * len(beyond), "^", color=FAINT, clip_on=False)
    ax.plot(kept, [ordered[i] for i in kept], "o", ms=5, color=BLUE, label="kept")
    ax.axhline(_median(ordered), color=INK, lw=1.5)
    more = f"; slowest {seconds(ordered[-1])}" if beyond else ""
    text = f"median {seconds(_median(ordered))}, interval {seconds(low)} to {seconds(high)}{more}"
    ax.set_title(text, fontsize=10, loc="left")
    ax.set_ylim(ordered[0] - 0.03 * (top - ordered[0]), top)
    ax.set_xlabel("samples, sorted")
    ax.legend(loc="upper left", frameon=False)
    _seconds_axis(ax.yaxis)
    _quiet(ax)
    return figure


def intervals(low: Sequence[float], high: Sequence[float], truth: float):
    """Many intervals, and which of them miss the value that they were to enclose.

    Parameters
    ----------
    low, high : sequence of float
        Ends of the intervals in seconds.
    truth : float
        Seconds.

    Returns
    -------
    matplotlib.figure.Figure
    """
    low, high = _samples("low", low), _samples("high", high)
    if len(low) != len(high):
        raise InvalidValue("high", "as many ends as low has", len(high))
    figure, (ax,) = _axes(9, 2.8)
    missed = 0
    for i, (a, b) in enumerate(zip(low, high)):
        miss = not a <= truth <= b
        missed += miss
        ax.plot([i, i], [a, b], color=VERMILION if miss else BLUE, lw=4 if miss else 1.6)
        if miss:
            ax.plot([i], [b], "v", color=VERMILION, ms=8)
    ax.axhline(truth, color=INK, lw=1.2)
    ax.set_title(
        f"{len(low)} intervals: {missed} miss{'es' * (missed == 1)} the median of all samples",
        fontsize=10,
        loc="left",
    )
    ax.set_xlabel("groups of samples")
    _seconds_axis(ax.yaxis)
    _quiet(ax)
    return figure
