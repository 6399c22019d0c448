"""Rich notebook displays of what the lower floors return; `%load_ext hetlab` registers them.

Each is small HTML that takes its colours from the page, so that it reads in light and dark.
"""

from __future__ import annotations

import html

__all__ = ["register"]

_TABLE = "border-collapse:collapse;margin:2px 0"
_CELL = "text-align:left;padding:2px 14px 2px 0;border:0"
_FOOT = "opacity:0.75;font-size:90%"


def register(ipython) -> None:
    """Register the displays with an IPython shell.

    Parameters
    ----------
    ipython : IPython.core.interactiveshell.InteractiveShell
        What ``load_ipython_extension`` is given.  Nothing is imported until such a value is shown.
    """
    formatter = ipython.display_formatter.formatters["text/html"]
    for module, name, draw in [
        ("hetlab.timing.measurement", "Measurement", measurement_html),
        ("hetlab.timing.comparison", "Comparison", comparison_html),
        ("hetlab.timing.ceilings", "Peaks", peaks_html),
        ("hetlab.timing.revealing", "Reveal", reveal_html),
        ("hetlab.devices.device", "DeviceList", devices_html),
        ("hetlab.vgpu.assembly", "Assembly", assembly_html),
        ("hetlab.models.roles", "ModelledDevice", modelled_html),
        ("hetlab.models.role_table", "RoleTable", roles_html),
        ("hetlab.vgpu.frontends.tvm_sources", "Sources", sources_html),
        ("hetlab.models.streams", "StreamTimeline", streams_html),
        ("hetlab.sched.timeline", "Timeline", timeline_html),
    ]:
        formatter.for_type_by_name(module, name, draw)


def devices_html(d) -> str:
    """A DeviceList: a map of the machine and the same as a table."""
    from hetlab.widgets.device_map import devices_html as draw

    return draw(d)


def assembly_html(found) -> str:
    """An Assembly: the source and a stage of the compiler, side by side."""
    from hetlab.widgets.showing_assembly import assembly_html as draw

    return draw(found)


def modelled_html(device) -> str:
    """A ModelledDevice: its numbers and their sources."""
    from hetlab.widgets.figures_machine import device_html

    return device_html(device)


def roles_html(table) -> str:
    """A RoleTable: the best of each row marked."""
    from hetlab.widgets.figures_machine import roles_html as draw

    return draw(table)


def streams_html(line) -> str:
    """A StreamTimeline: streams downwards, time to the right."""
    from hetlab.widgets.draw_streams import timeline_html

    return timeline_html(line)


def sources_html(sources) -> str:
    """Sources of one operator: a part for each target, the first one open."""
    parts = []
    for i, source in enumerate(sources.values()):
        if source.missing:
            parts.append(f"<div><b>{_safe(source.target)}</b>: {_safe(source.missing)}</div>")
            continue
        lines = source.body.count("\n") + 1
        told = f"{lines} lines of {source.language}, {source.schedule}"
        parts.append(
            f"<details{' open' if i == 0 else ''}><summary><b>{_safe(source.target)}</b> "
            f"<span style='{_FOOT}'>{_safe(told)}</span></summary>"
            "<pre style='max-height:24em;overflow:auto;margin:2px 0 6px 14px;line-height:1.3'>"
            f"{_safe(source.body)}</pre></details>"
        )
    parts.append(_warnings(sources.notes))
    return f"<div>{''.join(parts)}</div>"


def timeline_html(timeline) -> str:
    """A Timeline: a bar a device, and what it says."""
    from hetlab.widgets.gantt import gantt_html, gantt_of

    return gantt_html(gantt_of(timeline))


def measurement_html(m) -> str:
    """A Measurement: the median large, all else small, warnings in words."""
    lines = repr(m).splitlines()
    head, rest = lines[0].partition(": ")[2], lines[1:]
    facts = [line.strip() for line in rest if not line.startswith("  !")]
    return (
        f"<div><b>{_safe(m.name)}</b>: {_safe(head)}"
        + "".join(f"<div style='{_FOOT}'>{_safe(fact)}</div>" for fact in facts)
        + _warnings(m.warnings)
        + "</div>"
    )


def comparison_html(c) -> str:
    """A Comparison: one row a candidate, with a bar as long as its median."""
    from hetlab.units import seconds
    from hetlab.widgets.palette import COLOURS

    longest = max(m.median for m in c.measurements.values()) or 1.0
    ratios, rows = c.ratios, []
    for i, (name, m) in enumerate(c.measurements.items()):
        verdict = ratios[name].verdict if name in ratios else "the baseline"
        width = max(2, round(140 * m.median / longest))
        bar = (
            f"<span style='display:inline-block;height:10px;width:{width}px;"
            f"background:{COLOURS[i % len(COLOURS)]}'></span>"
        )
        cells = [f"<b>{_safe(name)}</b>", bar, _safe(seconds(m.median)), _safe(verdict)]
        rows.append("".join(f"<td style='{_CELL}'>{cell}</td>" for cell in cells))
    foot = [line.strip() for line in repr(c).splitlines() if not line.startswith("  !")]
    foot = [foot[0], *foot[1 + len(c) :]]
    return (
        f"<div><table style='{_TABLE}'>"
        + "".join(f"<tr style='background:none'>{row}</tr>" for row in rows)
        + "</table>"
        + "".join(f"<div style='{_FOOT}'>{_safe(line)}</div>" for line in foot)
        + _warnings(c.warnings)
        + "</div>"
    )


def peaks_html(p) -> str:
    """Peaks: bandwidth and arithmetic, on one thread and on all."""
    head = ["", "one thread", f"all {p.threads} threads"]
    rows = ["".join(f"<th style='{_CELL}'>{_safe(cell)}</th>" for cell in head)]
    for name, key in [
        ("memory bandwidth (triad)", "bandwidth"),
        ("arithmetic, fp64", "fp64"),
        ("arithmetic, fp32", "fp32"),
    ]:
        cells = [_safe(name)]
        for cores in ("one", "all"):
            rate = p.rate(f"{key}_{cores}")
            cells.append("not measured" if rate is None else _rate(rate))
        rows.append("".join(f"<td style='{_CELL}'>{cell}</td>" for cell in cells))
    title = f"Peaks of {p.machine.cpu}, {p.label} with {p.method}"
    notes = [*p.notes, f"best run, median in brackets; taken {p.taken}"]
    return (
        f"<div>{_safe(title)}<table style='{_TABLE}'>"
        + "".join(f"<tr style='background:none'>{row}</tr>" for row in rows)
        + "</table>"
        + "".join(f"<div style='{_FOOT}'>{_safe(note)}</div>" for note in notes)
        + _warnings(p.warnings)
        + "</div>"
    )


def reveal_html(r) -> str:
    """A Reveal: prediction and finding side by side, and the sentence."""
    lines = repr(r).splitlines()
    rows = []
    for line in lines[:2]:
        name, value = line[:15].strip(), line[15:].strip()
        rows.append(
            f"<tr style='background:none'><td style='{_CELL}'>{_safe(name)}</td>"
            f"<td style='{_CELL}'><b>{_safe(value)}</b></td></tr>"
        )
    return f"<div><table style='{_TABLE}'>{''.join(rows)}</table>{_safe(r.says)}</div>"


def _rate(rate) -> str:
    from hetlab.units import quantity

    best, middle = quantity(rate.value, rate.unit), quantity(rate.low, rate.unit)
    return f"<b>{_safe(best)}</b> <span style='{_FOOT}'>({_safe(middle)})</span>"


def _warnings(texts) -> str:
    return "".join(
        f"<div style='border-left:3px solid #E69F00;padding-left:8px;margin:3px 0'>{_safe(t)}</div>"
        for t in texts
    )


def _safe(text: str) -> str:
    return html.escape(str(text))
