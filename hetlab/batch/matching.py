"""Put a notebook that was handed in back into the shape of the exercise it came from.

The track's own cells decide what is a solution and what is a check: metadata that the
student's tools lost is put back, metadata that the student wrote counts for nothing.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..errors import NotebookError
from ..tracks.align import DEFINES, match_cells
from ..tracks.manifest import Lesson
from ..tracks.notebooks import (
    CHECK_CALL,
    is_untouched,
    lesson_of,
    normal_source,
    read_notebook,
    task_of,
)

__all__ = ["Matched", "lesson_by_content", "match", "read_bytes"]

#: Metadata by which a grader knows a cell.
_OURS = ("hetlab", "nbgrader")


@dataclass(frozen=True)
class Matched:
    """A notebook that is ready to be run.

    Attributes
    ----------
    notebook : NotebookNode
        The student's cells in their order, with the exercise's metadata and check cells.
    notes : tuple of str
        What was put right, for the student.
    unmatched : str
        Why it cannot be graded as this lesson's exercise; empty when it can.
    missing : tuple of str
        Tasks whose solution cell is not there.
    untouched : tuple of str
        Tasks whose solution cells hold nothing but their stubs.
    """

    notebook: NotebookNode
    notes: tuple[str, ...] = ()
    unmatched: str = ""
    missing: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()


def read_bytes(data: bytes, name: str) -> NotebookNode:
    """Read a notebook that is not a file of its own.

    Raises
    ------
    NotebookError
        One line, with the name under which it was handed in and no path of this machine.
    """
    with tempfile.TemporaryDirectory(prefix="hetlab-") as folder:
        path = Path(folder) / "notebook.ipynb"
        path.write_bytes(data.replace(b"\0", b"") if _stray_nulls(data) else data)
        try:
            return read_notebook(path)
        except NotebookError as error:
            what = error.what.replace(path.name, name, 1)
            raise NotebookError(what, where="", do=error.do) from error


def _stray_nulls(data: bytes) -> bool:
    """Whether NUL bytes stand in what is else UTF-8: a copy cut short and padded by a disk."""
    return b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def lesson_by_content(
    notebook: NotebookNode, name: str, exercises: dict[str, NotebookNode]
) -> str | None:
    """The lesson of a notebook: by its metadata, its name, its checks, else by its cells.

    Parameters
    ----------
    exercises : dict
        Lesson id -> what was handed out.
    """
    own = nbformat.from_dict({**notebook, "metadata": dict(notebook.metadata)})
    if named := lesson_of(own, Path(name.rpartition("/")[2]), tuple(exercises)):
        return named
    scores = {
        lesson: sum(
            task_of(cell) is not None
            for cell in exercise.cells
            if cell.id in set(match_cells(notebook.cells, exercise.cells).values())
        )
        for lesson, exercise in exercises.items()
    }
    best = max(scores, key=lambda lesson: scores[lesson], default=None)
    return best if best and scores[best] else None


def match(notebook: NotebookNode, exercise: NotebookNode, lesson: Lesson) -> Matched:
    """Bring a student's notebook and the exercise together, cell by cell.

    Parameters
    ----------
    notebook : NotebookNode
        Normalised, as :func:`read_bytes` gives it; it is not changed.
    exercise : NotebookNode
        What was handed out.
    """
    notebook = nbformat.from_dict(notebook)
    pairs = match_cells(notebook.cells, exercise.cells)
    known = {cell.id: cell for cell in exercise.cells}
    notes: list[str] = []
    seen: set[str] = set()
    marks: dict[str, int] = {}
    cells: list[NotebookNode] = []
    for number, cell in enumerate(notebook.cells, 1):
        original = known.get(pairs.get(cell.id, ""))
        claimed = task_of(cell)
        for key in _OURS:
            cell.metadata.pop(key, None)
        if original is None:
            if task := _checked(cell, lesson.id):
                marks[task] = len(cells)  # the track's own check cell stands in for every copy
                continue
            if claimed and claimed[0] == "solution":
                notes.append(
                    f"cell {number} is a second cell of task {claimed[1]}; both were run, and the "
                    "later definition counts"
                )
            cells.append(cell)
            continue
        role = task_of(original)
        if role and role[0] == "check":
            marks[role[1]] = len(cells)
            continue
        cell.metadata.update({k: original.metadata[k] for k in _OURS if k in original.metadata})
        if role:
            _as_code(cell, number, role[1], notes)
            seen.add(role[1])
        cells.append(cell)
    tasks = [r[1] for c in exercise.cells if (r := task_of(c)) and r[0] == "solution"]
    missing = tuple(dict.fromkeys(task for task in tasks if task not in seen))
    notes += [
        f"the cell of task {task} is missing; if its function is defined elsewhere, that counts"
        for task in missing
    ]
    notes += _about_checks(exercise, notebook)
    untouched = _untouched(cells, exercise)
    _put_checks_back(cells, exercise, marks)
    notebook.cells = cells
    nothing = not any(task_of(known[k]) for k in pairs.values())
    unmatched = ""
    if nothing:
        unmatched = (
            f"unmatched: no cell of it is one of the exercise {lesson.id}; start again from the "
            "exercise notebook, or keep the names of the functions that it asks for"
        )
    return Matched(notebook, tuple(notes), unmatched, missing, untouched)


def _as_code(cell: NotebookNode, number: int, task: str, notes: list[str]) -> None:
    if cell.cell_type == "code":
        return
    notes.append(f"cell {number} (task {task}) was a {cell.cell_type} cell; it was run as code")
    cell.cell_type = "code"
    cell.pop("attachments", None)
    cell.outputs, cell.execution_count = [], None


def _checked(cell: NotebookNode, lesson: str) -> str:
    """The task of a cell that does nothing but ask for a verdict; else empty."""
    if cell.cell_type != "code" or len(cell.source.strip().splitlines()) != 1:
        return ""
    return next((task for where, task in CHECK_CALL.findall(cell.source) if where == lesson), "")


def _about_checks(exercise: NotebookNode, notebook: NotebookNode) -> list[str]:
    theirs = {normal_source(cell.source) for cell in notebook.cells}
    ids = {cell.id for cell in notebook.cells}
    notes = []
    for check in exercise.cells:
        role = task_of(check)
        if role and role[0] == "check" and normal_source(check.source) not in theirs:
            changed = "changed; the course's own was run"
            done = changed if check.id in ids else "missing; it was put back"
            notes.append(f"the check of task {role[1]} was {done}")
    return notes


def _put_checks_back(
    cells: list[NotebookNode], exercise: NotebookNode, marks: dict[str, int]
) -> None:
    """Set the track's check cells where the student had them, else before the next task.

    Never before the task's own cell: a definition counts up to the place of its check.
    """
    tasks = {i: role for i, c in enumerate(cells) if (role := task_of(c))}
    places: list[tuple[int, int, NotebookNode]] = []
    for order, check in enumerate(exercise.cells):
        role = task_of(check)
        if role is None or role[0] != "check":
            continue
        last = max((i for i, r in tasks.items() if r == ("solution", role[1])), default=-1)
        after = min((i for i in tasks if i > last), default=len(cells)) if last >= 0 else len(cells)
        mark = marks.get(role[1], -1)
        places.append((mark if mark > last else after, order, check))
    for at, _, check in sorted(places, key=lambda place: place[:2], reverse=True):
        cells.insert(at, nbformat.from_dict(check))


def _untouched(cells: list[NotebookNode], exercise: NotebookNode) -> tuple[str, ...]:
    """The tasks whose solution cells all hold their stubs, known by hash or by their text."""
    stubs = {
        normal_source(c.source): role[1]
        for c in exercise.cells
        if (role := task_of(c)) and role[0] == "solution"
    }
    elsewhere = {
        name
        for c in cells
        if c.cell_type == "code" and task_of(c) is None
        for name in DEFINES.findall(c.source)
    }
    touched: dict[str, bool] = {}
    for cell in cells:
        role = task_of(cell)
        if role and role[0] == "solution":
            if elsewhere & set(DEFINES.findall(cell.source)):
                touched[role[1]] = True  # the answer stands in a cell of the student's own
                continue
            same = stubs.get(normal_source(cell.source)) == role[1] or is_untouched(cell)
            touched[role[1]] = touched.get(role[1], False) or not same
    return tuple(task for task, yes in touched.items() if not yes)
