"""A map of the machine: what computes, what remembers, how large it is, and what is not here.

A pure function from a list of devices to SVG text; it takes its text colour from the page.
"""

from __future__ import annotations

import html
import math

from hetlab.units import binary_bytes
from hetlab.widgets.palette import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION

__all__ = ["devices_html", "machine_map"]

WIDTH, GAP, PAD = 720, 14, 10
_COLOURS = {  # in the order in which the kinds are drawn
    "cpu": BLUE,
    "memory": GREEN,
    "gpu": VERMILION,
    "virtual gpu": PURPLE,
    "disk": ORANGE,
    "worker": SKY,
}
_LINE = 15  # height of a line of text
_MOST_UNITS = 512  # little squares; more would be dust
_PER_ROW = 3


def machine_map(devices) -> str:
    """Draw the machine.

    Parameters
    ----------
    devices : hetlab.devices.DeviceList

    Returns
    -------
    str
        An SVG element.  Each square is a core or a multiprocessor; a dashed frame is a device
        that is not here.  Sizes are written, and not to scale.
    """
    first = [d for d in devices if d.kind in ("cpu", "memory")]
    rest = [d for d in devices if d.kind not in ("cpu", "memory")]
    rest.sort(key=lambda d: list(_COLOURS).index(d.kind) if d.kind in _COLOURS else 99)
    rows = [first] if first else []
    rows += [rest[i : i + _PER_ROW] for i in range(0, len(rest), _PER_ROW)]
    gone = list(devices.absent)
    rows += [gone[i : i + _PER_ROW] for i in range(0, len(gone), _PER_ROW)]
    parts, top = [], 2.0
    for row in rows:
        cards = [_Card(d, width) for d, width in zip(row, _widths(row))]
        height = max(card.height for card in cards)
        left = 2.0
        for card in cards:
            parts.append(card.draw(left, top, height))
            left += card.width + GAP
        top += height + GAP
    legend = "Each square is a core or a multiprocessor; a dashed frame is not here."
    parts.append(f'<text x="2" y="{top + 4:.0f}" opacity="0.75" font-size="11">{legend}</text>')
    top += _LINE
    label = "Map of this machine: " + "; ".join(f"{d.kind} {d.name}" for d in devices)
    return (
        f'<svg role="img" aria-label="{_safe(label)}" viewBox="0 0 {WIDTH} {top:.0f}" '
        f'width="{WIDTH}" style="max-width:100%;height:auto;font:12px sans-serif" '
        f'fill="currentColor" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def _widths(row) -> list[float]:
    """The processor gets most of its row; all others share theirs evenly."""
    free = WIDTH - 4 - GAP * (len(row) - 1)
    if [d.kind for d in row] == ["cpu", "memory"]:
        return [free * 0.66, free * 0.34]
    return [free / len(row)] * len(row)


class _Card:
    """A frame with a title, lines of text and, at most, one drawing below them."""

    def __init__(self, device, width: float) -> None:
        self.device, self.width = device, width
        self.present = hasattr(device, "facts")
        inside = width - 2 * PAD
        self.title = _cut(device.name, inside / 7.2)
        self.lines: list[str] = []
        self.picture, tall = "", 0.0
        if not self.present:
            self.lines = _wrapped("not here: " + device.why, inside / 6.2, most=3)
        elif device.kind == "cpu":
            self.lines = _cpu_lines(device, inside / 6.2)
            self.picture, tall = _cores(device.facts, inside)
        elif device.kind == "memory":
            self.lines = _wrapped(device.says, inside / 6.2, most=3)
            self.picture, tall = _filled(device.facts, inside)
        else:
            self.lines = _wrapped(device.says, inside / 6.2, most=3)
            units = device.facts.get("multiprocessors") or device.facts.get("compute_units")
            if units:
                self.picture, tall = _squares(units, inside, _COLOURS["gpu"])
        self.body = PAD + _LINE * (1 + len(self.lines)) + 8
        self.height = self.body + (tall + PAD if tall else 2)

    def draw(self, x: float, y: float, height: float) -> str:
        colour = _COLOURS.get(self.device.kind, BLUE)
        dash = "" if self.present else ' stroke-dasharray="4 4" opacity="0.75"'
        text = "".join(
            f'<text x="{PAD}" y="{PAD + _LINE * (i + 2) - 2}" opacity="0.85">{_safe(line)}</text>'
            for i, line in enumerate(self.lines)
        )
        return (
            f'<g transform="translate({x:.1f} {y:.1f})"><title>{_safe(self._told())}</title>'
            f'<rect width="{self.width:.1f}" height="{height:.1f}" rx="6" fill="none" '
            f'stroke="{colour}" stroke-width="2"{dash}/>'
            f'<text x="{PAD}" y="{PAD + _LINE - 3}" font-weight="bold">{_safe(self.title)}</text>'
            f'{text}<g transform="translate({PAD} {self.body:.1f})">{self.picture}</g></g>'
        )

    def _told(self) -> str:
        """Everything, for the pointer and for a screen reader."""
        return f"{self.device.kind}: {self.device.name}. {self.device.says}"


def _cpu_lines(device, wide: float) -> list[str]:
    f = device.facts
    lines = [device.says.split(";")[0]]
    own = [c for c in f.get("caches", ()) if c["kind"] != "instruction" and c["level"] < 3]
    if own:
        sizes = [
            f"L{c['level']}{'d' * (c['kind'] == 'data')} {binary_bytes(c['bytes'])}" for c in own
        ]
        lines.append("each core: " + ", ".join(dict.fromkeys(sizes)))
    if f.get("simd"):
        lines.append(f"{f['simd']}: vectors of {f['vector_bits']} bits")
    return [_cut(line, wide) for line in lines]


def _cores(f: dict, wide: float) -> tuple[str, float]:
    """Cores in the groups that share a last level cache, with that cache below each group."""
    cores = f.get("physical") or f.get("logical")
    if not cores:
        return "", 0.0
    shared = [c for c in f.get("caches", ()) if c["level"] >= 3]
    groups = shared[-1]["instances"] if shared else 1
    if cores % groups or groups > 24:
        groups = 1
    columns = min(groups, 4)
    each = (wide - 8 * (columns - 1)) / columns
    picture, tall = _squares(cores // groups, each, _COLOURS["cpu"])
    label = ""
    if shared:
        label = f"L{shared[-1]['level']} {binary_bytes(shared[-1]['bytes'])}"
    step = tall + (24 if label else 6)
    parts = []
    for i in range(groups):
        x, y = (i % columns) * (each + 8), (i // columns) * step
        cache = ""
        if label:
            cache = (
                f'<rect y="{tall + 3:.1f}" width="{each:.1f}" height="15" rx="2" '
                f'fill="{BLUE}" fill-opacity="0.18"/>'
                f'<text x="4" y="{tall + 14:.1f}" font-size="10">{label}</text>'
            )
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{picture}{cache}</g>')
    return "".join(parts), step * math.ceil(groups / columns)


def _squares(count: int, wide: float, colour: str) -> tuple[str, float]:
    """So many equal squares, as large as they fit into a strip at most 110 high."""
    drawn = min(int(count), _MOST_UNITS)
    side = 22.0
    while side > 4 and math.ceil(drawn / max(1, int(wide // side))) * side > 110:
        side -= 1
    columns = max(1, int(wide // side))
    squares = "".join(
        f'<rect x="{i % columns * side:.0f}" y="{i // columns * side:.0f}" '
        f'width="{side - 2:.0f}" height="{side - 2:.0f}" rx="1"/>'
        for i in range(drawn)
    )
    return f'<g fill="{colour}">{squares}</g>', math.ceil(drawn / columns) * side


def _filled(f: dict, wide: float) -> tuple[str, float]:
    """A bar: what of the memory is in use."""
    total = f.get("total_bytes")
    free = f.get("available_bytes")
    if not total or free is None:
        return "", 0.0
    used = min(1.0, max(0.0, 1 - free / total))
    return (
        f'<rect width="{wide:.1f}" height="18" rx="3" fill="{GREEN}" fill-opacity="0.18"/>'
        f'<rect width="{wide * used:.1f}" height="18" rx="3" fill="{GREEN}"/>'
        f'<text x="{wide - 4:.1f}" y="13" text-anchor="end" font-size="11">'
        f"{used:.0%} in use</text>",
        18.0,
    )


def _cut(text: str, wide: float) -> str:
    wide = int(wide)
    return text if len(text) <= wide else text[: wide - 1].rstrip() + "…"


def _wrapped(text: str, wide: float, most: int) -> list[str]:
    import textwrap

    lines = textwrap.wrap(text, max(12, int(wide)))
    if len(lines) > most:
        lines = [*lines[: most - 1], _cut(" ".join(lines[most - 1 :]), wide)]
    return lines


def devices_html(devices) -> str:
    """The map, and below it the same as a table with all reasons and next steps."""
    rows = []
    for d in devices:
        lines = [d.says, d.do, *(f"not read: {line}" for line in d.unread_lines())]
        rows.append((d.kind, d.name, "<br>".join(_safe(line) for line in lines if line)))
    for d in devices.absent:
        rows.append(("not here", d.name, f"{_safe(d.why)}<br><i>{_safe(d.do)}</i>"))
    cell = "text-align:left;vertical-align:top;padding:2px 14px 2px 0;border:0"
    body = "".join(
        f"<tr style='background:none'><td style='{cell};opacity:0.75;white-space:nowrap'>"
        f"{_safe(kind)}</td><td style='{cell}'><b>{_safe(name)}</b></td>"
        f"<td style='{cell}'>{text}</td></tr>"
        for kind, name, text in rows
    )
    table = f"<table style='border-collapse:collapse'>{body}</table>"
    return f"<div>{machine_map(devices)}{table}</div>"


def _safe(text: str) -> str:
    return html.escape(str(text), quote=True)
