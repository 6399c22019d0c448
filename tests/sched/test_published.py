"""Figures that papers print, or that two solvers agree on."""

import pytest

from hetlab.sched import (
    Machine,
    TaskGraph,
    bounds,
    cpop,
    heft,
    optimum,
    peft,
    problem,
    simulate,
)
from hetlab.sched.examples import arabnejad, graham, topcuoglu
from hetlab.sched.policies.greedy import ListScheduling
from hetlab.sched.policies.ranks import downward, optimistic, upward

THREE = Machine.uniform(3)


def test_hefts_ranks_are_those_of_the_paper():
    p = problem(topcuoglu(), THREE)
    assert upward(p) == pytest.approx(
        [108, 77, 80, 80, 69, 63.333, 42.667, 35.667, 44.333, 14.667], abs=5e-4
    )
    assert downward(p) == pytest.approx(
        [0, 31, 25, 22, 24, 27, 62.333, 66.667, 63.667, 93.333], abs=5e-4
    )


def test_heft_gives_80_and_the_placements_of_the_paper():
    plan = heft(topcuoglu(), THREE)
    assert plan.makespan == 80
    times = {task: (device, start, end) for task, (device, start, end) in plan.times.items()}
    assert times == {
        "t2": ("P1", 27, 40), "t8": ("P1", 57, 62),
        "t4": ("P2", 18, 26), "t6": ("P2", 26, 42), "t9": ("P2", 56, 68), "t10": ("P2", 73, 80),
        "t1": ("P3", 0, 9), "t3": ("P3", 9, 28), "t5": ("P3", 28, 38), "t7": ("P3", 38, 49),
    }  # fmt: skip
    assert heft(topcuoglu(), THREE, insertion=False).makespan == 80


@pytest.mark.parametrize(
    ("policy", "graph", "makespan"),
    [
        ("heft", topcuoglu, 80),
        ("cpop", topcuoglu, 86),
        ("peft", topcuoglu, 85),
        ("peft", arabnejad, 122),
        ("heft", arabnejad, 133),
    ],
)
def test_a_simulated_plan_ends_when_its_planner_said(policy, graph, makespan):
    planner = {"heft": heft, "cpop": cpop, "peft": peft}[policy]
    plan, timeline = planner(graph(), THREE), simulate(graph(), THREE, policy)
    assert plan.makespan == timeline.makespan == makespan
    for task, (device, start, end) in plan.times.items():
        span = timeline.runs[task]
        assert (span.device, span.start, span.end) == (device, start, end)


def test_pefts_optimistic_costs_are_those_of_the_paper():
    p = problem(arabnejad(), THREE)
    assert optimistic(p).mean(axis=1) == pytest.approx(
        [72.667, 41, 37, 43.667, 31, 41.667, 17, 20.667, 16.333, 0], abs=5e-4
    )


def test_cpop_keeps_the_last_task_on_the_critical_path_though_its_priority_differs_by_1e_14():
    p = problem(topcuoglu(), THREE)
    priority = [up + down for up, down in zip(upward(p), downward(p))]
    from hetlab.sched.policies.planners import _critical

    assert {p.names[t] for t in _critical(p, priority)} == {"t1", "t2", "t9", "t10"}
    assert cpop(topcuoglu(), THREE).makespan == 86


def test_insertion_finds_the_gap():
    """SEEN_IN_PUBLIC 35: 3 with insertion, 4 without."""
    graph = TaskGraph(devices=["P1", "P2"])
    for t, costs in enumerate([[1, 2], [2, 1], [9, 1], [1, 1]]):
        graph.add(t, costs)
    graph.connect(0, 2, 1)
    graph.connect(0, 3, 5)
    two = Machine.uniform(2)
    assert heft(graph, two).makespan == 3
    assert heft(graph, two, insertion=False).makespan == 4
    assert simulate(graph, two, "heft").makespan == 3


LATE = ["t1", "t2", "t4", "t5", "t6", "t3", "t9", "t7", "t8"]


@pytest.mark.parametrize(
    ("processors", "graph", "order", "makespan"),
    [
        (3, graham(), None, 12),
        (4, graham(), None, 15),
        (3, graham(less=1), None, 13),
        (3, graham(without=(("t4", "t5"), ("t4", "t6"))), None, 16),
        (3, graham(), LATE, 14),
        (5, graham(), None, 12),
    ],
)
def test_grahams_anomalies(processors, graph, order, makespan):
    """More processors, shorter times and fewer edges all make it end later."""
    machine = Machine.uniform(processors)
    timeline = simulate(graph, machine, ListScheduling(order))
    assert timeline.makespan == makespan
    best = bounds(graph, machine)[0].value
    assert makespan <= (2 - 1 / processors) * max(best, 12 if processors == 3 else best)


@pytest.mark.parametrize(("graph", "least"), [(topcuoglu, 73), (arabnejad, 113)])
def test_the_optima_are_proven(graph, least):
    pytest.importorskip("ortools", reason="OR-Tools is an extra: pip install 'hetlab[exact]'")
    found = optimum(graph(), THREE)
    assert found.proven and found.makespan == least
    timeline = simulate(graph(), THREE, found.plan).against(found)
    assert timeline.makespan == least and timeline.ratio == 1
    assert heft(graph(), THREE).makespan > least


@pytest.mark.parametrize("policy", ["heft", "cpop", "peft", "lookahead", "energy"])
@pytest.mark.parametrize(("graph", "least"), [(topcuoglu, 73), (arabnejad, 113)])
def test_no_policy_beats_the_optimum(policy, graph, least):
    assert simulate(graph(), THREE, policy).makespan >= least
