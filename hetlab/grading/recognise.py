"""Which named misconception an answer is: the wrong answer that does what the learner's does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .criteria import Answer, Call, Correct
from .kernels import Within
from .launched import HostKernel
from .submission import DirectSubmission, Outcome
from .task import Task, Trial, Wrong

__all__ = ["recognise"]


def recognise(task: Task, trial: Trial, kinds: set[str]) -> Wrong | None:
    """The misconception behind a failure, if one fits.

    Parameters
    ----------
    task : Task
    trial : Trial
        With the calls that its criteria made.
    kinds : set of str
        Kinds of the findings that failed.

    Returns
    -------
    Wrong or None
        A function fits when its answers are the learner's on every case tried.  A kernel must
        also show the same kinds of hazards and keep or break the same budgets; among several,
        the one with the nearest counters is taken.
    """
    budgets = [c for c in task.criteria if isinstance(c, Within)]
    best: tuple[float, Wrong] | None = None
    for criterion in (c for c in task.criteria if isinstance(c, Correct)):
        calls = [c for c in trial.calls if c.criterion is criterion]
        watched = any(c.outcome.launches for c in calls)
        if not calls or not (watched or any(c.difference for c in calls)):
            continue
        for candidate in task.wrong:
            distance = _distance(candidate, calls, trial, budgets)
            if distance is not None and (best is None or distance < best[0]):
                best = (distance, candidate)
    if best is not None and _may_fail(best[1], kinds):
        return best[1]
    return None


def _may_fail(wrong: Wrong, kinds: set[str]) -> bool:
    """Whether the kind it is known for failed; wrong values come in many kinds."""
    return wrong.fails in kinds or wrong.fails == "value"


def _distance(
    candidate: Wrong, calls: list[Call], trial: Trial, budgets: list[Within]
) -> float | None:
    """How far the learner's counters are from the candidate's; None when it is not this one."""
    total = 0.0
    for call in calls:
        step = _step(candidate, call, trial, budgets)
        if step is None:
            return None
        total += step
    return total


def _step(candidate: Wrong, call: Call, trial: Trial, budgets: list[Within]) -> float | None:
    criterion, case = call.criterion, call.case
    if candidate.when is not None:
        return 0.0 if call.difference is None or _holds(candidate, call) else None
    function = candidate.function
    name = criterion.function_name(trial)
    if isinstance(function, Mapping):
        function = function.get(name)
    if function is None:
        return None
    if case.grid is None and not call.outcome.launches:
        try:
            mistaken = criterion.answer(function, case)
        except Exception as error:
            return 0.0 if call.outcome.error == type(error).__name__ else None
        return 0.0 if _same(criterion, mistaken, call.outcome) else None
    return _nearness(call, _performed(candidate, function, name, call, trial), budgets)


def _performed(candidate: Wrong, function: Any, name: str, call: Call, trial: Trial) -> Outcome:
    """What a wrong kernel does on a case; kept, because many answers are held against it."""
    kept = trial.task.performed
    key = (candidate.name, name, trial.seed, call.case.label)
    if key not in kept:
        given = dict(candidate.function) if isinstance(candidate.function, Mapping) else {}
        given[name] = HostKernel(function) if _plain(function, call.case) else function
        with DirectSubmission(given, trial.task.time_limit) as peer:
            kept[key] = call.criterion.perform(peer, name, call.case, watched=True)
    return kept[key]


def _plain(function: Any, case: Any) -> bool:
    return case.grid is not None and not hasattr(function, "__getitem__")


def _nearness(call: Call, mistaken: Outcome, budgets: list[Within]) -> float | None:
    got = call.outcome
    if got.status != mistaken.status or got.error != mistaken.error:
        return None
    if _hazards(got) != _hazards(mistaken):
        return None
    if any(b.broken(call.case, got) != b.broken(call.case, mistaken) for b in budgets):
        return None
    if got.returned and not _same(call.criterion, call.criterion.given(mistaken), got):
        return None
    ratios = [(b.count(got) + 1) / (b.count(mistaken) + 1) for b in budgets]
    return sum(abs(math.log(r)) for r in ratios)


def _same(criterion: Correct, mistaken: Answer, outcome: Outcome) -> bool:
    return outcome.returned and criterion.compare(mistaken, criterion.given(outcome)) is None


def _hazards(outcome: Outcome) -> set[str]:
    """Kinds of hazards; outside an array, reading and writing are different mistakes."""
    hazards = [h for one in outcome.launches for h in one.hazards]
    return {h["kind"] + (" read" if _reads_outside(h) else "") for h in hazards}


def _reads_outside(hazard: Mapping) -> bool:
    return hazard["kind"] == "out-of-bounds" and " reads " in hazard["message"]


def _holds(candidate: Wrong, call: Call) -> bool:
    got = call.criterion.given(call.outcome)
    pair = (
        (call.expected.after[0], got.after[0])
        if call.criterion.changes
        else (call.expected.value, got.value)
    )
    try:
        return bool(candidate.when(*pair))
    except Exception:
        return False
