"""The criterion that every task begins with: right values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from .agree import Agreement, Difference, close, show
from .submission import Outcome, Submission
from .task import Case, Trial
from .verdict import Finding
from .worker import _copy

__all__ = ["Answer", "Call", "Correct", "not_returned"]


@dataclass(frozen=True)
class Answer:
    """What a function gives: its value, and the inputs that it was asked to change."""

    value: Any
    after: tuple = ()


@dataclass(frozen=True)
class Call:
    """One call of a learner's function beside what it should have given."""

    criterion: Correct
    case: Case
    expected: Answer
    outcome: Outcome
    difference: Difference | None


@dataclass
class Correct:
    """The function gives what the NumPy specification gives, on every case.

    Parameters
    ----------
    spec : callable
        The specification: trusted, slow and clear.
    cases : callable
        ``cases(rng)`` yields cases from small to large, so that the first that fails is the
        smallest that fails.
    points : int
    agree : Agreement
        When two answers agree.
    changes : tuple of int
        Positions of the inputs that the function must change in place.  All others must be left
        untouched.
    name : str
        Which of the names handed in it judges.  Default: the first.
    """

    spec: Callable
    cases: Callable[[Any], Iterable[Case]]
    points: int = 1
    agree: Agreement = field(default_factory=close)
    changes: tuple[int, ...] = ()
    name: str = ""
    kind: str = "value"
    needs_right: bool = False

    def title(self) -> str:
        return f"right values of {self.name}" if self.name else "right values"

    def function_name(self, trial_or_task: Any) -> str:
        task = getattr(trial_or_task, "task", trial_or_task)
        return self.name or task.hands_in[0]

    def answer(self, function: Callable, case: Case) -> Answer:
        """What a trusted function gives on a case, on copies of its inputs."""
        inputs = [_copy(v) for v in case.inputs]
        value = function(*inputs)
        return Answer(value, tuple(inputs[i] for i in self.changes))

    def compare(self, expected: Answer, got: Answer) -> Difference | None:
        """The first difference.  A function that works in place may return anything."""
        if expected.value is not None or not self.changes:
            found = self.agree(expected.value, got.value)
            if found:
                return found
        for position, e, g in zip(self.changes, expected.after, got.after):
            found = self.agree(e, g)
            if found:
                return replace(found, inside=self.argument(position))
        return None

    def argument(self, position: int) -> str:
        """The name of an input, from the specification's own signature."""
        names = list(inspect.signature(self.spec).parameters)
        return names[position] if position < len(names) else f"input {position}"

    def perform(self, submission: Submission, name: str, case: Case, watched: bool) -> Outcome:
        """Call or launch what was handed in, as the case says."""
        if case.grid is None and not watched:
            return submission.call(name, *case.inputs)
        return submission.inspect(
            name, *case.inputs, grid=case.grid, block=case.block, constants=case.constants
        )

    def given(self, outcome: Outcome) -> Answer:
        """The answer that an outcome holds."""
        return Answer(
            outcome.value, tuple(outcome.inputs[i] for i in self.changes if outcome.inputs)
        )

    def judge(self, trial: Trial) -> Finding:
        name = self.function_name(trial)
        fault: Finding | None = None
        labels, hidden = [], 0
        for case in self.cases(trial.rng()):
            expected = self.answer(self.spec, case)
            outcome = self.perform(trial.submission, name, case, trial.task.watched)
            difference = self.compare(expected, self.given(outcome)) if outcome.returned else None
            trial.calls.append(Call(self, case, expected, outcome, difference))
            found = self._fault(name, case, outcome, difference)
            fault = fault or found
            # Wrong values are worth more evidence: it tells misconceptions apart.
            if found and found.kind != "value":
                break
            if case.public:
                labels.append(case.label)
            else:
                hidden += 1
        if fault:
            return fault
        span = f"{labels[0]} to {labels[-1]}" if len(labels) > 1 else "".join(labels)
        also = f"{'; ' if labels else ''}{hidden} hidden" if hidden else ""
        text = f"{len(labels) + hidden} inputs ({span}{also}), {self.agree.text}"
        return Finding(self.title(), self.points, self.points, True, text, self.kind)

    def _fault(
        self, name: str, case: Case, outcome: Outcome, difference: Difference | None
    ) -> Finding | None:
        kind, text = self._what_is_wrong(name, case, outcome, difference)
        if not kind:
            return None
        details = []
        if case.public and case.inputs and kind not in ("missing", "not started"):
            given = ", ".join(f"{self.argument(i)} = {show(v)}" for i, v in enumerate(case.inputs))
            details.append(f"input   {given}")
        if outcome.place:
            where, line, source = outcome.place
            details.append(f"line {line} of {where}:  {source}")
        if outcome.printed.strip() and kind != "not started":
            details.append("printed " + repr(outcome.printed.strip())[:90])
        return Finding(self.title(), 0, self.points, False, text, kind, tuple(details))

    def _what_is_wrong(
        self, name: str, case: Case, outcome: Outcome, difference: Difference | None
    ) -> tuple[str, str]:
        on = f"{case.label}: " if case.public else "a hidden input: "
        if outcome.status == "missing":
            return "missing", f"no function named {name} was handed in"
        if outcome.not_started:
            return "not started", f"{name} is not started"
        if outcome.status != "returned":
            return outcome.status, on + not_returned(name, outcome)
        touched = [i for i in outcome.changed if i not in self.changes]
        if touched:
            which = " and ".join(self.argument(i) for i in touched)
            return "mutated", f"{on}{name} changed its input {which}, which it must leave as it is"
        if difference:
            text = difference.sentence(f"{name}(...)", public=case.public)
            return difference.kind, on + text
        return "", ""


def not_returned(name: str, outcome: Outcome) -> str:
    if outcome.status == "raised":
        # Compilers put the useful line after several of preamble; the first is kept too.
        return f"{name} raised {outcome.error}: {outcome.message}".rstrip(": ")
    if outcome.status == "timeout":
        return f"{name} did not return within {outcome.seconds:g} s and was stopped"
    if outcome.status == "flood":
        return f"{name} printed without end and was stopped"
    if outcome.status == "too large":
        return f"{name} returned more than the check accepts ({outcome.message})"
    return f"{name} crashed its process ({outcome.message})"
