"""Virtual time: contention, memory, reconfiguration, heat, losses, stealing."""

import math
import subprocess
import sys

import numpy as np
import pytest

from hetlab.errors import InvalidValue
from hetlab.sched import (
    Backup,
    Device,
    Heat,
    Incident,
    Link,
    Machine,
    Scenario,
    TaskGraph,
    Unplaceable,
    Wait,
    calibrated,
    frugal,
    heft,
    preset,
    simulate,
)
from hetlab.sched.calibrate import fit
from hetlab.sched.examples import fork_join, layered, topcuoglu
from hetlab.sched.presets import PRESETS

from .drawn import assert_sound


def star(contention):
    """One producer, three readers elsewhere, over one link."""
    graph = TaskGraph()
    graph.add("make", 1)
    for i in range(3):
        graph.add(i, 1, after={"make": 10})
    machine = Machine(
        [Device("a"), *(Device(f"b{i}", memory="b") for i in range(3))],
        [Link("a", "b", 10.0, 0.5)],
        contention=contention,
    )
    plan = {"a": ["make"], **{f"b{i}": [i] for i in range(3)}}
    return simulate(graph, machine, plan)


@pytest.mark.parametrize(
    ("contention", "ends"),
    [("none", [2.5, 2.5, 2.5]), ("queue", [2.5, 4.0, 5.5]), ("share", [4.5, 4.5, 4.5])],
)
def test_three_transfers_on_one_link(contention, ends):
    """Alone 0.5 + 1 s each; one after another; or at a third of the bandwidth each."""
    assert [m.end for m in star(contention).transfers] == pytest.approx(ends)


def test_data_that_several_tasks_read_are_moved_once():
    graph = TaskGraph()
    graph.add("make", 1)
    for i in range(4):
        graph.add(i, 1)
    graph.put("image", 5, by="make", to=range(4))
    timeline = simulate(graph, Machine.uniform(2), {"P1": ["make"], "P2": [0, 1, 2, 3]})
    assert len(timeline.transfers) == 1 and timeline.makespan == 1 + 5 + 4


def test_a_way_over_two_links_adds_latencies_and_takes_the_slower_one():
    machine = Machine(
        [Device("a"), Device("b"), Device("c")],
        [Link("a", "b", 10.0, 1.0), Link("b", "c", 2.0, 3.0)],
    )
    assert machine.transfer(20, "a", "c") == 1 + 3 + 20 / 2
    with pytest.raises(InvalidValue, match="reachable from 'a'"):
        Machine([Device("a"), Device("d")]).transfer(1, "a", "d")


def test_an_fpga_reconfigures_between_kinds_only():
    """C05: the same kind again costs nothing; the setups are on the timeline."""
    graph = TaskGraph(unit="s")
    for i, kind in enumerate(["decode", "decode", "pack", "decode"]):
        graph.add(i, 1.0, kind=kind)
    machine = Machine([Device("fpga", "fpga", reconfigure=0.5)])
    timeline = simulate(graph, machine, {"fpga": [0, 1, 2, 3]})
    assert [s.task for s in timeline.rows["fpga"] if s.kind == "setup"] == [0, 2, 3]
    assert timeline.makespan == 4 + 3 * 0.5
    assert simulate(graph, machine, {"fpga": [0, 1, 3, 2]}).makespan == 4 + 2 * 0.5


def hot_machine():
    heat = Heat(resistance=0.5, seconds=5.0, limit=80.0, recover=60.0, slowed=0.25)
    return Machine([Device("gpu", "gpu", busy_watts=200, idle_watts=10, heat=heat)])


def test_a_hot_device_throttles_at_the_time_that_the_formula_gives():
    """T reaches 80 °C after tau ln((125 - 25)/(125 - 80)); then a quarter of the speed."""
    graph = TaskGraph(unit="s")
    graph.add("long", 10.0)
    timeline = simulate(graph, hot_machine(), "fifo")
    throttles = 5.0 * math.log(100 / 45)
    # At a quarter of the speed and half the power it settles at 75 °C, and never recovers.
    assert timeline.makespan == pytest.approx(throttles + (10.0 - throttles) * 4)
    joules = 200 * throttles + 100 * (timeline.makespan - throttles)
    assert timeline.energy["gpu"] == pytest.approx(joules)
    assert max(d for _, d in timeline.degrees["gpu"]) == pytest.approx(80.0)


def test_a_policy_that_minds_heat_beats_a_static_plan_on_a_throttling_gpu():
    """C07: the same work, the same machine; utilisation of the whole is stated, not the claim."""
    graph = TaskGraph(unit="s")
    for i in range(60):
        graph.add(i, {"gpu": 1.0, "cpu": 3.0})
    heat = Heat(0.5, 5.0, 80.0, 60.0, 0.25, 0.9)
    machine = Machine(
        [
            Device("gpu0", "gpu", memory="m", busy_watts=200, idle_watts=10, heat=heat),
            *(Device(f"cpu{i}", memory="m") for i in range(3)),
        ]
    )
    static, minding = (simulate(graph, machine, p) for p in ("heft", "load"))
    assert minding.makespan < 0.7 * static.makespan
    use = [sum(t.utilisation.values()) / 4 for t in (static, minding)]
    assert use[1] > use[0]


def test_memory_spills_to_the_home_memory_and_stays_under_its_limit():
    """SEEN_IN_PUBLIC 39: many loads at once wait for room."""
    graph = TaskGraph()
    for i in range(20):
        graph.add(("make", i), 1, needs="gpu")
    for i in range(20):
        graph.add(("use", i), 1, needs="gpu", after={("make", 19 - i): 10})
    machine = Machine(
        [Device("cpu"), Device("gpu", "gpu")],
        [Link("cpu", "gpu", 5.0)],
        memories={"gpu": 45.0},
    )
    order = [("make", i) for i in range(20)] + [("use", i) for i in range(20)]
    timeline = simulate(graph, machine, {"gpu": order})
    assert timeline.complete and timeline.peak_memory["gpu"] <= 45
    assert any(m.target == "cpu" for m in timeline.transfers)  # spilled
    assert any(m.source == "cpu" for m in timeline.transfers)  # and fetched again
    assert_sound(timeline)


def test_a_task_that_needs_what_no_device_has_is_an_error_at_once():
    """SEEN_IN_PUBLIC 36: it names the task, the resource, and what there is."""
    graph = TaskGraph()
    graph.add("train", 1, needs="tensor cores")
    with pytest.raises(Unplaceable, match="'train': it needs 'tensor cores'") as caught:
        simulate(graph, Machine.uniform(2), "fifo")
    assert "P1 (cpu), P2 (cpu)" in str(caught.value)
    graph = TaskGraph()
    graph.add("big", 1, memory=100)
    with pytest.raises(Unplaceable, match="needs 100 B of memory"):
        simulate(graph, Machine([Device("a")], memories={"a": 50}), "fifo")


def test_a_gpu_task_runs_only_on_a_gpu_whatever_the_policy():
    """SEEN_IN_PUBLIC 37."""
    from hetlab.sched import POLICIES

    graph = TaskGraph()
    for i in range(8):
        graph.add(i, 1, after=[i - 1] if i else (), needs="gpu" if i % 2 else ())
    machine = Machine([Device("cpu0", memory="m"), Device("gpu0", "gpu", memory="m")])
    for policy in POLICIES:
        places = simulate(graph, machine, policy).places
        assert all(places[i] == "gpu0" for i in range(1, 8, 2))


def test_stealing_shares_ten_thousand_children_of_one_root():
    """SEEN_IN_PUBLIC 38: most over least under 1.5 on four workers."""
    graph = fork_join(10_000)
    timeline = simulate(graph, Machine.uniform(4), "stealing")
    counts = [sum(s.kind == "run" for s in row) for row in timeline.rows.values()]
    assert sum(counts) == 10_002 and max(counts) / min(counts) < 1.5
    assert timeline.ratio < 1.01


def test_a_dead_device_is_named_and_its_tasks_run_elsewhere():
    """SEEN_IN_PUBLIC 40, in virtual time."""
    day = Scenario(incidents=(Incident("P3", 20.0, reason="power supply"),))
    timeline = simulate(topcuoglu(), Machine.uniform(3), "heft", scenario=day)
    assert timeline.complete and timeline.lost == {"P3": (20.0, "power supply")}
    assert all(s.end <= 20 for s in timeline.rows["P3"])
    assert_sound(timeline, quiet=False)


def test_a_straggler_gets_a_second_copy_and_the_first_to_end_counts():
    graph = TaskGraph()
    graph.add("a", 4)
    day = Scenario(incidents=(Incident("P1", 1.0, factor=0.01),))

    def backs_up(view):
        if view.time == 0:
            return [("a", "P1"), Wait(5)]
        return [Backup("a", "P2")] if view.status("a") == "running" else []

    timeline = simulate(graph, Machine.uniform(2), backs_up, scenario=day)
    assert timeline.makespan == 9 and timeline.places == {"a": "P2"}
    assert [s.kind for s in timeline.rows["P1"]] == ["cancelled"]


def test_a_task_that_raises_fails_alone_and_what_needs_it_is_skipped():
    graph = TaskGraph()
    for name, after in (("a", ()), ("b", ["a"]), ("c", ()), ("d", ["b", "c"])):
        graph.add(name, 1, after=after)
    timeline = simulate(
        graph, Machine.uniform(2), "fifo", scenario=Scenario(raises={"b": "ValueError: no"})
    )
    assert set(timeline.runs) == {"a", "c"} and timeline.failures == {"b": "ValueError: no"}
    assert math.isinf(timeline.ratio) and "not done" in repr(timeline)


def test_energy_under_a_deadline():
    """Slow and frugal as far as the deadline allows; fewer joules than HEFT's plan."""
    graph = layered(40, 2, seed=5)
    machine = Machine.uniform(graph.devices).replace(
        devices=[
            Device("P1", busy_watts=200, idle_watts=10),
            Device("P2", busy_watts=20, idle_watts=5),
        ]
    )
    fast = simulate(graph, machine, "heft")
    joules = []
    for stretch in (1.0, 1.3, 2.0):
        deadline = stretch * fast.makespan
        timeline = simulate(graph, machine, frugal(graph, machine, deadline))
        assert timeline.makespan <= deadline * (1 + 1e-9)
        joules.append(sum(s.joules for s in timeline.spans))
    assert joules[0] >= joules[1] >= joules[2] and joules[2] < 0.6 * joules[0]


def test_calibration_survives_outliers():
    draw = np.random.default_rng(4)
    samples = [(n, 0.01 + n / 50) for n in draw.uniform(1, 100, 60)]
    late = [draw.uniform(5, 50) if i % 5 == 0 else 1 for i in range(len(samples))]
    wild = [(n, s * by) for (n, s), by in zip(samples, late)]
    line = fit(wild)
    assert line.pace == pytest.approx(1 / 50, rel=0.02)
    assert line.start == pytest.approx(0.01, abs=0.02)
    machine = Machine.uniform(2)
    found = calibrated(machine, {"P1": {"sort": wild}}, {("P1", "P2"): wild})
    task_graph = TaskGraph()
    task_graph.add("t", kind="sort", work=100)
    assert found.seconds(task_graph.tasks["t"], "P1") == pytest.approx(2.01, rel=0.03)
    assert found.links[0].bandwidth == pytest.approx(50, rel=0.02)
    with pytest.raises(InvalidValue, match="pairs of an amount and seconds"):
        fit([(1, float("nan"))])


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_are_made_of_published_figures(name):
    machine = preset(name)
    assert all(d.chip for d in machine.devices)
    graph = TaskGraph(unit="s")
    for i, kind in enumerate(["matrix", "fp32", "stream", "bits"] * 3):
        graph.add(i, kind=kind, work=1e10, after={i - 1: 1e6} if i % 4 else ())
    timeline = simulate(graph, machine, "heft")
    assert timeline.complete
    assert_sound(timeline)
    assert Machine.from_dict(machine.to_dict()).to_dict() == machine.to_dict()


def test_a_hash_seed_changes_nothing():
    """Names are texts and tuples, whose hashes change from process to process."""
    code = (
        "from hetlab.sched import *\n"
        "from hetlab.sched.examples import layered\n"
        "g = layered(80, 4, seed=1)\n"
        "for p in POLICIES: print(p, simulate(g, Machine.uniform(4), p).spans)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1] and len(runs[0]) > 10_000


def test_idle_time_is_explained_without_a_rest():
    """Work, setups and gaps fill each device's time up to the makespan."""
    timeline = simulate(topcuoglu(), Machine.uniform(3), "cpop")
    for device, spans in timeline.rows.items():
        gaps = [g for g in timeline.idle() if g.device == device]
        total = sum(s.seconds for s in spans) + sum(g.seconds for g in gaps)
        assert total == pytest.approx(timeline.makespan)
        assert {g.why for g in gaps} <= {"data", "device", "nothing", "end"}


def test_the_critical_path_leads_from_the_start_to_the_makespan():
    timeline = simulate(topcuoglu(), Machine.uniform(3), "heft")
    path = timeline.critical_path()
    assert path[0].cause == "start of the run" and path[-1].end == timeline.makespan
    assert sum(s.waited + s.end - s.start for s in path) == pytest.approx(timeline.makespan)


def test_a_trace_has_an_event_for_every_span_in_microseconds():
    timeline = simulate(topcuoglu(), Machine.uniform(3), "heft")
    trace = timeline.to_trace()
    events = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] == 1]
    assert len(events) == 10
    t10 = next(e for e in events if e["name"] == "t10")
    assert (t10["ts"], t10["dur"], t10["args"]["critical"]) == (73e6, 7e6, True)
    names = [e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"]
    assert names[:3] == ["P1", "P2", "P3"]


def test_the_plan_of_a_large_graph_ends_when_the_simulation_does():
    graph, machine = layered(1000, 8), Machine.uniform(8)
    assert simulate(graph, machine, "heft").makespan == pytest.approx(heft(graph, machine).makespan)
