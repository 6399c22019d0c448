"""The command ``hetlab schedule``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from hetlab.errors import HetlabError, InvalidValue

__all__ = ["schedule"]


@click.command()
@click.argument("graph", type=click.Path(path_type=Path))
@click.option("--machine", "machine", metavar="M", help="A preset, or a JSON file of a machine.")
@click.option("--policy", default="heft", show_default=True, help="A given policy, or 'all'.")
@click.option("--devices", type=click.IntRange(1, 10_000), help="So many equal devices.")
@click.option("--exact", is_flag=True, help="Also prove the optimum (small graphs, OR-Tools).")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--trace", type=click.Path(path_type=Path), help="Write a trace for Perfetto.")
def schedule(
    graph: Path,
    machine: str | None,
    policy: str,
    devices: int | None,
    exact: bool,
    as_json: bool,
    trace: Path | None,
) -> None:
    """Schedule the task graph in the file GRAPH and simulate it.

    GRAPH is an STG file, a WfCommons record, or JSON such as
    {"devices": ["P1", "P2"], "tasks": {"a": [3, 5], "b": [2, 1]}, "edges": [["a", "b", 4]]}.
    """
    from hetlab.sched.executors.simulated import simulate
    from hetlab.sched.policies import POLICIES
    from hetlab.sched.reading import read_graph

    tasks = read_graph(graph)
    where = _machine(tasks, machine, devices)
    names = sorted(POLICIES) if policy == "all" else [policy]
    runs = [simulate(tasks, where, name) for name in names]
    if exact:
        from hetlab.sched.exact import optimum

        best = optimum(tasks, where)
        runs = [run.against(best) for run in runs]
    if trace is not None:
        shortest = min(runs, key=lambda run: run.makespan)
        try:
            trace.write_text(json.dumps(shortest.to_trace()), encoding="utf-8")
        except OSError as cause:
            raise HetlabError(f"the trace cannot be written: {cause}", where=str(trace)) from None
    if as_json:
        records = [_record(run) for run in runs]
        out = records[0] if policy != "all" else {"runs": records}
        click.echo(json.dumps(out, ensure_ascii=False, allow_nan=False))
        return
    if len(runs) > 1:
        _compare(runs)
    else:
        _show(runs[0])


def _record(run) -> dict:
    record = run.to_dict()
    record["placements"] = {
        row["task"]: {key: row[key] for key in ("device", "start", "end")}
        for row in record["spans"]
        if row["kind"] == "run"
    }
    return record


def _machine(graph, name: str | None, devices: int | None):
    from hetlab.sched.machine import Machine
    from hetlab.sched.presets import PRESETS, preset

    if name is not None and devices is not None:
        raise click.UsageError("--machine and --devices exclude each other")
    if devices is not None:
        if graph.devices and len(graph.devices) != devices:
            rule = f"{len(graph.devices)}, as many as the graph has costs for"
            raise InvalidValue("--devices", rule, devices)
        return Machine.uniform(graph.devices or devices, **_wires(graph))
    if name is None:
        if graph.devices:
            return Machine.uniform(graph.devices, **_wires(graph))
        raise HetlabError(
            "the graph does not say on how many devices",
            do="Say --devices 4, or --machine with one of: " + ", ".join(PRESETS) + ".",
        )
    if name.lower() in PRESETS or not Path(name).exists():
        return preset(name)
    try:
        record = json.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as cause:
        raise HetlabError(f"the machine cannot be read: {cause}", where=name) from None
    return Machine.from_dict(record)


def _wires(graph) -> dict:
    """Graphs in seconds have data in bytes: a network of 10 Gb/s; others have transfer times."""
    return {"bandwidth": 1.25e9, "latency": 100e-6} if graph.unit == "s" else {}


def _show(run) -> None:
    click.echo(repr(run))
    click.echo()
    wide = max((len(str(task)) for task in run.runs), default=4)
    click.echo(f"  {'task':<{wide}}  {'start':>10}  {'end':>10}  device")
    for task, span in sorted(run.runs.items(), key=lambda item: item[1].start):
        start, end = run.amount(span.start), run.amount(span.end)
        click.echo(f"  {task!s:<{wide}}  {start:>10}  {end:>10}  {span.device}")


def _compare(runs: list) -> None:
    bound = runs[0].bound
    click.echo(f"{runs[0].graph.name}: bound {runs[0].amount(bound.value)} ({bound.name})")
    wide = max(len(run.policy) for run in runs)
    for run in sorted(runs, key=lambda run: (run.makespan, run.policy)):
        busy = sum(run.busy.values()) / (run.makespan * len(run.busy)) if run.makespan else 0.0
        click.echo(
            f"  {run.policy:<{wide}}  makespan {run.amount(run.makespan):>9}"
            f"  {run.ratio:6.3f} x the bound  devices busy {busy:4.0%}"
        )
