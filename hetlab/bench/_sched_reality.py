"""``hetlab bench sched --reality``: simulated makespans beside those of real runs.

1. The cores and the links are calibrated, by runs that are always the same.
2. Ten workloads are drawn: the seed is taken from the clock only now, unless it is given.
3. They run on this machine with the same policies, in rounds; the calibration runs stand between
   them, so that it is known how fast the cores were *that day* against the calibration.
4. Each is simulated on the calibrated machine: as it was calibrated, and at that day's speed.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time

from hetlab.units import seconds

__all__ = ["main", "report"]

COUNT, WITHIN = 10, 0.15
# One thread a kernel: a core is a device here, so a library must not take two.
_ONE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def report(options) -> int:
    """Run all of it in a process of its own, whose libraries start no threads."""
    request = {"rounds": options.rounds, "seed": options.seed, "json": options.json}
    environment = {**os.environ, **dict.fromkeys(_ONE, "1")}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-m", "hetlab.bench._sched_reality", json.dumps(request)]
    return subprocess.run(command, env=environment).returncode


def rehearsals() -> list[tuple[dict, dict]]:
    """What calibration runs: (workload, plan), one core alone and both, with copies both ways."""
    from hetlab.bench._sched_kernels import CORES, KINDS

    found = []
    for number, cores in enumerate((CORES[:1], CORES)):
        chance = random.Random(number)
        name = ("one core", "both cores")[number]
        work = {"name": name, "shape": "", "policy": "", "tasks": [], "edges": []}
        plan: dict = {d: [] for d in (*cores, "gpu0", "npu0")}

        def add(device, kind, units, before=(), work=work, plan=plan, chance=chance):
            t = len(work["tasks"])
            work["tasks"].append((kind, units, device))
            work["edges"] += [(b, t, round(10 ** chance.uniform(4, 6.3))) for b in before]
            plan[device].append((work["name"], t))
            return t

        last = dict.fromkeys(cores, ())
        for round_ in range(3):
            for kind in KINDS:
                for core in cores:
                    there = add("gpu0", "waves", 2, last[core])
                    units = (10, 25, 60)[(round_ + KINDS.index(kind)) % 3]
                    here = add(core, kind, units, [there] if round_ else [])
                    last[core] = (add("npu0", "waves", 2, [here, there]),)
        found.append((work, plan))
    return found


def speed_of(runs: list, machine) -> float:
    """How fast the cores were in calibration runs, against the calibrated machine: a median."""
    from hetlab.bench._sched_kernels import CORES
    from hetlab.sched import simulate

    ratios = []
    for plan, run in runs:
        expected = simulate(run.graph, machine, plan).runs
        for task, span in run.runs.items():
            if span.device in CORES:
                ratios.append(expected[task].seconds / max(span.seconds, 1e-9))
    return statistics.median(ratios)


def calibrate(runs: list, machine):
    """The machine with the cores' speeds, their pool and the links as the runs say."""
    from dataclasses import replace

    from hetlab.bench._sched_kernels import CORES
    from hetlab.sched import calibrated
    from hetlab.sched.observed import samples, together

    timelines = [run for _, run in runs]
    work, links = samples(timelines, CORES)
    first = work[CORES[0]]  # the system moves threads between cores: they are alike
    found = calibrated(machine, dict.fromkeys(CORES, first), links)
    devices = [replace(d, pool="cores") if d.name in CORES else d for d in found.devices]
    return found.replace(devices=devices, pools={"cores": together(timelines, CORES)})


def _run(here, graph, policy) -> tuple:
    """One real run: its timeline, and which share of the clock the kernels had a core."""
    from hetlab.bench._sched_kernels import LOG

    LOG.clear()
    line = here.run(graph, policy, limit=120)
    clock = sum(wall for _, wall in LOG)
    return line, sum(core for core, _ in LOG) / clock if clock else 1.0


def measure(rounds: int, seed: int | None, write) -> dict:
    """Calibrate, draw, run and simulate; the record of all of it."""
    from hetlab.bench import _sched_kernels as kit
    from hetlab.sched import Incident, Scenario, simulate
    from hetlab.sched.executors.here import Here

    nominal, known = kit.nominal(), rehearsals()
    works = [(kit.build(work), plan) for work, plan in known]
    with Here(nominal, kit.kernels([w for w, _ in known])) as here:
        for graph, plan in works:
            here.run(graph, plan, limit=120)  # the first one warms up
        runs = [(p, _run(here, g, p)[0]) for _ in range(max(3, rounds)) for g, p in works]
    machine = calibrate(runs, nominal)
    record: dict = {"load_before": os.getloadavg()[0], "machine": machine.to_dict()}
    write(f"calibrated by {len(runs)} runs, load {record['load_before']:.1f}\n{machine!r}\n")
    write(f"  two cores do {machine.pools['cores']:.2f} times the work of one\n")
    seed = time.time_ns() % 1_000_000 if seed is None else seed
    drawn = [kit.draw(seed + i, f"w{i}") for i in range(COUNT)]
    graphs = [kit.build(work) for work in drawn]
    write(f"ten workloads drawn with seed {seed}; {rounds} rounds\n")
    times: list[list[float]] = [[] for _ in drawn]
    shares: list[list[float]] = [[] for _ in drawn]
    between: list = []
    with Here(machine, kit.kernels([*drawn, *(w for w, _ in known)])) as here:
        for number in range(rounds + 1):
            between += [(p, _run(here, g, p)[0]) for g, p in works if number]
            for i, (graph, work) in enumerate(zip(graphs, drawn)):
                line, share = _run(here, graph, work["policy"])
                if number:  # the first round warms up
                    times[i].append(line.makespan)
                    shares[i].append(share)
    day = speed_of(between, machine)
    slow = tuple(Incident(core, 0.0, day) for core in kit.CORES)
    rows = []
    for graph, work, took, share in zip(graphs, drawn, times, shares):
        asked, middle = work["policy"], statistics.median(took)
        ahead = simulate(graph, machine, asked).makespan
        then = simulate(graph, machine, asked, scenario=Scenario(incidents=slow)).makespan
        rows.append(
            {
                "name": work["name"],
                "shape": work["shape"],
                "policy": asked,
                "tasks": len(graph),
                "times": took,
                "median": middle,
                "simulated_ahead": ahead,
                "simulated": then,
                "ratio_ahead": ahead / middle,
                "ratio": then / middle,
                "core_share": statistics.median(share),
            }
        )
    record |= {"seed": seed, "speed_that_day": day, "load_after": os.getloadavg()[0], "rows": rows}
    for key in ("ratio", "ratio_ahead"):
        record[f"within_{key}"] = sum(abs(row[key] - 1) <= WITHIN for row in rows)
    return record


def table(record: dict) -> str:
    """The record as lines of text."""
    lines = [
        f"the cores' speed that day: {record['speed_that_day']:.2f} of the calibration; "
        f"load {record['load_after']:.1f}",
        "      shape          policy     tasks  simulated  that day    measured median (range)"
        "            ratio   that day  cores had",
    ]
    for row in record["rows"]:
        spread = f"({seconds(min(row['times']))} to {seconds(max(row['times']))})"
        lines.append(
            f"  {row['name']}  {row['shape']:<13}  {row['policy']:<9}  {row['tasks']:>5}  "
            f"{seconds(row['simulated_ahead']):>9}  {seconds(row['simulated']):>8}  "
            f"{seconds(row['median']):>8} {spread:<24}  {row['ratio_ahead']:>5.2f}  "
            f"{row['ratio']:>9.2f}  {row['core_share']:>8.0%}"
        )
    within = f"{record['within_ratio_ahead']} of {len(record['rows'])} as calibrated"
    lines.append(
        f"within 15 %: {within}, {record['within_ratio']} of {len(record['rows'])} at that day's "
        "speed (simulated: modelled; runs: measured on the cores, emulated on the paced devices)"
    )
    return "\n".join(lines)


def main(request: dict) -> int:
    """What `report` starts."""
    from hetlab.timing import machine

    write = sys.stderr.write if request["json"] else sys.stdout.write
    write(f"{machine().line}\n")
    record = measure(request["rounds"], request["seed"], write)
    write(table(record) + "\n")
    if request["json"]:
        record["host"] = machine().line
        sys.stdout.write(json.dumps(record, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(json.loads(sys.argv[1])))
