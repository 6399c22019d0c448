"""``hetlab bench sched``: hetlab's HEFT beside anrg-saga's, in turn, in one run.

The graphs are random layers between a first and a last task, with costs that a device's speed
divides, which both can hold; each round draws a new one and asks both, each in a process of its
own.  Seconds are the processor's, because a clock would count others on the machine too.
Every plan is checked here, by neither of them.  ``--reality`` holds simulated runs against
real ones instead: see `hetlab.bench._sched_reality`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import statistics
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from hetlab.timing import machine
from hetlab.units import ratio, seconds

__all__ = ["Peer", "compare", "draw", "main", "slope", "wrong"]

OURS, SAGA = "hetlab", "anrg-saga"
SIZES = (100, 1_000, 5_000, 20_000)
HOW = (
    "anrg-saga is compared when its Python is named: python -m venv saga, "
    "saga/bin/pip install anrg-saga==2.0.2, hetlab bench sched --saga saga/bin/python"
)


class Peer:
    """A process that plans what it is given."""

    def __init__(self, name: str, python: str = sys.executable) -> None:
        self.name = name
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        # Sets of text decide ties in anrg-saga: without this each process gives another plan.
        environment["PYTHONHASHSEED"] = "0"
        worker = str(Path(__file__).with_name("_sched_worker.py"))
        command = [python, "-m", "hetlab.bench._sched_worker", name]
        if name != OURS:
            del environment["PYTHONPATH"]
            command = [python, "-P", worker, name]  # -P: its folder has a sched.py, as Python has
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.hello = self._answer()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *error) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def ask(self, graph: dict) -> dict:
        """Seconds of planning and the plan: (device, start, end) by task; or an error."""
        try:
            self.process.stdin.write(json.dumps(graph) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {"error": f"the process of {self.name} ended"}
        answer = self._answer()
        if "error" not in answer:
            fault = wrong(graph, answer["plan"])
            if fault:
                return {"error": f"{self.name}: {fault}"}
            answer["makespan"] = max(end for _, _, end in answer.pop("plan"))
        return answer

    def _answer(self) -> dict:
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": f"the process of {self.name} ended"}


def draw(tasks: int, devices: int, seed: int) -> dict:
    """A layered graph as plain lists: costs, speeds, and edges (before, after, size).

    Layers are about as wide as the square root of ``tasks``; a task waits for one to four of the
    layer above.  On the mean a transfer takes half as long as a task.
    """
    chance = random.Random(seed)
    width = max(1, round(tasks**0.5))
    costs, edges, last = [1.0], [], [0]
    while len(costs) < tasks - 1:
        layer = range(len(costs), min(len(costs) + width, tasks - 1))
        for t in layer:
            costs.append(round(chance.uniform(5, 15), 3))
            above = chance.sample(last, min(len(last), chance.randint(1, 4)))
            edges += [(b, t, round(chance.uniform(2.5, 7.5), 3)) for b in above]
        last = list(layer)
    costs.append(1.0)
    used = {before for before, _, _ in edges}
    edges += [(t, tasks - 1, 1.0) for t in range(tasks - 1) if t not in used]
    speeds = [round(chance.uniform(0.5, 1.5), 3) for _ in range(devices)]
    return {"costs": costs, "speeds": speeds, "edges": edges}


def wrong(graph: dict, plan: list) -> str:
    """What is wrong with a plan, "" when nothing is: times, order, data, two tasks at once."""
    costs, speeds, near = graph["costs"], graph["speeds"], 1e-6
    if len(plan) != len(costs):
        return f"{len(plan)} of {len(costs)} tasks are placed"
    rows: list[list] = [[] for _ in speeds]
    for t, (d, start, end) in enumerate(plan):
        if start < 0 or abs(end - start - costs[t] / speeds[d]) > near * max(1.0, end):
            return f"task {t} takes {end - start:g}, not {costs[t] / speeds[d]:g}"
        rows[d].append((start, end, t))
    for before, after, size in graph["edges"]:
        arrives = plan[before][2] + (size if plan[before][0] != plan[after][0] else 0.0)
        if plan[after][1] < arrives - near * max(1.0, arrives):
            return f"task {after} starts before what {before} sends it arrives"
    for row in map(sorted, rows):
        for (_, end, t), (start, _, other) in pairwise(row):
            if start < end - near * max(1.0, end):
                return f"tasks {t} and {other} overlap"
    return ""


def compare(tasks: int, devices: int, ours: Peer, theirs: Peer | None, options) -> dict:
    """Both peers on new graphs, in turn, until the rounds or the slow one's budget are over."""
    found: dict = {"tasks": tasks, "makespans": [], "errors": []}
    for kind in ("seconds", "clock"):
        found[kind] = {OURS: [], SAGA: []}
    spent = 0.0
    for number in range(options.rounds):
        graph = draw(tasks, devices, seed=(options.seed or 1) + number)
        asked = [ours]
        if theirs and tasks <= options.most and (not number or spent < options.budget):
            asked.append(theirs)
        got = {peer.name: peer.ask(graph) for peer in asked}
        for name, answer in got.items():
            if "error" in answer:
                found["errors"].append(answer["error"])
            else:
                found["seconds"][name].append(answer["seconds"])
                found["clock"][name].append(answer["clock"])
        if SAGA in got and not found["errors"]:
            spent += got[SAGA]["clock"]
            found["makespans"].append([got[OURS]["makespan"], got[SAGA]["makespan"]])
    mine, other = found["seconds"][OURS], found["seconds"][SAGA]
    if mine and other:
        found["faster"] = statistics.median(other) / statistics.median(mine)
        found["spread"] = [min(other) / max(mine), max(other) / min(mine)]
        ratios = [a / b for a, b in found["makespans"]]
        found["makespan_ratio"] = [statistics.median(ratios), min(ratios), max(ratios)]
    return found


def slope(points: list[tuple[float, float]]) -> float | None:
    """The exponent k of ``seconds ~ tasks ** k``: least squares on logarithms."""
    if len(points) < 2:
        return None
    x, y = ([math.log(p[i]) for p in points] for i in (0, 1))
    return statistics.linear_regression(x, y).slope


def _line(row: dict) -> str:
    what = f"{row['tasks']:>7,} tasks"
    if row["errors"]:
        return f"{what}  failed: {'; '.join(dict.fromkeys(row['errors']))}"
    mine, other = row["seconds"][OURS], row["seconds"][SAGA]
    middle = statistics.median(mine)
    text = f"{what}  {seconds(middle):>8} ({seconds(min(mine))} to {seconds(max(mine))})"
    text += f", {seconds(middle / row['tasks'])} a task"
    if not other:
        return text
    low, high = row["spread"]
    middle, least, most = row["makespan_ratio"]
    return (
        f"{text}; {SAGA} {seconds(statistics.median(other))}: {ratio(row['faster'])} as long "
        f"(samples {ratio(low)} to {ratio(high)}, {len(mine)} and {len(other)}); "
        f"makespans {middle:.4f} of {SAGA}'s ({least:.4f} to {most:.4f})"
    )


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="hetlab bench sched", description=__doc__.partition("\n\n")[0]
    )
    parser.add_argument("--json", action="store_true", help="print JSON with every sample")
    parser.add_argument("--saga", metavar="PYTHON", help="a Python that has anrg-saga")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of tasks")
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5, help="graphs of each size")
    parser.add_argument(
        "--seed", type=int, help="of the first graph; of the workloads, else taken from the clock"
    )
    parser.add_argument(
        "--budget", type=float, default=60, help="seconds of the slow peer for each size"
    )
    parser.add_argument(
        "--most", type=int, default=5_000, help="largest graph for the slow peer (20,000: minutes)"
    )
    parser.add_argument(
        "--reality", action="store_true", help="simulated against real runs, instead"
    )
    parser.add_argument(
        "--limit", type=float, default=120, help="seconds to wait for quiet runs (--reality)"
    )
    parser.add_argument("--paced", action="store_true", help="the cores are paced too (--reality)")
    options = parser.parse_args(argv)
    if min(options.sizes) < 3 or options.devices < 1 or options.rounds < 1:
        parser.error("a graph needs 3 tasks, a device and a round at least")
    return options


def main(argv: list[str] | None = None) -> int:
    """Run the comparison and print it; the exit status is 1 when a peer failed."""
    options = _options(argv)
    if options.reality:
        from hetlab.bench._sched_reality import report

        return report(options)
    write = sys.stderr.write if options.json else sys.stdout.write
    record: dict = {"machine": machine().line, "load": list(os.getloadavg()), "rows": []}
    write(f"HEFT on layered graphs, {options.devices} devices; {record['machine']}\n")
    write("processor seconds, median and range over graphs; ")
    write(f"load of the last minute at the start: {record['load'][0]:.1f}\n")
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(Peer(OURS))
        theirs = stack.enter_context(Peer(SAGA, options.saga)) if options.saga else None
        record["peers"] = {peer.name: peer.hello for peer in (ours, theirs) if peer}
        broken = [hello["error"] for hello in record["peers"].values() if "error" in hello]
        if broken:
            sys.stderr.write(f"{'; '.join(broken)}. {HOW}\n")
            return 2
        warm = draw(20, options.devices, 0)
        for peer in filter(None, (ours, theirs)):
            peer.ask(warm)
        for tasks in options.sizes:
            record["rows"].append(compare(tasks, options.devices, ours, theirs, options))
            write(_line(record["rows"][-1]) + "\n")
    record["slopes"] = {}
    for name in record["peers"]:
        rows = [(r["tasks"], r["seconds"][name]) for r in record["rows"] if r["seconds"][name]]
        found = slope([(tasks, statistics.median(times)) for tasks, times in rows])
        record["slopes"][name] = found
        if found is not None:
            write(f"{name}: seconds grow as tasks to the power {found:.2f}\n")
    if not theirs:
        write(f"{HOW}\n")
    if options.json:
        sys.stdout.write(json.dumps(record, indent=1) + "\n")
    return 1 if any(row["errors"] for row in record["rows"]) else 0


if __name__ == "__main__":
    raise SystemExit(main())
