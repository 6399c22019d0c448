"""Small pictures of what one warp does, as inline SVG; pure functions of numbers.

Three questions have a picture: which 32-byte sectors of memory a request
touches, which banks of shared memory collide, and which lanes are active as the
kernel goes on.  The colours are Okabe and Ito's, which people with a colour
vision deficiency tell apart; text and outlines follow JupyterLab's theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["banks_picture", "lanes_picture", "sectors_picture"]

BLUE, ORANGE, VERMILLION, SKY = "#0072B2", "#E69F00", "#D55E00", "#56B4E9"
_INK = "var(--jp-ui-font-color1, currentColor)"
_FAINT = "var(--jp-border-color1, #8a8a8a)"

SECTOR = 32  # bytes
BANKS = 32
WORD = 4  # bytes of one bank
WARP = 32


def _svg(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'style="max-width:100%;font:10px sans-serif"><title>{escape(title)}</title>'
        + "".join(parts)
        + "</svg>"
    )


def _box(x: float, y: float, w: float, h: float, fill: str, hint: str = "") -> str:
    note = f"<title>{escape(hint)}</title>" if hint else ""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" '
        f'style="fill:{fill};stroke:{_FAINT};stroke-width:.5">{note}</rect>'
    )


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" style="fill:{_INK}">'
        f"{escape(text)}</text>"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def sectors_picture(addresses: Sequence[int | None], itemsize: int) -> str:
    """Draw the sectors of global memory that one request of a warp touches.

    Parameters
    ----------
    addresses : sequence of int or None
        The byte address of each lane; None for a lane that is not active.
    itemsize : int
        Bytes each lane asks for.

    Returns
    -------
    str
        SVG: the lanes above, the touched sectors below in order of address, a
        line from each lane to its sector, and a gap mark where memory between
        two sectors is left out.
    """
    spans = {
        lane: range(address // SECTOR, (address + itemsize - 1) // SECTOR + 1)
        for lane, address in enumerate(addresses)
        if address is not None
    }
    touched = sorted({sector for span in spans.values() for sector in span})
    asked = {address for address in addresses if address is not None}
    moved = len(touched) * SECTOR
    title = (
        f"{_count(len(spans), 'lane')}, {_count(len(touched), 'sector')}: "
        f"{len(asked) * itemsize} B asked for, {moved} B moved"
    )
    cell, top, below = 14, 16, 76
    pitch = min(cell * 4.0, cell * WARP / max(len(touched), 1))
    left = {sector: i * pitch for i, sector in enumerate(touched)}
    parts = [_text(0, 10, title)]
    for lane in range(len(addresses)):
        fill = BLUE if lane in spans else "none"
        parts.append(_box(lane * cell, top, cell - 2, cell - 2, fill, f"lane {lane}"))
    for lane, span in spans.items():
        for sector in span:
            parts.append(
                f'<line x1="{lane * cell + cell / 2 - 1:g}" y1="{top + cell - 2}" '
                f'x2="{left[sector] + pitch / 2 - 1:g}" y2="{below}" '
                f'style="stroke:{BLUE};stroke-width:.6;opacity:.6"/>'
            )
    for i, sector in enumerate(touched):
        parts.append(_box(left[sector], below, pitch - 2, cell, ORANGE, f"sector {sector:#x}"))
        if i and sector != touched[i - 1] + 1:
            x = left[sector] - 1
            parts.append(
                f'<line x1="{x:g}" y1="{below - 3}" x2="{x:g}" y2="{below + cell + 3}" '
                f'style="stroke:{_INK};stroke-dasharray:2 2"/>'
            )
    return _svg(cell * WARP, below + cell + 4, title, parts)


def _phases(itemsize: int) -> int:
    """A request of 8 or 16 bytes a lane is served as two half or four quarter warps."""
    return max(1, itemsize // WORD)


def banks_picture(addresses: Sequence[int | None], itemsize: int) -> str:
    """Draw how the words that one request asks for spread over the 32 banks.

    Parameters
    ----------
    addresses : sequence of int or None
        The byte offset of each lane in shared memory; None when not active.
    itemsize : int
        Bytes each lane asks for.

    Returns
    -------
    str
        SVG: one column a bank, one square a wavefront in which the bank is
        busy.  Equal words are one word: they are broadcast.
    """
    phases = _phases(itemsize)
    group = max(-(-len(addresses) // phases), 1)
    columns = [0] * BANKS
    wavefronts = least = 0
    for start in range(0, len(addresses), group):
        words = {
            word
            for address in addresses[start : start + group]
            if address is not None
            for word in range(address // WORD, (address + max(itemsize, 1) - 1) // WORD + 1)
        }
        if not words:
            continue
        busy = [0] * BANKS
        for word in words:
            busy[word % BANKS] += 1
        wavefronts += max(busy)
        least += 1
        columns = [have + more for have, more in zip(columns, busy)]
    extra = wavefronts - least
    title = f"{_count(wavefronts, 'wavefront')}, " + (
        f"{extra} of them because of bank conflicts" if extra else "no bank conflict"
    )
    cell, top = 14, 16
    tall = max(columns, default=0)
    scale = min(cell, 112 / tall) if tall else cell
    floor = top + max(tall, 1) * scale
    parts = [_text(0, 10, title)]
    for bank, count in enumerate(columns):
        for level in range(count):
            fill = BLUE if level < least else VERMILLION
            parts.append(
                _box(bank * cell, floor - (level + 1) * scale, cell - 2, max(scale - 1, 0.5), fill)
            )
        parts.append(_box(bank * cell, floor + 2, cell - 2, 3, "none", f"bank {bank}"))
        if bank % 8 == 0:
            parts.append(_text(bank * cell, floor + 16, str(bank)))
    return _svg(cell * BANKS, floor + 20, title, parts)


def lanes_picture(steps: Sequence[tuple[int, int]], warp: int = WARP) -> str:
    """Draw which lanes of a warp are active as it goes through the kernel.

    Parameters
    ----------
    steps : sequence of (int, int)
        Source line and bit mask of active lanes, one for each instruction in
        the order of execution.
    warp : int
        Lanes of a warp.

    Returns
    -------
    str
        SVG: time to the right, lanes downwards, a filled cell where the lane is
        active; the source lines stand below.
    """
    runs: list[list[int]] = []  # line, mask, how many steps
    for line, mask in steps:
        if runs and runs[-1][:2] == [line, mask]:
            runs[-1][2] += 1
        else:
            runs.append([line, mask, 1])
    total = max(sum(run[2] for run in runs), 1)
    active = sum(mask.bit_count() * count for _, mask, count in runs)
    share = 100 * active / (total * warp)
    title = f"{active / total:.1f} of {warp} lanes active on average ({share:.0f} %)"
    width, cell, top = 448.0, 4, 16
    parts, x, labelled = [_text(0, 10, title)], 0.0, -100.0
    for line, mask, count in runs:
        wide = width * count / total
        lane = 0
        while lane < warp:
            on = mask >> lane & 1
            end = lane
            while end < warp and mask >> end & 1 == on:
                end += 1
            if on:
                fill = BLUE if mask == 2**warp - 1 else SKY
                parts.append(
                    f'<rect x="{x:.2f}" y="{top + lane * cell}" width="{max(wide, 0.5):.2f}" '
                    f'height="{(end - lane) * cell}" style="fill:{fill}">'
                    f"<title>line {line}: {mask.bit_count()} lanes</title></rect>"
                )
            lane = end
        if x - labelled >= 22 and line:
            parts.append(_text(x, top + warp * cell + 12, str(line)))
            labelled = x
        x += wide
    parts.append(_box(0, top, width, warp * cell, "none"))
    return _svg(width, top + warp * cell + 16, title, parts)
