"""Pictures of shared memory at work: barriers, tiles, and ladders of counted steps.

Pure functions, from numbers or reports to a Matplotlib figure on white, so that it reads the same
on a light and on a dark page.  Where a colour carries meaning, a label carries it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hetlab.errors import InvalidValue
from hetlab.widgets.figures_cpu import _axes, _bare, _cell
from hetlab.widgets.palette import BLUE, COLOURS, FAINT, GREEN, INK, PURPLE, VERMILION

__all__ = ["barrier", "ladder", "matmul_tiles", "transpose"]

# When each of four warps has finished its store: any numbers would do, they only must differ.
_READY = (2.0, 5.0, 3.0, 4.0)
_READ = 1.6


def barrier():
    """Four warps store and then read a neighbour's element: without a barrier, and with one.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.patches import Patch

    figure, panels = _axes(9, 2.5, 2)
    for ax, waits in zip(panels, (False, True)):
        for warp, ready in enumerate(_READY):
            ax.barh(warp, ready, height=0.62, color=BLUE)
            start = max(_READY) if waits else ready
            if start > ready:
                ax.barh(warp, start - ready, left=ready, height=0.62, fc="white", ec=FAINT)
            early = start < _READY[(warp + 1) % len(_READY)]
            colour = VERMILION if early else GREEN
            hatch = "///" if early else ""
            ax.barh(warp, _READ, left=start, height=0.62, fc=colour, hatch=hatch, ec="white")
            if early:
                place = (start + _READ + 0.15, warp)
                ax.text(*place, f"warp {warp + 1} has not stored yet", va="center", fontsize=8)
        if waits:
            ax.axvline(max(_READY), color=INK, lw=2)
            ax.text(max(_READY) + 0.15, -0.55, "barrier", va="center", fontsize=9)
        ax.set(xlim=(0, 10), ylim=(3.5, -0.95))
        ax.set_title("with a barrier" if waits else "without a barrier", fontsize=10, color=INK)
        ax.set_yticks(range(4), [f"warp {w}" for w in range(4)])
        ax.set_xticks([])
        ax.set_xlabel("time")
        ax.spines[["top", "right"]].set_visible(False)
    keys = [
        Patch(fc=BLUE, label="stores its elements"),
        Patch(fc="white", ec=FAINT, label="waits"),
        Patch(fc=GREEN, label="reads the next warp's"),
        Patch(fc=VERMILION, hatch="///", ec="white", label="reads too early"),
    ]
    figure.legend(handles=keys, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def transpose(size: int = 8):
    """The way of one warp's elements in a transpose: straight, and through a tile.

    Parameters
    ----------
    size : int
        Rows and columns of the tile, and lanes of the pictured warp; 2 to 16.

    Returns
    -------
    matplotlib.figure.Figure
    """
    _between("size", size, 2, 16)
    figure, panels = _axes(9, 3.6)
    ax, gap = panels[0], size * 0.75
    row, column = {(1, j) for j in range(size)}, {(i, 1) for i in range(size)}
    ways = [
        ("straight", [("a: reads a row", row, BLUE), ("out: writes a column", column, VERMILION)]),
        (
            "through a tile",
            [
                ("a: reads a row", row, BLUE),
                ("tile: stores a row", row, PURPLE),
                ("tile: reads a column", column, PURPLE),
                ("out: writes a row", row, BLUE),
            ],
        ),
    ]
    for down, (name, steps) in enumerate(ways):
        top = down * (size + 3.2)
        ax.text(-0.6, top + size / 2, name, ha="right", va="center", color=INK)
        for k, (text, cells, colour) in enumerate(steps):
            left = k * (size + gap)
            for i in range(size):
                for j in range(size):
                    _cell(ax, left + j, top + i, colour if (i, j) in cells else "none")
            ax.text(left + size / 2, top + size + 1, text, ha="center", color=INK, fontsize=9)
            if k:
                barrier_here = text.startswith("tile: reads")
                arrow = {"arrowstyle": "->", "color": INK, "lw": 1.4}
                ends = (left - 0.6, top + size / 2), (left - gap + 0.6, top + size / 2)
                ax.annotate("", *ends, arrowprops=arrow)
                if barrier_here:
                    middle = (left - gap / 2, top + size / 2 - 0.9)
                    ax.text(*middle, "barrier", ha="center", color=INK, fontsize=9)
    _bare(ax, 4 * size + 3 * gap + 1, 2 * size + 5)
    ax.set_xlim(-size * 0.95, 4 * size + 3 * gap + 0.5)
    return figure


def matmul_tiles(tile: int = 4, n: int = 16, step: int = 1):
    """What one block of a tiled ``c = a @ b`` holds in shared memory in one step of its loop.

    Parameters
    ----------
    tile : int
        Rows and columns of a tile; it must divide `n`.
    n : int
        Rows and columns of the pictured matrices.
    step : int
        Which step of the loop, from 0 on.

    Returns
    -------
    matplotlib.figure.Figure
    """
    _between("tile", tile, 1, n)
    if n % tile:
        raise InvalidValue("tile", f"a divisor of {n}", tile)
    _between("step", step, 0, n // tile - 1)
    figure, (ax,) = _axes(9, 3.2)
    mine = range(tile * (n // tile // 2), tile * (n // tile // 2 + 1))
    now = range(step * tile, (step + 1) * tile)
    for k, (name, rows, columns, colour) in enumerate(
        [("a", mine, now, BLUE), ("b", now, mine, PURPLE), ("c", mine, mine, GREEN)]
    ):
        left = k * (n + 3)
        for i in range(n):
            for j in range(n):
                strip = (name == "a" and i in rows) or (name == "b" and j in columns)
                face = colour if i in rows and j in columns else "#e4e4e4" if strip else "none"
                _cell(ax, left + j, i, face)
        ax.text(left + n / 2, n + 1.4, name, ha="center", color=INK)
    loads, products = 2 * tile * tile, tile**3
    text = (
        f"step {step + 1} of {n // tile}: {loads} loads from global memory for {products} "
        f"multiply-adds: {2 * products / (4 * loads):g} FLOP for each byte loaded"
    )
    ax.text(1.5 * n + 3, -1.4, text, ha="center", color=INK)
    _bare(ax, 3 * n + 6.2, n + 2)
    ax.set_ylim(n + 2, -2.6)
    return figure


def ladder(reports: Mapping[str, Any], counters: Mapping[str, str | tuple[str, ...]]):
    """The steps of a ladder as bars: one panel a counter, one bar a step.

    Parameters
    ----------
    reports : mapping of str to Launch
        Step -> its report; anything with ``counters``.
    counters : mapping of str to (str or tuple of str)
        Title of a panel -> the counters that it adds up.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not reports or not counters:
        raise InvalidValue("reports and counters", "at least one of each", (reports, counters))
    figure, panels = _axes(9, 0.75 + 0.42 * len(reports), len(counters))
    names = list(reports)
    for k, (ax, (title, wanted)) in enumerate(zip(panels, counters.items())):
        wanted = (wanted,) if isinstance(wanted, str) else wanted
        values = [sum(r.counters[name] for name in wanted) for r in reports.values()]
        ax.barh(range(len(names)), values, height=0.66, color=COLOURS[k % len(COLOURS)])
        for row, value in enumerate(values):
            ax.text(value + max(values) * 0.03, row, f"{value:,}", va="center", fontsize=9)
        ax.set(xlim=(0, max(*values, 1) * 1.5), ylim=(len(names) - 0.4, -0.6))
        ax.set_title(title, fontsize=10, color=INK)
        ax.set_yticks(range(len(names)), names if k == 0 else [""] * len(names))
        ax.set_xticks([])
        ax.tick_params(length=0)
        ax.spines[["top", "right", "bottom"]].set_visible(False)
    figure.supxlabel("counted by the virtual GPU", fontsize=9, color=INK)
    return figure


def _between(name: str, value: int, low: int, high: int) -> None:
    if not isinstance(value, int) or not low <= value <= high:
        raise InvalidValue(name, f"a whole number from {low} to {high}", value)
