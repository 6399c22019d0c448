"""Judge a submission against a task."""

from __future__ import annotations

from dataclasses import replace

from ..errors import one_line
from ..timing import machine
from .recognise import recognise
from .submission import Submission
from .task import Task, Trial, Wrong
from .verdict import Finding, Verdict

__all__ = ["SEED", "fits", "judge", "settle"]

#: The seed of the inputs of an ordinary check, so that it can be repeated.
SEED = 1

#: Kinds of a wrong result, as against "speed" and other families.
WRONG_RESULT = frozenset(
    {"value", "nothing", "type", "dtype", "shape", "length", "mutated", "raised"}
)

_NEXT = {
    "missing": "Run the cell that defines it, and check the spelling of its name.",
    "not started": "Replace the lines below YOUR CODE HERE with your own.",
    "nothing": "End the function with a return statement.",
    "type": "Return a value of the expected type; the text of the task says what it holds.",
    "dtype": "Name the dtype where you create the result, or take an input's: dtype=x.dtype.",
    "shape": "Compare the shape of your result with the shape in the specification.",
    "mutated": "Write into a new array, or into a copy made with x.copy().",
    "raised": "{run} yourself with the input above and read the whole error.",
    "timeout": "Look for a loop whose condition never becomes false.",
    "flood": "Remove the print from the loop, or print once in a thousand turns.",
    "died": "Compiled code does not check indices: run it once with @njit(boundscheck=True).",
    "value": "Work the smallest failing input out by hand and compare it line by line.",
    "speed": "Right but slow: count the bytes it moves and the Python calls it makes.",
    "hazard": "Launch it with hetlab.sanitize({launch}) and read the report.",
    "traffic": "Right but wasteful: hetlab.profile({launch}) shows the line.",
    "not launched": "Write a kernel, and launch it.",
    "stalled": "Look at the state at that time: what is ready, who is idle, who is gone.",
    "impossible": "Place only what the state shows: ready or queued tasks, devices that are there.",
    "slow": "Show the run with hetlab.show_schedule, and ask why its longest piece lies there.",
}


def judge(task: Task, submission: Submission, *, lesson: str = "", seed: int = SEED) -> Verdict:
    """Judge a submission.

    Parameters
    ----------
    task : Task
    submission : Submission
        Open; it is left open.
    lesson : str
        The lesson's id, which makes the task's name an id.
    seed : int
        Seed of the inputs.

    Returns
    -------
    Verdict
        Always: a fault of the check itself is a verdict of status ``error``.
    """
    trial = Trial(task, submission, seed)
    submission.time_limit = task.time_limit
    findings: list[Finding] = []
    broken = False
    for criterion in task.criteria:
        if criterion.needs_right and not all(f.passed for f in findings):
            text = "looked at once what stands above is right"
            findings.append(Finding(criterion.title(), 0, criterion.points, None, text))
            continue
        try:
            findings.append(criterion.judge(trial))
        except Exception as fault:
            broken = True
            text = f"the check itself failed, which is not your mistake: {one_line(fault)}"
            findings.append(Finding(criterion.title(), 0, criterion.points, None, text, "check"))
    failed = next((f for f in findings if f.passed is False), None)
    mistake = _mistake(task, trial, findings) if failed else None
    name = f"{lesson}/{task.name}" if lesson else task.name
    return Verdict(
        task=name,
        status=_status(findings, broken),
        findings=tuple(findings),
        misconception=mistake.name if mistake else "",
        says=mistake.says if mistake else "",
        look=_look(name, trial, failed, broken) if failed or broken else "",
        proof=_proof(task, seed) if not failed or failed.kind != "not started" else "",
        title=task.title,
    )


def _status(findings: list[Finding], broken: bool) -> str:
    if broken:
        return "error"
    if findings and all(f.passed for f in findings):
        return "passed"
    if any(f.kind == "not started" for f in findings):
        return "not started"
    return "partial" if any(f.points for f in findings) else "failed"


def _mistake(task: Task, trial: Trial, findings: list[Finding]) -> Wrong | None:
    kinds = {f.kind for f in findings if f.passed is False}
    if found := recognise(task, trial, kinds):
        return found
    for criterion in task.criteria:
        if hasattr(criterion, "recognise") and (found := criterion.recognise(trial)):
            return found
    # A misconception about speed has the right values, so only its family tells it.  Hazards and
    # traffic of a kernel tell more than that: what they do not fit, it is not.
    failed = next(f for f in findings if f.passed is False)
    if failed.kind not in WRONG_RESULT | {"hazard", "traffic"}:
        family = [w for w in task.wrong if w.fails == failed.kind]
        return family[0] if len(family) == 1 else None
    return None


def _look(name: str, trial: Trial, failed: Finding | None, broken: bool) -> str:
    if broken or failed is None:
        return "Tell the author of this track, with the text above."
    run, launch = _spelling(trial)
    step = _NEXT.get(failed.kind, "").format(run=run, launch=launch)
    if trial.task.hints and failed.kind != "missing":
        step += f" {_hint(name)}"
    return step.strip()


def _hint(name: str) -> str:
    return f'hetlab.hint("{name}") gives a hint.'


def _spelling(trial: Trial) -> tuple[str, str]:
    """How the language of what was handed in spells a call, and a launch under watch."""
    case = trial.calls[-1].case if trial.calls else None
    if case is None or case.grid is None:
        return "Call the function", "..."
    return "Launch it", "kernel[grid], ..." if case.block is None else "kernel[grid, block], ..."


def settle(verdict: Verdict, untouched: bool) -> Verdict:
    """An untouched cell is "not started", whatever its language made of the stub."""
    if not untouched or verdict.passed:
        return verdict
    first, *rest = verdict.findings or (Finding("right values", 0, 0, False),)
    told = {"points": 0, "passed": False, "kind": "not started", "text": "not started"}
    step = _NEXT["not started"]
    return replace(
        verdict,
        status="not started",
        findings=(
            replace(first, **told, details=()),
            *(replace(f, points=0, passed=None, text="", details=()) for f in rest),
        ),
        misconception="",
        says="",
        look=f"{step} {_hint(verdict.task)}" if "hetlab.hint" in verdict.look else step,
        proof="",
    )


def _proof(task: Task, seed: int) -> str:
    text = f"Obtained on {machine().line}; inputs of seed {seed}."
    return text + (f" Not checked: {task.not_checked}." if task.not_checked else "")


def fits(verdict: Verdict, wrong: Wrong) -> str:
    """Why a verdict does not reject a wrong answer for the stated reason; empty when it does."""
    if verdict.passed or verdict.points == verdict.of:
        return "it passes"
    if verdict.status in ("error", "not started"):
        return f"its verdict is {verdict.status!r}"
    kinds = [f.kind for f in verdict.findings if f.passed is False]
    allowed = WRONG_RESULT if wrong.fails == "value" else {wrong.fails}
    if not any(kind in allowed for kind in kinds):
        return f"it is rejected for {', '.join(kinds)}, not for {wrong.fails}"
    if wrong.says and verdict.misconception != wrong.name:
        named = verdict.misconception or "no misconception"
        return f"the verdict names {named!r} instead of it"
    return ""
