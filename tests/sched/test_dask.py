"""On a Dask cluster: devices that share a memory, workers that are lost, clocks that differ."""

from __future__ import annotations

import threading
import time

import pytest

from hetlab import sched
from hetlab.sched.timeline import Span, in_order

distributed = pytest.importorskip("distributed")

GO, GONE = threading.Event(), threading.Event()


def first():
    return 7


def wait_for_the_loss():
    GO.set()
    assert GONE.wait(20)
    return 1


def add(*values):
    return sum(values)


KERNELS = {"a": first, "b": wait_for_the_loss, "c": add}


@pytest.fixture
def cluster():
    """Two workers in this process."""
    how = {"threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with (
        distributed.LocalCluster(n_workers=2, resources={"cpu": 1}, **how) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield cluster, client


def shared():
    """Two devices in one memory; a's result is needed at the end, on the other device."""
    graph = sched.TaskGraph("shared", unit="s")
    graph.add("a", 0.01)
    graph.add("b", 0.01)
    graph.add("c", 0.01, after={"a": 8.0, "b": 8.0})
    return graph, sched.Machine([sched.Device(n, memory="main") for n in ("P1", "P2")])


@pytest.mark.parametrize("given", [False, True], ids=["made", "made and given"])
def test_what_a_lost_worker_held_in_a_shared_memory_comes_back(cluster, given):
    cluster, client = cluster
    GO.clear()
    GONE.clear()
    address = sorted(client.scheduler_info(n_workers=-1)["workers"])[0]
    worker = next(w for w in cluster.workers.values() if w.address == address)

    def lose():
        GO.wait(20)
        time.sleep(0.2)  # a is done, and its result lies with the worker
        cluster.sync(worker.close)
        GONE.set()

    thread = threading.Thread(target=lose)
    thread.start()
    plan = {"P1": ["a"], "P2": ["b", "c"]}
    graph, machine = shared()
    if given:
        graph.put("x", 8.0, to=["c"])  # scattered to the worker of the first device
    line = sched.run_on_dask(graph, machine, plan, client, KERNELS, inputs={"x": 5}, limit=15)
    thread.join()
    assert line.complete
    assert line.places["c"] == "P2" and set(line.lost) <= {"P1"}


def test_no_task_is_left_out_because_a_workers_clock_is_behind(cluster, monkeypatch):
    monkeypatch.setattr("hetlab.sched.executors.dask_cluster._offset", lambda *_: -0.5)
    kernels = {"a": first, "b": first, "c": add}
    line = sched.run_on_dask(*shared(), "fifo", cluster[1], kernels, limit=15)
    assert line.complete and all(0 <= s.start <= s.end for s in line.spans)
    assert line.runs["c"].start >= max(line.runs["a"].end, line.runs["b"].end)


def test_a_span_before_the_start_counts_when_it_is_the_only_one():
    early = Span("P1", "a", -0.002, -0.001)
    assert in_order([early], ["P1"]) == (early,)


def test_a_paced_device_takes_as_long_as_the_model_says(cluster):
    graph, machine = shared()
    line = sched.run_on_dask(graph, machine, "fifo", cluster[1], {}, paced=["P1", "P2"])
    assert line.label == "emulated"
    assert all(span.seconds >= 0.0099 for span in line.runs.values())


@pytest.mark.soak
def test_a_cluster_on_loopback_has_a_process_for_each_device():
    graph, machine = sched.workloads.stripes(2, scale=1e-3), sched.Machine.uniform(["cpu0", "cpu1"])
    with sched.loopback(machine) as client:
        line = sched.run_on_dask(graph, machine, "heft", client, sched.workloads.kernels(32))
    assert line.complete and line.label == "measured"
