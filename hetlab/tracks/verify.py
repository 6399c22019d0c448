"""Does a track keep what it promises?

For each lesson: the exercise is in step with the solution, an untouched
exercise scores 0, the solution scores everything, every wrong answer is
rejected for the stated reason, and the lesson runs from top to bottom.

A result is kept in ``.hetlab/verify.json`` of the track and used again while
the lesson's files, hetlab's own sources and the libraries are the same.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import hetlab

from ..errors import HetlabError, TrackError, optional
from ..grading import Task, Wrong, fits, judge, mutants, open_submission
from .build import authored_points, exercise_of, track_notebook
from .files import digest, file_errors, write_atomic
from .manifest import Lesson, Track
from .notebooks import notebook_bytes, read_notebook
from .reading import check_style, check_terms
from .release import draft_release
from .report import LessonReport, Report
from .run import check_notebook
from .tasks import load_tasks

__all__ = ["verify"]

#: Seconds that a lesson should take from top to bottom, on two cores.
LESSON_SECONDS = 30.0
#: Seconds after which a cell is given up.
CELL_SECONDS = 120

Told = Callable[[str], None]


def verify(
    track: Track,
    lesson: str | Iterable[str] | None = None,
    progress: Callable[[str, str], None] | None = None,
    *,
    fresh: bool = False,
) -> Report:
    """Verify a track's own lessons.

    Parameters
    ----------
    track : Track
        An authored track; included lessons are verified where they are at home.
    lesson : str or iterable of str, optional
        Only these lessons.
    progress : callable, optional
        Called as ``progress(lesson_id, step)`` before each step.
    fresh : bool
        Do not use earlier results.

    Raises
    ------
    UnknownName
        For a lesson that the track does not have.
    TrackError
        For a released track, which holds nothing to verify against.
    """
    if track.released:
        raise TrackError(
            "this is a released track: it has no solutions to verify", where=str(track.root)
        )
    wanted = [lesson] if isinstance(lesson, str) else lesson
    chosen = track.own if not wanted else tuple(track.lesson(name) for name in wanted)
    told = progress or (lambda lesson_id, step: None)
    around = _around()
    reports = []
    for one in chosen:
        key = _key(track, one, around)
        report = None if fresh else _cached(track, one, key)
        if report is None:
            report = _verify_lesson(track, one, lambda step, one=one: told(one.id, step))
            if report.passed:
                _keep(track, key, report)
        reports.append(report)
    if chosen == track.own and chosen and all(r.passed for r in reports):
        _check_release(track, reports[-1])
    return Report(track.name, tuple(reports))


def _verify_lesson(track: Track, lesson: Lesson, told: Told) -> LessonReport:
    report = LessonReport(lesson.id)
    began = time.perf_counter()
    for step in STEPS:
        told(step)
        if _look(step, report, track, lesson, told):
            report.done.append(step)
        elif step in FIRST:
            break  # what follows would only repeat the same fault in many words
    report.seconds = round(time.perf_counter() - began, 2)
    return report


def _look(step: str, report: LessonReport, track: Track, lesson: Lesson, told: Told) -> bool:
    """Take one step; whether it added no error."""
    before = len(report.findings)
    try:
        STEPS[step](report, track, lesson, told)
    except HetlabError as error:
        report.error(step, error.what + (f". {error.do}" if error.do else ""), error.where)
    return not any(f.level == "error" for f in report.findings[before:])


def _exercise(report: LessonReport, track: Track, lesson: Lesson, told: Told) -> None:
    due = notebook_bytes(exercise_of(lesson))
    if not lesson.exercise.is_file() or lesson.exercise.read_bytes() != due:
        report.error(
            "exercise in step",
            "the exercise is not what its solution gives. Run: hetlab track build",
            str(lesson.exercise),
        )


def _tasks(report: LessonReport, track: Track, lesson: Lesson, told: Told) -> None:
    tasks, points = load_tasks(track, lesson.id), authored_points(lesson)
    place = str(lesson.checks)
    for name in points.keys() - tasks.keys():
        report.error("points", f"the check cell of {name!r} has no Task", place)
    for name in tasks.keys() - points.keys():
        report.error("points", f"the Task {name!r} has no check cell in the notebook", place)
    for name, task in tasks.items():
        if name in points and task.points != points[name]:
            text = f"the Task {name!r} is worth {task.points} points, its check cell {points[name]}"
            report.error("points", text, place)
        if len(task.wrong) < 2:
            text = f"the Task {name!r} must name at least two misconceptions, got {len(task.wrong)}"
            report.error("misconceptions", text, place)
        if len(task.hints) != 3:
            text = f"the Task {name!r} must have three hints, got {len(task.hints)}"
            report.error("hints", text, place)


def _text(report: LessonReport, track: Track, lesson: Lesson, told: Told) -> None:
    for path, kind in ((lesson.notebook, "lesson"), (lesson.solution, "solution")):
        notebook = track_notebook(path, lesson.id, kind)
        name = f"{path.parent.name}/{path.name}"
        check_terms(report, track, lesson, name, notebook)
        check_style(report, name, notebook)


def _wrong_answers(report: LessonReport, track: Track, lesson: Lesson, told: Told) -> None:
    for name, task in load_tasks(track, lesson.id).items():
        for wrong in [*task.wrong, *mutants(task)]:
            told(f"wrong answer to {name}: {wrong.name}")
            if reason := _accepted(task, wrong, lesson):
                text = f"the wrong answer {wrong.name!r} to {name!r} is not rejected as stated: "
                report.error("wrong answers", text + reason, str(lesson.checks))


def _accepted(task: Task, wrong: Wrong, lesson: Lesson) -> str:
    functions = wrong.function
    if not isinstance(functions, dict):
        functions = {task.hands_in[0]: functions}
    with warnings.catch_warnings():
        # Numba's advice for a real GPU; a wrong answer is launched on small arrays of the host.
        warnings.filterwarnings("ignore", message="Grid size|Host array used in CUDA kernel")
        with open_submission(functions) as submission:
            return fits(judge(task, submission, lesson=lesson.id), wrong)


def _untouched(report: LessonReport, track: Track, lesson: Lesson, told: Told) -> None:
    for verdict in check_notebook(lesson.exercise, track=track, told=told):
        if verdict.points or verdict.status != "not started":
            text = (
                f"untouched, {verdict.task} must be 'not started' with 0 points, got "
                f"{verdict.status!r} with {verdict.points}"
            )
            report.error("untouched", text, str(lesson.exercise))


def _solution(report: LessonReport, track: Track, lesson: Lesson, told: Told) -> None:
    for verdict in check_notebook(lesson.solution, track=track, told=told):
        if not verdict.passed or verdict.points != verdict.of:
            text = f"the solution of {verdict.task} gets {verdict.points} of {verdict.of} points: "
            report.error("solution", text + verdict.summary(), str(lesson.solution))


def _runs(report: LessonReport, track: Track, lesson: Lesson, told: Told) -> None:
    optional("nbval", "teach", "run a lesson from top to bottom")
    with tempfile.TemporaryDirectory(prefix="hetlab-") as room:
        # A copy: a lesson that writes files must not write them into the track.
        copy = Path(room) / lesson.notebook.name
        with file_errors(lesson.notebook, "copy the lesson"):
            copy.write_bytes(lesson.notebook.read_bytes())
        environment = {**os.environ, "HETLAB_TRACK": str(track.root), "PYTHONIOENCODING": "utf-8"}
        if "site-packages" not in (home := Path(hetlab.__file__).parent.parent).parts:
            # hetlab may have been found through the current folder, which is another one there.
            paths = [str(home), os.environ.get("PYTHONPATH", "")]
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        command = [sys.executable, "-m", "pytest", "--nbval-lax", "--nbval-current-env", "-q"]
        command += [
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-c",
            os.devnull,
            "--tb=short",
            "--color=no",
        ]
        command += [f"--rootdir={room}", f"--nbval-cell-timeout={CELL_SECONDS}", copy.name]
        began = time.perf_counter()
        run = subprocess.run(
            command, cwd=room, env=environment, capture_output=True, text=True, encoding="utf-8",
            errors="replace",
        )  # fmt: skip
        took = time.perf_counter() - began
    if run.returncode:
        report.error(
            "run", f"the lesson does not run: {_why(run, lesson.notebook)}", str(lesson.notebook)
        )
    elif took > LESSON_SECONDS:
        text = (
            f"the lesson took {took:.0f} s here (measured, one run), more than {LESSON_SECONDS:g} s"
        )
        report.warn("run", text, str(lesson.notebook))


def _why(run: subprocess.CompletedProcess, notebook: Path) -> str:
    """Which cell failed, and its error, from what pytest printed."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", run.stdout + run.stderr)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    failed = re.search(r"::Cell (\d+) ", text)
    errors = [line for line in lines if re.match(r"[\w.]*(?:Error|Exception|Interrupt)\b.*:", line)]
    if not failed:
        return " / ".join(lines[-3:]) or "no output"
    code = [c for c in read_notebook(notebook).cells if c.cell_type == "code"]
    cell_id = code[int(failed[1])].id if int(failed[1]) < len(code) else "?"
    what = errors[0] if errors else "it ended in an error or took too long"
    return f"code cell {int(failed[1]) + 1} ({cell_id}): {what}"


STEPS: dict[str, Callable[[LessonReport, Track, Lesson, Told], None]] = {
    "exercise in step": _exercise,
    "points add up": _tasks,
    "text": _text,
    "wrong answers rejected": _wrong_answers,
    "untouched exercise scores 0": _untouched,
    "solution scores 100 %": _solution,
    "lesson runs from top to bottom": _runs,
}
#: Where these fail, the others need not be tried.
FIRST = ("exercise in step", "points add up")


def _check_release(track: Track, last: LessonReport) -> None:
    """Say it now when `release` would refuse: not every track is ever released."""
    try:
        errors = [leak.error() for leak in draft_release(track)[1]]
    except TrackError as error:
        errors = [error]
    for error in errors:
        last.warn("release", error.what, error.where)


def _around() -> str:
    """A digest of everything but the lesson: hetlab's sources, Python, the libraries."""
    home = Path(hetlab.__file__).parent
    parts = [platform.platform(), platform.python_version()]
    for path in sorted(home.rglob("*")):
        if path.suffix in (".py", ".js", ".toml") and "templates" not in path.parts:
            parts.append(f"{path.relative_to(home)} {digest(path.read_bytes())}")
    parts += sorted(f"{d.name} {d.version}" for d in importlib.metadata.distributions())
    return digest("\n".join(parts).encode())


def _key(track: Track, lesson: Lesson, around: str) -> str:
    # The manifest counts as a whole: terms of other lessons matter to this one.
    parts = [around, lesson.id]
    files = (track.manifest, lesson.notebook, lesson.solution, lesson.exercise)
    for path in (*files, *lesson.check_files):
        parts.append(digest(path.read_bytes()) if path.is_file() else "missing")
    return digest("\n".join(parts).encode())


def _cache(track: Track) -> dict[str, dict]:
    try:
        data = json.loads((track.root / ".hetlab" / "verify.json").read_text(encoding="utf-8"))
        return data["lessons"] if isinstance(data["lessons"], dict) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _cached(track: Track, lesson: Lesson, key: str) -> LessonReport | None:
    entry = _cache(track).get(lesson.id)
    try:
        if entry and entry["key"] == key:
            report = LessonReport.from_json(entry["report"])
            report.cached = True
            return report
    except (KeyError, TypeError):
        pass
    return None


def _keep(track: Track, key: str, report: LessonReport) -> None:
    """Remember a pass; a track in a folder that cannot be written to is verified each time."""
    lessons = _cache(track)
    lessons[report.lesson] = {"key": key, "report": report.to_json()}
    text = json.dumps({"version": 1, "lessons": lessons}, ensure_ascii=False, indent=1) + "\n"
    try:
        write_atomic(track.root / ".hetlab" / "verify.json", text.encode())
    except TrackError:
        return
