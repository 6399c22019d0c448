"""Graphs, machines and timelines as plain data, and back: dicts, lists, numbers and text."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import asdict

from hetlab.errors import InvalidValue, UnknownName, one_line
from hetlab.sched.faults import GraphError
from hetlab.sched.graph import TaskGraph
from hetlab.sched.heat import Heat
from hetlab.sched.machine import Device, Link, Machine

__all__ = [
    "graph_from_dict",
    "graph_to_dict",
    "machine_from_dict",
    "machine_to_dict",
    "timeline_to_dict",
]

_FORM = '{"devices": ["P1", "P2"], "tasks": {"a": [3, 5], "b": [2, 1]}, "edges": [["a", "b", 4]]}'
_TASK = {"cost", "kind", "work", "memory", "needs"}


def graph_to_dict(graph: TaskGraph) -> dict:
    """Plain data of a graph; names become text, equal texts are told apart by their repr."""
    text = _texts(graph.tasks)
    tasks: dict = {}
    for name, task in graph.tasks.items():
        cost = dict(task.cost) if isinstance(task.cost, Mapping) else task.cost
        if isinstance(cost, dict) and graph.devices and set(cost) <= set(graph.devices):
            cost = [cost.get(d) for d in graph.devices]
        entry = {"cost": cost, "kind": task.kind, "work": task.work, "memory": task.memory}
        entry["needs"] = list(task.needs)
        entry = {key: value for key, value in entry.items() if value not in ("", 0.0, [], None)}
        tasks[text[name]] = cost if set(entry) <= {"cost"} and cost is not None else entry
    own = [d for d in graph.data.values() if d.name == (d.by, d.to[0] if d.to else None)]
    others = [d for d in graph.data.values() if d.name != (d.by, d.to[0] if d.to else None)]
    record: dict = {"name": graph.name, "unit": graph.unit, "devices": list(graph.devices)}
    record["tasks"] = tasks
    record["edges"] = [[text[d.by], text[d.to[0]], d.size] for d in own]
    if others:
        record["data"] = [
            {
                "name": str(d.name),
                "size": d.size,
                "by": None if d.by is None else text[d.by],
                "to": [text[t] for t in d.to],
            }
            for d in others
        ]
    return record


def graph_from_dict(record: Mapping) -> TaskGraph:
    """The graph of a plain record.

    Raises
    ------
    GraphError, InvalidValue, UnknownName
        For a record of another form, with the entry that is wrong.
    """
    do = f"The form is {_FORM}."
    if not isinstance(record, Mapping) or not isinstance(record.get("tasks"), Mapping):
        raise GraphError('a graph must be a mapping with an entry "tasks"', do=do)
    devices = record.get("devices") or ()
    if not isinstance(devices, (list, tuple)) or not all(isinstance(d, str) for d in devices):
        raise InvalidValue("devices", "a list of names", devices, do=do)
    if len(set(devices)) < len(devices):
        raise InvalidValue("devices", "a list of different names", devices, do=do)
    name, unit = str(record.get("name", "graph")), str(record.get("unit", ""))
    graph = TaskGraph(name, devices=devices, unit=unit)
    for task, entry in record["tasks"].items():
        if isinstance(entry, Mapping) and set(entry) & _TASK:
            other = sorted(set(entry) - _TASK)
            if other:
                raise UnknownName("entry of a task", other[0], _TASK, where=f"task {task!r}")
            graph.add(task, **_task(entry, task))
        elif entry is None or isinstance(entry, str):
            raise InvalidValue("cost", "a number or a list", entry, where=f"task {task!r}", do=do)
        else:
            graph.add(task, entry)
    for edge in _rows(record, "edges"):
        if not isinstance(edge, (list, tuple)) or len(edge) not in (2, 3):
            raise InvalidValue("an edge", "[before, after, size]", edge, do=do)
        for end in edge[:2]:
            if not isinstance(end, Hashable) or end not in graph:
                raise UnknownName("task", str(end), graph.tasks, where=f"edge {list(edge)!r}")
        graph.connect(*edge)
    for item in _rows(record, "data"):
        if not isinstance(item, Mapping) or not {"name", "size", "to"} <= set(item):
            rule = "a mapping with name, size, to and perhaps by"
            raise InvalidValue("an entry of data", rule, item)
        if not isinstance(item["to"], (list, tuple)):
            raise InvalidValue("to", "a list of tasks", item["to"], where=f"data {item['name']!r}")
        graph.put(str(item["name"]), item["size"], by=item.get("by"), to=item["to"])
    return graph.check()


def machine_to_dict(machine: Machine) -> dict:
    """Plain data of a machine; a capacity without a limit is None."""
    devices = []
    for d in machine.devices:
        entry = {**{k: getattr(d, k) for k in _fields(Device)}, "speeds": dict(d.speeds)}
        entry |= {"features": list(d.features), "heat": asdict(d.heat) if d.heat else None}
        devices.append(entry)
    return {
        "name": machine.name,
        "devices": devices,
        "links": [asdict(link) for link in machine.links],
        "memories": {m: None if math.isinf(c) else c for m, c in machine.memories.items()},
        "home": machine.home,
        "contention": machine.contention,
        "pools": dict(machine.pools),
    }


def machine_from_dict(record: Mapping) -> Machine:
    """The machine of a plain record.

    Raises
    ------
    InvalidValue
        For a record of another form.
    """
    if not isinstance(record, Mapping) or not isinstance(record.get("devices"), (list, tuple)):
        raise InvalidValue("a machine", 'a mapping with a list "devices"', type(record).__name__)
    try:
        devices = []
        for entry in record["devices"]:
            entry = dict(entry)
            entry["heat"] = Heat(**entry["heat"]) if entry.get("heat") else None
            devices.append(Device(**entry))
        links = [Link(**link) for link in record.get("links", ())]
        names = ("memories", "home", "contention", "pools", "name")
        options = {k: record[k] for k in names if k in record}
        return Machine(devices, links, **options)
    except TypeError as cause:
        raise InvalidValue(
            "a machine", "of the form that to_dict() gives", one_line(cause)
        ) from None


def timeline_to_dict(timeline) -> dict:
    """Plain data of a timeline, with what it says: utilisation, energy, gaps and their reasons."""
    text = _texts(timeline.graph.tasks)
    return {
        "graph": timeline.graph.name,
        "machine": timeline.machine.name,
        "policy": timeline.policy,
        "label": timeline.label,
        "unit": timeline.time_unit,
        "tasks": len(timeline.graph),
        "complete": timeline.complete,
        "makespan": timeline.makespan,
        "bound": timeline.bound.value,
        "bound_name": timeline.bound.name,
        "ratio": timeline.ratio if timeline.complete else None,
        "devices": [d.name for d in timeline.machine.devices],
        "spans": [
            {**asdict(span), "task": text.get(span.task, str(span.task))} for span in timeline.spans
        ],
        "transfers": [{**asdict(move), "data": str(move.data)} for move in timeline.transfers],
        "gaps": [asdict(gap) for gap in timeline.idle()],
        "critical": [
            {**asdict(step), "task": text.get(step.task, str(step.task))}
            for step in timeline.critical_path()
        ],
        "headline": timeline.headline,
        "kinds": {text[name]: task.kind for name, task in timeline.graph.tasks.items()},
        "utilisation": timeline.utilisation,
        "energy": timeline.energy,
        "degrees": {name: [list(p) for p in ps] for name, ps in timeline.degrees.items()},
        "peak_memory": dict(timeline.peak_memory),
        "failures": {text.get(name, str(name)): why for name, why in timeline.failures.items()},
        "lost": {name: [when, why] for name, (when, why) in timeline.lost.items()},
        "times": list(timeline.times),
    }


def _task(entry: Mapping, task: str) -> dict:
    entry = dict(entry)
    needs = entry.get("needs", ())
    if not isinstance(needs, (str, list, tuple)):
        raise InvalidValue("needs", "a list of names", needs, where=f"task {task!r}")
    return entry


def _rows(record: Mapping, name: str) -> list:
    rows = record.get(name) or ()
    if not isinstance(rows, (list, tuple)):
        raise InvalidValue(name, "a list", rows)
    return rows


def _texts(names) -> dict:
    texts = {name: str(name) for name in names}
    seen: dict[str, int] = {}
    for text in texts.values():
        seen[text] = seen.get(text, 0) + 1
    return {name: text if seen[text] == 1 else repr(name) for name, text in texts.items()}


def _fields(kind: type) -> list[str]:
    return list(kind.__dataclass_fields__)
