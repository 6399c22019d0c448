"""Several policies on one workload, in virtual time, on this machine, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hetlab.errors import HetlabError, InvalidValue, one_line
from hetlab.units import quantity

__all__ = ["Drive", "drive"]

PLACES = ("virtual time", "this machine", "dask")


@dataclass(frozen=True, repr=False)
class Drive:
    """What each policy did.

    Attributes
    ----------
    where : str
        One of ``PLACES``.
    timelines : mapping of str to Timeline
        By the label of the policy; those that finished.
    faults : mapping of str to str
        Why the others did not, as a sentence.
    """

    where: str
    timelines: Mapping[str, object]
    faults: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, label: str):
        return self.timelines[label]

    def __repr__(self) -> str:
        labels = {line.label for line in self.timelines.values()}
        lines = [f"on {self.where} ({', '.join(sorted(labels)) or 'nothing ran'})"]
        wide = max(map(len, [*self.timelines, *self.faults, "policy"]))
        if self.timelines:
            lines.append(f"  {'policy':<{wide}}  {'makespan':>9}  busy  at full speed")
        for label, line in self.timelines.items():
            length = len(line.rows) * (line.makespan or 1.0)
            busy, need = sum(line.busy.values()) / length, sum(line.useful.values()) / length
            text = f"  {label:<{wide}}  {line.amount(line.makespan):>9}  {busy:4.0%}  {need:13.0%}"
            if len(line.times) > 1:
                text += f"   {quantity(min(line.times), 's')} to {quantity(max(line.times), 's')}"
            lines.append(text)
        for label, why in self.faults.items():
            lines.append(f"  {label:<{wide}}  did not finish: {why}")
        return "\n".join(lines)


def drive(
    policies: Mapping[str, object],
    graph,
    machine,
    *,
    where: str = "virtual time",
    kernels: Mapping = {},
    scenario=None,
    paced=None,
    client=None,
    repeats: int = 1,
    limit: float = 60.0,
) -> Drive:
    """Run a workload with each policy in turn.

    Parameters
    ----------
    policies : mapping of str to policy
        By label; classes, names or plans, so that each run begins anew.
    graph, machine, scenario
        See `simulate`.
    where : str
        "virtual time", "this machine" or "dask".
    kernels, paced, repeats, limit
        See `run_here` and `run_on_dask`; in virtual time they do not matter.
    client : distributed.Client
        For "dask".

    Returns
    -------
    Drive
        A policy that raises or stalls is a sentence in it.
    """
    if where not in PLACES:
        raise InvalidValue("where", " or ".join(map(repr, PLACES)), where)
    lines, faults = {}, {}
    for label, policy in policies.items():
        try:
            if where == "virtual time":
                from hetlab.sched.executors.simulated import simulate

                line = simulate(graph, machine, policy, scenario=scenario)
            elif where == "this machine":
                from hetlab.sched.executors.here import run_here

                line = run_here(
                    graph, machine, policy, kernels, paced=paced, scenario=scenario,
                    repeats=repeats, limit=limit,
                )  # fmt: skip
            else:
                from hetlab.sched.executors.dask_cluster import run_on_dask

                line = run_on_dask(
                    graph, machine, policy, client, kernels, paced=paced or (), limit=limit
                )
        except HetlabError as error:
            faults[label] = one_line(error)
            continue
        if line.complete:
            lines[label] = line
        else:
            faults[label] = f"{len(graph) - len(line.runs)} tasks were not done"
    return Drive(where, lines, faults)
