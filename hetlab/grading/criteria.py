"""The criteria that most tasks are made of: right values, and at least so much faster."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from ..units import ratio, seconds
from .agree import Agreement, Difference, close, show
from .submission import Outcome
from .task import Case, Trial, Wrong
from .verdict import Finding
from .worker import _copy

__all__ = ["Answer", "Call", "Correct", "Faster"]


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

    def judge(self, trial: Trial) -> Finding:
        name = self.function_name(trial)
        fault: Finding | None = None
        labels, hidden = [], 0
        for case in self.cases(trial.rng()):
            expected = self.answer(self.spec, case)
            outcome = trial.submission.call(name, *case.inputs)
            got = Answer(
                outcome.value, tuple(outcome.inputs[i] for i in self.changes if outcome.inputs)
            )
            difference = self.compare(expected, got) if outcome.returned else None
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

    def recognise(self, trial: Trial, wrong: Iterable[Wrong]) -> Wrong | None:
        """The misconception whose answers are those of the learner on every case tried."""
        calls = [c for c in trial.calls if c.criterion is self]
        if not calls or not any(c.difference for c in calls):
            return None
        name = self.function_name(trial)
        for candidate in wrong:
            function = candidate.function
            if isinstance(function, Mapping):
                function = function.get(name)
            if (function or candidate.when) and all(
                self._gives(candidate, function, call) for call in calls
            ):
                return candidate
        return None

    def _gives(self, candidate: Wrong, function: Callable, call: Call) -> bool:
        got = Answer(call.outcome.value, tuple(call.outcome.inputs[i] for i in self.changes))
        if candidate.when is not None:
            if call.difference is None:
                return True
            value = got.value if not self.changes else got.after[0]
            due = call.expected.value if not self.changes else call.expected.after[0]
            try:
                return bool(candidate.when(due, value))
            except Exception:
                return False
        try:
            mistaken = self.answer(function, call.case)
        except Exception as error:
            return call.outcome.error == type(error).__name__
        return call.outcome.returned and self.compare(mistaken, got) is None

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
            return outcome.status, on + _not_returned(name, outcome)
        touched = [i for i in outcome.changed if i not in self.changes]
        if touched:
            which = " and ".join(self.argument(i) for i in touched)
            return "mutated", f"{on}{name} changed its input {which}, which it must leave as it is"
        if difference:
            text = difference.sentence(f"{name}(...)", public=case.public)
            return difference.kind, on + text
        return "", ""


def _not_returned(name: str, outcome: Outcome) -> str:
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


@dataclass
class Faster:
    """The function is at least so many times faster than a reference, timed in turn.

    Both run in processes of their own, in random order within each round, on the same fresh
    inputs, and the judge's clock covers the whole call.  Bands are coarse (a factor of three
    or more), so that noise does not decide and a reference against itself never earns one.

    Parameters
    ----------
    than : callable
        The reference.
    inputs : callable
        ``inputs(rng)`` gives the tuple of arguments of one round.
    bands : mapping of float to int
        From a ratio on, the points.
    against : str
        The reference in words: ``"NumPy's a * x + y"``.
    agree : Agreement
        Timed answers are compared with the reference's: being fast and wrong earns nothing.
    """

    than: Callable
    inputs: Callable[[Any], tuple]
    bands: Mapping[float, int]
    against: str = "the reference"
    agree: Agreement = field(default_factory=lambda: close(rtol=1e-4, atol=1e-6, strict=False))
    changes: tuple[int, ...] = ()
    name: str = ""
    rounds: int = 9
    kind: str = "speed"
    needs_right: bool = True

    def __post_init__(self) -> None:
        from ..errors import InvalidValue

        if not self.bands or min(self.bands) < 3:
            raise InvalidValue("bands", "ratios of 3 or more, which noise cannot reach", self.bands)

    @property
    def points(self) -> int:
        return max(self.bands.values())

    def title(self) -> str:
        return f"{min(self.bands):g} times as fast"

    def judge(self, trial: Trial) -> Finding:
        name = self.name or trial.task.hands_in[0]
        ratios: list[float] = []
        with trial.submission.beside({"reference": self.than}) as peer:
            order = trial.rng("order")
            for turn in itertools.count():
                given = self.inputs(trial.rng(f"round {turn}"))
                took, answers = {}, {}
                sides = [("learner", trial.submission, name), ("reference", peer, "reference")]
                for side, who, function in sides if order.random() < 0.5 else reversed(sides):
                    took[side], answers[side] = who.timed(function, *given)
                fault = self._fault(name, answers["learner"], answers["reference"])
                if fault:
                    return fault
                if turn == 0:
                    continue  # the first call compiles
                ratios.append(took["reference"] / took["learner"])
                if turn >= self.rounds or (turn >= 3 and self._clear(ratios)):
                    break
        middle = median(ratios)
        earned = max((p for r, p in self.bands.items() if middle >= r), default=0)
        text = (
            f"{ratio(middle)} the speed of {self.against} "
            f"({ratio(min(ratios))} to {ratio(max(ratios))} in {len(ratios)} rounds; "
            f"this time {seconds(took['learner'])}; measured)"
        )
        full = earned == self.points
        return Finding(self.title(), earned, self.points, full, text, self.kind)

    def _clear(self, ratios: list[float]) -> bool:
        """Whether no band lies anywhere near what was seen."""
        low, high = min(ratios) / 1.3, max(ratios) * 1.3
        return not any(low < r < high for r in self.bands)

    def _fault(self, name: str, outcome: Outcome, reference: Outcome) -> Finding | None:
        if not reference.returned:
            raise RuntimeError(f"the reference failed: {_not_returned('it', reference)}")
        if not outcome.returned:
            text, kind = _not_returned(name, outcome), outcome.status
        else:
            got = [outcome.value, *(outcome.inputs[i] for i in self.changes)]
            due = [reference.value, *(reference.inputs[i] for i in self.changes)]
            if self.changes and reference.value is None:
                got[0] = None
            difference = self.agree(due, got)
            if not difference:
                return None
            text, kind = f"on the timed input, which is larger, {name} is wrong", "value"
        return Finding(self.title(), 0, self.points, False, text, kind)
