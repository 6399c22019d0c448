"""Pictures of tiles: which elements a program takes, and where a tile of a matrix lies.

Pure functions, from numbers to a Matplotlib figure on white.  White cells are masked off; a
number or a label says what a colour says.
"""

from __future__ import annotations

from hetlab.errors import InvalidValue
from hetlab.widgets.figures_cpu import EDGE, INK, _axes, _bare, _cell
from hetlab.widgets.palette import BLUE, GREEN, ORANGE

__all__ = ["row_tile", "tiles"]


def tiles(n: int, block: int):
    """The tiles of a launch over an array: offsets, and which of them the mask keeps.

    Parameters
    ----------
    n : int
        Elements of the array, 1 to 64.
    block : int
        Elements of a tile: a power of two, 1 to 16.

    Returns
    -------
    matplotlib.figure.Figure
        One row a program; each cell is an offset, white where the mask is False.
    """
    if not 1 <= n <= 64:
        raise InvalidValue("n", "1 to 64 elements", n)
    _power_of_two(block, 16)
    programs = -(-n // block)
    if programs > 16:
        raise InvalidValue("block", "a tile that covers n with at most 16 programs", block)
    figure, (ax,) = _axes(9, 0.75 + 0.42 * programs)
    for p in range(programs):
        ax.text(-0.4, 1.15 * p + 0.46, f"program {p}", ha="right", va="center", color=INK)
        for t in range(block):
            at = p * block + t
            _cell(ax, t, 1.15 * p, (BLUE, GREEN)[p % 2] if at < n else "none", str(at), 8)
    end = 1.15 * programs
    for t in range(block):
        ax.text(t + 0.46, end + 0.3, str(t), ha="center", va="center", color=EDGE, fontsize=8)
    ax.text(-0.4, end + 0.3, "tl.arange", ha="right", va="center", color=EDGE, fontsize=8)
    spare = programs * block - n
    text = f"{programs} programs x {block} = {programs * block} offsets for {n} elements"
    text += f"\n{spare} masked off (white)" if spare else "\nnone masked off"
    ax.text(block + 0.5, end / 2, text, ha="left", va="center", color=INK)
    _bare(ax, max(block, 4) + 11, end + 0.7)
    ax.set_xlim(-4.5, max(block, 4) + 11)
    return figure


def row_tile(rows: int, columns: int, stride: int, block: int, row: int = 1):
    """Where a tile over one row of a padded matrix lies in memory.

    Parameters
    ----------
    rows, columns : int
        Of the matrix, 1 to 6 and 1 to 16.
    stride : int
        Elements from the beginning of a row to that of the next, `columns` to 20.
    block : int
        Elements of the tile: a power of two, 1 to 16.
    row : int
        The row that the program takes.

    Returns
    -------
    matplotlib.figure.Figure
        Each cell is an element of memory with its offset: the row's own blue, others green,
        padding orange; a thick frame marks what the tile points to without a mask.
    """
    if not (1 <= rows <= 6 and 1 <= columns <= 16):
        raise InvalidValue("rows, columns", "1 to 6 and 1 to 16", (rows, columns))
    if not columns <= stride <= 20:
        raise InvalidValue("stride", f"{columns} to 20 elements", stride)
    if not 0 <= row < rows:
        raise InvalidValue("row", f"0 to {rows - 1}", row)
    _power_of_two(block, 16)
    figure, (ax,) = _axes(9, 0.7 + 0.45 * rows)
    first, last = row * stride, row * stride + block
    for at in range(rows * stride):
        y, x = divmod(at, stride)
        colour = ORANGE if x >= columns else BLUE if y == row and x < block else GREEN
        _cell(ax, x, 1.15 * y, colour, str(at), 7)
        if first <= at < last:
            frame = [(x, x + 0.92, x + 0.92, x, x), (0, 0, 0.92, 0.92, 0)]
            ax.plot(frame[0], [1.15 * y + v for v in frame[1]], color=INK, lw=2.2)
    outside = max(0, last - rows * stride)
    text = (
        f"row {row} begins at {row} x {stride} = {first}\n"
        f"thick frames: the {block} offsets of its tile\n"
        f"{min(block, columns)} kept by the mask (blue), {max(0, block - columns)} masked off"
    )
    text += f"\n{outside} of those outside the array" if outside else ""
    text += "\norange: padding between rows" if stride > columns else ""
    ax.text(stride + 0.5, 1.15 * rows / 2, text, va="center", color=INK)
    _bare(ax, stride + 12, 1.15 * rows)
    ax.set_xlim(-0.5, stride + 12)
    return figure


def _power_of_two(block: int, most: int) -> None:
    if not 1 <= block <= most or block & (block - 1):
        raise InvalidValue("block", f"a power of two, 1 to {most}", block)
