"""The same policy decides in virtual time, on this machine, and on a cluster of Dask."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from hetlab import sched


def diamond():
    """Load two vectors, work on each, join the results."""
    graph = sched.TaskGraph("diamond", unit="s")
    graph.add("left", 0.01)
    graph.add("right", 0.01)
    graph.add("join", 0.01, after={"left": 800.0, "right": 800.0})
    return graph


KERNELS = {
    "left": lambda: np.arange(100.0),
    "right": lambda: np.ones(100),
    "join": lambda a, b: float(a @ b),
}


def two_cores():
    return sched.Machine([sched.Device(n, memory="main") for n in ("P1", "P2")])


@pytest.mark.parametrize("policy", ["heft", "fifo", "stealing"])
def test_here_every_task_runs_once_and_after_its_inputs(policy):
    seen = []

    def noted(name):
        def kernel(*inputs):
            seen.append(name)
            return KERNELS[name](*inputs)

        return kernel

    line = sched.run_here(diamond(), two_cores(), policy, {n: noted(n) for n in KERNELS}, limit=60)
    assert sorted(seen) == ["join", "left", "right"] and seen[-1] == "join"
    assert line.complete and line.label == "measured"
    runs = line.runs
    assert runs["join"].start >= max(runs["left"].end, runs["right"].end)


def test_a_kernel_that_fails_is_named_with_its_cause():
    kernels = {**KERNELS, "right": lambda: 1 / 0}
    line = sched.run_here(diamond(), two_cores(), "fifo", kernels, limit=60)
    assert not line.complete and "left" in line.runs
    assert "right" in str(line.failures) and "ZeroDivisionError" in str(line.failures)


def test_on_a_cluster_the_same_policy_gives_the_same_result():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        dashboard_address=None,
        resources={"cpu": 1},
    )
    with cluster, distributed.Client(cluster) as client:
        machine = sched.Machine.uniform(2, bandwidth=1e9)
        line = sched.run_on_dask(diamond(), machine, "heft", client, KERNELS)
    assert line.complete and set(line.places) == {"left", "right", "join"}


def home_and_gpu():
    """A core in the home memory, and a paced GPU whose memory is a process."""
    link = sched.Link("main", "gpu", 1e9)
    return sched.Machine([sched.Device("cpu", memory="main"), sched.Device("gpu", "gpu")], [link])


def test_a_run_never_loses_what_it_made_while_the_last_one_is_cleared_away():
    """The process forgets the data of a run before the next one starts: no task is quick enough."""
    graph = sched.TaskGraph("there and back", unit="s")
    graph.add("make", 1e-5, needs="gpu")
    graph.add("use", 1e-5, after={"make": 80.0}, needs="cpu")
    kernels = {"make": lambda: np.arange(10.0), "use": lambda x: float(x.sum())}
    with sched.Here(home_and_gpu(), kernels) as here:
        for _ in range(40):
            assert here.run(graph, "heft", limit=30).complete


def test_a_paced_task_takes_what_the_model_says_from_the_decision_on():
    """Never less, however fast its kernel is; its label says that this is emulated."""
    graph = sched.TaskGraph("paced", unit="s")
    for t in range(5):
        graph.add(t, 0.01, after=[t - 1] if t else (), needs="gpu")
    line = sched.run_here(graph, home_and_gpu(), "fifo", limit=60)
    assert line.label == "emulated" and line.complete
    assert all(span.seconds >= 0.01 - 1e-6 for span in line.spans)
    assert all(a.end <= b.start for a, b in pairwise(line.spans))


def dies():
    """A kernel that kills the process it runs in."""
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_is_told_with_task_and_exit_code_and_the_others_finish():
    """SEEN_IN_PUBLIC 40, with a real process that really dies."""
    graph = sched.TaskGraph("accident", unit="s")
    graph.add("bad", 0.01, needs="gpu")
    graph.add("after", 0.01, after=["bad"], needs="cpu")
    for t in range(4):
        graph.add(t, 0.01, needs="cpu")
    line = sched.run_here(graph, home_and_gpu(), "heft", {"bad": dies}, limit=60)
    assert set(line.runs) == {0, 1, 2, 3}
    assert list(line.lost) == ["gpu"] and list(line.failures) == ["bad"]
    for text in (line.lost["gpu"][1], line.failures["bad"]):
        assert "exit code -9 (SIGKILL)" in text and "'bad'" in text


def test_the_real_order_is_the_simulated_one_where_timing_leaves_no_choice():
    """One core and a chain: the same places, the same order, the same copies."""
    graph = sched.TaskGraph("no choice", unit="s")
    for t in range(6):
        graph.add(t, 1e-3, after={t - 1: 800.0} if t else (), needs="gpu" if t % 3 == 1 else "cpu")
    machine = home_and_gpu()
    for policy in ("heft", "fifo", "stealing"):
        real = sched.run_here(graph, machine, policy, limit=60)
        virtual = sched.simulate(graph, machine, policy)
        order = [[s.task for s in sorted(x.spans, key=lambda s: s.start)] for x in (real, virtual)]
        assert order[0] == order[1] and real.places == virtual.places
        moves = [[(m.data, m.source, m.target) for m in x.transfers] for x in (real, virtual)]
        assert moves[0] == moves[1]
