"""Schedules to draw."""

from hetlab.sched import Device, Heat, Incident, Link, Machine, Scenario, TaskGraph, simulate
from hetlab.sched.examples import topcuoglu


def paper():
    return simulate(topcuoglu(), Machine.uniform(3), "heft")


def eventful():
    """Heat, reconfiguration, a device that dies, transfers in a queue."""
    graph = TaskGraph("sixteen jobs", unit="s")
    for i in range(16):
        kind = ("decode", "filter", "product")[i % 3]
        cost = (
            {"cpu": 3.0, "gpu": 1.0, "fpga": 1.5} if kind != "decode" else {"cpu": 2.0, "fpga": 1.0}
        )
        graph.add(
            f"{kind} {i}", cost, kind=kind, after={f"decode {i - i % 3}": 2e8} if i % 3 else ()
        )
    heat = Heat(0.25, 4.0, 90.0, 70.0)
    machine = Machine(
        [
            Device("cpu0", memory="host", idle_watts=5, busy_watts=30),
            Device("cpu1", memory="host", idle_watts=5, busy_watts=30),
            Device("gpu0", "gpu", idle_watts=30, busy_watts=400, heat=heat),
            Device("fpga0", "fpga", reconfigure=0.7, idle_watts=20, busy_watts=60),
        ],
        [Link("host", "gpu0", 1e9, 1e-5), Link("host", "fpga0", 1e9, 1e-5)],
        contention="queue",
    )
    day = Scenario(incidents=(Incident("cpu1", 5.0),))
    return simulate(graph, machine, "load", scenario=day)
