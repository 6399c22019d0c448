"""``hetlab pack``: the file to hand in, made on the learner's side.

A zip with the exercise notebooks as they stand, without outputs, and a list of what is in it.
"""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import hetlab

from ..errors import InvalidValue, NotebookError, TrackError, UnknownName
from ..tracks.files import digest, write_atomic
from ..tracks.manifest import Track
from ..tracks.notebooks import notebook_bytes, read_notebook
from .matching import match

__all__ = ["LIST", "Packed", "lesson_named", "pack"]

LIST = "hetlab-pack.json"
#: The earliest date that a zip can hold: the same work gives the same bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Packed:
    """What was packed.

    Attributes
    ----------
    file : Path
    started : dict
        Lesson -> (tasks with an answer, all tasks).
    warnings : tuple of str
        What the learner may want to put right first.
    """

    file: Path
    started: dict[str, tuple[int, int]]
    warnings: tuple[str, ...]


def lesson_named(track: Track, name: str) -> str:
    """The lesson that a name means: its id, or how it begins (``04``).

    Raises
    ------
    UnknownName, InvalidValue
        None begins so, or several do.
    """
    ids = [lesson.id for lesson in track.lessons]
    if name in ids:
        return name
    found = [i for i in ids if i.startswith(name) and name]
    if len(found) > 1:
        raise InvalidValue("LESSON", f"the name of one lesson ({', '.join(found)})", name)
    if not found:
        raise UnknownName("lesson", name, ids)
    return found[0]


def pack(
    track: Track, work: Path, lessons: tuple[str, ...], name: str, file: Path | None = None
) -> Packed:
    """Write the file to hand in.

    Parameters
    ----------
    work : Path
        The learner's work folder.
    lessons : tuple of str
        Lesson ids; empty packs every exercise of the folder.
    name : str
        The learner's name, for the name of the file.
    file : Path, optional
        Default: ``NAME-LESSON.zip`` in the work folder.

    Raises
    ------
    TrackError
        An exercise is not there, or cannot be read.
    InvalidValue
        The name cannot be part of a file's name.
    """
    if not name.strip() or re.search(r'[\\/:*?"<>|\x00-\x1f]', name) or name.strip(". ") == "":
        raise InvalidValue("--name", "a name without slashes and other special signs", name)
    chosen = lessons or tuple(
        x.id for x in track.lessons if (work / "exercises" / f"{x.id}.ipynb").is_file()
    )
    if not chosen:
        raise TrackError("there is no exercise to pack", where=str(work / "exercises"))
    members: dict[str, bytes] = {}
    started, warnings = {}, []
    for lesson_id in chosen:
        lesson = track.lesson(lesson_id)
        path = work / "exercises" / f"{lesson_id}.ipynb"
        try:
            notebook = read_notebook(path)
        except NotebookError as error:
            raise TrackError(error.what, where=error.where, do=error.do) from error
        matched = match(notebook, read_notebook(lesson.exercise), lesson)
        tasks = _tasks(matched.notebook.cells)
        left = [t for t in tasks if t in matched.untouched or t in matched.missing]
        started[lesson_id] = (len(tasks) - len(left), len(tasks))
        if left:
            warnings.append(f"{lesson_id}: not started: {', '.join(left)}")
        warnings += [f"{lesson_id}: {w}" for w in _broken(matched.notebook.cells)]
        members[f"exercises/{lesson_id}.ipynb"] = notebook_bytes(notebook, outputs=False)
    target = file or work / f"{name.strip()}-{chosen[0] if len(chosen) == 1 else track.name}.zip"
    write_atomic(target, _zip(members, track, name.strip()))
    return Packed(target, started, tuple(warnings))


def _tasks(cells: list) -> list[str]:
    from ..tracks.notebooks import task_of

    return list(dict.fromkeys(r[1] for c in cells if (r := task_of(c)) and r[0] == "check"))


def _broken(cells: list) -> list[str]:
    """Cells that are not Python: the learner should see it before the grader does."""
    found = []
    for number, cell in enumerate(cells, 1):
        if cell.cell_type != "code" or re.search(r"^\s*[%!?]|\?$", cell.source, re.MULTILINE):
            continue
        try:
            compile(cell.source, "cell", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            found.append(f"cell {number} does not compile: {getattr(error, 'msg', error)}")
    return found


def _zip(members: dict[str, bytes], track: Track, name: str) -> bytes:
    contents = {
        "format": 1,
        "hetlab": hetlab.__version__,
        "track": track.name,
        "track_version": track.version,
        "name": name,
        "packed": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "files": {path: digest(data) for path, data in members.items()},
    }
    text = json.dumps(contents, ensure_ascii=False, indent=1) + "\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in {**members, LIST: text.encode()}.items():
            info = zipfile.ZipInfo(path, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o100644 << 16
            z.writestr(info, data)
    return out.getvalue()
