"""A course folder for nbgrader 0.9, made of a track.

The source notebooks are the exercises, so no answer lies in the folder, and nbgrader's own
stubs (which a Triton kernel cannot hold) are not put in.  A check cell gives nbgrader a
number of points, or an exception at 0: anything else would be full marks there.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import TrackError
from ..tracks.files import write_atomic
from ..tracks.manifest import Track
from ..tracks.notebooks import notebook_bytes, read_notebook
from ..tracks.templates import filled, template
from .bundle import bundle_of

__all__ = ["export_course"]

#: Where the checks lie in the course folder.
INSIDE = "hetlab-track"


def export_course(track: Track, folder: str | os.PathLike[str]) -> list[Path]:
    """Write a course folder that nbgrader 0.9 takes.

    Parameters
    ----------
    track : Track
        With its solutions: the hidden checks are needed.
    folder : path
        New, empty, or an earlier export.  Of an earlier one only the sources and checks are
        written anew; what nbgrader and students wrote, and the configuration, stay.

    Returns
    -------
    list of Path
        What was written, relative to `folder`.

    Raises
    ------
    TrackError
        The track is a release, or the folder holds something else.
    """
    target = Path(os.path.normpath(Path(folder).absolute()))
    if track.released:
        raise TrackError("a released track has no hidden checks to export", where=str(track.root))
    ours = (target / INSIDE).is_dir()
    if target.exists() and not ours and (not target.is_dir() or any(target.iterdir())):
        raise TrackError(
            "the folder must be new, empty or an earlier export; nothing in it is overwritten",
            where=str(target),
            do="Name another folder.",
        )
    lessons = tuple(x.id for x in track.lessons if x.exercise.is_file())
    if not lessons:
        raise TrackError("the track has no exercises", where=str(track.root),
                         do="Make them with: hetlab track build")  # fmt: skip
    files: dict[str, bytes] = {f"{INSIDE}/{k}": v for k, v in bundle_of(track, lessons).items()}
    for lesson in lessons:
        notebook = read_notebook(track.lesson(lesson).exercise)
        files[f"source/{lesson}/{lesson}.ipynb"] = notebook_bytes(notebook, outputs=False)
    values = {"course": track.name, "title": track.title, "first": lessons[0],
              "inside": INSIDE}  # fmt: skip
    for name in ("nbgrader_config.py", "README.md"):
        if not (target / name).exists():
            files[name] = filled(template(f"nbgrader/{name}"), values).encode()
    for name, data in files.items():
        write_atomic(target / name, data)
    return [Path(name) for name in files]
