"""Planners: the whole graph is placed before anything runs.

Equal priorities go to the task that comes first in the graph's order, equal finish times to the
device that the machine lists first.  Each is checked against the figures that its paper prints.
"""

from __future__ import annotations

import heapq
import operator

import numpy as np

from hetlab.sched.indexed import Problem, problem
from hetlab.sched.policies.ranks import by_rank, downward, optimistic, upward
from hetlab.sched.policies.slots import Slots, first_least
from hetlab.sched.policy import Plan

__all__ = ["cpop", "heft", "lookahead", "peft"]


def heft(graph, machine=None, *, insertion: bool = True) -> Plan:
    """HEFT: the largest upward rank first, each where it ends first.

    Topcuoglu, Hariri, Wu 2002 (see `ranks`).

    Parameters
    ----------
    graph : TaskGraph or Problem
    machine : Machine
    insertion : bool
        Whether a task may go into a gap between two others; the paper's HEFT does so.
    """
    p = problem(graph, machine)
    slots = Slots(p, insertion)
    for t in by_rank(upward(p)):
        starts = slots.starts(t)
        d = first_least(map(operator.add, starts, slots.cost[t]))
        slots.place(t, d, starts[d])
    return slots.plan("HEFT" if insertion else "HEFT without insertion")


def cpop(graph, machine=None) -> Plan:
    """CPOP: the critical path on one device, all else where it ends first.

    Topcuoglu, Hariri, Wu 2002.  Priorities are sums of two ranks that differ in their last digits,
    so the critical path is walked with a tolerance.
    """
    p = problem(graph, machine)
    priority = [up + down for up, down in zip(upward(p), downward(p))]
    path = _critical(p, priority)
    totals = p.cost[sorted(path)].sum(axis=0)
    slots = Slots(p)
    # One device for the path, if one can run all of it.
    own = first_least(totals) if np.isfinite(totals).any() else -1
    missing = [len(b) for b in p.before]
    position = {t: i for i, t in enumerate(by_rank(priority))}
    heap = [(position[t], t) for t in range(len(p.names)) if not missing[t]]
    heapq.heapify(heap)
    while heap:
        t = heapq.heappop(heap)[1]
        slots.place(t, own if t in path and own >= 0 else first_least(slots.finishes(t)))
        for s, _ in p.after[t]:
            missing[s] -= 1
            if missing[s] == 0:
                heapq.heappush(heap, (position[s], s))
    return slots.plan("CPOP")


def _critical(p: Problem, priority: list[float]) -> set[int]:
    """From the first task of the largest priority, always on to the successor that has it too."""
    first = [t for t in range(len(p.names)) if not p.before[t]]
    most = max(priority[t] for t in first)
    near = 1e-9 * max(1.0, most)
    t = next(t for t in first if priority[t] >= most - near)
    path = {t}
    while p.after[t]:
        best = max(priority[s] for s, _ in p.after[t])
        t = min(s for s, _ in p.after[t] if priority[s] >= best - near)
        path.add(t)
    return path


def peft(graph, machine=None) -> Plan:
    """PEFT: where the finish time plus the best that can follow is the least.

    Arabnejad, Barbosa 2014.  Tasks become ready in the order of their mean optimistic cost.
    """
    p = problem(graph, machine)
    table = optimistic(p)
    able = np.isfinite(p.cost)
    rank = np.where(able, table, 0).sum(axis=1) / able.sum(axis=1)
    slots, ahead = Slots(p), table.tolist()
    missing = [len(b) for b in p.before]
    position = {t: i for i, t in enumerate(by_rank(rank.tolist()))}
    heap = [(position[t], t) for t in range(len(p.names)) if not missing[t]]
    heapq.heapify(heap)
    while heap:
        t = heapq.heappop(heap)[1]
        slots.place(t, first_least(f + o for f, o in zip(slots.finishes(t), ahead[t])))
        for s, _ in p.after[t]:
            missing[s] -= 1
            if missing[s] == 0:
                heapq.heappush(heap, (position[s], s))
    return slots.plan("PEFT")


def lookahead(graph, machine=None) -> Plan:
    """HEFT that tries each device and looks at when the children would end.

    L. F. Bittencourt, R. Sakellariou, E. R. M. Madeira, "DAG scheduling using a lookahead variant
    of the heterogeneous earliest finish time algorithm", PDP 2010.  A task goes where the last of
    its children would end first; without children, where it ends first itself.
    """
    p = problem(graph, machine)
    slots = Slots(p)
    rank = upward(p)
    position = {t: i for i, t in enumerate(by_rank(rank))}
    for t in position:
        starts = slots.starts(t)
        ends = [start + c for start, c in zip(starts, p.cost[t])]
        children = sorted((s for s, _ in p.after[t]), key=position.__getitem__)
        scores = []
        for d, end in enumerate(ends):
            worst = end
            if children and np.isfinite(end):
                trial = slots.copy()
                trial.place(t, d, starts[d])
                for child in children:
                    then = trial.starts(child)
                    then_ends = [start + c for start, c in zip(then, p.cost[child])]
                    best = first_least(then_ends)
                    trial.place(child, best, then[best])
                    worst = max(worst, then_ends[best])
            scores.append((worst, end))
        d = min(range(len(scores)), key=lambda d: (round(scores[d][0], 9), scores[d][1], d))
        slots.place(t, d, starts[d])
    return slots.plan("Lookahead")
