"""A picture of fusion: which arrays go through memory between the kernels of a plan.

A pure function, from a plan to a Matplotlib figure on white; words say what colours say.
"""

from __future__ import annotations

from collections.abc import Sequence

from hetlab.errors import InvalidValue
from hetlab.widgets.figures_cpu import EDGE, INK, _axes
from hetlab.widgets.palette import BLUE, ORANGE, VERMILION

__all__ = ["plan"]

Operator = tuple[str, Sequence[str]]


def plan(kernels: Sequence[Sequence[Operator]], result: str):
    """Kernels side by side, memory above them, an arrow for each array that moves.

    Parameters
    ----------
    kernels : sequence of sequence of (str, sequence of str)
        Each kernel is a list of operators: what it makes, and what it reads.
    result : str
        The array that is asked for.

    Returns
    -------
    matplotlib.figure.Figure
        Blue arrows go down (read), orange ones up (written); what stays inside a kernel is
        written in its box.
    """
    if not 1 <= len(kernels) <= 6 or any(not kernel for kernel in kernels):
        raise InvalidValue("kernels", "1 to 6 lists with at least one operator", kernels)
    if result not in {made for kernel in kernels for made, _ in kernel}:
        raise InvalidValue("result", "something that a kernel makes", result)
    figure, (ax,) = _axes(9, 2.6)
    wide, moved = 2.6, 0
    for number, kernel in enumerate(kernels):
        made = list(dict.fromkeys(name for name, _ in kernel))
        read = [n for n in dict.fromkeys(i for _, ins in kernel for i in ins) if n not in made]
        later = {i for other in kernels[number + 1 :] for _, ins in other for i in ins}
        written = [n for n in made if n in later or n == result]
        left = number * (wide + 0.5)
        kept = [n for n in made if n not in written]
        _box(ax, left, wide, f"kernel {number + 1}", _stays(kept))
        arrows = [(name, False) for name in read] + [(name, True) for name in written]
        for at, (name, up) in enumerate(arrows):
            _arrow(ax, left + (at + 0.5) * wide / len(arrows), name, up)
        moved += len(arrows)
    end = len(kernels) * (wide + 0.5) - 0.5
    ax.plot([-0.2, end + 0.2], [2.1, 2.1], color=EDGE, lw=6, solid_capstyle="butt")
    ax.text(-0.35, 2.1, "memory", ha="right", va="center", color=INK)
    ax.text(
        end + 0.5, 1.3, f"{moved} arrays\nmove", va="center", color=INK, fontsize=11, weight="bold"
    )
    ax.set_xlim(-2, end + 2.2)
    ax.set_ylim(-0.3, 2.4)
    ax.axis("off")
    return figure


def _stays(names: list[str]) -> str:
    return f"{' and '.join(names)} stay{'s' if len(names) == 1 else ''} here" if names else ""


def _box(ax, left: float, wide: float, name: str, stays: str) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((left, 0), wide, 0.8, facecolor="#eef3f7", edgecolor=EDGE))
    ax.text(left + wide / 2, 0.55 if stays else 0.4, name, ha="center", va="center", color=INK)
    if stays:
        ax.text(left + wide / 2, 0.22, stays, ha="center", va="center", color=INK, fontsize=8)


def _arrow(ax, x: float, name: str, up: bool) -> None:
    start, end = ((x, 0.82), (x, 2.02)) if up else ((x, 2.02), (x, 0.82))
    colour = ORANGE if up else BLUE
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2})
    ax.text(x + 0.07, 1.45, name, color=VERMILION if up else BLUE, va="center", fontsize=9)
