"""Kernels, graphs and a machine for simulated against real runs.

A kernel does as many equal units as its task says, of about a millisecond each; every unit
releases Python's lock.  They run on the cores only: a paced device's time is the model's, and
its process would take the cores' time for nothing.
"""

from __future__ import annotations

import functools
import os
import random
import threading
import time

import numpy as np

from hetlab.sched import Device, Link, Machine, TaskGraph

__all__ = ["CORES", "KINDS", "LOG", "POLICIES", "build", "draw", "kernels", "nominal"]

KINDS = ("matrix", "waves", "stream", "sort")
CORES = ("cpu0", "cpu1")
# Drawn from: planners, and policies that decide while the run goes on.
POLICIES = ("heft", "peft", "cpop", "lookahead", "min-min", "fifo", "locality", "stealing")
# (seconds on a core, seconds by the clock) of every kernel since it was last emptied.
LOG: list[tuple[float, float]] = []
_mine = threading.local()


def nominal() -> Machine:
    """Two cores and two paced devices, each with a process and a memory of its own.

    Speeds are units a second; those of the cores, and the links, are guesses until measured.
    """
    cores = [Device(name, memory="main", speeds={"*": 1000.0}) for name in CORES]
    gpu = {"matrix": 2500.0, "waves": 2000.0, "stream": 1500.0, "sort": 500.0}
    npu = {"matrix": 3500.0, "waves": 1200.0}
    paced = [Device("gpu0", "gpu", speeds=gpu), Device("npu0", "npu", speeds=npu)]
    ends = (("main", "gpu0"), ("main", "npu0"), ("gpu0", "npu0"))
    links = [Link(a, b, 1e9, 1e-3) for a, b in ends]
    name = "two cores, a paced GPU and a paced NPU"
    return Machine([*cores, *paced], links, home="main", contention="queue", name=name)


def draw(seed: int, name: str) -> dict:
    """A workload as plain data: tasks (kind, units, needs), edges (before, after, bytes)."""
    chance = random.Random(seed)
    shape, n = chance.choice(("layers", "fork and join", "any")), chance.randint(24, 48)
    tasks, edges = [], []
    width = chance.randint(3, 8)
    for t in range(n):
        kind = chance.choice(KINDS)
        tasks.append((kind, chance.randint(5, 30), "cpu" if chance.random() < 0.2 else ""))
        if shape == "layers":
            above = range(max(0, (t // width - 1) * width), t // width * width)
        elif shape == "fork and join":
            # Stages of one task, ``width`` tasks, one task that joins them, and so on.
            at = t % (width + 1)
            above = [t - at] if at else range(max(0, t - width), t)
        else:
            above = range(max(0, t - 12), t)
        most = width if shape == "fork and join" and t % (width + 1) == 0 else chance.randint(1, 3)
        for before in chance.sample(list(above), min(most, len(above))):
            edges.append((before, t, round(10 ** chance.uniform(4, 6.3))))
    return {
        "name": name,
        "shape": shape,
        "tasks": tasks,
        "edges": edges,
        "policy": chance.choice(POLICIES),
    }


def build(workload: dict) -> TaskGraph:
    """The graph of a drawn workload; its tasks are named (workload, number)."""
    graph, name = TaskGraph(workload["name"], unit="s"), workload["name"]
    for t, (kind, units, needs) in enumerate(workload["tasks"]):
        graph.add((name, t), kind=kind, work=units, needs=needs or ())
    for before, after, size in workload["edges"]:
        graph.connect((name, before), (name, after), size)
    return graph


def kernels(workloads: list[dict], home: int) -> dict:
    """A kernel for each task of each workload, by the task's name; ``home``: see `_kernel`."""
    return {
        (w["name"], t): functools.partial(_kernel, kind, units, home)
        for w in workloads
        for t, (kind, units, _) in enumerate(w["tasks"])
    }


def _kernel(kind: str, units: int, home: int, *inputs) -> None:
    """Do the units, if this is the process of that number: the one of the cores."""
    if os.getpid() != home:
        return
    unit = _UNITS[kind]
    if not hasattr(_mine, "a"):
        chance = np.random.default_rng(1)
        _mine.a, _mine.b = chance.random((2, 256, 256))
        _mine.c, _mine.d = chance.random((2, 1_000_000))
        _mine.e = np.empty_like(_mine.c)
    begin, used = time.perf_counter(), time.thread_time()
    for _ in range(units):
        unit()
    LOG.append((time.thread_time() - used, time.perf_counter() - begin))


def _matrix() -> None:
    np.matmul(_mine.a, _mine.b)


def _waves() -> None:
    np.sin(_mine.c[:80_000], out=_mine.e[:80_000])


def _stream() -> None:
    np.add(_mine.c, _mine.d, out=_mine.e)


def _sort() -> None:
    np.sort(_mine.c[:100_000])


_UNITS = {"matrix": _matrix, "waves": _waves, "stream": _stream, "sort": _sort}
