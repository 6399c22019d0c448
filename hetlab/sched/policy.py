"""The protocol of a policy, and what else is taken as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, runtime_checkable

from hetlab.errors import InvalidValue

__all__ = ["Plan", "Planned", "Policy", "as_policy"]


@runtime_checkable
class Policy(Protocol):
    """What decides: an object with one method.

    `decide` is called at the start, and then whenever a task ended, a device was lost, a speed
    changed, or a wait was over.  It looks at the view and returns pairs (task, device), or the
    decisions of `hetlab.sched.messages`: Run, Backup, Wait; nothing at all is an answer too.
    """

    def decide(self, view) -> Iterable:
        """Return what to place where now."""
        ...


class Plan(Mapping):
    """Which tasks each device runs, in order: ``plan["P1"]`` is a tuple of tasks.

    Parameters
    ----------
    places : mapping of str to sequence
        By device; of tasks, or of (task, start, end) as the planner expects them.
    made_by : str
        The planner.
    """

    def __init__(self, places: Mapping[str, Iterable], made_by: str = "a plan") -> None:
        self.made_by = made_by
        self._order: dict[str, tuple] = {}
        self.times: dict = {}
        for device, entries in places.items():
            order = []
            for entry in entries:
                if isinstance(entry, (tuple, list)) and len(entry) == 3:
                    task, start, end = entry
                    self.times[task] = (device, float(start), float(end))
                    entry = task
                order.append(entry)
            self._order[device] = tuple(order)

    def __getitem__(self, device: str) -> tuple:
        return self._order[device]

    def __iter__(self):
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)

    @property
    def makespan(self) -> float:
        """When the last task ends, as the planner expects it; 0 without times."""
        return max((end for _, _, end in self.times.values()), default=0.0)

    @property
    def places(self) -> dict:
        """The device of each task."""
        return {task: device for device, tasks in self._order.items() for task in tasks}

    def to_dict(self) -> dict:
        """Plain data: by device, [task, start, end] or the task alone."""
        rows: dict[str, list] = {}
        for device, tasks in self._order.items():
            rows[device] = [[t, *self.times[t][1:]] if t in self.times else t for t in tasks]
        return {"made_by": self.made_by, "places": rows}

    def __repr__(self) -> str:
        lines = [f"Plan of {self.made_by}: makespan {self.makespan:g}"]
        for device, tasks in self._order.items():
            shown = [
                f"{t} {self.times[t][1]:g}-{self.times[t][2]:g}" if t in self.times else f"{t}"
                for t in tasks[:12]
            ]
            more = f", ... {len(tasks) - 12} more" if len(tasks) > 12 else ""
            lines.append(f"  {device}: {', '.join(shown)}{more}")
        return "\n".join(lines)


class Planned:
    """A policy that follows a plan, made at the start.

    What the plan cannot know, a device that is lost, is met greedily: a task that is ready again
    goes where it would end first.

    Parameters
    ----------
    plan : Plan, or callable
        A plan, or a planner ``(graph, machine) -> plan``.
    name : str
    """

    def __init__(self, plan, name: str = "") -> None:
        self._plan = plan
        made_by = getattr(plan, "made_by", getattr(plan, "__name__", "a plan"))
        self.name = name or made_by
        self._given = False

    def decide(self, view) -> list:
        """All of the plan at the first call, in the order of its times."""
        if self._given:
            return [(task, view.best(task)) for task in view.ready]
        self._given = True
        plan = self._plan(view.problem, view.machine) if callable(self._plan) else self._plan
        plan = plan if isinstance(plan, Plan) else Plan(plan)
        pairs = [(t, d) for d, tasks in plan.items() for t in tasks]
        if plan.times:
            pairs.sort(key=lambda pair: plan.times[pair[0]][1:] if pair[0] in plan.times else (0,))
        return pairs


class _Function:
    def __init__(self, function: Callable) -> None:
        self.decide, self.name = function, getattr(function, "__name__", "a function")


def as_policy(policy):
    """A policy from what people write.

    Parameters
    ----------
    policy : Policy, type, str, function or mapping
        An object with ``decide``; a class of such objects; the name of a given policy ("heft");
        a function from a view to decisions; or a plan, ``{device: [task, ...]}``.

    Raises
    ------
    InvalidValue, UnknownName
        For anything else.
    """
    if isinstance(policy, str):
        from hetlab.sched.policies import named

        return named(policy)
    if isinstance(policy, type):
        policy = policy()
    if callable(getattr(policy, "decide", None)):
        return policy
    if isinstance(policy, Mapping):
        return Planned(policy if isinstance(policy, Plan) else Plan(policy))
    if callable(policy):
        return _Function(policy)
    rule = "an object with decide(view), a function, a plan or the name of a policy"
    raise InvalidValue("policy", rule, policy)
