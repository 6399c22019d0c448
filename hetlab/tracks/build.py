"""Exercises from solutions: the answers taken out, everything else untouched.

An exercise is a function of its solution notebook alone, byte for byte, so
that a repository can hold it and CI can tell when the two have drifted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from ..errors import NotebookError, TrackError
from .files import write_atomic
from .manifest import Lesson, Track
from .notebooks import (
    CHECK_CALL,
    code_cell,
    markdown_cell,
    new_notebook,
    notebook_bytes,
    read_notebook,
    source_hash,
    task_of,
)
from .regions import drop_hidden, mark_lines, replace_solutions, stub_lines

__all__ = ["Built", "authored_points", "build", "exercise_of", "track_notebook"]

# Metadata that means something; the rest is what an author's editor left behind.
KEPT = ("hetlab", "nbgrader", "slideshow", "tags")


@dataclass(frozen=True)
class Built:
    """What became of one exercise: "written", "unchanged", "stale" or "orphan"."""

    lesson: str
    path: Path
    status: str


def build(track: Track, check: bool = False) -> list[Built]:
    """Generate the exercises of a track's own lessons.

    Parameters
    ----------
    track : Track
        The track; included lessons are built where they are at home.
    check : bool
        Write nothing; report what is "stale" (differs from what would be written).

    Raises
    ------
    TrackError
        For every mistake in a notebook, with the cell and the file.  Nothing is written then.
    """
    if track.released:
        raise TrackError(
            "this is a released track: it has no solutions to build exercises from",
            where=str(track.root),
        )
    made = [(lesson, notebook_bytes(exercise_of(lesson))) for lesson in track.own]
    results = []
    for lesson, data in made:
        path = lesson.exercise
        if check:
            same = path.is_file() and path.read_bytes() == data
            status = "unchanged" if same else "stale"
        else:
            status = "written" if write_atomic(path, data) else "unchanged"
        results.append(Built(lesson.id, path, status))
    known = {lesson.id for lesson in track.own}
    results += [
        Built(path.stem, path, "orphan")
        for path in sorted((track.root / "exercises").glob("*.ipynb"))
        if path.stem not in known
    ]
    return results


def track_notebook(path: Path, lesson: str, kind: str) -> NotebookNode:
    """Read a notebook of a track and hold it to the track's rules.

    Raises
    ------
    TrackError
        It cannot be read, holds outputs, has a cell without an id or two of the same, or says
        that it belongs to another lesson.
    """
    import json

    try:
        notebook = read_notebook(path)
    except NotebookError as error:
        raise TrackError(error.what, where=error.where, do=error.do) from error
    raw = json.loads(path.read_text(encoding="utf-8-sig"))
    seen: dict[str, int] = {}
    for number, cell in enumerate(raw.get("cells", []), 1):
        place = f"{path}, cell {number}"
        cell_id = cell.get("id")
        if cell_id is None:
            raise TrackError("the cell has no id", where=place, do="Save it as nbformat 4.5.")
        if cell_id in seen:
            raise TrackError(f"the cell id {cell_id!r} is cell {seen[cell_id]}'s too", where=place)
        seen[cell_id] = number
        if cell.get("outputs") or cell.get("execution_count") is not None:
            raise TrackError(
                "a track's notebook must have no outputs, got some",
                where=f"{place} ({cell_id})",
                do="Clear them: Kernel, Restart Kernel and Clear Outputs of All Cells.",
            )
    own = notebook.metadata.get("hetlab", {})
    for key, want in (("lesson", lesson), ("kind", kind)):
        if own.get(key) != want:
            raise TrackError(
                f"the notebook's metadata hetlab.{key} must be {want!r}, got {own.get(key)!r}",
                where=str(path),
            )
    return notebook


def exercise_of(lesson: Lesson) -> NotebookNode:
    """The exercise notebook of a lesson, made from its solution notebook in memory."""
    path = lesson.solution
    notebook = track_notebook(path, lesson.id, "solution")
    cells, solutions, grade_ids = [], {}, {}
    for number, cell in enumerate(notebook.cells, 1):
        place = f"{path}, cell {number} ({cell.id})"
        _check_grade_id(cell, place, grade_ids)
        made = _exercise_cell(cell, place)
        if made is None:
            continue
        cells.append(made)
        if (role := task_of(cell)) and role[0] == "solution":
            solutions.setdefault(role[1], place)
    points = _check_cells(notebook, lesson, path, solutions)
    for task, place in solutions.items():
        if task not in points:
            raise TrackError(
                f"the task {task!r} has no check cell",
                where=place,
                do=f'Add one: hetlab.check("{lesson.id}/{task}", ...) with hetlab.check metadata.',
            )
    if sum(points.values()) != lesson.points:
        sums = " + ".join(f"{n} ({task})" for task, n in points.items()) or "0"
        raise TrackError(
            f"lesson.points must be the sum over the check cells, {sum(points.values())} = {sums}, "
            f"got {lesson.points}",
            where=f"{lesson.root / 'track.toml'} against {path}",
        )
    return new_notebook(cells, lesson=lesson.id, kind="exercise")


def authored_points(lesson: Lesson) -> dict[str, int]:
    """Task to points, in order, as the check cells of the solution notebook say."""
    notebook = track_notebook(lesson.solution, lesson.id, "solution")
    solutions = {r[1]: "" for c in notebook.cells if (r := task_of(c)) and r[0] == "solution"}
    return _check_cells(notebook, lesson, lesson.solution, solutions)


def _check_grade_id(cell: NotebookNode, place: str, seen: dict[str, str]) -> None:
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
    if grade_id is None:
        return
    if grade_id in seen:
        raise TrackError(
            f"the grade_id {grade_id!r} is used twice", where=f"{place} and {seen[grade_id]}"
        )
    seen[grade_id] = place


def _exercise_cell(cell: NotebookNode, place: str) -> NotebookNode | None:
    """The learner's version of one cell; None when nothing of it is left."""
    lines = mark_lines(cell.source, place)
    regions = {line.region for line in lines}
    role = task_of(cell)
    is_solution = role is not None and role[0] == "solution"
    if "SOLUTION" in regions and not (is_solution and cell.cell_type == "code"):
        raise TrackError(
            "a SOLUTION region must lie in a code cell whose metadata names its task",
            where=place,
            do='Give the cell the metadata "hetlab": {"task": NAME, "language": "python"} and '
            "nbgrader's; text for the author alone goes between ### BEGIN HIDDEN and END HIDDEN.",
        )
    if is_solution and "SOLUTION" not in regions:
        raise TrackError(
            "a solution cell must have its answer between ### BEGIN SOLUTION and ### END SOLUTION",
            where=place,
        )
    source = drop_hidden(cell.source, place) if "HIDDEN" in regions else cell.source
    if "HIDDEN" in regions and not source.strip():
        return None
    metadata = {key: cell.metadata[key] for key in KEPT if key in cell.metadata}
    if is_solution:
        own = dict(metadata.get("hetlab", {}))
        task, language = role[1], own.get("language", "python")
        source = replace_solutions(source, place, lambda: stub_lines(task, language, place))
        metadata["hetlab"] = {
            "task": task,
            "language": language,
            **own,
            "stub": source_hash(source),
        }
    make = code_cell if cell.cell_type == "code" else markdown_cell
    made = make(cell.id, source, **metadata)
    made.cell_type = cell.cell_type
    if "attachments" in cell:
        made.attachments = cell.attachments
    return made


def _check_cells(
    notebook: NotebookNode, lesson: Lesson, path: Path, solutions: dict[str, str]
) -> dict[str, int]:
    points: dict[str, int] = {}
    for number, cell in enumerate(notebook.cells, 1):
        role = task_of(cell)
        if role is None or role[0] != "check":
            continue
        task, place = role[1], f"{path}, cell {number} ({cell.id})"
        if task in points:
            raise TrackError(f"the task {task!r} has two check cells", where=place)
        if task not in solutions:
            raise TrackError(f"the check is for the task {task!r}, which has no solution cell",
                             where=place)  # fmt: skip
        if (lesson.id, task) not in CHECK_CALL.findall(cell.source):
            raise TrackError(
                f'a check cell must call hetlab.check("{lesson.id}/{task}", ...), '
                f"got {cell.source.strip()!r}",
                where=place,
            )
        worth = cell.metadata.get("nbgrader", {}).get("points")
        if not isinstance(worth, int) or isinstance(worth, bool) or worth < 0:
            raise TrackError(
                f"nbgrader.points of a check cell must be a whole number, got {worth!r}",
                where=place,
            )
        points[task] = worth
    return points
