"""Pictures of tiled products: what a tile of C needs, the order of programs, softmax in pieces.

Pure functions, from numbers to a Matplotlib figure on white; numbers say what colours say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hetlab.errors import InvalidValue
from hetlab.widgets.figures_cpu import EDGE, INK, _axes, _bare, _cell
from hetlab.widgets.palette import BLUE, GREEN, ORANGE

__all__ = ["online_softmax", "product_tiles", "program_order"]


def product_tiles(m: int, n: int, k: int, tile: tuple[int, int, int], step: int = 0):
    """Which parts of A and B one tile of C = A B needs, and which of them in one step.

    Parameters
    ----------
    m, n, k : int
        Rows of C, columns of C, length of the sums; 1 to 16 each.
    tile : (int, int, int)
        Rows and columns of a tile of C, and the length of a step along k.
    step : int
        The step to mark, from 0.

    Returns
    -------
    matplotlib.figure.Figure
        A on the left, B above, C between them: the tile of C orange, what it needs green, and
        the part of one step blue and numbered.
    """
    tall, wide, deep = tile
    if not all(1 <= v <= 16 for v in (m, n, k)):
        raise InvalidValue("m, n, k", "1 to 16", (m, n, k))
    if not (1 <= tall <= m and 1 <= wide <= n and 1 <= deep <= k):
        raise InvalidValue("tile", f"at most {(m, n, k)}", tile)
    if not 0 <= step * deep < k:
        raise InvalidValue("step", f"0 to {-(-k // deep) - 1}", step)
    figure, (ax,) = _axes(9, 0.6 + 0.26 * (m + k))
    top, left = k + 1.2, k + 1.2  # where C begins
    now = range(step * deep, min(k, (step + 1) * deep))

    def matrix(x, y, rows, columns, name, colour: Callable[[int, int], str]):
        for r in range(rows):
            for c in range(columns):
                _cell(ax, x + c, y + r, colour(r, c))
        ax.text(x - 0.3, y - 0.15, name, ha="right", va="top", color=INK, weight="bold")

    matrix(left, 0, k, n, "B", lambda r, c: _needed(c < wide, r in now))
    matrix(0, top, m, k, "A", lambda r, c: _needed(r < tall, c in now))
    matrix(left, top, m, n, "C", lambda r, c: ORANGE if r < tall and c < wide else "none")
    text = (
        f"the tile of C: {tall} x {wide}\n"
        f"needs {tall} rows of A, {wide} columns of B:\n"
        f"{(tall + wide) * k} elements for {tall * wide * k} multiply-adds\n"
        f"step {step} takes k = {now.start} to {now.stop - 1} (blue)\n"
        f"steps in all: {-(-k // deep)}"
    )
    ax.text(left + n + 0.8, (top + m) / 2, text, va="center", color=INK)
    _bare(ax, left + n + 14, top + m)
    ax.set_xlim(-1.5, left + n + 14)
    return figure


def program_order(
    down: int, across: int, place: Callable[[int], tuple[int, int]], together: int = 8
):
    """The order in which programs take the tiles of C, and what the first ones need together.

    Parameters
    ----------
    down, across : int
        Tiles of C, 1 to 12 each way.
    place : callable
        From a program's number to the row and column of its tile.
    together : int
        How many programs are thought to run at the same time.

    Returns
    -------
    matplotlib.figure.Figure
        Each cell is a tile with its program's number; those that run together are blue, and
        the text counts the bands of A and B that they need.
    """
    if not (1 <= down <= 12 and 1 <= across <= 12):
        raise InvalidValue("down, across", "1 to 12 tiles", (down, across))
    if not 1 <= together <= down * across:
        raise InvalidValue("together", f"1 to {down * across} programs", together)
    figure, (ax,) = _axes(7.5, 0.5 + 0.36 * down)
    places = [tuple(place(p)) for p in range(down * across)]
    for p, (row, column) in enumerate(places):
        _cell(ax, column, row, BLUE if p < together else "none", str(p), 8)
    rows = {row for row, _ in places[:together]}
    columns = {column for _, column in places[:together]}
    text = (
        f"programs 0 to {together - 1} together need\n"
        f"{_bands(len(rows))} of A + {_bands(len(columns))} of B\n"
        f"= {_bands(len(rows) + len(columns))}"
    )
    ax.text(across + 0.6, down / 2, text, va="center", color=INK)
    _bare(ax, across + 9, down)
    return figure


def online_softmax(scores: Sequence[float], block: int):
    """A row of scores read in blocks: the running maximum, and the running sum.

    Parameters
    ----------
    scores : sequence of float
        At most 32.
    block : int
        Scores that are read at once.

    Returns
    -------
    matplotlib.figure.Figure
        Above, the scores with the running maximum as a step; below, the sum of exponentials
        after each block, as it is kept and as it would be without rescaling.
    """
    s = np.asarray(scores, float)
    if not (s.ndim == 1 and 1 <= s.size <= 32 and np.isfinite(s).all()):
        raise InvalidValue("scores", "a row of at most 32 finite numbers", scores)
    if not 1 <= block <= s.size:
        raise InvalidValue("block", f"1 to {s.size}", block)
    figure, (left, right) = _axes(9, 2.8, panels=2)
    ends = [min(s.size, e) for e in range(block, s.size + block, block)]
    tops = [s[:e].max() for e in ends]
    left.bar(range(s.size), s, color=BLUE, width=0.7)
    for e, top in zip(ends, tops):
        left.plot([e - block - 0.5, e - 0.5], [top, top], color=ORANGE, lw=2.5)
    left.text(ends[-1] - 0.6, tops[-1], " running maximum", color=INK, ha="right", va="bottom")
    left.set(xlabel="score number", ylabel="score")
    left.margins(y=0.18)
    kept = [np.exp(s[:e] - top).sum() for e, top in zip(ends, tops)]
    naive = np.cumsum([np.exp(s[e - block : e] - top).sum() for e, top in zip(ends, tops)])
    turns = np.arange(1, len(ends) + 1)
    right.plot(turns, kept, "o-", color=GREEN, label="rescaled when the maximum grows")
    right.plot(turns, naive, "s--", color=EDGE, label="only added up: wrong")
    right.set(xlabel="blocks read", ylabel="sum of exponentials", xticks=turns)
    right.legend(frameon=False, fontsize=8)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _bands(count: int) -> str:
    return f"{count} band{'' if count == 1 else 's'}"


def _needed(needed: bool, now: bool) -> str:
    return "none" if not needed else BLUE if now else GREEN
