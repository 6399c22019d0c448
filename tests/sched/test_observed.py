"""Devices that slow each other, and machines calibrated from runs, with the simulation as truth."""

import pytest

from hetlab.errors import InvalidValue, UnknownName
from hetlab.sched import Device, Link, Machine, TaskGraph, calibrated, simulate
from hetlab.sched.observed import samples, together

CORES = ("cpu0", "cpu1")


def machine(pool=None, **speeds):
    """Two cores, a GPU with a memory of its own, and the link between."""
    cores = [
        Device(c, memory="m", speeds=speeds or {"*": 1.0}, start=0.25, pool="cores" if pool else "")
        for c in CORES
    ]
    gpu = Device("gpu", "gpu", speeds={"*": 10.0})
    pools = {"cores": pool} if pool else {}
    link = Link("m", "gpu", 8.0, 0.5)
    return Machine([*cores, gpu], [link], pools=pools, contention="queue")


def test_two_busy_devices_of_a_pool_share_what_it_has():
    """1.2 of 2: each at 0.6 until one ends, then the other at full speed."""
    graph = TaskGraph()
    graph.add("long", {"cpu": 6.0})
    graph.add("short", {"cpu": 3.0})
    pool = machine(1.2)
    runs = simulate(graph, pool, {"cpu0": ["long"], "cpu1": ["short"]}).runs
    assert runs["short"].end == pytest.approx(3.25 / 0.6)
    assert runs["long"].end == pytest.approx(3.25 / 0.6 + 3.0)
    wide = simulate(
        graph, pool.replace(pools={"cores": 2.0}), {"cpu0": ["long"], "cpu1": ["short"]}
    )
    assert [wide.runs[t].end for t in ("long", "short")] == [6.25, 3.25]


def test_a_pool_that_is_not_there_or_is_empty_is_an_error():
    with pytest.raises(UnknownName, match="there is no pool 'cores'"):
        Machine([Device("a", pool="cores")])
    with pytest.raises(InvalidValue, match="the size of a pool must be a finite number above 0"):
        Machine([Device("a")], pools={"cores": 0})
    pool = machine(1.2)
    assert Machine.from_dict(pool.to_dict()).to_dict() == pool.to_dict()
    assert pool.replace(name="x").pools == {"cores": 1.2}


def rehearsal(both):
    """Work on one core or on both, with copies from and to the GPU."""
    graph, plan = TaskGraph("rehearsal"), {"cpu0": [], "cpu1": [], "gpu": []}
    for i in range(12):
        core = CORES[i % 2] if both else "cpu0"
        graph.add(("make", i), kind="waves", work=1.0, needs="gpu")
        kind, work = ("sort", "waves")[i // 2 % 2], float(10 + i // 4 % 3 * 20)
        graph.add(("use", i), kind=kind, work=work, after={("make", i): 16.0 + 8 * (i % 4)})
        plan["gpu"].append(("make", i))
        plan[core].append(("use", i))
    return graph, plan


def test_what_runs_say_is_the_machine_that_they_ran_on():
    """Speeds, starts, the link and the pool come back from the timelines alone."""
    truth = machine(1.3, sort=4.0, waves=2.5)
    runs = [simulate(g, truth, plan) for g, plan in map(rehearsal, (False, True))]
    work, links = samples(runs, CORES)
    guess = machine(sort=1.0, waves=1.0)
    guess = guess.replace(links=[Link("gpu", "m", 1.0)])
    found = calibrated(guess, dict.fromkeys(CORES, work["cpu0"]), links)
    for core in CORES:
        assert found[core].start == pytest.approx(0.25)
        assert dict(found[core].speeds) == pytest.approx({"sort": 4.0, "waves": 2.5})
    assert found.links[0].bandwidth == pytest.approx(8.0)
    assert found.links[0].latency == pytest.approx(0.5)
    assert found["gpu"] == truth["gpu"]
    assert together(runs, CORES) == pytest.approx(1.3)


def test_a_machine_that_was_calibrated_by_some_graphs_predicts_others():
    truth = machine(1.3, sort=4.0, waves=2.5)
    runs = [simulate(g, truth, plan) for g, plan in map(rehearsal, (False, True))]
    work, links = samples(runs, CORES)
    found = calibrated(machine(sort=1.0, waves=1.0), dict.fromkeys(CORES, work["cpu0"]), links)
    pooled = [Device(**{**vars(d), "pool": "cores"}) for d in found.devices[:2]]
    found = found.replace(devices=[*pooled, found["gpu"]], pools={"cores": together(runs, CORES)})
    for policy in ("heft", "fifo", "stealing"):
        graph = TaskGraph("another")
        for t in range(30):
            before = {t - 3: 4.0} if t > 2 else ()
            graph.add(t, kind=("sort", "waves")[t % 2], work=3.0 + t % 7, after=before)
        expected = simulate(graph, truth, policy).makespan
        assert simulate(graph, found, policy).makespan == pytest.approx(expected)


def test_runs_that_cannot_say_it_are_refused():
    graph, plan = rehearsal(both=False)
    run = simulate(graph, machine(), plan)
    with pytest.raises(InvalidValue, match="ran alone and with all other devices busy"):
        together([run], CORES)
    with pytest.raises(UnknownName, match="there is no device 'cpu7'"):
        samples([run], ["cpu7"])
