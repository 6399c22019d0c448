"""The learner's work folder: copies of the lessons, which are theirs to change.

::

    work/START_HERE.ipynb           the list of lessons, how to check and how to save
    work/lessons/NN_topic.ipynb     the lesson
    work/exercises/NN_topic.ipynb   the exercises
    work/old/                       copies of what an update or a restore replaced
    work/.hetlab/track.json         which track it was made from
    work/.hetlab/base/...           the track's version each copy started from

Nothing that the learner wrote is ever overwritten.  The base copies let
``hetlab update`` tell what the learner changed from what the track changed.
"""

from __future__ import annotations

import json
import os
import urllib.parse
from pathlib import Path

from nbformat import NotebookNode

from ..errors import NotebookError, TrackError
from .files import Action, file_errors, make_folder, write_atomic
from .manifest import POINTER, Track, default_work, find_work, read_pointer
from .notebooks import (
    code_cell,
    markdown_cell,
    new_notebook,
    normal_source,
    notebook_bytes,
    read_notebook,
)
from .templates import filled, template

__all__ = ["base_of", "copies", "default_work", "find_work", "open_work", "start_page"]

START = "START_HERE.ipynb"
BASE = ".hetlab/base"


def copies(track: Track) -> dict[str, Path]:
    """Relative path of each copy in a work folder -> the track's file."""
    found = {}
    for lesson in track.lessons:
        found[f"lessons/{lesson.id}.ipynb"] = lesson.notebook
        found[f"exercises/{lesson.id}.ipynb"] = lesson.exercise
    return found


def base_of(work: Path, relative: str) -> Path:
    """The base copy of a file in a work folder."""
    return work / BASE / relative


def open_work(track: Track, folder: str | os.PathLike[str]) -> list[Action]:
    """Lay out a learner's work folder; what is there already stays as it is.

    Parameters
    ----------
    track : Track
        The track whose lessons are copied.
    folder : path
        The work folder; made when missing.

    Returns
    -------
    list of Action
        "new" for each file that was written, "stale" for each copy whose original has changed
        since (``hetlab update`` brings those up to date).

    Raises
    ------
    TrackError
        The folder cannot be a work folder, or a file of the track is missing.
    """
    work = Path(os.path.normpath(Path(folder).absolute()))
    _refuse(track, work)
    originals = {relative: _original(path) for relative, path in copies(track).items()}
    make_folder(work)
    _write_pointer(track, work)
    actions = []
    for relative, data in originals.items():
        mine, base = work / relative, base_of(work, relative)
        if not mine.exists():
            write_atomic(base, data)
            write_atomic(mine, data)
            actions.append(Action("new", relative, "laid out for you"))
        elif not base.is_file() or base.read_bytes() != data:
            actions.append(Action("stale", relative, "the track has a newer version"))
    return [*actions, *_refresh_start(track, work)]


def start_page(track: Track) -> NotebookNode:
    """The page a learner sees first."""
    rows = []
    for lesson in track.lessons:
        file = urllib.parse.quote(f"{lesson.id}.ipynb")
        kind = "" if lesson.kind == "core" else f" ({lesson.kind})"
        rows.append(
            f"| **{_plain(lesson.title)}**{kind} | {lesson.minutes} min "
            f"| [lesson](lessons/{file}) | [exercises](exercises/{file}) | {lesson.points} |"
        )
    first = track.lessons[0].id if track.lessons else "01_topic"
    values = {"title": _plain(track.title), "lessons": "\n".join(rows), "first": first}
    text = filled(template("start_here.md"), values)
    parts = [part.strip("\n") for part in text.split("\n---\n")]
    cells = []
    for number, part in enumerate(parts):
        if part.startswith("```python\n"):
            source = part.removeprefix("```python\n").removesuffix("\n```")
            cells.append(code_cell(f"start-{number}", source))
        else:
            cells.append(markdown_cell(f"start-{number}", part))
    return new_notebook(cells, kind="start")


def _plain(title: str) -> str:
    """A title as table text: no line breaks, no column marks."""
    return " ".join(title.split()).replace("|", "\\|")


def _refuse(track: Track, work: Path) -> None:
    if work.exists() and not work.is_dir():
        raise TrackError("the work folder must be a folder, got a file", where=str(work))
    parts = ("notebooks", "exercises", "solutions", "checks")
    if work == track.root or any(work.is_relative_to(track.root / p) for p in parts):
        raise TrackError(
            "the work folder must lie outside the track's own files",
            where=str(work),
            do=f"Use for example {track.root / 'work'}.",
        )
    try:
        name = json.loads((work / POINTER).read_text(encoding="utf-8"))["name"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if name != track.name:
        raise TrackError(
            f"this work folder belongs to the track {name!r}, not to {track.name!r}",
            where=str(work),
            do="Name another folder: hetlab lab --work FOLDER",
        )


def _original(path: Path) -> bytes:
    if not path.is_file():
        raise TrackError(
            f"the track's file {path.parent.name}/{path.name} is missing",
            where=str(path.parent.parent),
            do="Its author makes exercises with: hetlab track build",
        )
    with file_errors(path, "read the track's file"):
        return path.read_bytes()


def _write_pointer(track: Track, work: Path) -> None:
    """Relative while the work folder lies in the track, so that both can move together."""
    inside = work.is_relative_to(track.root)
    target = os.path.relpath(track.root, work) if inside else str(track.root)
    if read_pointer(work) == track.root and not inside:
        return
    pointer = {"name": track.name, "track": target.replace(os.sep, "/")}
    text = json.dumps(pointer, ensure_ascii=False, indent=1) + "\n"
    write_atomic(work / POINTER, text.encode())


def _refresh_start(track: Track, work: Path) -> list[Action]:
    """Write the start page while it is still the page we wrote."""
    page, base = work / START, base_of(work, START)
    data = notebook_bytes(start_page(track))
    ours = base.is_file() and _same_text(page, base) if page.exists() else True
    if not ours or (page.exists() and base.read_bytes() == data):
        return []
    write_atomic(base, data)
    return [Action("new", START, "the list of lessons")] if write_atomic(page, data) else []


def _same_text(one: Path, other: Path) -> bool:
    """Whether two notebooks have the same cells, whatever their outputs."""
    try:
        pair = [
            [(cell.cell_type, normal_source(cell.source)) for cell in read_notebook(p).cells]
            for p in (one, other)
        ]
    except NotebookError:
        return False
    return pair[0] == pair[1]
