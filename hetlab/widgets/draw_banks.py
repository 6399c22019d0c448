"""The banks as a Matplotlib figure: one panel for each choice."""

from __future__ import annotations

from hetlab.errors import optional
from hetlab.widgets.banks import BANKS, Banks
from hetlab.widgets.palette import BLUE, FAINT, INK, VERMILION, fonts

__all__ = ["banks_figure"]


def banks_figure(banks: Banks):
    """Draw where the words of one request lie: 32 banks to the right, rows of 32 words downwards.

    Parameters
    ----------
    banks : Banks

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingLibrary
        Without Matplotlib.
    """
    matplotlib = optional("matplotlib", "lab", "draw the banks")
    with matplotlib.rc_context({"font.family": fonts()}):
        return _draw(banks)


def _draw(banks: Banks):
    from matplotlib.collections import PatchCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    lanes: dict[int, list[int]] = {}
    for lane, word in enumerate(banks.words):
        lanes.setdefault(word, []).append(lane)
    rows = max(lanes) // BANKS + 1
    figure = Figure(figsize=(8, 1.3 + 0.16 * rows), layout="constrained", facecolor="white")
    axes = figure.add_subplot(facecolor="white")
    busy = [sum(word % BANKS == bank for word in lanes) for bank in range(BANKS)]
    empty = []
    for bank in range(BANKS):
        for row in range(rows):
            mine = lanes.get(row * BANKS + bank)
            cell = Rectangle((bank, row), 0.94, 0.94)
            if not mine:
                empty.append(cell)
            else:
                cell.set(fc=BLUE if busy[bank] == 1 else VERMILION, ec=FAINT, lw=0.4)
                axes.add_patch(cell)
                text = str(mine[0]) if len(mine) == 1 else "all"
                place = (bank + 0.47, row + 0.5)
                axes.text(*place, text, ha="center", va="center", fontsize=6, color="white")
    # One collection: a thousand shapes of their own take a second to draw.
    axes.add_collection(PatchCollection(empty, fc="none", ec=FAINT, lw=0.4))
    axes.set(xlim=(-0.3, BANKS + 0.3), ylim=(rows + 0.2, -0.2))
    axes.set_xticks([b + 0.5 for b in range(0, BANKS, 4)], [str(b) for b in range(0, BANKS, 4)])
    axes.set_yticks([])
    axes.tick_params(length=0, labelsize=8, colors=INK)
    axes.set_xlabel("bank; the number in a cell is the lane that reads this word", fontsize=9)
    axes.set_title(f"{banks.title}\n{banks.verdict}", fontsize=9, color=INK, loc="left")
    axes.spines[:].set_visible(False)
    return figure
