"""Machines that go wrong: paced devices that get hot or die, races, functions of a state."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab import sched
from hetlab.errors import HetlabError
from hetlab.sched.executors.pacing import Pacing
from hetlab.sched.workloads import kernels, measured, mixed_machine, stripes

HOT = sched.Heat(0.2, 3.0, 60.0, 45.0, slowed=0.25, slowed_watts=0.5)


def gpu(**changes):
    return sched.Device("gpu", "gpu", idle_watts=20.0, busy_watts=300.0, **changes)


@given(st.lists(st.floats(0.1, 6), min_size=1, max_size=6), st.booleans(), st.booleans())
def test_a_paced_device_takes_as_long_as_the_simulated_one(costs, warm, slow):
    """The two thermal accounts are written apart; one device, one task after another."""
    device = gpu(heat=HOT if warm else None)
    graph = sched.TaskGraph("chain", unit="s")
    for i, cost in enumerate(costs):
        graph.add(i, cost, after=[i - 1] if i else [])
    incidents = (sched.Incident("gpu", 2.0, 0.5, until=7.0),) if slow else ()
    machine = sched.Machine([device])
    line = sched.simulate(graph, machine, "fifo", scenario=sched.Scenario(incidents=incidents))
    pacing, now = Pacing([device], incidents), 0.0
    for cost in costs:
        now += pacing.start("gpu", now, cost)
        pacing.stop("gpu", now)
    assert math.isclose(now, line.makespan, rel_tol=1e-6)
    if warm:
        assert math.isclose(pacing.degrees(now)["gpu"], line.degrees["gpu"][-1][1], abs_tol=1e-3)


def test_a_device_that_dies_takes_its_process_and_the_rest_goes_on():
    unit = 0.01
    graph, machine = stripes(3, side=8, scale=unit), mixed_machine(scale=unit, warm=True)
    crash = sched.Scenario(incidents=(sched.Incident("gpu1", 2 * unit),))
    names = [d.name for d in machine.devices]
    line = sched.run_here(graph, machine, "load", kernels(8), paced=names, scenario=crash, limit=60)
    assert line.complete and list(line.lost) == ["gpu1"]
    assert "SIGKILL" in line.lost["gpu1"][1]
    assert line.label == "emulated" and list(line.degrees) == ["gpu0"]


def test_a_thread_cannot_die_and_says_so():
    crash = sched.Scenario(incidents=(sched.Incident("cpu0", 0.0),))
    with pytest.raises(HetlabError, match="home memory"):
        sched.run_here(stripes(1, side=8), mixed_machine(), "fifo", scenario=crash, limit=5)


def test_a_state_is_plain_data_and_says_what_the_view_says():
    seen = []

    def look(state):
        seen.append(json.loads(json.dumps(state)))
        return [(task, "cpu0") for task in state["ready"]]

    line = sched.simulate(stripes(2), mixed_machine(warm=True), sched.on_state(look))
    assert line.complete and line.policy == "look"
    first, second = seen[0], seen[1]
    assert first["time"] == 0 and first["left"] == 13
    assert first["devices"]["gpu0"]["degrees"] == 25.0 and first["devices"]["cpu0"]["limit"] is None
    assert first["cost"]["make 0"] == dict.fromkeys(first["devices"], 1.0)
    assert second["devices"]["cpu0"]["queue"] == ["make 1"]  # asked before it starts
    assert set(second["arrives"]) == set(second["ready"]) == {"blur 0"}


def test_a_function_of_a_state_may_copy_and_wait():
    graph = sched.TaskGraph("one", unit="s")
    graph.add("a", 1.0)
    machine = sched.Machine.uniform(2)
    slow = sched.Scenario(incidents=(sched.Incident("P1", 0.0, 0.01),))

    def decide(state):
        if state["ready"]:
            return [("a", "P1"), ("wait", 2.0)]
        return [("a", "P2", "copy")] if state["time"] >= 2 else []

    line = sched.simulate(graph, machine, sched.on_state(decide), scenario=slow)
    assert line.makespan == 3.0 and line.places == {"a": "P2"}


@pytest.mark.parametrize("answer", [1, "ab", [("a",)], [1], [("wait", -1)], [("x", "y", "copy")]])
def test_a_wrong_answer_of_a_function_is_a_sentence(answer):
    with pytest.raises(sched.PolicyError, match=r".+"):
        sched.simulate(stripes(1), mixed_machine(), sched.on_state(lambda state: answer))


def test_a_race_says_where_a_policy_does_not_finish():
    names = ("a quiet day", "gpu1 dies")
    worlds = [w for w in sched.faulty_machines(2) if w.name in names]
    good = sched.race("load", worlds)
    assert good.ok and list(good.ratios) == list(names) and good.worst >= good.ratio >= 1
    dead = sched.World("dead", worlds[0].graph, worlds[0].machine,
        sched.Scenario(incidents=(sched.Incident("gpu1", 0.5),)))  # fmt: skip
    stubborn = sched.on_state(lambda s: [(t, "gpu1") for t in s["ready"]], "stubborn")
    bad = sched.race(stubborn, [worlds[0], dead])
    assert not bad.ok and bad.ratio == math.inf and list(bad.faults) == ["dead"]
    assert "did not finish" in repr(bad) and "gpu1" in repr(bad)


def test_a_drive_keeps_who_failed_beside_who_did_not():
    policies = {"fine": "heft", "lazy": lambda view: []}
    found = sched.drive(policies, stripes(2), mixed_machine())
    assert list(found.timelines) == ["fine"] and "stalled" in found.faults["lazy"]
    assert "modelled" in repr(found) and "lazy" in repr(found)


def test_useful_time_is_what_full_speed_would_have_needed():
    graph = sched.TaskGraph("two", unit="s")
    graph.add("a", 4.0)
    slow = sched.Scenario(incidents=(sched.Incident("gpu", 0.0, 0.5),))
    line = sched.simulate(graph, sched.Machine([gpu()]), "fifo", scenario=slow)
    assert line.busy == {"gpu": 8.0} and line.useful == {"gpu": 4.0}


def test_the_kernels_of_the_workload_are_right():
    work, rng = kernels(9), np.random.default_rng(0)
    a = rng.random((9, 9), np.float32)
    padded = np.pad(a.astype(float), 1, mode="edge")
    blur = sum(padded[i : i + 9, j : j + 9] for i in range(3) for j in range(3)) / 9
    assert np.allclose(work["blur"](a), blur, rtol=1e-5)
    assert np.allclose(work["matmul"](a), a.astype(float) @ a, rtol=1e-5)
    assert np.allclose(work["softmax"](a).sum(1), 1, rtol=1e-5)
    assert work["histogram"](a).sum() == a.size
    assert set(measured(8, 1)) == set(work)


def test_the_policy_that_looks_beats_the_plan_on_a_hot_machine():
    """What lesson 22 says of claim C07, without its numbers."""
    graph, cool, warm = stripes(12), mixed_machine(), mixed_machine(warm=True)
    plan, aware = (sched.simulate(graph, warm, p) for p in ("heft", "load"))
    assert plan.makespan > 1.3 * aware.makespan
    quiet = [sched.simulate(graph, cool, p).makespan for p in ("heft", "load")]
    assert quiet[0] < quiet[1] * 1.05
    used = [(t.utilisation["gpu0"] + t.utilisation["gpu1"]) / 2 for t in (plan, aware)]
    assert used[0] < used[1]


def test_a_device_that_waits_for_the_data_of_a_copy_is_not_idle():
    graph = sched.TaskGraph("far", unit="s")
    graph.add("a", 1.0)
    graph.add("b", 1.0, after={"a": 5.0})
    slow, seen = sched.Scenario(incidents=(sched.Incident("P1", 1.0, 0.01),)), []

    def decide(state):
        seen.append((state["devices"]["P2"]["copy"], state["devices"]["P2"]["running"]))
        if state["ready"]:
            return [(task, "P1") for task in state["ready"]] + [("wait", 3.0)]
        late = state["devices"]["P1"]["running"] == "b" and state["time"] in (3.0, 4.0)
        return [("b", "P2", "copy"), ("wait", 0.5)] if late and seen[-1] == (None, None) else []

    line = sched.simulate(graph, sched.Machine.uniform(2), sched.on_state(decide), scenario=slow)
    assert line.places["b"] == "P2" and ("b", None) in seen
