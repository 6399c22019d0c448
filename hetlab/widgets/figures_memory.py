"""Pictures of global memory: the sectors of a request, strides, layouts, a transpose.

Pure functions, from numbers to a Matplotlib figure on white.  Colours are those of Okabe and Ito;
where a colour carries meaning, position or a label carries it too.  All numbers of sectors are
counted by the virtual GPU's own code.
"""

from __future__ import annotations

from collections.abc import Sequence

from hetlab.errors import InvalidValue
from hetlab.widgets.access import SECTOR, STRIDES, Access
from hetlab.widgets.figures_cpu import EDGE, INK, _axes, _bare, _cell
from hetlab.widgets.palette import BLUE, COLOURS, GREEN, MARKERS, ORANGE

__all__ = ["access", "layouts", "sectors_by_stride", "transposed"]


def access(stride: int = 1, offset: int = 0, size: int = 4, order: str = "in order"):
    """The lanes of one request and the sectors that it moves.

    Parameters
    ----------
    stride, offset, size, order
        As of `hetlab.widgets.access.Access`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    return access_figure(Access(stride, offset, size, order))


def access_figure(data: Access):
    """The same, from an `Access`."""
    from matplotlib.patches import Rectangle

    addresses = data.addresses
    spans = [
        (lane, s)
        for lane, a in enumerate(addresses)
        if a is not None
        for s in range(a // SECTOR, (a + data.size - 1) // SECTOR + 1)
    ]
    touched = sorted({s for _, s in spans})
    wide = min(4.0, 32 / len(touched))
    left = {s: i * wide for i, s in enumerate(touched)}
    figure, (ax,) = _axes(9, 2.1)

    def box(x: float, y: float, width: float, face: str, line: float = 0.8) -> None:
        ax.add_patch(Rectangle((x, y), width, 0.92, facecolor=face, edgecolor=EDGE, linewidth=line))

    for lane, s in spans:
        middle = min(addresses[lane] + data.size / 2 - s * SECTOR, SECTOR - 1) / SECTOR
        ends = [lane + 0.46, left[s] + middle * (wide - 0.1)]
        ax.plot(ends, [0.92, 4], color=BLUE, lw=0.7, alpha=0.7, zorder=0)
    for lane, a in enumerate(addresses):
        _cell(ax, lane, 0, "none" if a is None else BLUE, "" if a is None else str(lane), 6)
    for i, s in enumerate(touched):
        box(left[s], 4, wide - 0.1, ORANGE)
        if i and s != touched[i - 1] + 1:
            ax.plot([left[s] - 0.05] * 2, [3.7, 5.2], color=INK, lw=1, ls=":")
    for a in {a for a in addresses if a is not None}:
        for s in touched:
            begin, end = max(a, s * SECTOR), min(a + data.size, (s + 1) * SECTOR)
            if begin < end:
                at = left[s] + (begin - s * SECTOR) / SECTOR * (wide - 0.1)
                box(at, 4, (end - begin) / SECTOR * (wide - 0.1), GREEN, 0)
    ax.text(-0.4, 0.46, "lanes", ha="right", va="center", color=INK, fontsize=9)
    ax.text(-0.4, 4.46, "sectors", ha="right", va="center", color=INK, fontsize=9)
    ax.text(0, 5.9, "green: asked for, orange: moved for nothing", color=EDGE, fontsize=8)
    ax.set_title(f"{data.verdict} (counted)", fontsize=9, loc="left", color=INK)
    _bare(ax, 32.5, 6.1)
    ax.set_xlim(-3.2, 32.5)
    ax.set_aspect("auto")
    return figure


def sectors_by_stride(sizes: Sequence[int] = (1, 4, 8, 16), offset: int = 0):
    """How many sectors a request moves, over the stride of its lanes, for several element sizes.

    Parameters
    ----------
    sizes : sequence of int
        Bytes of an element.
    offset : int
        Elements from a sector's beginning to the first.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not sizes:
        raise InvalidValue("sizes", "at least one element size", sizes)
    figure, (ax,) = _axes(7, 3.2)
    strides = list(STRIDES)
    for k, size in enumerate(sizes):
        counts = [Access(stride, offset, size).sectors for stride in strides]
        look = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}
        ax.plot(strides, counts, ms=4, lw=1.5, label=f"{size} B", **look)
    ax.set_xlabel("stride of the lanes, elements")
    ax.set_ylabel("sectors a request, counted")
    ax.set_ylim(0, 36)
    ax.grid(color="#e4e4e4", linewidth=0.7)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(title="element", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def layouts(fields: Sequence[str] = ("x", "y", "z", "m"), count: int = 6, wanted: str = "x"):
    """An array of structures and a structure of arrays, with one field marked.

    Parameters
    ----------
    fields : sequence of str
        Names of one letter or two, 1 to 6 of them.
    count : int
        Structures, 1 to 8.
    wanted : str
        The field that a kernel reads.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not 1 <= len(fields) <= 6:
        raise InvalidValue("fields", "1 to 6 names", fields)
    if not 1 <= count <= 8:
        raise InvalidValue("count", "1 to 8 structures", count)
    if wanted not in fields:
        raise InvalidValue("wanted", f"one of {', '.join(fields)}", wanted)
    n = len(fields) * count
    figure, (ax,) = _axes(9, 1.9)
    for row, name in ((0, "array of structures"), (2.6, "structure of arrays")):
        for k in range(n):
            field, item = (
                (k % len(fields), k // len(fields)) if row == 0 else (k // count, k % count)
            )
            gap = 0.35 * (k // (len(fields) if row == 0 else count))
            face = ORANGE if fields[field] == wanted else "none"
            _cell(ax, k + gap, row, face, "", 8)
            ax.text(
                k + gap + 0.46,
                row + 0.46,
                f"{fields[field]}{item}",
                ha="center",
                va="center",
                fontsize=7,
                color=INK,
            )
        ax.text(0, row - 0.25, name, color=INK, fontsize=9, va="bottom")
    _bare(ax, n + 0.35 * 8, 3.8)
    ax.set_ylim(3.8, -1.2)
    return figure


def transposed(rows: int = 8, columns: int = 8, lanes: int = 8):
    """What the lanes of one warp read and write in the simple transpose, in memory's order.

    Parameters
    ----------
    rows, columns : int
        Of the input, 2 to 12 each.
    lanes : int
        How many lanes are drawn, 1 to `columns`.

    Returns
    -------
    matplotlib.figure.Figure
        Left the input: the lanes read a piece of a row.  Right the output: they write a piece of
        a column.  Numbers are places in memory.
    """
    if not (2 <= rows <= 12 and 2 <= columns <= 12):
        raise InvalidValue("rows, columns", "2 to 12 each", (rows, columns))
    if not 1 <= lanes <= columns:
        raise InvalidValue("lanes", "1 to the number of columns", lanes)
    figure, (ax,) = _axes(8, 0.6 + 0.3 * max(rows, columns))
    right = columns + 5
    for y in range(rows):
        for x in range(columns):
            mine = y == 1 and x < lanes
            _cell(ax, x, y, BLUE if mine else "none", str(y * columns + x), 7)
            _cell(ax, right + y, x, GREEN if mine else "none", str(x * rows + y), 7)
    ax.annotate(
        "", (right - 0.8, 2), (columns + 0.8, 2), arrowprops={"arrowstyle": "->", "color": INK}
    )
    ax.text(0, -0.3, "read: neighbours in memory", color=INK, fontsize=9, va="bottom")
    text = f"written: {rows} elements apart"
    ax.text(right, -0.3, text, color=INK, fontsize=9, va="bottom")
    _bare(ax, right + rows + 1, max(rows, columns))
    ax.set_ylim(max(rows, columns), -1.5)
    return figure
