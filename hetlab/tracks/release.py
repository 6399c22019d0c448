"""What students get: everything but the answers.

A release is written beside its target, searched for answers, and only then
moved into place; when an answer is found, nothing is left behind.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

from ..errors import TrackError
from .build import exercise_of, track_notebook
from .files import file_errors, make_folder, write_atomic
from .leaks import (
    Leak,
    find_leaks,
    given_lines,
    hinted,
    most_of_an_answer,
    not_in,
    public_lines,
    secrets_of,
    taught_lines,
)
from .manifest import MANIFEST, Lesson, Track, load_track
from .notebooks import code_cell, markdown_cell, new_notebook, notebook_bytes
from .regions import drop_hidden
from .templates import filled, template

__all__ = ["draft_release", "manifest_text", "release"]


def release(track: Track, folder: str | os.PathLike[str]) -> list[Path]:
    """Write a track as students get it.

    Lessons, exercises, the public part of the checks, the manifest and a page for the reader.
    Included lessons become the release's own, so that it needs no other track.

    Parameters
    ----------
    track : Track
        An authored track.
    folder : path
        A new or an empty folder.

    Returns
    -------
    list of Path
        What was written, relative to `folder`.

    Raises
    ------
    TrackError
        The folder holds something; a notebook or checks file is not in order; or an answer was
        found in what would be given out.  Then nothing is written.
    """
    target = Path(os.path.normpath(Path(folder).absolute()))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise TrackError(
            "the folder for a release must be new or empty; nothing in it is overwritten",
            where=str(target),
            do="Name another folder.",
        )
    files, leaks = draft_release(track)
    if leaks:
        raise leaks[0].error(len(leaks) - 1)
    make_folder(target.parent)
    with (
        file_errors(target, "write the release"),
        tempfile.TemporaryDirectory(dir=target.parent, prefix=".hetlab-release-") as room,
    ):
        draft = Path(room) / "release"
        for name, data in files.items():
            write_atomic(draft / name, data)
        load_track(draft)
        if target.exists():
            target.rmdir()
        shutil.move(draft, target)
    return [Path(name) for name in files]


def draft_release(track: Track) -> tuple[dict[str, bytes], list[Leak]]:
    """Name and content of every file of a release, and the answers that were found in them.

    Raises
    ------
    TrackError
        When a notebook or a checks file is not in order.
    """
    if track.released:
        raise TrackError("this track is a release already", where=str(track.root))
    if not track.lessons:
        raise TrackError(
            "the track has no lessons to release",
            where=str(track.manifest),
            do="Add one with: hetlab track add-lesson 01_my_topic",
        )
    files = {MANIFEST: manifest_text(track).encode(), "README.md": _readme(track).encode()}
    files[".gitignore"] = template("track/gitignore").encode()
    secrets, public, taught, hints = [], set(), set(), []
    for lesson in track.lessons:
        files[f"notebooks/{lesson.id}.ipynb"] = _lesson(lesson)
        files[f"exercises/{lesson.id}.ipynb"] = _exercise(lesson)
        files |= _checks(lesson)
        secrets += secrets_of(lesson)
        public |= public_lines(lesson) | given_lines(lesson)
        taught |= taught_lines(lesson)
        hints.append(hinted(lesson))
    secrets = not_in("\n".join(hints), (s for s in secrets if s.tokens not in public))
    secrets = [s for s in secrets if s.region != "HIDDEN" or s.tokens not in taught]
    return files, most_of_an_answer(find_leaks(files, secrets), secrets)


def _lesson(lesson: Lesson) -> bytes:
    """The lesson without hidden regions; a cell of which nothing is left goes whole."""
    notebook = track_notebook(lesson.notebook, lesson.id, "lesson")
    cells = []
    for number, cell in enumerate(notebook.cells, 1):
        source = drop_hidden(cell.source, f"{lesson.notebook}, cell {number} ({cell.id})")
        if cell.source.strip() and not source.strip():
            continue
        kept = {k: v for k, v in cell.metadata.items() if k in ("hetlab", "slideshow", "tags")}
        make = code_cell if cell.cell_type == "code" else markdown_cell
        made = make(cell.id, source, **kept)
        made.cell_type = cell.cell_type
        if "attachments" in cell:
            made.attachments = cell.attachments
        cells.append(made)
    return notebook_bytes(new_notebook(cells, lesson=lesson.id, kind="lesson"))


def _exercise(lesson: Lesson) -> bytes:
    if not lesson.solution.is_file() and lesson.exercise.is_file():
        return lesson.exercise.read_bytes()  # included from a track that is itself a release
    return notebook_bytes(exercise_of(lesson))


def _checks(lesson: Lesson) -> dict[str, bytes]:
    """The public part of each file of the checks, by its name in the release."""
    if not lesson.check_files:
        raise TrackError(f"lesson {lesson.id} has no checks", where=str(lesson.checks))
    home = lesson.checks.parent
    return {
        f"checks/{path.relative_to(home).as_posix()}": _public(path) for path in lesson.check_files
    }


def _public(path: Path) -> bytes:
    try:
        source = drop_hidden(path.read_text(encoding="utf-8-sig"), str(path))
        compile(source, str(path), "exec")
    except UnicodeDecodeError as cause:
        raise TrackError("a checks file must be UTF-8 text", where=str(path)) from cause
    except (SyntaxError, ValueError) as cause:
        raise TrackError(
            f"without its HIDDEN regions the checks file is not Python any more: {cause}",
            where=str(path),
            do="Let each region hold whole statements, or whole items of a list.",
        ) from cause
    return (source.rstrip("\n") + "\n").encode()


def manifest_text(track: Track, only: tuple[str, ...] = ()) -> str:
    """The manifest written anew: comments stay at home, included lessons become its own.

    Parameters
    ----------
    only : tuple of str
        Some lessons instead of all.
    """
    head = {
        "name": track.name,
        "title": track.title,
        "version": track.version,
        "requires_hetlab": track.requires_hetlab,
        "language": track.language,
    }
    lines = ["[track]", *(f"{k} = {_toml(v)}" for k, v in head.items())]
    keys = ("id", "title", "minutes", "kind", "part", "after", "devices", "platforms", "points",
            "terms", "claims")  # fmt: skip
    for lesson in track.lessons:
        if only and lesson.id not in only:
            continue
        values = {k: getattr(lesson, k) for k in keys}
        if only:
            values["after"] = tuple(x for x in lesson.after if x in only)
        lines += ["", "[[lesson]]", *(f"{k} = {_toml(v)}" for k, v in values.items())]
    return "\n".join(lines) + "\n"


def _toml(value: str | int | tuple[str, ...]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _readme(track: Track) -> str:
    rows = [
        f"| {' '.join(x.title.split()).replace('|', chr(92) + '|')} | {x.minutes} | {x.points} |"
        for x in track.lessons
    ]
    values = {"title": track.title, "lessons": "\n".join(rows), "first": track.lessons[0].id}
    return filled(template("release.md"), values)
