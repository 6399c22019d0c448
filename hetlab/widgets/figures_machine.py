"""Pictures of a machine: its roads, its stages of work, who is fastest from which size on.

Pure functions from data to a figure or to HTML.  Colour never carries a meaning alone.
"""

from __future__ import annotations

import bisect
import html
from collections.abc import Sequence

from hetlab.errors import InvalidValue
from hetlab.models.domain import number
from hetlab.models.role_figures import modelled_devices
from hetlab.units import quantity, seconds
from hetlab.widgets.figures_cpu import _axes
from hetlab.widgets.palette import BLUE, COLOURS, GREEN, INK, MARKERS, ORANGE, VERMILION

__all__ = ["device_html", "instructions", "roads", "roles_html", "shares", "sizes_figure"]

_EDGE = "#8a8a8a"


def roads():
    """A server with one accelerator: each road as wide as its bandwidth.

    Returns
    -------
    matplotlib.figure.Figure
        Bandwidths are those published for the modelled CPU, GPU and DPU.
    """
    known = modelled_devices()
    cpu, gpu, dpu = known["CPU"], known["GPU"], known["DPU"]
    figure, (ax,) = _axes(9, 2.9)
    boxes = {  # name: left, bottom, colour
        "network": (0, 0, _EDGE),
        "CPU\na few strong cores": (3, 0, BLUE),
        "main memory": (3, 2.2, GREEN),
        "GPU\nmany simple cores": (7.2, 0, VERMILION),
        "its own memory": (7.2, 2.2, GREEN),
    }
    wide, tall = 1.9, 1.0
    for text, (x, y, colour) in boxes.items():
        _box(ax, x, y, wide, tall, text, colour)
    upright = [(3 + wide / 2, cpu.bandwidth.value), (7.2 + wide / 2, gpu.bandwidth.value)]
    for x, rate in upright:
        _road(ax, x, tall, x, 2.2, rate, quantity(rate, "B/s"))
    port = dpu.rates["network data"].value
    _road(ax, wide, tall / 2, 3, tall / 2, port, quantity(port, "B/s"))
    link = gpu.link.value
    _road(ax, 3 + wide, tall / 2, 7.2, tall / 2, link, f"link: {quantity(link, 'B/s')}")
    ax.set_xlim(-0.2, 9.5)
    ax.set_ylim(-0.2, 3.4)
    ax.set_aspect("equal")
    ax.axis("off")
    return figure


def _box(ax, x, y, wide, tall, text, colour):
    from matplotlib.patches import FancyBboxPatch

    style = "round,pad=0,rounding_size=0.1"
    ax.add_patch(FancyBboxPatch((x, y), wide, tall, style, fc="white", ec=colour, lw=2, zorder=3))
    at = x + wide / 2, y + tall / 2
    ax.text(*at, text, ha="center", va="center", color=INK, fontsize=9, zorder=4)


def _road(ax, x0, y0, x1, y1, rate, text):
    """A road; its width is in units of the picture, 1 for 1.6 TB/s."""
    from matplotlib.patches import Rectangle

    width = rate / 1.6e12
    if x0 == x1:
        ax.add_patch(Rectangle((x0 - width / 2, y0), width, y1 - y0, fc=ORANGE, ec="none"))
        ax.text(x0 + width / 2 + 0.1, (y0 + y1) / 2, text, va="center", color=INK, fontsize=9)
    else:
        ax.add_patch(Rectangle((x0, y0 - width / 2), x1 - x0, width, fc=ORANGE, ec="none"))
        ax.text((x0 + x1) / 2, y0 + 0.12, text, ha="center", color=INK, fontsize=9)


def instructions(count: int = 4, stages: int = 4):
    """When one core works on which instruction: each waits for the one before, or none does.

    Parameters
    ----------
    count, stages : int
        Instructions, and clock cycles that each takes from start to end.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if count < 1 or stages < 1:
        raise InvalidValue("count and stages", "at least 1", (count, stages))
    from matplotlib.patches import Rectangle

    figure, panels = _axes(9, 0.32 * count + 1.0, 2)
    end = count * stages
    for ax, apart, title in zip(
        panels, (stages, 1), ("each needs the result before", "none needs another")
    ):
        for i in range(count):
            for s in range(stages):
                cell = Rectangle((i * apart + s + 0.04, i + 0.1), 0.92, 0.8)
                cell.set(fc=COLOURS[i % len(COLOURS)], ec="white", alpha=1 - 0.15 * s)
                ax.add_patch(cell)
            ax.text(-0.3, i + 0.5, f"{i + 1}", ha="right", va="center", color=INK)
        cycles = (count - 1) * apart + stages
        ax.set_title(f"{title}: {cycles} cycles", fontsize=10, color=INK)
        ax.set_xlim(-1, end + 0.3)
        ax.set_ylim(count, 0)
        ax.set_yticks([])
        ax.set_xlabel("clock cycle", fontsize=9)
        ax.spines[["top", "right", "left"]].set_visible(False)
    return figure


def shares(serial: float, processors: Sequence[int] = (1, 2, 4, 8, 16)):
    """Where the time goes on more processors: the same job (Amdahl), and a job that grows.

    Parameters
    ----------
    serial : float
        Share of the time on one processor that cannot be divided, 0 to 1.
    processors : sequence of int
        One bar for each.

    Returns
    -------
    matplotlib.figure.Figure
        Modelled; the time on one processor is 1.
    """
    serial = float(number("serial", serial, least=0, most=1))
    number("processors", list(processors), least=1)
    figure, panels = _axes(9, 2.6, 2)
    names = [str(p) for p in processors]
    for k, (ax, title) in enumerate(
        zip(panels, ("the same job", "a job that grows with the machine"))
    ):
        for i, p in enumerate(processors):
            divided = (1 - serial) / p if k == 0 else 1 - serial
            work = 1 if k == 0 else serial + p * (1 - serial)
            ax.bar(i, serial, color=VERMILION, width=0.7)
            ax.bar(i, divided, bottom=serial, color=BLUE, width=0.7)
            total = serial + divided
            ax.text(i, total + 0.02, f"{work / total:.1f}x", ha="center", fontsize=9, color=INK)
        ax.set_title(f"{title} (modelled)", fontsize=10, color=INK)
        ax.set_xticks(range(len(names)), names)
        ax.set_xlabel("processors", fontsize=9)
        ax.set_ylim(0, 1.15)
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("time")
    where = {"ha": "center", "va": "center", "color": "white", "fontsize": 8}
    if serial >= 0.08:
        panels[1].text(0, serial / 2, "serial", **where)
    if serial <= 0.9:
        panels[1].text(0, serial + (1 - serial) / 2, "divided", **where)
    return figure


def sizes_figure(sizes):
    """Modelled time over size on each device; a ring where it begins to beat the CPU.

    Parameters
    ----------
    sizes : hetlab.widgets.sizes.Sizes

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (ax,) = _axes(9, 3.6)
    for i, (name, times) in enumerate(sizes.times[sizes.data].items()):
        style = {"marker": MARKERS[i], "markevery": (3 + 2 * i, 12), "ms": 6, "lw": 2}
        ax.plot(sizes.grid, times, color=COLOURS[i], label=sizes.verdict(name), **style)
        if meets := sizes.meets[sizes.data][name]:
            k = bisect.bisect_left(sizes.grid, meets)
            ring = {"ms": 11, "mfc": "none", "mec": INK, "mew": 1.5, "zorder": 4}
            ax.plot([sizes.grid[k]], [times[k]], "o", **ring)
    ax.set(xscale="log", yscale="log", xlabel=f"{sizes.workload.size_is} (n)", ylabel="time")
    ax.yaxis.set_major_formatter(lambda value, _: _tick(value))
    ax.set_title(f"{sizes.title}; {sizes.where()}", fontsize=10, color=INK, loc="left")
    ax.grid(which="major", color="#e4e4e4", lw=0.7)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=9, framealpha=0.9, edgecolor="#cccccc", loc="upper left")
    return figure


def _tick(value: float) -> str:
    """A power of ten with its prefix: ``'10 ms'``."""
    figure, _, unit = seconds(value).partition(" ")
    return f"{float(figure):g} {unit}"


def roles_html(table) -> str:
    """A RoleTable as HTML: the best of each row bold and starred."""
    cell = "text-align:right;padding:3px 14px 3px 0;border:0;white-space:nowrap"
    left = cell.replace("right", "left", 1)
    head = ["", *(d.name for d in table.devices), "best"]
    rows = ["".join(f"<th style='{cell if h in _kinds(table) else left}'>{h}</th>" for h in head)]
    for job in table.workloads:
        first = table.best(job.name)
        size = f"{table.sizes[job.name]:,} {job.size_is}"
        row = f"<td style='{left}'><b>{_safe(job.name)}</b> <small>{size}</small></td>"
        for name, text in table.cells(job.name).items():
            strong = f"<b style='color:{GREEN}'>★ {text}</b>" if name in first else text
            faint = ";opacity:0.6" if text in ("cannot", "unknown") else ""
            row += f"<td style='{cell}{faint}'>{strong}</td>"
        names, _, rest = table.verdict(job.name).partition(", ")
        best = f"<b>{names}</b>" + (f", {rest}" if rest else "")
        row += f"<td style='{left}'>{best}</td>"
        rows.append(row)
    body = "".join(f"<tr style='background:none'>{row}</tr>" for row in rows)
    foot = table.legend.replace("* ", "★ ")
    return (
        f"<div>{_safe(table.title)}<table style='border-collapse:collapse;margin:2px 0'>{body}"
        f"</table><div style='opacity:0.75;font-size:90%'>{_safe(foot)}</div></div>"
    )


def device_html(device) -> str:
    """A ModelledDevice: each number with its range, its label and its source."""
    cell = "text-align:left;vertical-align:top;padding:2px 14px 2px 0;border:0"
    short = f"{cell};white-space:nowrap"
    rows = [
        (name, f"<b>{_safe(given)}</b>", _safe(given.label), _safe(given.source))
        for name, given in device.numbers.items()
    ]
    rows += [(name, "cannot", "", _safe(why)) for name, why in device.cannot.items()]
    body = "".join(
        "<tr style='background:none'>"
        + "".join(f"<td style='{short}'>{text}</td>" for text in row[:3])
        + f"<td style='{cell}'>{row[3]}</td></tr>"
        for row in rows
    )
    return (
        f"<div><b>{_safe(device.name)}</b>: {_safe(device.chip)}"
        f"<table style='border-collapse:collapse;margin:2px 0'>{body}</table></div>"
    )


def _kinds(table) -> set[str]:
    return {d.name for d in table.devices}


def _safe(text: str) -> str:
    return html.escape(str(text))
