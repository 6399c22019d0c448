"""A kernel's source beside what the compiler made of it: one tab a stage, no script.

Lines of the source that became code have a colour, and so have the lines of a stage that
came from them; the line's number stands before both, so that nothing hangs on the colour.
"""

from __future__ import annotations

import html
import itertools

from hetlab.vgpu.assembly import TITLES, Assembly
from hetlab.widgets.palette import COLOURS

__all__ = ["assembly_html"]

_SERIAL = itertools.count(1)
_PRE = (
    "margin:0;padding:0 6px;white-space:pre;font:12px/1.5 monospace;background:none;color:inherit"
)


def assembly_html(found: Assembly) -> str:
    """The stages of `found` as HTML of its own."""
    serial = next(_SERIAL)
    used = sorted({row.line for rows in found.stages.values() for row in rows if row.line})
    colours = dict(zip(used, itertools.cycle(COLOURS)))
    tabs, shows, panes = [], [], []
    for k, (stage, rows) in enumerate(found.stages.items()):
        key = f"hetlab-assembly-{serial}-{stage}"
        checked = " checked" if k == 0 else ""
        tabs.append(
            f"<input type='radio' name='hetlab-assembly-{serial}' id='{key}'{checked} "
            f"style='margin:0 4px 0 10px'><label for='{key}'>{TITLES[stage]} "
            f"<small>{sum(1 for row in rows if row.line)}</small></label>"
        )
        shows.append(f"#{key}:checked ~ div .{key}{{display:block}}")
        lines = "".join(_row(row.line, row.text, colours) for row in rows)
        panes.append(f"<div class='{key} pane'>{lines}</div>")
    source = "".join(_row(n, text, colours if n in colours else {}) for n, text in found.source())
    missing = "".join(
        f"<div><small>no {TITLES.get(s, s)}: {html.escape(why)}</small></div>"
        for s, why in found.missing.items()
    )
    box = f"hetlab-assembly-{serial}"
    style = (
        f".{box} .pane{{display:none;max-height:420px;overflow:auto}}"
        f".{box} .sides{{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,3fr);gap:10px}}"
        f".{box} .side{{max-height:420px;overflow:auto}}" + "".join(f".{box} {s}" for s in shows)
    )
    return (
        f"<div class='{box}'><style>{style}</style><b>{html.escape(found.name)}</b>, compiled for "
        f"{html.escape(found.targets)}<br>{''.join(tabs)}"
        f"<div class='sides'><div class='side'>{source}</div><div>{''.join(panes)}</div></div>"
        f"{missing}</div>"
    )


def _row(line: int, text: str, colours) -> str:
    edge = colours.get(line, "transparent")
    number = str(line) if line else ""
    return (
        f"<pre style='{_PRE};border-left:4px solid {edge}'>"
        f"<span style='opacity:0.6'>{number:>4} </span>{html.escape(text)}</pre>"
    )
