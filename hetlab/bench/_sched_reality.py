"""``hetlab bench sched --reality``: simulated makespans beside those of real runs.

1. The cores and the links are calibrated, by runs that are always the same.
2. Ten workloads are drawn: the seed is taken from the clock only now, unless it is given.
3. They run on this machine with the same policies, in rounds; each is simulated on the calibrated
   machine.

A machine that others use too is another machine from one second to the next.  So a run starts when
few processes want a core, and counts as quiet when its kernels had one for most of their time:
that is measured beside the makespan and knows nothing of what was simulated.  Disturbed runs are
repeated while there is time; how many there were is told.  A second ratio takes one number from
each run, how fast the cores were in it against the model, and simulates with that: what is left is
what the model says of order, overlap, copies and overheads.  ``--paced`` asks for that alone: then
the cores are paced too, and nobody's load changes how long a kernel takes.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from hetlab.units import seconds

__all__ = ["main", "report"]

COUNT, WITHIN, QUIET = 10, 0.15, 0.8
# One thread a kernel: a core is a device here, so a library must not take two.
_ONE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def report(options) -> int:
    """Run all of it in a process of its own, whose libraries start no threads."""
    request = {
        name: getattr(options, name) for name in ("rounds", "seed", "limit", "paced", "json")
    }
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
                    units = (5, 12, 30)[(round_ + KINDS.index(kind)) % 3]
                    here = add(core, kind, units, [there] if round_ else [])
                    last[core] = (add("npu0", "waves", 2, [here, there]),)
        found.append((work, plan))
    return found


def calibrate(timelines: list, machine, paced: bool) -> tuple:
    """Two machines, as the timelines say: to run on, and to simulate.

    Both have the cores' speeds, their pool and the links.  Where a device is paced, only the
    simulated one has a start: on the real one the time until its process is heard is there anyway.
    """
    from dataclasses import replace

    from hetlab.bench._sched_kernels import CORES
    from hetlab.sched import calibrated, samples, together

    work, links = samples(timelines, CORES)
    first = work[CORES[0]]  # the system moves threads between cores: they are alike
    found = calibrated(machine, {} if paced else dict.fromkeys(CORES, first), links)
    if not paced:
        devices = [replace(d, pool="cores") if d.name in CORES else d for d in found.devices]
        found = found.replace(devices=devices, pools={"cores": together(timelines, CORES)})
    late = {}
    for d in machine.devices:
        if paced or d.name not in CORES:
            kinds = samples(timelines, [d.name])[0][d.name]
            speed = {**dict.fromkeys(kinds, d.speeds.get("*")), **d.speeds}
            over = [s - units / speed[k] for k, row in kinds.items() for units, s in row]
            late[d.name] = max(0.0, statistics.median(over))
    devices = [replace(d, start=late.get(d.name, d.start)) for d in found.devices]
    return found, found.replace(devices=devices)


def _decided(policy, graph, machine):
    """A planner's plan for the machine that is run on; any other policy as it is."""
    from hetlab import sched

    planners = ("heft", "peft", "cpop", "lookahead")
    return getattr(sched, policy)(graph, machine) if policy in planners else policy


class Trials:
    """Runs of one graph, the quiet ones and the others.

    Attributes
    ----------
    quiet, disturbed : list of (float, Timeline)
        The share of their time for which the kernels had a core, and the run.
    """

    def __init__(self, graph, policy) -> None:
        self.graph, self.policy = graph, policy
        self.quiet: list[tuple] = []
        self.disturbed: list[tuple] = []

    def run(self, here) -> None:
        """Once, when few processes want a core."""
        from hetlab.bench._sched_kernels import LOG

        _await_calm()
        LOG.clear()
        line = here.run(self.graph, self.policy, limit=120)
        clock = sum(wall for _, wall in LOG)
        share = sum(core for core, _ in LOG) / clock if clock else 1.0
        (self.quiet if share >= QUIET else self.disturbed).append((share, line))

    @property
    def all(self) -> list[tuple]:
        """All runs."""
        return [*self.quiet, *self.disturbed]


def _await_calm(most: float = 1.0) -> None:
    """Wait until at most two threads of the whole machine want a core, or for so many seconds."""
    end = time.perf_counter() + most
    while time.perf_counter() < end:
        try:
            wanting = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
        except (OSError, ValueError, IndexError):
            return  # not Linux: nobody can say
        if wanting <= 2:  # this thread is one of them
            return
        time.sleep(0.03)


def _until_quiet(here, trials: list[Trials], rounds: int, limit: float) -> None:
    """In turn, until each has enough quiet runs or the time is over; at least ``rounds`` times."""
    end, turn = time.perf_counter() + limit, 0
    while turn < rounds or time.perf_counter() < end:
        lacking = [t for t in trials if len(t.quiet) < rounds]
        if not lacking:
            return
        for each in lacking:
            each.run(here)
        turn += 1


def measure(
    rounds: int, seed: int | None = None, limit: float = 120, paced: bool = False, write=print
) -> dict:
    """Calibrate, draw, run and simulate; the record of all of it."""
    from hetlab.bench import _sched_kernels as kit
    from hetlab.sched import simulate
    from hetlab.sched.executors.here import Here

    nominal, known = kit.nominal(), rehearsals()
    names = [d.name for d in nominal.devices if paced or d.name not in kit.CORES]
    home = -1 if paced else os.getpid()  # where kernels really work
    trials = [Trials(kit.build(work), plan) for work, plan in known]
    with Here(nominal, kit.kernels([w for w, _ in known], home), paced=names) as here:
        for each in trials:
            here.run(each.graph, each.policy, limit=120)  # the first one warms up
        _until_quiet(here, trials, 2 * rounds, limit / 3)
    calm = all(each.quiet for each in trials)
    lines = [line for t in trials for _, line in (t.quiet if calm else t.all)]
    run_on, machine = calibrate(lines, nominal, paced)
    counts = [(len(t.quiet), len(t.disturbed)) for t in trials]
    record: dict = {"load_before": os.getloadavg()[0], "machine": machine.to_dict()}
    record["calibration"] = {"quiet": [q for q, _ in counts], "disturbed": [d for _, d in counts]}
    write(f"calibrated: {_count(counts)}; load {record['load_before']:.1f}\n{machine!r}\n")
    starts = ", ".join(f"{d.name} {seconds(d.start)}" for d in machine.devices)
    write(f"  from a decision to the first operation: {starts}\n")
    if machine.pools:
        write(f"  both cores together do {machine.pools['cores']:.2f} times the work of one\n")
    seed = time.time_ns() % 1_000_000 if seed is None else seed
    drawn = [kit.draw(seed + i, f"w{i}") for i in range(COUNT)]
    write(f"ten workloads drawn with seed {seed}\n")
    rehearsed, trials = trials, [Trials(kit.build(w), w["policy"]) for w in drawn]
    with Here(run_on, kit.kernels(drawn, home), paced=names) as here:
        for each in trials:
            here.run(each.graph, each.policy, limit=120)
        _until_quiet(here, trials, rounds, limit)
    # Quiet runs are compared with a quiet calibration, or else all runs with all of it.
    calm = calm and all(each.quiet for each in trials)
    if not calm:
        machine = calibrate([line for t in rehearsed for _, line in t.all], nominal, paced)[1]
    rows = []
    for work, each in zip(drawn, trials):
        used = each.quiet if calm else each.all
        times = [line.makespan for _, line in used]
        policy = _decided(each.policy, each.graph, run_on)
        simulated = simulate(each.graph, machine, policy).makespan
        row = {key: work[key] for key in ("name", "shape", "policy")}
        row |= {"tasks": len(each.graph), "times": times, "simulated": simulated}
        row |= {"median": statistics.median(times)}
        row |= {"ratio": simulated / row["median"]}
        given = [_given(each.graph, machine, policy, line) for _, line in used]
        row |= {"ratios_given_the_cores": given, "ratio_given": statistics.median(given)}
        row |= {"core_share": statistics.median(share for share, _ in used)}
        rows.append(row | {"quiet": len(each.quiet), "disturbed": len(each.disturbed)})
    record |= {"seed": seed, "load_after": os.getloadavg()[0], "rows": rows}
    for key in ("ratio", "ratio_given"):
        record[f"within_{key}"] = sum(abs(row[key] - 1) <= WITHIN for row in rows)
    return record


def _given(graph, machine, policy, line) -> float:
    """Simulated over real makespan, with the cores as fast as they were in that run."""
    from hetlab.bench._sched_kernels import CORES
    from hetlab.sched import Incident, Scenario, simulate

    def busy(run) -> float:
        return sum(span.seconds for span in run.runs.values() if span.device in CORES)

    factor = 1.0
    for _ in range(3):  # where a policy places by what it sees, the places change with the speed
        day = Scenario(incidents=tuple(Incident(core, 0.0, factor) for core in CORES))
        virtual = simulate(graph, machine, policy, scenario=day)
        if not busy(virtual) or not busy(line):
            break
        factor *= busy(virtual) / busy(line)
    return virtual.makespan / line.makespan


def _count(counts: list[tuple[int, int]]) -> str:
    quiet, disturbed = map(sum, zip(*counts))
    text = f"{quiet} quiet runs, {disturbed} disturbed ones"
    return text if all(q for q, _ in counts) else f"{text}: WITHOUT CALM ALL ARE USED"


def table(record: dict) -> str:
    """The record as lines of text."""
    lines = [
        "      shape          policy     tasks  simulated  measured median (range)"
        "             ratio  given the cores  cores had  quiet, disturbed"
    ]
    for row in record["rows"]:
        spread = f"({seconds(min(row['times']))} to {seconds(max(row['times']))})"
        lines.append(
            f"  {row['name']}  {row['shape']:<13}  {row['policy']:<9}  {row['tasks']:>5}  "
            f"{seconds(row['simulated']):>9}  {seconds(row['median']):>8} {spread:<24}  "
            f"{row['ratio']:>5.2f}  {row['ratio_given']:>15.2f}  {row['core_share']:>9.0%}  "
            f"{row['quiet']:>5}, {row['disturbed']}"
        )
    calm = _count([(row["quiet"], row["disturbed"]) for row in record["rows"]])
    lines.append(
        f"{calm}; quiet: kernels had a core for {QUIET:.0%} of their time; load "
        f"{record['load_after']:.1f}"
    )
    first, second = record["within_ratio"], record["within_ratio_given"]
    lines.append(
        f"within {WITHIN:.0%}: {first} of {len(record['rows'])}, and {second} "
        "given the cores' speed in each run\n(simulated: modelled; runs: measured on the "
        "cores, emulated on the paced devices)"
    )
    return "\n".join(lines)


def main(request: dict) -> int:
    """What `report` starts."""
    from hetlab.timing import machine

    write = sys.stderr.write if request["json"] else sys.stdout.write
    write(f"{machine().line}\n")
    asked = {name: request[name] for name in ("rounds", "seed", "limit", "paced")}
    record = measure(**asked, write=write)
    write(table(record) + "\n")
    if request["json"]:
        record["host"] = machine().line
        sys.stdout.write(json.dumps(record, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(json.loads(sys.argv[1])))
