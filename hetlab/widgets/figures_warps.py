"""Pictures of what keeps warps busy, and what does not.

Pure functions, from data to a Matplotlib figure on white, so that it reads the same on a light and
on a dark page.  Where a colour carries meaning, position or a label carries it too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetlab.devices.chips import Chip
from hetlab.errors import InvalidValue
from hetlab.models.littles_law import in_flight, reached_rate
from hetlab.units import binary_bytes, quantity
from hetlab.vgpu.estimate import GLOBAL_LATENCY, nvidia
from hetlab.vgpu.occupancy import limits
from hetlab.widgets.figures_cpu import _axes
from hetlab.widgets.figures_timing import _quiet, _rows
from hetlab.widgets.lockstep import WARP, Lockstep, Walk
from hetlab.widgets.palette import BLUE, COLOURS, FAINT, INK, ORANGE, SKY, VERMILION
from hetlab.widgets.slots import Slots, curve

__all__ = ["little", "lockstep_figure", "occupancy_figure", "turns"]

SIDE_COLOURS = {"then": BLUE, "else": ORANGE, "turn": BLUE}


def _walk(ax, walk: Walk, width: int) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    boxes, faces = [], []
    for step, (side, mask) in enumerate(walk.steps):
        for lane in range(WARP):
            boxes.append(Rectangle((step + 0.06, lane + 0.1), 0.88, 0.8))
            faces.append(SIDE_COLOURS[side] if mask >> lane & 1 else "none")
    ax.add_collection(
        PatchCollection(boxes, facecolors=faces, edgecolors="#cccccc", linewidths=0.4)
    )
    ax.set(xlim=(0, max(width, 1)), ylim=(WARP, 0), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def lockstep_figure(data: Lockstep):
    """Warps in a branch or a loop: one column a position of the slider, one row a warp.

    Parameters
    ----------
    data : Lockstep
        From `hetlab.widgets.lockstep.lockstep`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    stops = data.stops
    if len(stops) > 6:  # as many as a page holds, the ends among them
        stops = tuple(stops[round(k * (len(stops) - 1) / 5)] for k in range(6))
    warps = len(stops[0].walks)
    figure, table = _rows(max(6, 1.5 * len(stops)), 0.7 + 1.25 * warps, warps, [1] * len(stops))
    for column, stop in enumerate(stops):
        for row, walk in enumerate(stop.walks):
            ax = table[row][column]
            _walk(ax, walk, data.width)
            if column == 0:
                ax.set_ylabel(f"warp {row}\n32 lanes", fontsize=8, color=INK)
        table[0][column].set_title(f"{stop.label}\n{stop.lanes:.1f} active", fontsize=8, color=INK)
    sides = "blue: the if side, orange: the else side" if data.kind == "branch" else "blue: a turn"
    figure.supxlabel(f"time, one step a column ({sides}, empty: waits; modelled)", fontsize=8)
    return figure


def turns(keys: Sequence[int]):
    """Where the lanes of one warp meet when each updates the address that its key says.

    Parameters
    ----------
    keys : sequence of int
        One key a lane, at most 32.

    Returns
    -------
    matplotlib.figure.Figure
        One column an address, one box a lane; the highest column is the number of turns.
    """
    keys = [int(k) for k in keys]
    if not 1 <= len(keys) <= WARP:
        raise InvalidValue("keys", "1 to 32 of them, one a lane", f"{len(keys)} keys")
    found = sorted(set(keys))
    height = max(keys.count(k) for k in found)
    figure, (ax,) = _axes(
        max(3.2, 0.27 * len(found) + 1.6), 1.1 + 0.9 * min(1, height / 10) + 0.02 * height
    )
    for x, key in enumerate(found):
        for y in range(keys.count(key)):
            colour = BLUE if y == 0 else VERMILION
            ax.bar(x, 0.86, bottom=y + 0.07, width=0.86, color=colour)
    ax.set(xlim=(-0.7, max(len(found), 8) - 0.3), ylim=(0, height + 0.5), xticks=range(len(found)))
    ax.set_xticklabels(found, fontsize=7)
    ax.set_yticks([height])
    _quiet(ax)
    ax.set_xlabel("key: the address that is updated", fontsize=8)
    ax.set_ylabel("lanes", fontsize=8)
    plural = "turn" if height == 1 else "turns"
    ax.set_title(f"one request of {len(keys)} lanes: {height} {plural}", fontsize=9, loc="left")
    return figure


def little(chip: str | Chip = "A100", loads: Sequence[int] = (1, 2, 4), itemsize: int = 4):
    """The bandwidth that so many resident warps can keep up, by Little's law: modelled.

    Parameters
    ----------
    chip : str or Chip
        An NVIDIA GPU of ``chips.toml``.
    loads : sequence of int
        A curve for each: how many independent loads each thread has on the way.
    itemsize : int
        Bytes of a load of one thread.

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    The latency is that of the A100, 290 cycles (Abdelkhalik et al. 2022), at the chip's clock.
    """
    if not loads or min(loads) < 1 or len(loads) > len(COLOURS):
        raise InvalidValue("loads", f"1 to {len(COLOURS)} positive numbers", loads)
    chip = nvidia(chip)
    most = limits(chip.capability).warps
    latency = GLOBAL_LATENCY / chip.clock
    warps = np.arange(0, most + 1)
    figure, (ax,) = _axes(7.2, 3)
    ax.axhline(chip.bandwidth, color=FAINT, linestyle="--", linewidth=1)
    ax.text(most, chip.bandwidth * 1.02, f"peak {quantity(chip.bandwidth, 'B/s')}", ha="right",
            va="bottom", fontsize=8, color=INK)  # fmt: skip
    for n, colour in zip(loads, COLOURS):
        flying = warps * WARP * itemsize * n * chip.units
        rate = reached_rate(flying, latency, chip.bandwidth)
        ax.plot(warps, rate, color=colour, linewidth=2)
        share = 0.25 + 0.5 * list(loads).index(n) / len(loads)
        at = int(np.argmax(rate > share * chip.bandwidth)) or most
        name = f"{n} load{'s' * (n > 1)} a thread"
        ax.annotate(name, (warps[at], rate[at]), xytext=(6, -10), textcoords="offset points",
                    fontsize=8, color=colour,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4})  # fmt: skip
    need = in_flight(chip.bandwidth, latency)
    ax.set_title(
        f"{chip.name}: {binary_bytes(round(need))} must be on the way, "
        f"{binary_bytes(round(need / chip.units))} a multiprocessor (modelled)",
        fontsize=9, loc="left",
    )  # fmt: skip
    ax.set(xlim=(0, most), ylim=(0, chip.bandwidth * 1.18))
    ax.set_xlabel("resident warps a multiprocessor, all of them waiting for memory", fontsize=8)
    ax.yaxis.set_major_formatter(lambda value, _: quantity(value, "B/s") if value else "0")
    ax.tick_params(labelsize=8)
    _quiet(ax)
    return figure


def occupancy_figure(slots: Slots):
    """Occupancy when one of threads, registers and shared memory varies and the others stay.

    Parameters
    ----------
    slots : Slots
        From `hetlab.widgets.slots.slots_of`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (row,) = _rows(9, 2.3, 1, (1, 1, 1))
    names = {
        "threads": "threads a block",
        "registers": "registers a thread",
        "shared": "shared memory a block (KiB)",
    }
    found = slots.occupancy
    for ax, (vary, text) in zip(row, names.items()):
        scale = 1024 if vary == "shared" else 1
        x, y = zip(*curve(slots, vary))
        ax.step(np.array(x) / scale, y, where="post", color=BLUE, linewidth=1.8)
        ax.plot(getattr(slots, vary) / scale, found.percent, "o", ms=7, mfc="white", mec=VERMILION,
                mew=2)  # fmt: skip
        ax.axhline(100, color=SKY, linewidth=0.8, linestyle=":")
        ax.set_xlabel(text, fontsize=8)
        ax.set_ylim(0, 108)
        ax.tick_params(labelsize=8)
        _quiet(ax)
    row[0].set_ylabel("occupancy (%)", fontsize=8)
    figure.suptitle(str(found), fontsize=8.5, color=INK)
    return figure
