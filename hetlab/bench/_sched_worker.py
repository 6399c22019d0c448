"""One peer of ``hetlab bench sched``: reads graphs as lines of JSON, answers with a HEFT plan.

Started as ``PYTHON -I _sched_worker.py PEER`` by its path, so that a peer may live in an
environment of its own that knows nothing of hetlab; it ends when its input ends.  The seconds are
those of planning alone: from the peer's own graph object, fresh each time, to its own plan; those
of the processor, which others on the machine hardly change, and those of the clock.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import metadata

__all__ = ["main"]


def _ours(graph: dict) -> tuple[Callable, Callable]:
    from hetlab.sched import Device, Link, Machine, TaskGraph, heft

    made = TaskGraph("bench")
    for t, cost in enumerate(graph["costs"]):
        made.add(str(t), cost)
    for before, after, size in graph["edges"]:
        made.connect(str(before), str(after), size)
    devices = [Device(f"P{d}", speed=speed) for d, speed in enumerate(graph["speeds"])]
    names = [d.name for d in devices]
    links = [Link(a, b, 1.0) for i, a in enumerate(names) for b in names[:i]]
    machine = Machine(devices, links)

    def read(plan) -> list:
        times = plan.times
        return [[int(times[str(t)][0][1:]), *times[str(t)][1:]] for t in range(len(graph["costs"]))]

    return lambda: heft(made, machine), read


def _saga(graph: dict) -> tuple[Callable, Callable]:
    from saga import Network, TaskGraph
    from saga.schedulers import HeftScheduler

    made = TaskGraph.create(
        [(str(t), cost) for t, cost in enumerate(graph["costs"])],
        [(str(before), str(after), size) for before, after, size in graph["edges"]],
    )
    names = [f"P{d}" for d in range(len(graph["speeds"]))]
    links = [(a, b, 1.0) for i, a in enumerate(names) for b in names[:i]]
    network = Network.create(list(zip(names, graph["speeds"])), links)

    def read(schedule) -> list:
        found = {each.name: each for _, row in schedule.items() for each in row}
        tasks = [found[str(t)] for t in range(len(graph["costs"]))]
        return [[int(each.node[1:]), each.start, each.end] for each in tasks]

    return lambda: HeftScheduler().schedule(network, made), read


def _version(peer: str) -> str:
    if peer == "hetlab":
        import hetlab

        return hetlab.__version__
    return metadata.version(peer)


def main(peer: str) -> None:
    """Say which version this is, then answer until the input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # a library's print must not look like one
    make = {"hetlab": _ours, "anrg-saga": _saga}[peer]
    try:
        hello = {"version": _version(peer), "python": sys.version.split()[0]}
    except metadata.PackageNotFoundError:
        hello = {"error": f"{sys.executable} has no {peer}"}
    answers.write(json.dumps(hello) + "\n")
    answers.flush()
    for line in sys.stdin:
        try:
            run, read = make(json.loads(line))
            start, used = time.perf_counter(), time.process_time()
            plan = run()
            used, clock = time.process_time() - used, time.perf_counter() - start
            answer = {"seconds": used, "clock": clock, "plan": read(plan)}
        except Exception as cause:
            answer = {"error": f"{type(cause).__name__}: {cause}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
