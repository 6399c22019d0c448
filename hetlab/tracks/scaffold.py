"""A new track, a new lesson: small, complete, and ready to be made one's own.

The texts lie under ``templates/``; nothing that exists is ever overwritten.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import nbformat

import hetlab

from ..errors import InvalidValue, TrackError
from .build import exercise_of
from .files import make_folder, write_atomic
from .manifest import LESSON_ID, MANIFEST, Lesson, Track, load_track
from .notebooks import notebook_bytes
from .templates import filled, template

__all__ = ["add_lesson", "new_track"]


def new_track(folder: str | os.PathLike[str], title: str | None = None) -> Track:
    """Make a folder into a track without lessons yet.

    Parameters
    ----------
    folder : path
        Made when missing; what lies in it stays.
    title : str, optional
        The track's title; by default made from the folder's name.

    Raises
    ------
    TrackError
        When one of the files to write exists.
    """
    root = Path(os.path.normpath(Path(folder).absolute()))
    name = re.sub(r"[^\w.-]+", "-", root.name).strip("-.") or "track"
    title = _title(title or root.name.replace("_", " ").replace("-", " ").strip() or "My track")
    requires = ">=" + re.match(r"\d+(?:\.\d+)?", hetlab.__version__)[0]
    values = {"name": _toml(name), "title": _toml(title), "requires": _toml(requires)}
    files = {
        MANIFEST: filled(template("track/track.toml"), values),
        "README.md": filled(template("track/README.md"), {"title": title}),
        ".gitignore": template("track/gitignore"),
        ".github/workflows/verify.yml": template("track/verify.yml"),
    }
    _write_new(root, {name: text.encode() for name, text in files.items()})
    return load_track(root)


def add_lesson(track: Track, lesson_id: str, title: str | None = None) -> Lesson:
    """Add a small lesson that works to a track: lesson, solution, checks, exercise, entry.

    Parameters
    ----------
    track : Track
        The track; its manifest gets one more entry at the end.
    lesson_id : str
        ``NN_topic``, a new one.
    title : str, optional
        By default made from the topic; titles are verbs ("Speed up the CPU").

    Raises
    ------
    InvalidValue, TrackError
        A name that is not one, or that is taken; nothing is written then.
    """
    if not LESSON_ID.fullmatch(lesson_id):
        raise InvalidValue("the lesson's id", 'like "02_my_topic"', lesson_id)
    if lesson_id in [lesson.id for lesson in track.lessons]:
        raise TrackError(
            f"the track has a lesson {lesson_id!r} already; it is not overwritten",
            where=str(track.manifest),
        )
    topic = lesson_id.partition("_")[2].replace("_", " ").strip()
    title = _title(title or topic[:1].upper() + topic[1:])
    values = {"id": lesson_id, "title": title}
    before = track.manifest.read_bytes()
    entry = filled(template("track/lesson.toml"), {"id": _toml(lesson_id), "title": _toml(title)})
    manifest = before.rstrip() + b"\n" + entry.encode()
    files = {
        f"notebooks/{lesson_id}.ipynb": _notebook("lesson/lesson.ipynb", values),
        f"solutions/{lesson_id}.ipynb": _notebook("lesson/solution.ipynb", values),
        f"solutions/checks/{lesson_id}.py": template("lesson/checks.py").encode(),
    }
    exercise = f"exercises/{lesson_id}.ipynb"
    _refuse_existing(track.root, [*files, exercise])
    made = _write_new(track.root, files)
    try:
        write_atomic(track.manifest, manifest, expect=before)
        lesson = load_track(track.root).lesson(lesson_id)
        made += _write_new(track.root, {exercise: notebook_bytes(exercise_of(lesson))})
    except BaseException:
        write_atomic(track.manifest, before)
        for path in made:
            path.unlink(missing_ok=True)
        raise
    return lesson


def _notebook(name: str, values: dict[str, str]) -> bytes:
    """A notebook template with its fields filled in, outside of JSON's own quoting."""

    def fill(value):
        if isinstance(value, str):
            return filled(value, values)
        if isinstance(value, list):
            return [fill(v) for v in value]
        if isinstance(value, dict):
            return {k: fill(v) for k, v in value.items()}
        return value

    notebook = nbformat.v4.nbjson.to_notebook(json.loads(template(name)))
    return notebook_bytes(nbformat.from_dict(fill(notebook)), outputs=False)


def _refuse_existing(root: Path, names: list[str]) -> None:
    for name in names:
        if (root / name).exists() or (root / name).is_symlink():
            raise TrackError(
                f"{name} exists already and is not overwritten",
                where=str(root),
                do="Move it away, or choose another name.",
            )


def _write_new(root: Path, files: dict[str, bytes]) -> list[Path]:
    _refuse_existing(root, list(files))
    make_folder(root)
    for name, data in files.items():
        write_atomic(root / name, data)
    return [root / name for name in files]


def _title(title: str) -> str:
    if not title.strip() or not title.isprintable():
        raise InvalidValue("the title", "one line of text", title)
    return title.strip()


def _toml(text: str) -> str:
    """A TOML string: JSON's quoting is a part of TOML's."""
    return json.dumps(text, ensure_ascii=False)
