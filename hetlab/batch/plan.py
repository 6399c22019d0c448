"""Decide what will be graded: which file of which student counts for which lesson."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from nbformat import NotebookNode

from ..errors import HetlabError, NotebookError
from ..grading.judge import SEED
from ..tracks.files import digest
from ..tracks.manifest import Track
from ..tracks.notebooks import lesson_of, new_notebook, read_notebook, strip_outputs
from .collect import Handed, Student, read_one
from .matching import Matched, lesson_by_content, match, read_bytes

__all__ = ["Chosen", "Plan", "exercises_of", "plan", "seed_of"]


@dataclass
class Chosen:
    """The file of one student that counts for one lesson.

    Attributes
    ----------
    lesson, file, sha256 : str
    matched : Matched or None
        None when it cannot be run; then `fault` says why.
    others : tuple of str
        Earlier attempts that do not count.
    """

    lesson: str
    file: str = ""
    sha256: str = ""
    matched: Matched | None = None
    fault: str = ""
    late: bool = False
    others: tuple[str, ...] = ()


@dataclass
class Plan:
    """What will be done for one student."""

    student: Student
    seed: int
    chosen: dict[str, Chosen] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def late(self) -> bool:
        return any(c.late for c in self.chosen.values())


@dataclass
class _Read:
    handed: Handed
    sha256: str = ""
    notebook: NotebookNode | None = None
    lesson: str | None = None
    fault: str = ""


def seed_of(secret: int, student: str) -> int:
    """The seed of a student's inputs: the public one, the instructor's and the name, mixed.

    Each student gets inputs of their own, the same on every run.
    """
    mixed = hashlib.sha256(f"{SEED}/{secret}/{student}".encode()).hexdigest()
    return int(mixed[:8], 16)


def exercises_of(track: Track, lessons: Iterable[str] = ()) -> dict[str, NotebookNode]:
    """Lesson id -> the exercise as it was handed out; a lesson without tasks has none."""
    wanted = set(lessons)
    found = {}
    for lesson in track.lessons:
        if (not wanted or lesson.id in wanted) and lesson.exercise.is_file():
            found[lesson.id] = read_notebook(lesson.exercise)
    return found


def plan(
    students: list[Student],
    track: Track,
    *,
    lessons: tuple[str, ...] = (),
    secret: int = 0,
    due: str = "",
    told: Callable[[str], None] = lambda _: None,
) -> tuple[list[Plan], tuple[str, ...]]:
    """Read everything that was handed in and choose what counts.

    The last attempt that can be read counts: by the time that the platform wrote into the name,
    then by the number at its end, then by name.

    Parameters
    ----------
    lessons : tuple of str
        The lessons to grade.  Default: those that anybody handed in.
    secret : int
        The instructor's part of the seed.
    due : str
        ``YYYY-MM-DD-hh-mm-ss``; a file whose name carries a later time is late.

    Returns
    -------
    list of Plan, tuple of str
        In the order of the students; the lessons in the track's order.
    """
    exercises = exercises_of(track)
    read: list[list[_Read]] = []
    for student in students:
        told(student.name)
        read.append([_look_at(handed, exercises) for handed in student.files])
    found = {r.lesson for per in read for r in per if r.lesson}
    wanted = set(lessons) or found or set(exercises)
    order = tuple(lesson.id for lesson in track.lessons if lesson.id in wanted)
    plans = []
    for student, files in zip(students, read):
        made = Plan(student, seed_of(secret, student.name))
        _choose(made, files, order, due)
        for chosen in made.chosen.values():
            if chosen.fault or not chosen.file:
                continue
            notebook = next(f.notebook for f in files if f.handed.name == chosen.file)
            chosen.matched = match(
                strip_outputs(notebook), exercises[chosen.lesson], track.lesson(chosen.lesson)
            )
            chosen.fault = chosen.matched.unmatched
        plans.append(made)
    return plans, order


def _look_at(handed: Handed, exercises: dict[str, NotebookNode]) -> _Read:
    data, fault = read_one(handed)
    if fault:
        return _Read(handed, fault=fault, lesson=_named(handed.name, exercises))
    try:
        notebook = read_bytes(data, handed.name.rpartition("/")[2])
    except NotebookError as error:
        why = f"{error.what}. {error.do}".strip()
        return _Read(handed, digest(data), fault=why, lesson=_named(handed.name, exercises))
    except (HetlabError, RecursionError, MemoryError) as error:
        return _Read(handed, digest(data), fault=f"{handed.name} cannot be read: {error}")
    kind = notebook.metadata.get("hetlab")
    kind = kind.get("kind") if isinstance(kind, dict) else None
    lesson = None if kind in ("lesson", "start") else lesson_by_content(
        notebook, handed.name, exercises
    )  # fmt: skip
    if not notebook.cells:
        return _Read(handed, digest(data), None, lesson, "the notebook has no cells")
    return _Read(handed, digest(data), strip_outputs(notebook), lesson)


def _named(name: str, exercises: dict[str, NotebookNode]) -> str | None:
    """The lesson that a file's name gives, when its content gives none."""
    return lesson_of(new_notebook([]), name.rpartition("/")[2], tuple(exercises))


def _choose(made: Plan, files: list[_Read], order: tuple[str, ...], due: str) -> None:
    only = order[0] if len(order) == 1 else None
    for file in files:
        if file.lesson is None and only and (file.fault or file.notebook is not None):
            file.lesson = only
    for lesson in order:
        mine = [f for f in files if f.lesson == lesson]
        mine.sort(key=lambda f: f.handed.order)
        good = [f for f in mine if not f.fault]
        best = (good or mine)[-1] if mine else None
        if best is None:
            made.chosen[lesson] = Chosen(lesson, fault=_nothing(made.student, files, lesson))
            continue
        late = best.handed.late or bool(due and best.handed.when > due)
        others = tuple(f.handed.name for f in mine if f is not best)
        fault = best.fault and _about(best)
        made.chosen[lesson] = Chosen(
            lesson, best.handed.name, best.sha256, None, fault, late, others
        )
        if others:
            made.notes.append(
                f"{len(mine)} files for {lesson}; the last that can be read counts: "
                f"{best.handed.name}"
            )
    for file in files:
        if file.lesson is None and file.fault:
            made.reasons.append(_about(file))
        elif file.lesson is not None and file.lesson not in order:
            made.notes.append(f"{file.handed.name} belongs to {file.lesson}, not graded here")
        elif file.lesson is None:
            made.notes.append(f"{file.handed.name} belongs to no lesson and was not graded")


def _about(file: _Read) -> str:
    base = file.handed.name.rpartition("/")[2]
    return file.fault if base in file.fault else f"{base}: {file.fault}"


def _nothing(student: Student, files: list[_Read], lesson: str) -> str:
    if not files and student.others:
        shown = ", ".join(student.others[:3]) + (", ..." if len(student.others) > 3 else "")
        return f"no notebook was handed in; what came was: {shown}"
    if not files:
        return "nothing was handed in"
    return f"nothing was handed in for {lesson}"
