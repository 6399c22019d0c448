"""What a picture of a schedule shows, as plain data; and the same as text and small HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass

from hetlab.errors import InvalidValue
from hetlab.units import quantity
from hetlab.widgets.palette import COLOURS, FAINT

__all__ = ["WHY", "Bar", "Gantt", "gantt_html", "gantt_of"]

# Why a device was idle: the key of a gap, and how it reads.
WHY = {
    "data": "waiting for data",
    "device": "waiting for another device",
    "nothing": "waiting for nothing",
    "end": "no more tasks",
    "lost": "gone",
}
# A picture has room for so many pieces; of more, the shortest are left out, and it says so.
_MOST = 3000


@dataclass(frozen=True)
class Bar:
    """A piece of a row.

    Attributes
    ----------
    name : str
        The task, or the data of a transfer.
    start, end : float
    kind : str
        "run", "setup", "cancelled", "failed", "lost" or "transfer".
    colour : str
    critical : bool
    says : str
        A sentence for whoever points at it.
    """

    name: str
    start: float
    end: float
    kind: str
    colour: str
    critical: bool
    says: str


@dataclass(frozen=True, repr=False)
class Gantt:
    """Rows of bars over time.

    Attributes
    ----------
    title, headline, label : str
    unit : str
        Of time; "" without one.
    length : float
        Where the time axis ends.
    rows : dict of str to tuple of Bar
        By device, then by link ("host to gpu0 memory").
    devices : tuple of str
        The rows that are devices.
    gaps : tuple of dict
        Device, start, end, why, says.
    facts : tuple of dict
        By device: utilisation, seconds idle by reason, joules.
    degrees : dict of str to list of (float, float)
    critical : str
        The critical path as a sentence.
    left_out : int
        Bars that a picture has no room for.
    """

    title: str
    headline: str
    label: str
    unit: str
    length: float
    rows: dict[str, tuple[Bar, ...]]
    devices: tuple[str, ...]
    gaps: tuple[dict, ...]
    facts: tuple[dict, ...]
    degrees: dict[str, list]
    critical: str
    left_out: int

    def time(self, value: float) -> str:
        """A time with its unit."""
        return quantity(value, "s") if self.unit == "s" else f"{value:.6g}"

    def __repr__(self) -> str:
        lines = [f"{self.title}: {self.headline}"]
        for fact in self.facts:
            idle = ", ".join(
                f"{self.time(value)} {WHY[why]}" for why, value in fact["idle"].items() if value > 0
            )
            energy = f", {quantity(fact['joules'], 'J')}" if fact["joules"] else ""
            lines.append(
                f"  {fact['device']}: busy {fact['busy']:.0%}{energy}; idle: {idle or 'never'}"
            )
        return "\n".join([*lines, f"  {self.critical}"])


def gantt_of(timeline) -> Gantt:
    """The picture's data of a timeline.

    Parameters
    ----------
    timeline : Timeline or dict
        Of `hetlab.sched`, or its ``to_dict()``.

    Raises
    ------
    InvalidValue
        For anything else.
    """
    record = timeline if isinstance(timeline, dict) else getattr(timeline, "to_dict", dict)()
    if not isinstance(record, dict) or "spans" not in record or "gaps" not in record:
        do = "Make one with hetlab.sched.simulate(graph, machine, policy)."
        raise InvalidValue("timeline", "a Timeline of hetlab.sched", timeline, do=do)
    unit = record["unit"]
    show = (lambda v: quantity(v, "s")) if unit == "s" else (lambda v: f"{v:.6g}")
    chain = {step["task"] for step in record["critical"]}
    spans, moves = record["spans"], record["transfers"]
    colours = _colours(record["kinds"])
    length = max([record["makespan"], *(s["end"] for s in spans)], default=0.0)
    rows: dict[str, list[Bar]] = {device: [] for device in record["devices"]}
    for s in spans:
        what = "" if s["kind"] == "run" else f" ({s['kind']})"
        critical = s["kind"] == "run" and s["task"] in chain
        says = f"{s['task']}{what} on {s['device']}, {show(s['start'])} to {show(s['end'])}"
        says += ", on the critical path" if critical else ""
        colour = colours[s["task"]] if s["kind"] == "run" else FAINT
        bar = Bar(s["task"], s["start"], s["end"], s["kind"], colour, critical, says)
        rows[s["device"]].append(bar)
    ways: dict[str, list[Bar]] = {}
    for m in moves:
        way = f"{m['source']} to {m['target']}"
        says = f"data {m['data']}: {way}, {show(m['start'])} to {show(m['end'])}, "
        says += quantity(m["size"], "B") if unit == "s" else f"size {m['size']:g}"
        bar = Bar(m["data"], m["start"], m["end"], "transfer", "#56B4E9", False, says)
        ways.setdefault(way, []).append(bar)
    if len(ways) <= 12:
        rows |= ways
    kept, left_out = _fewer(rows)
    return Gantt(
        title=f"{record['graph']} with {record['policy']}",
        headline=record["headline"],
        label=record["label"],
        unit=unit,
        length=length,
        rows=kept,
        devices=tuple(record["devices"]),
        gaps=tuple(record["gaps"]),
        facts=_facts(record),
        degrees=record["degrees"],
        critical=_critical(record, show),
        left_out=left_out,
    )


def gantt_html(gantt: Gantt) -> str:
    """A bar a device, in colours of the page; the whole story as a tooltip and as text."""
    length = gantt.length or 1.0
    lines = [f"<div><b>{_safe(gantt.title)}</b>: {_safe(gantt.headline)}</div>"]
    for device in gantt.devices[:24]:
        pieces = "".join(
            f"<span title='{_safe(b.says)}' style='position:absolute;top:1px;bottom:1px;"
            f"left:{b.start / length:.4%};width:{max(0.001, (b.end - b.start) / length):.4%};"
            f"background:{b.colour};{'outline:2px solid currentColor;' if b.critical else ''}"
            f"'></span>"
            for b in gantt.rows[device][:400]
        )
        lines.append(
            "<div style='display:flex;gap:8px;align-items:center;margin:2px 0'>"
            "<span style='flex:0 0 7em;overflow:hidden;text-overflow:ellipsis'>"
            f"{_safe(device)}</span>"
            "<span style='position:relative;flex:1;max-width:620px;height:18px;"
            f"border-bottom:1px solid'>{pieces}</span></div>"
        )
    foot = [line.strip() for line in repr(gantt).splitlines()[1:]]
    lines += [f"<div style='opacity:0.75;font-size:90%'>{_safe(line)}</div>" for line in foot[:26]]
    return f"<div>{''.join(lines)}</div>"


def _safe(text: object) -> str:
    return html.escape(str(text), quote=True)


def _colours(kinds: dict[str, str]) -> dict[str, str]:
    """By kind of work where there are kinds, else in turn, so that neighbours differ."""
    named = list(dict.fromkeys(kind for kind in kinds.values() if kind))
    colour: dict[str, str] = {}
    for i, (task, kind) in enumerate(kinds.items()):
        number = named.index(kind) if kind and len(named) > 1 else i
        colour[task] = COLOURS[number % len(COLOURS)]
    return colour


def _facts(record: dict) -> tuple[dict, ...]:
    facts = []
    for device in record["devices"]:
        idle = dict.fromkeys(WHY, 0.0)
        for gap in record["gaps"]:
            if gap["device"] == device:
                idle[gap["why"]] += gap["end"] - gap["start"]
        busy, joules = record["utilisation"][device], record["energy"][device]
        facts.append({"device": device, "busy": busy, "idle": idle, "joules": joules})
    return tuple(facts)


def _critical(record: dict, show) -> str:
    steps = record["critical"]
    if not steps:
        return "No task was done."
    moving = sum(step["moving"] for step in steps)
    waited = sum(step["waited"] for step in steps) - moving
    work = sum(step["end"] - step["start"] for step in steps)
    names = [step["task"] for step in steps]
    shown = names if len(names) <= 9 else [*names[:4], "...", *names[-4:]]
    text = f"Critical path: {', '.join(shown)}"
    text += f"; {len(names)} tasks" if len(names) > 9 else ""
    return f"{text}. {show(work)} are work, {show(moving)} transfers, {show(waited)} other waits."


def _fewer(rows: dict[str, list[Bar]]) -> tuple[dict[str, tuple[Bar, ...]], int]:
    total = sum(map(len, rows.values()))
    if total <= _MOST:
        return {name: tuple(bars) for name, bars in rows.items()}, 0
    lengths = sorted((b.end - b.start for bars in rows.values() for b in bars), reverse=True)
    least, room = lengths[_MOST - 1], _MOST
    kept: dict[str, tuple[Bar, ...]] = {}
    for name, bars in rows.items():
        chosen = [b for b in bars if b.end - b.start >= least][:room]
        room -= len(chosen)
        kept[name] = tuple(chosen)
    return kept, total - sum(map(len, kept.values()))
