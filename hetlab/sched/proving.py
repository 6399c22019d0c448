"""A proving ground: the same policy on machines that each go wrong in another way.

The result is the makespan divided by a lower bound that knows of no fault, so 1 cannot be reached;
what counts is who comes nearer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hetlab.errors import HetlabError, InvalidValue, one_line
from hetlab.sched.executors.scenario import Incident, Scenario
from hetlab.sched.executors.simulated import simulate
from hetlab.sched.graph import TaskGraph
from hetlab.sched.machine import Machine
from hetlab.sched.workloads import mixed_machine, stripes

__all__ = ["Race", "World", "faulty_machines", "race"]


@dataclass(frozen=True)
class World:
    """A graph, a machine, and what will happen to it.

    Attributes
    ----------
    name : str
    graph : TaskGraph
    machine : Machine
    scenario : Scenario
    """

    name: str
    graph: TaskGraph
    machine: Machine
    scenario: Scenario = field(default_factory=Scenario)

    def run(self, policy):
        """The timeline of a policy here, modelled."""
        return simulate(self.graph, self.machine, policy, scenario=self.scenario)


def faulty_machines(count: int = 12, seed: int = 0) -> tuple[World, ...]:
    """Six machines: a quiet one, and five with faults.

    Parameters
    ----------
    count : int
        Stripes of the workload.
    seed : int
        Of the noise; 0 has none but in the last world.
    """
    graph, cool, warm = stripes(count), mixed_machine(), mixed_machine(warm=True)
    noise = {"noise": 0.15, "seed": seed} if seed else {}
    slow = Incident("gpu1", 3.0, 0.2)
    stuck = Incident("cpu0", 2.0, 0.05)
    dead = Incident("gpu1", 5.5, reason="gpu1 fell off the bus")
    return (
        World("a quiet day", graph, cool, Scenario(**noise)),
        World("gpu0 gets hot", graph, warm, Scenario(**noise)),
        World("gpu1 slows down", graph, cool, Scenario(incidents=(slow,), **noise)),
        World("cpu0 hangs", graph, cool, Scenario(incidents=(stuck,), **noise)),
        World("gpu1 dies", graph, cool, Scenario(incidents=(dead,), **noise)),
        World(
            "all at once", graph, warm,
            Scenario(noise=0.2, seed=seed + 7, incidents=(stuck, Incident("gpu1", 7.0))),
        ),
    )  # fmt: skip


@dataclass(frozen=True, repr=False)
class Race:
    """How a policy did on every machine.

    Attributes
    ----------
    policy : str
    ratios : mapping of str to float
        Makespan over the bound; inf where it did not finish.
    faults : mapping of str to str
        Why it did not finish, as a sentence.
    """

    policy: str
    ratios: Mapping[str, float]
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """The geometric mean."""
        logs = [math.log(r) if r < math.inf else math.inf for r in self.ratios.values()]
        return math.exp(sum(logs) / len(logs))

    @property
    def worst(self) -> float:
        """The largest."""
        return max(self.ratios.values())

    @property
    def ok(self) -> bool:
        """Whether it finished everywhere."""
        return not self.faults

    @property
    def scores(self) -> dict[str, float]:
        """What a leaderboard keeps: less is better."""
        return {"ratio": self.ratio, "worst": self.worst}

    def __repr__(self) -> str:
        wide = max(map(len, self.ratios))
        mean = f"{self.ratio:.3f} x the bound in the mean (modelled)"
        lines = [f"{self.policy}: {mean if self.ok else 'did not finish everywhere'}"]
        for name, ratio in self.ratios.items():
            bar = "█" * min(48, round(8 * ratio)) if ratio < math.inf else ""
            text = f"{ratio:6.3f}  {bar}" if bar else f"did not finish: {self.faults[name]}"
            lines.append(f"  {name:<{wide}}  {text}")
        return "\n".join(lines)


def race(policy, worlds: Iterable[World] | None = None) -> Race:
    """Run a policy on every machine.

    Parameters
    ----------
    policy : object
        A class, a function or a name, so that each run begins anew: see `as_policy`.
    worlds : iterable of World, optional
        Those of `faulty_machines` otherwise.
    """
    worlds = faulty_machines() if worlds is None else tuple(worlds)
    if not worlds:
        raise InvalidValue("worlds", "at least one", worlds)
    ratios, faults, label = {}, {}, getattr(policy, "__name__", str(policy))
    for world in worlds:
        try:
            line = world.run(policy)
            ratios[world.name], label = line.ratio, line.policy
            if not line.complete:
                faults[world.name] = f"{len(world.graph) - len(line.runs)} tasks not done"
        except HetlabError as error:
            ratios[world.name] = math.inf
            faults[world.name] = one_line(error)
    return Race(label, ratios, faults)
