"""The given policies: what a student's own is compared with.

``named("heft")`` makes one; `POLICIES` says what there is.
"""

from __future__ import annotations

import importlib

from hetlab.errors import UnknownName

__all__ = ["POLICIES", "named"]

# name -> (module, object, what it does); planners are functions, the others classes.
POLICIES: dict[str, tuple[str, str, str]] = {
    "cpop": ("planners", "cpop", "the critical path on one device, the rest where it ends first"),
    "energy": ("energy", "EnergyAware", "the fewest joules that still meet a deadline"),
    "fifo": ("greedy", "Fifo", "first ready, first served, on the first idle device"),
    "heft": ("planners", "heft", "largest upward rank first, where it ends first, with insertion"),
    "list": ("greedy", "ListScheduling", "Graham's list: the first ready task of the list"),
    "load": ("load", "LoadAware", "largest upward rank first, by what load and heat are now"),
    "locality": ("greedy", "Locality", "where the fewest bytes have to be moved to"),
    "lookahead": ("planners", "lookahead", "HEFT that looks at when the children would end"),
    "min-min": ("greedy", "MinMin", "the task that can end first, where it does"),
    "peft": ("planners", "peft", "finish time plus the best that can follow"),
    "random": ("greedy", "RandomChoice", "drawn from a seed"),
    "round-robin": ("greedy", "RoundRobin", "one device after the other"),
    "stealing": ("stealing", "WorkStealing", "idle devices take from the longest queue"),
}


def named(name: str):
    """A fresh policy of that name.

    Raises
    ------
    UnknownName
        With the names that there are.
    """
    key = name.strip().lower().replace("_", "-")
    if key not in POLICIES:
        raise UnknownName("policy", name, POLICIES)
    module, thing, _ = POLICIES[key]
    found = getattr(importlib.import_module(f"hetlab.sched.policies.{module}"), thing)
    if isinstance(found, type):
        return found()
    from hetlab.sched.policy import Planned

    return Planned(found, key if key == "lookahead" else key.upper())
