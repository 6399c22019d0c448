"""The part of a track that a grader needs, as plain data: for machines that do not share a disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from ..tracks.files import digest
from ..tracks.manifest import MANIFEST, Track
from ..tracks.release import manifest_text

__all__ = ["bundle_of", "unpacked"]


def bundle_of(track: Track, lessons: tuple[str, ...]) -> dict[str, bytes]:
    """Path -> bytes: a small track with the checks and exercises of these lessons."""
    files = {MANIFEST: manifest_text(track, lessons).encode()}
    for lesson_id in lessons:
        lesson = track.lesson(lesson_id)
        files[f"exercises/{lesson_id}.ipynb"] = lesson.exercise.read_bytes()
        for file in lesson.check_files:
            within = file.relative_to(lesson.checks.parent).as_posix()
            files[f"solutions/checks/{within}"] = file.read_bytes()
    return files


def unpacked(bundle: dict[str, bytes]) -> Path:
    """A folder with the bundle's files; the same bundle is unpacked once for each user.

    Only this user may read it: it holds the hidden part of the checks.
    """
    name = digest(b"".join(f"{k} {digest(v)}\n".encode() for k, v in sorted(bundle.items())))
    who = os.getuid() if hasattr(os, "getuid") else os.getlogin()
    place = Path(tempfile.gettempdir()) / f"hetlab-track-{who}-{name[:24]}"
    if place.is_dir() and (not hasattr(os, "getuid") or place.stat().st_uid == os.getuid()):
        return place
    beside = Path(tempfile.mkdtemp(prefix="hetlab-track-"))
    for path, data in bundle.items():
        target = beside / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    try:
        beside.rename(place)
    except OSError:  # another worker was quicker, or the name is taken by somebody else
        if not place.is_dir() or (hasattr(os, "getuid") and place.stat().st_uid != os.getuid()):
            return beside
        shutil.rmtree(beside)
    return place
