"""The report of a launch for a notebook: HTML without a drawing library.

Colours come from JupyterLab's theme, so that dark mode works; heat is orange and a
hazard vermillion (Okabe and Ito), and both also carry a mark that needs no colour.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from hetlab.vgpu.launch import Hazard
from hetlab.vgpu.pictures import banks_picture, lanes_picture, sectors_picture
from hetlab.vgpu.report import HOT, Launch, SourceLine
from hetlab.vgpu.report_text import counter_rows, hazard_text, heading, resource_rows, verdict

__all__ = ["as_html"]

_STYLE = """
.hetlab-launch{color:var(--jp-ui-font-color1,inherit);font-size:13px;line-height:1.4}
.hetlab-launch table{font-size:inherit;color:inherit;border-collapse:collapse;
  margin:.4em 0;width:auto}
.hetlab-launch td,.hetlab-launch th{padding:1px .6em;text-align:right;border:0;
  background:transparent;white-space:nowrap;font-variant-numeric:tabular-nums}
.hetlab-launch th{font-weight:600;color:var(--jp-ui-font-color2,inherit)}
.hetlab-launch td.t,.hetlab-launch th.t{text-align:left}
.hetlab-launch td.s{text-align:left;white-space:pre;
  font-family:var(--jp-code-font-family,monospace);font-size:12px}
.hetlab-launch .h{border-left:3px solid #D55E00;padding-left:.6em;margin:.2em 0}
.hetlab-launch .w{border-left:3px dashed #E69F00;padding-left:.6em;margin:.2em 0}
.hetlab-launch .ok{border-left:3px solid #009E73;padding-left:.6em;margin:.2em 0}
.hetlab-launch tr.bad td.s span{text-decoration:underline wavy #D55E00}
.hetlab-launch details{margin:.3em 0}
.hetlab-launch figure{margin:.5em 0}
.hetlab-launch figcaption{color:var(--jp-ui-font-color2,inherit);font-size:12px}
"""

_COUNTED = ("instructions", "sectors / request", "wavefronts / request", "conflicts", "lanes")


def as_html(launch: Launch) -> str:
    """The whole report as one self-contained block of HTML."""
    parts = [
        f'<div class="hetlab-launch"><style>{_STYLE}</style>',
        f"<div><b>{escape(launch.name)}</b>{escape(heading(launch)[len(launch.name) :])}</div>",
        _hazards(launch),
        _pairs([*(counter_rows(launch) if launch.counted else []), *resource_rows(launch)]),
        _source(launch.source(), launch.counted),
        _pictures(launch),
        "</div>",
    ]
    return "".join(parts)


def _hazards(launch: Launch) -> str:
    out = [f'<div class="{"ok" if launch.ok else "h"}">{escape(verdict(launch))}</div>']
    out += [_hazard(hazard, "h", "&#9888;") for hazard in launch.hazards]
    out += [_hazard(hazard, "w", "warning:") for hazard in launch.warnings]
    return "".join(out)


def _hazard(hazard: Hazard, kind: str, mark: str) -> str:
    return f'<div class="{kind}">{mark} {escape(hazard_text(hazard))}</div>'


def _pairs(rows: Iterable[tuple[str, str]]) -> str:
    body = "".join(
        f'<tr><th class="t">{escape(name)}</th><td class="t">{escape(text)}</td></tr>'
        for name, text in rows
    )
    return f"<table>{body}</table>"


def _number(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _source(lines: list[SourceLine], counted: bool) -> str:
    if not lines:
        return ""
    names = ("", "line", *(_COUNTED if counted else ()))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows, file = [], lines[0].file
    for line in lines:
        if line.file != file:
            file = line.file
            rows.append(
                f'<tr><td></td><td class="t" colspan="{len(names)}"><i>{escape(file)}</i></td></tr>'
            )
        rows.append(_row(line, counted))
    hot = f"&#9656; moves or issues at least {100 * HOT:.0f} % of the kernel's total; "
    note = f"{hot if counted else ''}&#9888; has a hazard"
    return (
        f'<table><tr>{head}<th class="t">source</th></tr>{"".join(rows)}</table>'
        f"<figcaption>{note}</figcaption>"
    )


def _row(line: SourceLine, counted: bool) -> str:
    mark = "&#9888;" if line.hazards else "&#9656;" if line.heat >= HOT else ""
    shade = f"background:rgba(230,159,0,{0.45 * line.heat:.2f})" if line.heat >= 0.02 else ""
    hint = escape("; ".join(f"{name} {value:,}" for name, value in line.counters.items()))
    waves = line.wavefronts_per_request
    cells = [mark, str(line.number)]
    cells += [
        f"{line.count('instructions'):,}" if line.counters else "",
        _number(line.sectors_per_request),
        _number(waves),
        f"{line.count('shared_bank_conflicts'):,}" if waves is not None else "",
        _number(line.lanes, 1),
    ] * counted
    text = line.text.expandtabs(4).rstrip()
    code = text.lstrip()
    indent = " " * (len(text) - len(code))
    body = "".join(f"<td>{cell}</td>" for cell in cells)
    kind = ' class="bad"' if line.hazards else ""
    return (
        f'<tr{kind} style="{shade}" title="{hint}">{body}'
        f'<td class="s">{indent}<span>{escape(code)}</span></td></tr>'
    )


def _pictures(launch: Launch) -> str:
    """One picture for the busiest request of each space, and the lanes over time."""
    figures = []
    for space, draw in (("global", sectors_picture), ("shared", banks_picture)):
        sites = [s for s in launch.trace.raw.sites if s["space"] == space and s.get("pattern")]
        worst = sorted(sites, key=lambda s: -s["transactions"] / max(s["requests"], 1))[:2]
        for site in worst:
            array = launch.name_of(site.get("array") or "memory")
            line = site["line"][1] if isinstance(site["line"], (tuple, list)) else site["line"]
            caption = f"line {line}: a {site['op']} of {array} by one warp"
            figures.append((caption, draw(site["pattern"], site["size"])))
    steps = [(place[1], mask) for place, mask in launch.trace.raw.timeline]
    if any(mask != steps[0][1] for _, mask in steps):  # without divergence there is nothing to see
        caption = f"active lanes of the first warp, over its first {len(steps)} instructions"
        figures.append((caption, lanes_picture(steps)))
    if not figures:
        return ""
    drawn = "".join(
        f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
        for caption, svg in figures
    )
    return f"<details><summary>what one warp asks for</summary>{drawn}</details>"
