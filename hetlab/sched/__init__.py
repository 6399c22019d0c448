"""Task graphs, machines, policies, and the scheduler between them (see docs/pages/scheduler.md).

A policy decides; an executor acts: in virtual time, on this machine, or on a Dask cluster.
Names load on first use.
"""

from __future__ import annotations

import importlib

_OWNERS = {
    "Backup": "messages",
    "Bound": "lower_bounds",
    "Device": "machine",
    "Drive": "live",
    "GraphError": "faults",
    "Heat": "heat",
    "Here": "executors.here",
    "Incident": "executors.scenario",
    "Link": "machine",
    "Machine": "machine",
    "POLICIES": "policies",
    "Plan": "policy",
    "Planned": "policy",
    "Policy": "policy",
    "PolicyError": "faults",
    "Race": "proving",
    "Run": "messages",
    "Scenario": "executors.scenario",
    "Scheduler": "scheduler",
    "Stalled": "faults",
    "Task": "graph",
    "TaskGraph": "graph",
    "Timeline": "timeline",
    "Unplaceable": "faults",
    "Wait": "messages",
    "World": "proving",
    "bounds": "lower_bounds",
    "calibrated": "calibrate",
    "cpop": "policies.planners",
    "drive": "live",
    "examples": "examples",
    "faulty_machines": "proving",
    "from_networkx": "reading",
    "frugal": "policies.energy",
    "heft": "policies.planners",
    "lookahead": "policies.planners",
    "loopback": "executors.dask_cluster",
    "named": "policies",
    "on_state": "snapshot",
    "optimum": "exact",
    "peft": "policies.planners",
    "preset": "presets",
    "problem": "indexed",
    "race": "proving",
    "read_graph": "reading",
    "run_here": "executors.here",
    "run_on_dask": "executors.dask_cluster",
    "samples": "observed",
    "simulate": "executors.simulated",
    "state_of": "snapshot",
    "together": "observed",
    "workloads": "workloads",
}

__all__ = sorted(_OWNERS)


def __getattr__(name: str):
    if name not in _OWNERS:
        raise AttributeError(f"module 'hetlab.sched' has no attribute {name!r}")
    module = importlib.import_module(f"hetlab.sched.{_OWNERS[name]}")
    value = module if name in ("examples", "workloads") else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_OWNERS})
