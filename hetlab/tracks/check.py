"""``hetlab.check`` and ``hetlab.hint``: what a learner calls in a notebook."""

from __future__ import annotations

import contextlib
import io
import os
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..errors import HetlabError
from ..grading import Verdict, judge, open_submission
from .manifest import find_track
from .progress import next_hint, record
from .tasks import find_task

__all__ = ["Hint", "NoPoints", "check", "hint"]


class NoPoints(HetlabError):
    """Raised at 0 points when nbgrader runs the notebook, as its rules want it."""


@dataclass(frozen=True)
class Later:
    """What a check answers while a notebook is graded: the grader's own check comes later."""

    task: str

    def __repr__(self) -> str:
        return f"{self.task} is graded later, outside this notebook"


def check(task_id: str, *functions: Callable) -> Verdict | Later | int:
    """Judge what you wrote for a task, and remember the points.

    Parameters
    ----------
    task_id : str
        ``"lesson/task"``, for example ``"03_speed_up_the_cpu/saxpy"``.
    *functions
        What the task asks for, in the order it names them.

    Returns
    -------
    Verdict
        What was proven, or what is wrong and what to look at next.  When nbgrader grades the
        notebook it is the number of points instead, and an exception when there are none:
        nbgrader gives full marks to any other value.

        Where hetlab grades the notebook it is a :class:`Later`, which says so.

    Raises
    ------
    UnknownName
        When there is no such task; the close ones are listed.

    Examples
    --------
    >>> hetlab.check("03_speed_up_the_cpu/saxpy", saxpy)  # doctest: +SKIP
    """
    if os.environ.get("HETLAB_SANDBOX"):
        return Later(task_id)
    lesson, task = find_task(find_track(), task_id)
    if len(functions) != len(task.hands_in):
        names = ", ".join(task.hands_in)
        raise HetlabError(
            f"task {task_id} asks for {len(task.hands_in)} function(s), got {len(functions)}",
            do=f'Call it like this: hetlab.check("{task_id}", {names})',
        )
    graded = bool(os.environ.get("NBGRADER_EXECUTION"))
    handed_in = dict(zip(task.hands_in, functions))
    quiet = _quiet() if graded else contextlib.nullcontext()
    with quiet, open_submission(handed_in) as submission:
        verdict = judge(task, submission, lesson=lesson.id)
    record(verdict)
    if graded:
        if not verdict.points:
            raise NoPoints(repr(verdict))
        return verdict.points
    return verdict


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """nbgrader gives 0 points to a cell with a word on stderr, be it NumPy's warning."""
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True)
class Hint:
    """One of a task's hints."""

    task: str
    step: int
    steps: int
    text: str

    def __repr__(self) -> str:
        more = "" if self.step == self.steps else " Ask again for the next one."
        head = f"Hint {self.step} of {self.steps} for {self.task}: "
        return textwrap.fill(head + self.text + more, 100, subsequent_indent="  ")

    def _repr_html_(self) -> str:
        import html

        return (
            f"<div><b>Hint {self.step} of {self.steps}</b> for {html.escape(self.task)}: "
            f"{html.escape(self.text)}</div>"
        )


def hint(task_id: str, step: int | None = None) -> Hint:
    """The next hint of a task: first a nudge, then the idea, then nearly the code.

    Parameters
    ----------
    task_id : str
        ``"lesson/task"``.
    step : int, optional
        1, 2 or 3 asks for that one; without it each call gives the next.
    """
    if os.environ.get("HETLAB_SANDBOX"):
        return Hint(task_id, 0, 0, "hints are for when you work on it")
    _, task = find_task(find_track(), task_id)
    steps = len(task.hints)
    if not steps:
        return Hint(task_id, 0, 0, "this task has no hints")
    at = next_hint(task_id, steps) if step is None else min(max(step, 1), steps) - 1
    return Hint(task_id, at + 1, steps, task.hints[at])
