"""Pictures of stream compaction, and of a published ladder of reductions."""

from __future__ import annotations

from collections.abc import Sequence

from hetlab.errors import InvalidValue
from hetlab.widgets.figures_cpu import _axes, _bare, _cell
from hetlab.widgets.palette import BLUE, FAINT, GREEN, INK

__all__ = ["HARRIS", "PEAK", "compaction", "harris"]

HARRIS = {
    "interleaved, divergent": 2.083,
    "interleaved, bank conflicts": 4.854,
    "sequential": 9.741,
    "first add during load": 17.377,
    "last warp unrolled": 31.289,
    "all unrolled": 43.996,
    "several elements a thread": 62.671,
}
"""GB/s, sum of 2**22 ints.  M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA 2007."""

PEAK = 86.4
"""GB/s: the peak bandwidth of that GPU, a G80 (the same source)."""


def harris():
    """The best-known ladder of reductions, as its author published it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (ax,) = _axes(8, 2.9)
    names, rates = list(HARRIS), list(HARRIS.values())
    ax.barh(range(len(names)), rates, height=0.66, color=BLUE)
    for row, rate in enumerate(rates):
        more = f"  ({rate / rates[row - 1]:.1f} times the step before)" if row else ""
        ax.text(rate + 1, row, f"{rate:g}{more}", va="center", fontsize=8, color=INK)
    ax.axvline(PEAK, color=FAINT, ls="--", lw=1, ymax=0.86, ymin=0.16)
    ax.text(PEAK - 0.5, -0.9, f"peak of the memory: {PEAK:g}", ha="right", fontsize=8, color=INK)
    ax.set(xlim=(0, 116), ylim=(len(names) - 0.4, -1.2))
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_xlabel("GB/s, recorded: G80 GPU, sum of $2^{22}$ integers, M. Harris 2007", fontsize=9)
    ax.tick_params(length=0)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def compaction(values: Sequence[int] = (3, -1, 4, 1, -5, 9, -2, 6)):
    """How the elements above zero find their places: flags, an exclusive scan, a scatter.

    Parameters
    ----------
    values : sequence of int
        At most 16 numbers.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not 1 <= len(values) <= 16:
        raise InvalidValue("values", "1 to 16 numbers", len(values))
    flags = [int(v > 0) for v in values]
    places = [sum(flags[:i]) for i in range(len(values))]
    figure, (ax,) = _axes(8, 3.0)
    rows = [("x", values), ("flag: x > 0", flags), ("exclusive scan", places)]
    for row, (name, shown) in enumerate(rows):
        ax.text(-0.5, 1.4 * row + 0.46, name, ha="right", va="center", color=INK)
        for i, value in enumerate(shown):
            _cell(ax, i, 1.4 * row, GREEN if flags[i] else "none", str(value))
    low = 1.4 * 3 + 1.4
    kept = [v for v in values if v > 0]
    ax.text(-0.5, low + 0.46, "out", ha="right", va="center", color=INK)
    for i in range(len(values)):
        _cell(ax, i, low, GREEN if i < len(kept) else "none", str(kept[i]) if i < len(kept) else "")
    for i, place in enumerate(places):
        if flags[i]:
            ends = (place + 0.46, low - 0.05), (i + 0.46, 1.4 * 2 + 0.97)
            ax.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": INK, "lw": 1.2})
    _bare(ax, len(values) + 0.2, low + 1.2)
    ax.set_xlim(-4.2, len(values) + 3)
    return figure
