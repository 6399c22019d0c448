"""The optimum of a small graph, proven by OR-Tools' CP-SAT solver (extra ``exact``).

The model: each task on one device, tasks on a device one after another, every transfer its whole
time and none slowed by another.  Memory limits, contention and reconfiguration are left out, so
where a machine has them the result is a lower bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hetlab.errors import InvalidValue, optional
from hetlab.sched.indexed import Problem, problem
from hetlab.sched.lower_bounds import Bound, bounds
from hetlab.sched.policies.planners import heft
from hetlab.sched.policy import Plan

__all__ = ["Optimum", "optimum"]

_DIGITS = 6


@dataclass(frozen=True)
class Optimum:
    """What the solver found.

    Attributes
    ----------
    plan : Plan
        The best plan.
    proven : bool
        Whether no plan is shorter.
    bound : Bound
        "optimum" when it is proven, else the best bound of the solver.
    """

    plan: Plan
    proven: bool
    bound: Bound

    @property
    def makespan(self) -> float:
        """Of the plan."""
        return self.plan.makespan

    def __repr__(self) -> str:
        if self.proven:
            return f"Optimum: {self.makespan:.6g}, proven"
        return f"Optimum: at most {self.makespan:.6g}, at least {self.bound.value:.6g}"


def optimum(graph, machine=None, *, seconds: float = 30.0, workers: int = 2) -> Optimum:
    """Search for the shortest plan and prove that there is none shorter.

    Parameters
    ----------
    graph : TaskGraph or Problem
    machine : Machine
    seconds : float
        How long to search at most.
    workers : int
        Threads of the solver.

    Returns
    -------
    Optimum

    Raises
    ------
    MissingLibrary
        Without OR-Tools.
    InvalidValue
        For times that six decimal digits do not tell apart from the largest of them.
    """
    cp = optional("ortools.sat.python.cp_model", "exact", "prove an optimum")
    p = problem(graph, machine)
    scale, first, model = _scale(p), heft(p), cp.CpModel()
    equal = bool((p.cost == p.cost[:, :1]).all()) and not any(p.size)
    horizon = _whole(first.makespan, scale) + len(p.names)
    build = _on_equal_devices if equal else _on_unlike_devices
    starts, ends, places = build(model, p, scale, horizon)
    makespan = model.new_int_var(0, horizon, "makespan")
    model.add_max_equality(makespan, ends)
    least = max(b.value for b in bounds(p))
    model.add(makespan >= math.floor(least * scale) - len(p.names) * (scale > 1))
    for t, name in enumerate(p.names):
        device, start, _ = first.times[name]
        model.add_hint(starts[t], _whole(start, scale))
        for d, here in enumerate(places[t]) if places else ():
            model.add_hint(here, p.devices[d] == device)
    model.minimize(makespan)
    solver = cp.CpSolver()
    solver.parameters.max_time_in_seconds = float(seconds)
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = 0
    status = solver.solve(model)
    low = max(least, solver.best_objective_bound / scale)
    if status not in (cp.OPTIMAL, cp.FEASIBLE):
        return Optimum(first, False, Bound(low, "solver's bound", "no plan can be shorter"))
    begins = [solver.value(s) / scale for s in starts]
    where = [[solver.value(here) for here in row].index(1) for row in places] if places else None
    plan = _plan(p, begins, where)
    if status == cp.OPTIMAL:
        return Optimum(plan, True, Bound(plan.makespan, "optimum", "no plan is shorter: proven"))
    return Optimum(plan, False, Bound(low, "solver's bound", "no plan can be shorter"))


def _whole(seconds: float, scale: int) -> int:
    return round(seconds * scale)


def _scale(p: Problem) -> int:
    """What turns every time into a whole number, or into one with six digits."""
    times = p.cost[np.isfinite(p.cost)]
    if any(p.size):
        sizes = np.unique([s for s in p.size if s])
        pairs = {(a, b) for a, b in zip(p.latency.ravel().tolist(), p.per_byte.ravel().tolist())}
        times = np.concatenate([times, *(a + sizes * b for a, b in pairs)])
    largest = float(times.max(initial=1.0)) or 1.0
    for digits in range(_DIGITS + 1):
        scaled = times * 10**digits
        if np.abs(scaled - np.round(scaled)).max(initial=0.0) < 1e-6:
            break
    if largest * 10**digits * len(p.names) > 2**50:
        rule = "of similar size: six digits must tell them apart"
        raise InvalidValue("costs", rule, f"{times.min():g} to {largest:g}")
    return 10**digits


def _on_equal_devices(model, p: Problem, scale: int, horizon: int) -> tuple:
    """Equal devices without transfers: how many tasks run at a time is all that counts."""
    lengths = [_whole(c, scale) for c in p.cost[:, 0].tolist()]
    starts = [model.new_int_var(0, horizon, f"start {t}") for t in range(len(p.names))]
    tasks = [
        model.new_fixed_size_interval_var(s, n, f"task {t}")
        for t, (s, n) in enumerate(zip(starts, lengths))
    ]
    model.add_cumulative(tasks, [1] * len(tasks), len(p.devices))
    ends = [start + length for start, length in zip(starts, lengths)]
    for t, before in enumerate(p.before):
        for b, _ in before:
            model.add(starts[t] >= ends[b])
    return starts, ends, None


def _on_unlike_devices(model, p: Problem, scale: int, horizon: int) -> tuple:
    """A task is an interval on one of the devices; what moves between two takes its time."""
    starts, ends, places = [], [], []
    rows: list[list] = [[] for _ in p.devices]
    for t in range(len(p.names)):
        start = model.new_int_var(0, horizon, f"start {t}")
        end, here = model.new_int_var(0, horizon, f"end {t}"), []
        for d, cost in enumerate(p.cost[t].tolist()):
            on = model.new_bool_var(f"task {t} on {d}")
            here.append(on)
            if math.isinf(cost):
                model.add(on == 0)
                continue
            size = _whole(cost, scale)
            name = f"task {t} on {d}"
            rows[d].append(model.new_optional_interval_var(start, size, end, on, name))
            if p.from_home[t, d]:
                model.add(start >= _whole(float(p.from_home[t, d]), scale)).only_enforce_if(on)
        model.add_exactly_one(here)
        starts.append(start)
        ends.append(end)
        places.append(here)
    for row in rows:
        model.add_no_overlap(row)
    for t, before in enumerate(p.before):
        for b, size in before:
            model.add(starts[t] >= ends[b])
            table = p.latency + size * p.per_byte if size else np.zeros_like(p.latency)
            for a, c in zip(*np.nonzero(table)):
                pair = [places[b][a], places[t][c]]
                gap = _whole(float(table[a, c]), scale)
                model.add(starts[t] >= ends[b] + gap).only_enforce_if(pair)
    return starts, ends, places


def _plan(p: Problem, begins: list[float], where: list[int] | None) -> Plan:
    """The solver's starts as a plan; on equal devices each takes the first that is free."""
    rows: list[list] = [[] for _ in p.devices]
    free = [0.0] * len(p.devices)
    for t in sorted(range(len(p.names)), key=lambda t: (begins[t], p.cost[t].min(), t)):
        if where is None:
            d = next(d for d, end in enumerate(free) if end <= begins[t] + 1e-9)
        else:
            d = where[t]
        free[d] = begins[t] + float(p.cost[t, d])
        rows[d].append((p.names[t], begins[t], free[d]))
    return Plan(dict(zip(p.devices, rows)), "CP-SAT")
