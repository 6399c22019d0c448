"""A timeline of streams as SVG, and what a transfer costs as Matplotlib figures."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from hetlab.models.streams import ENGINES, StreamTimeline
from hetlab.models.transfer import link, transfer_seconds, zero_copy_seconds
from hetlab.units import binary_bytes, quantity, seconds
from hetlab.widgets.palette import BLUE, COLOURS, FAINT, GREEN, INK, ORANGE

__all__ = ["ENGINE_COLOURS", "stories_figure", "timeline_svg", "touches", "transfers"]

ENGINE_COLOURS = {"copy in": ORANGE, "kernel": BLUE, "copy out": GREEN}


def timeline_svg(line: StreamTimeline, until: float | None = None) -> str:
    """Streams downwards, time to the right; the colour says which engine works.

    Parameters
    ----------
    line : StreamTimeline
    until : float, optional
        Seconds at the right edge; the end of the timeline otherwise.
    """
    until = until or line.seconds or 1.0
    names = list(dict.fromkeys(p.stream for p in line.pieces))
    left, wide, high = 70, 500, 26
    ink = "var(--jp-ui-font-color1, currentColor)"
    title = f"{len(names)} streams, {seconds(line.seconds)} in all (modelled)"
    parts = [f'<text x="0" y="12" style="fill:{ink}">{escape(title)}</text>']
    for row, name in enumerate(names):
        y = 22 + row * high
        parts.append(f'<text x="0" y="{y + 15}" style="fill:{ink}">stream {escape(name)}</text>')
        for p in (p for p in line.pieces if p.stream == name):
            x, w = left + wide * p.start / until, wide * (p.end - p.start) / until
            hint = f"{p.engine} {p.name}: {seconds(p.start) if p.start else '0 s'} to "
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{max(w - 1, 0.7):.1f}" height="{high - 6}" '
                f'rx="2" style="fill:{ENGINE_COLOURS[p.engine]}">'
                f"<title>{escape(hint + seconds(p.end))}</title></rect>"
            )
            if w > 7 * len(p.name):
                shade = "#fff" if p.engine == "kernel" else "#111"
                parts.append(
                    f'<text x="{x + w / 2:.1f}" y="{y + 14}" text-anchor="middle" '
                    f'style="fill:{shade};font-size:11px">{escape(p.name)}</text>'
                )
    y = 30 + len(names) * high
    for i, engine in enumerate(ENGINES):
        x = left + 130 * i
        parts.append(
            f'<rect x="{x}" y="{y}" width="11" height="11" style="fill:{ENGINE_COLOURS[engine]}"/>'
            f'<text x="{x + 16}" y="{y + 10}" style="fill:{ink}">{engine}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {left + wide + 4} '
        f'{y + 18}" style="max-width:100%;width:{left + wide + 4}px;font:12px sans-serif">'
        f"<title>{escape(repr(line))}</title>{''.join(parts)}</svg>"
    )


def timeline_html(line: StreamTimeline) -> str:
    """The picture, and under it what is not in order."""
    notes = "".join(
        f"<div style='border-left:3px solid #E69F00;padding-left:8px;margin:3px 0'>"
        f"{escape(text)}</div>"
        for text in line.hazards()
    )
    return f"<div>{timeline_svg(line)}{notes}</div>"


def stories_figure(stories):
    """Timelines of the same work below each other, on one clock.

    Parameters
    ----------
    stories : Stories
        From `hetlab.widgets.streams.stories_of`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from hetlab.widgets.figures_timing import _quiet, _rows

    shown = [s for s in stories.states if s.pinned and s.streams in (1, 3)]
    picked = [shown[0], *(s for s in shown if s.streams == 3 and s.chunks in stories.chunks[2:4])]
    figure, table = _rows(7.5, 0.5 + 1.05 * len(picked), len(picked), [1])
    for (ax,), state in zip(table, picked):
        names = list(dict.fromkeys(p.stream for p in state.line.pieces))
        for p in state.line.pieces:
            ax.barh(names.index(p.stream), p.end - p.start, left=p.start, height=0.75,
                    color=ENGINE_COLOURS[p.engine], edgecolor="white", linewidth=0.5)  # fmt: skip
        ax.set(yticks=range(len(names)), xlim=(0, stories.longest), ylim=(len(names) - 0.4, -0.6))
        ax.set_yticklabels([f"stream {n}" for n in names], fontsize=7)
        ax.xaxis.set_major_formatter(lambda value, _: seconds(value) if value else "0")
        ax.tick_params(labelsize=7)
        ax.set_title(str(state), fontsize=8, loc="left", color=INK)
        _quiet(ax)
    figure.supxlabel("orange: copy in, blue: kernel, green: copy out (modelled)", fontsize=8)
    return figure


def transfers(links: Sequence[str] = ("PCIe 4", "PCIe 5", "NVLink-C2C"), pinned: bool = True):
    """The bandwidth that a copy reaches, by its size: modelled.

    Parameters
    ----------
    links : sequence of str
        Keys of `hetlab.models.transfer.LINKS`.
    pinned : bool
        Whether the data lie in pinned memory.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from hetlab.widgets.figures_cpu import _axes
    from hetlab.widgets.figures_timing import _quiet

    figure, (ax,) = _axes(7, 2.9)
    sizes = np.logspace(2, 9.3, 120)
    for name, colour in zip(links, COLOURS):
        way = link(name)
        rate = sizes / transfer_seconds(sizes, way, pinned=pinned)
        ax.loglog(sizes, rate, color=colour, linewidth=2)
        ax.axhline(way.bandwidth, color=colour, linewidth=0.8, linestyle=":")
        ax.plot([way.half_size], [way.bandwidth / 2], "o", color=colour, ms=6)
        text = f"{name}: half at {binary_bytes(round(way.half_size))}"
        ax.annotate(text, (way.half_size, way.bandwidth / 2), xytext=(9, -9),
                    textcoords="offset points", fontsize=8, color=colour)  # fmt: skip
    ax.set_xlabel("bytes of one copy", fontsize=8)
    ax.xaxis.set_major_formatter(lambda value, _: binary_bytes(round(value)))
    ax.set_xticks([2**k for k in (7, 10, 13, 16, 20, 23, 26, 30)])
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(lambda value, _: quantity(value, "B/s"))
    ax.tick_params(labelsize=8)
    ax.set_title("reached bandwidth (modelled)", fontsize=9, loc="left", color=INK)
    _quiet(ax)
    return figure


def touches(nbytes: float, over: str = "PCIe 4", bandwidth: float = 1.555e12, most: int = 6):
    """Reading main memory over the link, or copying first: time by how often data are touched.

    Parameters
    ----------
    nbytes : float
        Size of the data.
    over : str
        A key of `hetlab.models.transfer.LINKS`.
    bandwidth : float
        Of the device's own memory, B/s.
    most : int
        The largest number of touches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from hetlab.widgets.figures_cpu import _axes
    from hetlab.widgets.figures_timing import _quiet

    times = np.arange(0, most + 1) / 2
    direct, copied = zero_copy_seconds(nbytes, times, over, bandwidth=bandwidth)
    figure, (ax,) = _axes(6, 2.5)
    ax.plot(times, direct, color=COLOURS[1], linewidth=2, marker="s", ms=5, label="zero copy")
    ax.plot(times, copied, color=COLOURS[0], linewidth=2, marker="o", ms=5, label="copy first")
    ax.axvline(1, color=FAINT, linewidth=0.8, linestyle=":")
    ax.set_xlabel("how often the kernel reads each byte, on average", fontsize=8)
    ax.yaxis.set_major_formatter(lambda value, _: seconds(value) if value > 0 else "0")
    ax.set_ylim(bottom=0)
    ax.tick_params(labelsize=8)
    ax.legend(fontsize=8, frameon=False)
    ax.set_title(f"{binary_bytes(round(nbytes))} over {over} (modelled)", fontsize=9, loc="left")
    _quiet(ax)
    return figure
