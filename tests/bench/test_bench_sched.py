"""``hetlab bench sched`` checks every plan itself, and prints figures with their spread."""

from __future__ import annotations

import json
import sys

import pytest

from hetlab.bench import sched as bench
from hetlab.sched import Device, Link, Machine, TaskGraph, heft, simulate


@pytest.fixture(scope="module")
def planned():
    """A drawn graph, and the plan that hetlab's peer makes of it in its own process."""
    graph = bench.draw(60, 4, seed=3)
    with bench.Peer(bench.OURS) as peer:
        peer.process.stdin.write(json.dumps(graph) + "\n")
        peer.process.stdin.flush()
        return graph, peer._answer()["plan"]


def test_a_drawn_graph_has_one_first_and_one_last_task_and_runs(planned):
    graph, plan = planned
    tasks = TaskGraph()
    for t, cost in enumerate(graph["costs"]):
        tasks.add(t, cost)
    for before, after, size in graph["edges"]:
        tasks.connect(before, after, size)
    assert [t for t in tasks.order if not tasks.before(t)] == [0]
    assert [t for t in tasks.order if not tasks.after(t)] == [59]
    devices = [Device(f"P{d}", speed=s) for d, s in enumerate(graph["speeds"])]
    links = [Link(a.name, b.name, 1.0) for i, a in enumerate(devices) for b in devices[:i]]
    machine = Machine(devices, links)
    assert bench.draw(60, 4, seed=3) == graph != bench.draw(60, 4, seed=4)
    end = max(end for _, _, end in plan)
    assert end == heft(tasks, machine).makespan == simulate(tasks, machine, "heft").makespan


def test_a_plan_that_breaks_a_rule_is_named(planned):
    graph, plan = planned
    assert bench.wrong(graph, plan) == ""
    assert "59 of 60 tasks" in bench.wrong(graph, plan[:-1])
    slow = [list(row) for row in plan]
    slow[7][2] += 1.0
    assert "task 7 takes" in bench.wrong(graph, slow)
    early = [list(row) for row in plan]
    length = early[59][2] - early[59][1]
    early[59][1:] = [0.0, length]
    assert "task 59 starts before" in bench.wrong(graph, early)
    free = {**graph, "edges": []}
    same = [[0, 0.0, cost / graph["speeds"][0]] for cost in graph["costs"]]
    assert "overlap" in bench.wrong(free, same)


def test_a_peer_that_fails_is_an_error_and_not_a_figure(planned):
    graph, _ = planned
    with bench.Peer(bench.OURS) as peer:
        assert "error" in peer.ask({**graph, "edges": [[0, 1, 1], [1, 0, 1]]})
        assert peer.ask(graph)["makespan"] > 0
        peer.process.kill()
        peer.process.wait()
        assert "ended" in peer.ask(graph)["error"]


def test_without_anrg_saga_a_sentence_says_how_to_get_it(capsys):
    assert bench.main(["--sizes", "20", "--rounds", "1", "--saga", sys.executable]) == 2
    told = capsys.readouterr().err
    assert "has no anrg-saga" in told and "pip install anrg-saga==2.0.2" in told
    assert bench.main(["--sizes", "20", "40", "--rounds", "2", "--json"]) == 0
    out, told = capsys.readouterr()
    record = json.loads(out)
    assert [len(row["seconds"]["hetlab"]) for row in record["rows"]] == [2, 2]
    assert "--saga" in told and "to the power" in told


def test_a_ratio_comes_with_its_spread_and_growth_is_an_exponent():
    class Fake:
        def __init__(self, name, answers):
            self.name, self.answers = name, iter(answers)

        def ask(self, graph):
            seconds, makespan = next(self.answers)
            return {"seconds": seconds, "clock": seconds, "makespan": makespan}

    options = bench._options(["--rounds", "2"])
    ours = Fake(bench.OURS, [(1.0, 10.0), (2.0, 9.0)])
    theirs = Fake(bench.SAGA, [(30.0, 10.0), (60.0, 10.0)])
    row = bench.compare(10, 2, ours, theirs, options)
    assert row["faster"] == 30 and row["spread"] == [15, 60]
    assert row["makespan_ratio"] == [0.95, 0.9, 1.0]
    assert "30.0x as long (samples 15.0x to 60.0x, 2 and 2)" in bench._line(row)
    assert bench.slope([(10, 1.0), (100, 100.0)]) == pytest.approx(2)
    assert bench.slope([(10, 1.0)]) is None


def test_drawn_workloads_and_rehearsals_run_in_virtual_time_and_a_seed_repeats_them():
    from hetlab.bench import _sched_kernels as kit
    from hetlab.bench._sched_reality import rehearsals

    machine = kit.nominal()
    for seed in range(20):
        work = kit.draw(seed, "w")
        assert work == kit.draw(seed, "w")
        graph = kit.build(work)
        assert simulate(graph, machine, work["policy"]).complete
        assert set(kit.kernels([work], home=-1)) == set(graph.tasks)
    for work, plan in rehearsals():
        timeline = simulate(kit.build(work), machine, plan)
        assert timeline.complete
        assert {t: d for d, row in plan.items() for t in row} == timeline.places
