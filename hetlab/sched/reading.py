"""Task graphs from files and other libraries: STG, WfCommons, plain JSON, networkx."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from hetlab.errors import HetlabError, InvalidValue, one_line
from hetlab.sched.faults import GraphError
from hetlab.sched.graph import TaskGraph

__all__ = ["from_networkx", "from_stg", "from_wfcommons", "read_graph"]

_LARGEST = 200_000_000  # bytes of a file: more is no task graph


def read_graph(path) -> TaskGraph:
    """Read a task graph from a file.

    Parameters
    ----------
    path : str or Path
        An STG file, a WfCommons record or plain JSON (`TaskGraph.from_dict`); the content decides.

    Raises
    ------
    GraphError, InvalidValue, UnknownName
        With the file and what is wrong in it.
    """
    path = Path(path)
    try:
        if path.stat().st_size > _LARGEST:
            raise GraphError(f"{path.name} is larger than 200 MB", where=str(path))
        text = path.read_text(encoding="utf-8-sig")
    except OSError as cause:
        why = cause.strerror or one_line(cause)
        raise GraphError(f"the graph cannot be read: {why}", where=str(path)) from None
    except UnicodeDecodeError:
        raise GraphError("the file is not text", where=str(path), do=_KINDS) from None
    try:
        if not text.lstrip().startswith(("{", "[")):
            return from_stg(text, name=path.stem)
        record = json.loads(text)
        if isinstance(record, Mapping) and "workflow" in record:
            return from_wfcommons(record)
        graph = TaskGraph.from_dict(record)
        graph.name = record.get("name") or path.stem
        return graph
    except json.JSONDecodeError as cause:
        what = f"line {cause.lineno}, column {cause.colno} is not JSON: {cause.msg}"
        raise GraphError(what, where=str(path)) from None
    except RecursionError:
        raise GraphError("the JSON is nested too deeply", where=str(path)) from None
    except HetlabError as error:
        error.where = f"{path}, {error.where}" if error.where else str(path)
        raise


_KINDS = "A graph is an STG file, a WfCommons record, or JSON with devices, tasks and edges."


def from_stg(text: str, *, name: str = "stg") -> TaskGraph:
    """A graph of the Standard Task Graph Set.

    T. Tobita, H. Kasahara, Journal of Scheduling 5(5), 2002.

    Parameters
    ----------
    text : str
        The number of tasks without the two dummies; then for each task its number, its time, the
        number of its predecessors, and these; then comments.

    Returns
    -------
    TaskGraph
        Tasks are numbered; the dummies (time 0) are kept; no data are sent.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        count = int(lines[0].split()[0]) + 2
    except (IndexError, ValueError):
        raise GraphError(
            "the first line must be the number of tasks", where=name, do=_KINDS
        ) from None
    if count < 2 or count > len(lines) - 1:
        what = f"{count} tasks (with two dummies) are announced, {len(lines) - 1} lines follow"
        raise GraphError(what, where=name)
    graph = TaskGraph(name)
    for number, line in enumerate(lines[1 : count + 1], 2):
        where = f"{name}, line {number}"
        try:
            task, time, waits, *before = (int(word) for word in line.split())
        except ValueError:
            rule = "its number, its time, how many it waits for, and those"
            raise GraphError(f"a task must be {rule}", where=where) from None
        if len(before) != waits:
            what = f"task {task} announces {waits} predecessors and lists {len(before)}"
            raise GraphError(what, where=where)
        graph.add(task, time, after=before)
    return graph.check()


def from_wfcommons(record: Mapping) -> TaskGraph:
    """A workflow that ran somewhere, in WfCommons' format 1.4 or 1.5 (JSON).

    Parameters
    ----------
    record : mapping
        With ``workflow.specification`` (tasks, files) and ``workflow.execution`` (runtimes).

    Returns
    -------
    TaskGraph
        Costs are the recorded runtimes in seconds; a file is one piece of data, however many
        read it; a dependency that no file explains sends nothing.  The kind of work is the
        program's name.
    """
    do = "See wfcommons.org/format."
    try:
        workflow = record["workflow"]
        tasks = workflow["specification"]["tasks"]
        files = {f["id"]: f["sizeInBytes"] for f in workflow["specification"].get("files", ())}
        ran = {t["id"]: t for t in workflow["execution"]["tasks"]}
        graph = TaskGraph(str(record.get("name", "workflow")), unit="s")
        makers: dict = {}
        readers: dict = {}
        for task in tasks:
            name = task["id"]
            done = ran.get(name)
            if done is None:
                raise GraphError(f"task {name!r} has no record of its execution", do=do)
            program = done.get("command", {}).get("program") or task.get("name", "")
            kind = program.split("\n")[0][:60]
            graph.add(name, done["runtimeInSeconds"], kind=kind)
            for file in task.get("outputFiles", ()):
                makers.setdefault(file, name)
            for file in task.get("inputFiles", ()):
                readers.setdefault(file, []).append(name)
        linked = set()
        for file, names in readers.items():
            maker = makers.get(file)
            names = [n for n in dict.fromkeys(names) if n != maker]
            linked |= {(maker, n) for n in names}
            if names:
                graph.put(file, files.get(file, 0), by=maker, to=names)
        for task in tasks:
            for parent in task.get("parents", ()):
                if (parent, task["id"]) not in linked:
                    graph.connect(parent, task["id"])
    except (KeyError, TypeError, AttributeError) as cause:
        what = f"the record is not of WfCommons' format 1.5: {one_line(cause)}"
        raise GraphError(what, do=do) from None
    return graph.check()


def from_networkx(
    graph, *, cost: str = "cost", size: str = "size", devices=(), unit: str = ""
) -> TaskGraph:
    """A networkx DiGraph as a task graph.

    Parameters
    ----------
    graph : networkx.DiGraph
        Nodes of any hashable name with an attribute of their cost; edges with one of their size.
    cost, size : str
        Names of the attributes; an edge without a size sends nothing.
    devices : sequence of str
        The order in which a sequence of costs is meant.
    """
    if not getattr(graph, "is_directed", lambda: False)() or graph.is_multigraph():
        raise InvalidValue("graph", "a networkx.DiGraph", type(graph).__name__)
    made = TaskGraph(str(graph.name or "graph"), devices=devices, unit=unit)
    for node, facts in graph.nodes(data=True):
        if cost not in facts:
            do = f"Set graph.nodes[{node!r}][{cost!r}], or name another attribute: cost=..."
            raise GraphError(f"the node {node!r} has no {cost!r}", do=do)
        made.add(node, facts[cost])
    for before, after, facts in graph.edges(data=True):
        made.connect(before, after, facts.get(size, 0.0))
    return made.check()
