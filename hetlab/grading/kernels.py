"""The criteria of kernels: no hazard, and no more traffic than a budget.

Both look at what the virtual GPU saw of the launches that :class:`Correct` made, so one run
gives values, hazards and counts.  The counts are exact: the same answer gets the same verdict on
every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..vgpu.counters import COUNTERS
from .criteria import Call, Correct
from .launched import Launched
from .submission import Outcome
from .task import Case, Trial
from .verdict import Finding

__all__ = ["Clean", "Within"]


@dataclass
class Clean:
    """No hazard in any launch: no race, no access out of bounds, no read of unwritten memory.

    It gives its points only to right values: a kernel that does nothing has no hazard either.

    Parameters
    ----------
    points : int
    allow : tuple of str
        Kinds of hazards that do not count in this task.
    name : str
        Which of the names handed in it judges.  Default: all.
    """

    points: int = 1
    allow: tuple[str, ...] = ()
    name: str = ""
    kind: str = "hazard"
    needs_right: bool = False
    watches: bool = True

    def title(self) -> str:
        return "no hazard"

    def judge(self, trial: Trial) -> Finding:
        launches = 0
        for call in _calls(trial, self.name):
            for one in call.outcome.launches:
                launches += 1
                found = [h for h in one.hazards if h["kind"] not in self.allow]
                if found:
                    return self._found(call.case, one, found)
        right, text = _right(trial, self.name), "looked at once what stands above is right"
        if not right:
            return Finding(self.title(), 0, self.points, None, text)
        if not launches:
            return _not_launched(self)
        kinds = "out of bounds, unwritten memory, races, barriers"
        text = f"{launches} launches, looked for: {kinds}"
        return Finding(self.title(), self.points, self.points, True, text, self.kind)

    def _found(self, case: Case, one: Launched, hazards: Sequence[Any]) -> Finding:
        first = hazards[0]
        on = f"{case.label}: " if case.public else "a hidden input: "
        # Where a hidden input is concerned, an index would tell its size.
        text = on + (first["message"] if case.public else f"{first['kind']} on {first['array']}")
        details = []
        for line in dict.fromkeys(number for _, number in first["lines"]):
            if source := one.text_of(line):
                details.append(f"line {line}:  {source}")
        others = sorted({h["kind"] for h in hazards[1:]})
        if others:
            details.append(f"and {len(hazards) - 1} more: {', '.join(others)}")
        return Finding(self.title(), 0, self.points, False, text, self.kind, tuple(details))


@dataclass
class Within:
    """A counter of the launches stays within a budget, on every case.

    Parameters
    ----------
    counter : str or tuple of str
        Names in :data:`hetlab.vgpu.counters.COUNTERS`; several are added up.
    budget : callable
        ``budget(case)``: the least that is needed, by arithmetic.
    points : int
    times : float
        How often the budget may be used.
    what : str
        What is counted, for people.  Default: made from the counter's name.
    name : str
        Which of the names handed in it judges.  Default: the first.
    """

    counter: str | tuple[str, ...]
    budget: Callable[[Case], float]
    points: int = 1
    times: float = 1.0
    what: str = ""
    name: str = ""
    kind: str = "traffic"
    needs_right: bool = True
    watches: bool = True

    def __post_init__(self) -> None:
        from ..errors import UnknownName

        self.counter = (self.counter,) if isinstance(self.counter, str) else tuple(self.counter)
        for name in self.counter:
            if name not in COUNTERS:
                raise UnknownName("counter", name, COUNTERS)
        self.what = self.what or " and ".join(n.replace("_", " ") for n in self.counter)

    def title(self) -> str:
        return f"few {self.what}"

    def count(self, outcome: Outcome) -> int:
        """The counter's sum over all launches of a call."""
        return sum(one.counters.get(n, 0) for one in outcome.launches for n in self.counter)

    def limit(self, case: Case) -> float:
        """The most that a case may use."""
        return self.budget(case) * self.times

    def broken(self, case: Case, outcome: Outcome) -> bool:
        """Whether a call used more than it may."""
        return bool(outcome.launches) and self.count(outcome) > self.limit(case)

    def judge(self, trial: Trial) -> Finding:
        calls = [c for c in _calls(trial, self.name) if c.outcome.launches]
        if not calls:
            return _not_launched(self)
        last = ""
        for call in calls:
            used, limit = self.count(call.outcome), self.limit(call.case)
            hidden = "" if call.case.public else "a hidden input: "
            last = f"{used:,} {self.what}, at most {limit:,.0f} allowed"
            if used > limit:
                on = hidden or f"{call.case.label}: "
                details = tuple(self._most(call.outcome)) if call.case.public else ()
                text = on + (last if call.case.public else f"too many {self.what}")
                return Finding(self.title(), 0, self.points, False, text, self.kind, details)
        text = f"{last} ({calls[-1].case.label}; counted)" if calls[-1].case.public else "counted"
        return Finding(self.title(), self.points, self.points, True, text, self.kind)

    def _most(self, outcome: Outcome) -> list[str]:
        """The line that used most of it."""
        lines = [entry for one in outcome.launches for entry in one.lines]
        cost = {id(e): sum(e["counters"].get(n, 0) for n in self.counter) for e in lines}
        worst = max(lines, key=lambda e: cost[id(e)], default=None)
        if worst is None or not cost[id(worst)] or not worst["text"]:
            return []
        return [f"line {worst['line']} has {cost[id(worst)]:,} of them:  {worst['text']}"]


def _calls(trial: Trial, name: str) -> list[Call]:
    return [
        c
        for c in trial.calls
        if isinstance(c.criterion, Correct) and name in ("", c.criterion.function_name(trial))
    ]


def _right(trial: Trial, name: str) -> bool:
    calls = _calls(trial, name)
    return bool(calls) and all(c.outcome.returned and c.difference is None for c in calls)


def _not_launched(criterion: Clean | Within) -> Finding:
    text = "no kernel was launched on the virtual GPU: this task is about a kernel"
    return Finding(criterion.title(), 0, criterion.points, False, text, "not launched")
