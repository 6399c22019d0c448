"""Chrome's trace event format: what Perfetto and chrome://tracing open.

"Trace Event Format", Google, 2016: complete events (ph "X") with microseconds, a thread a row,
counters (ph "C") as graphs.
"""

from __future__ import annotations

from hetlab.sched.timeline import RUN, Timeline

__all__ = ["trace"]


def trace(timeline: Timeline) -> dict:
    """A timeline as a trace; ``json.dump`` writes it.

    Times without a unit are shown as if they were seconds.
    """
    events: list[dict] = []

    def name(pid: int, tid: int, text: str, kind: str = "thread_name") -> None:
        label = {"name": kind, "ph": "M", "pid": pid, "tid": tid, "ts": 0}
        events.append({**label, "args": {"name": text}})

    name(1, 0, f"devices ({timeline.label})", "process_name")
    name(2, 0, "transfers", "process_name")
    rows = {d.name: i for i, d in enumerate(timeline.machine.devices)}
    for device, row in rows.items():
        name(1, row, device)
    chain = {step.task for step in timeline.critical_path()}
    for span in timeline.spans:
        text = str(span.task) if span.kind == RUN else f"{span.task} ({span.kind})"
        facts = {"kind": span.kind, "critical": span.task in chain and span.kind == RUN}
        if span.joules:
            facts["joules"] = span.joules
        events.append(_complete(text, span.kind, span, 1, rows[span.device], facts))
    ways: dict[tuple[str, str], int] = {}
    for move in timeline.transfers:
        way = (move.source, move.target)
        if way not in ways:
            ways[way] = len(ways)
            name(2, ways[way], f"{move.source} to {move.target}")
        facts = {"bytes": move.size}
        events.append(_complete(str(move.data), "transfer", move, 2, ways[way], facts))
    for device, points in timeline.degrees.items():
        for when, degrees in points:
            counter = {"name": f"{device}, degrees Celsius", "ph": "C", "pid": 1, "tid": 0}
            events.append({**counter, "ts": when * 1e6, "args": {"degrees": degrees}})
    facts = {"graph": timeline.graph.name, "policy": timeline.policy, "label": timeline.label}
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": facts}


def _complete(text: str, kind: str, span, pid: int, tid: int, facts: dict) -> dict:
    start, length = span.start * 1e6, (span.end - span.start) * 1e6
    event = {"name": text, "cat": kind, "ph": "X", "ts": start, "dur": length}
    return {**event, "pid": pid, "tid": tid, "args": facts}
