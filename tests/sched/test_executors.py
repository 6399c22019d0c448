"""The same policy decides in virtual time, on this machine, and on a cluster of Dask."""

from __future__ import annotations

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
