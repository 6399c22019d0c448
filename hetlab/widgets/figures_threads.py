"""Pictures of who does what in a launch: threads and elements, patterns, a race.

Pure functions, from numbers to a Matplotlib figure on white.  Colours are those of Okabe and Ito;
where a colour carries meaning, position or a label carries it too.
"""

from __future__ import annotations

from collections.abc import Sequence

from hetlab.errors import InvalidValue
from hetlab.widgets.figures_cpu import EDGE, INK, _axes, _bare, _cell
from hetlab.widgets.palette import BLUE, GREEN, ORANGE, PURPLE, VERMILION

__all__ = ["pattern", "race", "race_result", "rectangle", "threads", "warps"]

ROW_WIDTH = 16
"""Cells in a row of `threads`."""


def threads(n: int, block: int, blocks: int | None = None):
    """The threads of a launch over an array: which of them have an element to work on.

    Parameters
    ----------
    n : int
        Elements of the array, 1 to 64.
    block : int
        Threads a block, 1 to 16.
    blocks : int, optional
        Blocks of the grid; the fewest that cover the array otherwise.

    Returns
    -------
    matplotlib.figure.Figure
        One row a block; each cell is a thread with its index in the whole grid.
    """
    if not 1 <= n <= 64:
        raise InvalidValue("n", "1 to 64 elements", n)
    if not 1 <= block <= ROW_WIDTH:
        raise InvalidValue("block", f"1 to {ROW_WIDTH} threads", block)
    blocks = -(-n // block) if blocks is None else blocks
    if not 1 <= blocks * block <= 128:
        raise InvalidValue("blocks", "a number that gives 1 to 128 threads", blocks)
    figure, (ax,) = _axes(9, 0.75 + 0.42 * blocks)
    for b in range(blocks):
        ax.text(-0.4, 1.15 * b + 0.46, f"block {b}", ha="right", va="center", color=INK)
        for t in range(block):
            i = b * block + t
            _cell(ax, t, 1.15 * b, (BLUE, GREEN)[b % 2] if i < n else "none", str(i), 8)
    end = 1.15 * blocks
    for t in range(block):
        ax.text(t + 0.46, end + 0.3, str(t), ha="center", va="center", color=EDGE, fontsize=8)
    ax.text(-0.4, end + 0.3, "thread in its block", ha="right", va="center", color=EDGE, fontsize=8)
    spare, missing = max(0, blocks * block - n), max(0, n - blocks * block)
    text = f"{blocks} x {block} = {blocks * block} threads for {n} elements"
    text += f"\n{spare} without an element (white)" if spare else ""
    text += f"\n{missing} elements without a thread" if missing else ""
    ax.text(block + 0.5, end / 2, text, ha="left", va="center", color=INK)
    _bare(ax, max(block, 4) + 11, end + 0.7)
    ax.set_xlim(-4.5, max(block, 4) + 11)
    return figure


def rectangle(rows: int, columns: int, block: tuple[int, int] = (4, 4)):
    """An image covered by two-dimensional blocks: what sticks out over its edges.

    Parameters
    ----------
    rows, columns : int
        Of the image, 1 to 24 each.
    block : (int, int)
        Threads a block: along x (columns), along y (rows).

    Returns
    -------
    matplotlib.figure.Figure
    """
    wide, tall = block
    if not (1 <= rows <= 24 and 1 <= columns <= 24):
        raise InvalidValue("rows, columns", "1 to 24 each", (rows, columns))
    if not (1 <= wide <= 16 and 1 <= tall <= 16):
        raise InvalidValue("block", "1 to 16 threads each way", block)
    across, down = -(-columns // wide), -(-rows // tall)
    figure, (ax,) = _axes(7, 0.6 + 0.24 * down * tall)
    gap = 0.35
    for y in range(down * tall):
        for x in range(across * wide):
            inside = x < columns and y < rows
            colour = (BLUE, GREEN)[(x // wide + y // tall) % 2]
            at = x + gap * (x // wide), y + gap * (y // tall)
            _cell(ax, *at, colour if inside else "none")
    end_x, end_y = across * (wide + gap), down * (tall + gap)
    threads = across * wide * down * tall
    text = (
        f"image: {rows} rows, {columns} columns\nblock: {wide} along x, {tall} along y\n"
        f"grid: {across} along x, {down} along y\n{threads} threads, "
        f"{threads - rows * columns} outside (white)"
    )
    ax.text(end_x + 0.6, end_y / 2, text, va="center", color=INK)
    ax.text(0, -0.5, "x: column", color=EDGE, fontsize=8)
    ax.text(-0.5, 0, "y: row", color=EDGE, fontsize=8, rotation=90, ha="right", va="top")
    _bare(ax, end_x + 13, end_y)
    ax.set_xlim(-1.5, end_x + 13)
    ax.set_ylim(end_y, -1.4)
    return figure


_PATTERNS = {
    "map": ([(i, (i,), i) for i in range(8)], "each thread reads one element, writes one"),
    "zip": ([(i, (i, 8 + i), i) for i in range(8)], "the same with several inputs"),
    "stencil": (
        [(i, tuple(j for j in (i - 1, i, i + 1) if 0 <= j < 8), i) for i in range(8)],
        "reads an element and its neighbours",
    ),
    "gather": (
        [(i, (j,), i) for i, j in enumerate((3, 3, 0, 7, 5, 1, 1, 6))],
        "computes where to read",
    ),
    "scatter": (
        [(i, (i,), j) for i, j in enumerate((2, 0, 2, 5, 7, 1, 5, 4))],
        "computes where to write",
    ),
}


def pattern(*kinds: str):
    """Which elements each thread reads (above) and writes (below).

    Parameters
    ----------
    *kinds : str
        Of "map", "zip", "stencil", "gather", "scatter": one panel each; without any, all.

    Returns
    -------
    matplotlib.figure.Figure
    """
    kinds = kinds or tuple(_PATTERNS)
    for kind in kinds:
        if kind not in _PATTERNS:
            raise InvalidValue("kind", " or ".join(map(repr, _PATTERNS)), kind)
    columns = min(3, len(kinds))
    lines = -(-len(kinds) // columns)
    figure, axes = _axes(3.2 * columns, 2.3 * lines, columns * lines)
    if lines > 1:
        for ax in axes:
            ax.remove()
        axes = [figure.add_subplot(lines, columns, i + 1) for i in range(columns * lines)]
    for ax, kind in zip(axes, kinds):
        _pattern(ax, kind)
    for ax in axes[len(kinds) :]:
        ax.axis("off")
    return figure


def _pattern(ax, kind: str) -> None:
    work, text = _PATTERNS[kind]
    inputs = 1 + max(e for _, reads, _ in work for e in reads) // 8
    writes = [out for _, _, out in work]
    for e in range(8 * inputs):
        _cell(ax, e % 8, -1.2 * (e // 8), ORANGE)
    for thread, reads, out in work:
        _cell(ax, thread, 3, BLUE, str(thread), 8)
        for e in reads:
            ends = [e % 8 + 0.46 - 0.25 * (e >= 8), thread + 0.46 - 0.25 * (e >= 8)]
            ax.plot(ends, [0.95 - 1.2 * (e // 8), 3], color=ORANGE, lw=1.2, zorder=-e)
        twice = writes.count(out) > 1
        colour = VERMILION if twice else GREEN
        line = {"lw": 1.8, "ls": "--"} if twice else {"lw": 1.2}
        ax.plot([thread + 0.46, out + 0.46], [3.95, 6], color=colour, zorder=0, **line)
    for e in range(8):
        many = writes.count(e) > 1
        face = VERMILION if many else GREEN if e in writes else "none"
        _cell(ax, e, 6, face, f"{writes.count(e)}x" if many else "", 8)
    for y, name in ((0.46, "input"), (3.46, "thread"), (6.46, "output")):
        ax.text(-0.4, y, name, ha="right", va="center", color=INK, fontsize=8)
    ax.set_title(f"{kind}\n{text}", fontsize=8, color=INK)
    _bare(ax, 9, 7.2)
    ax.set_xlim(-3.0, 10.5)
    ax.set_ylim(7.2, -1.4 if inputs > 1 else -0.2)


def race(turns: Sequence[int] | str = "000111", start: int = 5):
    """Two threads that add 1 to the same element, in an order of your choice.

    Parameters
    ----------
    turns : str or sequence of int
        Whose step comes next: three 0 and three 1, as in ``"001011"``.  The three steps of a
        thread are: load the element, add 1, store it.
    start : int
        What the element holds before.

    Returns
    -------
    matplotlib.figure.Figure
    """
    steps = _steps(turns, start)
    figure, (ax,) = _axes(8, 2.5)
    rows = {0: 0.0, 1: 2.4}
    ax.text(-0.3, 1.66, "memory", ha="right", va="center", color=INK)
    for thread in (0, 1):
        ax.text(-0.3, rows[thread] + 0.46, f"thread {thread}", ha="right", va="center", color=INK)
    _wide(ax, 0, 1.2, PURPLE, str(start))
    for step, (thread, what, memory, register) in enumerate(steps, 1):
        text = (f"load {register}", f"add: {register}", f"store {register}")
        _wide(ax, step, rows[thread], (BLUE, GREEN)[thread], text[what])
        _wide(ax, step, 1.2, PURPLE, str(memory))
        if what != 1:
            near = rows[thread] + (0.92 if thread == 0 else 0)
            far = 1.2 if thread == 0 else 2.12
            ends = ((step + 0.46, far), (step + 0.46, near))
            tail, head = ends if what == 0 else ends[::-1]
            ax.annotate("", head, tail, arrowprops={"arrowstyle": "->", "color": INK, "lw": 1.2})
    text = "both additions counted" if memory == start + 2 else "one addition is lost"
    ax.text(7.15, 1.66, f"{memory}: {text}", va="center", color=INK, fontsize=10, weight="bold")
    _bare(ax, 10, 3.6)
    ax.set_xlim(-1.3, 10)
    ax.set_aspect("auto")
    return figure


def race_result(turns: Sequence[int] | str, start: int = 5) -> int:
    """What the element of `race` holds in the end.

    Parameters
    ----------
    turns : str or sequence of int
        Whose step comes next, three 0 and three 1.
    start : int
        What the element holds before.
    """
    return _steps(turns, start)[-1][2]


def _steps(turns: Sequence[int] | str, start: int) -> list[tuple[int, int, int, int]]:
    """``(thread, which of its steps, memory after it, register after it)`` for each turn."""
    order = [int(t) if str(t) in ("0", "1") else -1 for t in turns]
    if sorted(order) != [0, 0, 0, 1, 1, 1]:
        raise InvalidValue("turns", "three times 0 and three times 1, as in '001011'", turns)
    memory, register, done, steps = start, [0, 0], [0, 0], []
    for thread in order:
        what = done[thread]
        if what == 0:
            register[thread] = memory
        elif what == 1:
            register[thread] += 1
        else:
            memory = register[thread]
        done[thread] += 1
        steps.append((thread, what, memory, register[thread]))
    return steps


def warps(warps: int = 4, latency: int = 24, work: int = 3):
    """How one scheduler issues instructions of several warps, as `hetlab.show_warps` shows live.

    Parameters
    ----------
    warps, latency, work : int
        Warps to choose from, cycles until loaded data arrive, arithmetic between two loads.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from hetlab.widgets.draw_warps import warps_figure
    from hetlab.widgets.showing_gpu import warps_of

    return warps_figure(warps_of(warps, latency, work))


def _wide(ax, x: float, y: float, face: str, text: str) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((x, y), 0.92, 0.92, facecolor=face, edgecolor=EDGE, linewidth=0.8))
    dark = face == PURPLE
    ax.text(
        x + 0.46,
        y + 0.46,
        text,
        ha="center",
        va="center",
        fontsize=9,
        color=INK if dark else "white",
    )
