"""The fewest joules that still meet a deadline."""

from __future__ import annotations

import math

from hetlab.sched.indexed import Problem, problem
from hetlab.sched.messages import Run
from hetlab.sched.policies.planners import heft
from hetlab.sched.policies.ranks import by_rank, upward
from hetlab.sched.policies.slots import Slots, first_least
from hetlab.sched.policy import Plan

__all__ = ["EnergyAware", "frugal"]


def frugal(graph, machine=None, deadline: float | None = None) -> Plan:
    """A plan with few joules whose last task ends by a deadline.

    HEFT's plan is the start.  Then, task by task with the largest saving first, a task moves to the
    device on which it takes the fewest joules (busy minus idle power, times its time), if the whole
    graph, placed again in HEFT's order, still ends in time.  Greedy, so not the least there is.

    Parameters
    ----------
    graph : TaskGraph or Problem
    machine : Machine
    deadline : float, optional
        1.5 times HEFT's makespan otherwise; one that HEFT misses gives HEFT's plan.
    """
    p = problem(graph, machine)
    base = heft(p)
    deadline = 1.5 * base.makespan if deadline is None else deadline
    order = by_rank(upward(p))
    index = p.device_index
    where = [index[base.times[name][0]] for name in p.names]
    extra = [d.busy_watts - d.idle_watts for d in p.machine.devices]
    joules = [
        [w * c if math.isfinite(c) else c for w, c in zip(extra, row)] for row in p.cost.tolist()
    ]
    thrifty = [first_least(row) for row in joules]
    saving = {t: joules[t][where[t]] - joules[t][thrifty[t]] for t in order}
    todo = [t for t in sorted(order, key=lambda t: -saving[t]) if saving[t] > 0]
    best = base
    # Many at once first, then fewer: a large graph needs few trials.
    step = len(todo)
    while step >= 1 and todo:
        left = []
        for i in range(0, len(todo), step):
            part = todo[i : i + step]
            trial = list(where)
            for t in part:
                trial[t] = thrifty[t]
            plan = _placed(p, order, trial)
            if plan.makespan <= deadline * (1 + 1e-12):
                where, best = trial, plan
            else:
                left += part
        todo, step = left, step // 2 if step > 1 else 0
    return Plan({d: [(t, *best.times[t][1:]) for t in best[d]] for d in best}, "energy-aware")


class EnergyAware:
    """Follows `frugal`; what a lost device leaves goes where it ends first.

    Parameters
    ----------
    deadline : float, optional
        See `frugal`.
    """

    name = "energy-aware"

    def __init__(self, deadline: float | None = None) -> None:
        self._deadline, self._planned = deadline, False

    def decide(self, view) -> list:
        """All of the plan at the first call."""
        if self._planned:
            return [Run(task, view.best(task)) for task in view.ready]
        self._planned = True
        plan = frugal(view.problem, deadline=self._deadline)
        pairs = sorted(plan.times.items(), key=lambda item: item[1][1:])
        return [Run(task, device) for task, (device, _, _) in pairs]


def _placed(p: Problem, order: list[int], where: list[int]) -> Plan:
    slots = Slots(p)
    for t in order:
        slots.place(t, where[t])
    return slots.plan("energy-aware")
