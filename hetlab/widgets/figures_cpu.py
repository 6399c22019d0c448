"""Pictures of how a CPU's kernels meet vectors, cache lines, tiles and strips.

Pure functions, from data to a Matplotlib figure on white, so that it reads the same on a light and
on a dark page.  Colours are those of Okabe and Ito; where a colour carries meaning, position or a
label carries it too.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from hetlab.errors import InvalidValue, optional
from hetlab.units import binary_bytes

__all__ = ["cache_lines", "lanes", "picture", "staircase", "strip", "tiles"]

USED, MOVED, FIRST, THIRD = "#009E73", "#E69F00", "#0072B2", "#CC79A7"
INK, EDGE = "#222222", "#8a8a8a"


def _axes(width: float, height: float, panels: int = 1) -> tuple[Any, list[Any]]:
    """A figure that shows itself in a notebook, and its panels."""
    optional("matplotlib", "lab", "draw figures")
    from matplotlib.figure import Figure

    class Picture(Figure):
        """Displayed without pyplot, so without its state and its windows."""

        def _repr_svg_(self) -> str:
            text = io.StringIO()
            self.savefig(text, format="svg")
            # A page narrower than the figure scales it instead of cutting it off.
            return text.getvalue().replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)

    figure = Picture(figsize=(width, height), layout="constrained", facecolor="white")
    return figure, [figure.add_subplot(1, panels, i + 1) for i in range(panels)]


def _cell(ax: Any, x: float, y: float, face: str = "none", text: str = "", size: int = 9) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((x, y), 0.92, 0.92, facecolor=face, edgecolor=EDGE, linewidth=0.8))
    if text:
        colour = INK if face == "none" else "white"
        ax.text(x + 0.46, y + 0.46, text, ha="center", va="center", fontsize=size, color=colour)


def _bare(ax: Any, width: float, height: float) -> None:
    ax.set_xlim(-0.2, width)
    ax.set_ylim(height, -0.2)  # row 0 on top
    ax.set_aspect("equal")
    ax.axis("off")


def lanes(bits: int = 256, itemsize: int = 4):
    """One scalar and one vector addition, side by side.

    Parameters
    ----------
    bits : int
        Width of a vector register.
    itemsize : int
        Bytes of an element.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if itemsize < 1 or bits < 8 * itemsize or bits % (8 * itemsize):
        raise InvalidValue("bits", "a multiple of the element's bits", bits)
    count = bits // (8 * itemsize)
    figure, (ax,) = _axes(9, 1.9 if count > 12 else 2.6)
    start = 3
    for row, (name, colour) in enumerate([("x", FIRST), ("y", THIRD), ("x + y", USED)]):
        _cell(ax, 0, 1.15 * row, colour, name[0] if row < 2 else "+")
        for lane in range(count):
            label = str(lane) if count <= 32 else ""
            _cell(ax, start + lane, 1.15 * row, colour, label, 8 if count <= 16 else 6)
        ax.text(start + count + 0.3, 1.15 * row + 0.46, name, va="center", color=INK)
    ax.text(0.46, 3.9, "1 addition", ha="center", color=INK)
    text = f"one vector instruction of {bits} bits: {count} lanes of {8 * itemsize} bits"
    ax.text(start + count / 2, 3.9, text, ha="center", color=INK)
    _bare(ax, start + count + 2.2, 4.2)
    return figure


def cache_lines(strides: Sequence[int] = (1, 4, 16, 32), itemsize: int = 4, line: int = 64):
    """Which elements of an array a strided walk uses, and which its cache lines bring along.

    Parameters
    ----------
    strides : sequence of int
        One row of the picture for each: every element, every fourth, ...
    itemsize, line : int
        Bytes of an element and of a cache line.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not strides or min(strides) < 1:
        raise InvalidValue("strides", "positive numbers of elements", strides)
    per_line = max(line // itemsize, 1)
    shown = 4 * per_line
    figure, (ax,) = _axes(9, 0.3 * len(strides) + 0.45)
    gap = 0.6
    for row, stride in enumerate(strides):
        used, moved = walk(stride, shown, per_line)
        for i in range(shown):
            face = USED if i in used else MOVED if i in moved else "none"
            _cell(ax, i + gap * (i // per_line), 2.2 * row, face)
        share = f"uses {len(used)} of {len(moved)} moved"
        label = "every element" if stride == 1 else f"1 in {stride}"
        ax.text(-0.8, 2.2 * row + 0.46, label, ha="right", va="center", color=INK)
        ax.text(shown + gap * 4 + 0.4, 2.2 * row + 0.46, share, ha="left", va="center", color=INK)
    end = 2.2 * len(strides)
    keys = [(USED, "used"), (MOVED, "moved, not used"), ("none", "not moved")]
    for k, (face, text) in enumerate(keys):
        _cell(ax, 18 * k, end, face)
        ax.text(18 * k + 1.4, end + 0.5, text, va="center", color=INK)
    _bare(ax, shown + gap * 4 + 15, end + 1.2)
    ax.set_xlim(-11, shown + gap * 4 + 16)
    return figure


def walk(stride: int, count: int, per_line: int) -> tuple[set[int], set[int]]:
    """Indices used by a walk over `count` elements, and indices its lines bring."""
    used = set(range(0, count, stride))
    touched = {i // per_line for i in used}
    return used, {i for i in range(count) if i // per_line in touched}


def tiles(tile: int = 2, n: int = 8):
    """What an inner loop of ``c = a @ b`` reads for one element, and for a square tile of c.

    `b` is stored transposed, so that both operands are read along their rows.

    Parameters
    ----------
    tile : int
        Rows and columns of the tile.
    n : int
        Rows and columns of the pictured matrices.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not 1 <= tile <= n:
        raise InvalidValue("tile", f"between 1 and {n}", tile)
    figure, panels = _axes(9, 2.0, 2)
    for ax, size in zip(panels, (1, tile)):
        for k, (name, rows, columns, colour) in enumerate(
            [
                ("a", range(size), range(n), FIRST),
                ("b transposed", range(size), range(n), THIRD),
                ("c", range(size), range(size), USED),
            ]
        ):
            left = k * (n + 2)
            for i in range(n):
                for j in range(n):
                    _cell(ax, left + j, i, colour if i in rows and j in columns else "none")
            ax.text(left + n / 2, n + 1, name, ha="center", color=INK)
        loads, products = 2 * size, size * size
        ax.text(
            1.5 * n + 2,
            -1,
            f"{loads} loads for {products} multiply-add{'s' * (products > 1)}: "
            f"{loads / products:g} each",
            ha="center",
            color=INK,
        )
        _bare(ax, 3 * n + 4.2, n + 1.4)
        ax.set_ylim(n + 1.4, -2)
    return figure


def strip(rows: int = 6, steps: int = 3):
    """How a strip of rows shrinks when several time steps are done before it leaves the cache.

    Parameters
    ----------
    rows : int
        Rows that the strip finishes.
    steps : int
        Time steps done at a visit: as many extra rows are read on each side.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if rows < 1 or steps < 1:
        raise InvalidValue("rows and steps", "positive", (rows, steps))
    height = rows + 2 * steps
    figure, (ax,) = _axes(9, 0.26 * height + 0.6)
    for step in range(steps + 1):
        left = step * 6
        for row in range(height):
            mine = steps <= row < steps + rows
            right = step <= row < height - step
            face = "none" if not right else USED if mine else MOVED
            for column in range(4):
                _cell(ax, left + column, row, face)
        name = "read" if step == 0 else f"step {step}"
        ax.text(left + 2, height + 0.9, name, ha="center", color=INK)
        if step:
            ax.annotate(
                "",
                xy=(left - 0.3, height / 2),
                xytext=(left - 1.8, height / 2),
                arrowprops={"arrowstyle": "->", "color": INK},
            )
    side = steps * 6 + 5
    keys = [
        (USED, f"the strip: {rows} rows, written back"),
        (MOVED, f"its halo: {steps} rows a side"),
        ("none", "no longer right, thrown away"),
    ]
    for k, (face, text) in enumerate(keys):
        _cell(ax, side, 1.8 * k + 1, face)
        ax.text(side + 1.4, 1.8 * k + 1.5, text, va="center", color=INK)
    _bare(ax, side + 15, height + 1.6)
    return figure


def staircase(
    sizes: Sequence[float],
    rates: Sequence[float],
    caches: Mapping[str, int | None] | None = None,
):
    """Bandwidth over the bytes that a loop works on, with the capacity of each cache.

    Parameters
    ----------
    sizes : sequence of float
        Bytes.
    rates : sequence of float
        Measured bytes per second.
    caches : mapping of str to int or None, optional
        Name to capacity in bytes; what is None is left out.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if len(sizes) != len(rates) or not len(sizes):
        raise InvalidValue("rates", "as many as there are sizes", len(rates))
    figure, (ax,) = _axes(8, 3.4)
    ax.plot(sizes, [r / 1e9 for r in rates], "o-", color=FIRST, linewidth=2)
    top = max(rates) / 1e9
    for name, size in (caches or {}).items():
        if size and min(sizes) < size < max(sizes):
            ax.axvline(size, color=EDGE, linestyle=":", linewidth=1)
            text = f" {name} {binary_bytes(size)}"
            ax.text(size, 1.06 * top, text, color=INK, ha="left", va="bottom", fontsize=9)
    ax.set_xscale("log", base=2)
    ticks = [s for s in (2.0**k for k in range(8, 40, 2)) if min(sizes) <= s <= max(sizes)]
    ax.set_xticks(ticks, [binary_bytes(t) for t in ticks])
    ax.set_ylim(0, 1.2 * top)
    ax.set_xlabel("bytes that the loop works on")
    ax.set_ylabel("GB/s, measured")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="y", color="#e4e4e4", linewidth=0.7)
    return figure


def picture(values: Any):
    """A two-dimensional array as an image, small values dark.

    Parameters
    ----------
    values : array of shape (rows, columns)

    Returns
    -------
    matplotlib.figure.Figure
    """
    if getattr(values, "ndim", None) != 2 or not values.size:
        raise InvalidValue("values", "an array of two dimensions with elements", values)
    figure, (ax,) = _axes(4, 4 * values.shape[0] / values.shape[1])
    ax.imshow(values, cmap="cividis", interpolation="nearest")
    ax.axis("off")
    return figure
