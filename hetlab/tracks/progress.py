"""A learner's progress: a small file in their own work folder, and nowhere else.

Outside a work folder (in a track's own checkout, in a batch) nothing is
recorded, so that reading a track never writes to it.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..grading import Verdict
from .course_map import Stage, map_html, next_step
from .files import make_folder, write_atomic
from .manifest import Track, default_work, find_track, find_work

__all__ = ["Progress", "next_hint", "progress", "progress_file", "record"]


def progress_file(start: str | os.PathLike[str] | None = None) -> Path | None:
    """The progress file of the work folder around a place, or None outside of one."""
    work = find_work(start)
    return work / ".hetlab" / "progress.json" if work else None


def _learners_file() -> Path | None:
    """The same, or that of the work folder beside the track: for somebody in a terminal there."""
    return progress_file() or progress_file(default_work(find_track()))


def record(verdict: Verdict, start: str | os.PathLike[str] | None = None) -> None:
    """Remember a verdict; the best points ever earned are kept."""
    file = progress_file(start)
    if file is None or verdict.status == "error":
        return
    with _editing(file) as data:
        known = data["tasks"].get(verdict.task, {})
        data["tasks"][verdict.task] = {
            **known,
            "points": max(verdict.points, known.get("points", 0)),
            "of": verdict.of,
            "last": verdict.points,
            "status": verdict.status,
            "when": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        }


_hints_without_file: dict[str, int] = {}


def next_hint(task_id: str, steps: int) -> int:
    """The number of the next hint of a task, from 0; after the last it stays there."""
    file = _learners_file()
    if file is None:
        step = _hints_without_file.get(task_id, 0)
        _hints_without_file[task_id] = step + 1
    else:
        with _editing(file) as data:
            entry = data["tasks"].setdefault(task_id, {})
            step = entry.get("hints", 0)
            entry["hints"] = min(step + 1, steps)
    return min(step, steps - 1)


def _read(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(data["tasks"], dict):
            return data
    except (OSError, ValueError, KeyError, TypeError):
        # A damaged file must not stop a learner; it is kept under another name.
        if file.exists():
            with contextlib.suppress(OSError):
                file.replace(file.with_suffix(f".damaged-{time.time_ns()}.json"))
    return {"version": 1, "tasks": {}}


@contextlib.contextmanager
def _editing(file: Path) -> Iterator[dict[str, Any]]:
    """Read, change, write, while no other notebook of the learner does the same."""
    make_folder(file.parent)
    with (file.parent / "progress.lock").open("a") as lock:
        try:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass  # Windows and some network drives: the last writer wins
        data = _read(file)
        yield data
        text = json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True)
        write_atomic(file, text.encode() + b"\n")


@dataclass(frozen=True)
class Progress:
    """Points earned so far, a row for each lesson of a track.

    Attributes
    ----------
    stages : tuple of Stage
        The lessons of the track in their order, with the points earned.
    file : Path or None
        Where it is kept.
    """

    stages: tuple[Stage, ...]
    file: Path | None

    def __repr__(self) -> str:
        width = max((len(s.lesson) for s in self.stages), default=0)
        lines = []
        for s in self.stages:
            done = round(10 * s.points / s.of) if s.of else 0
            bar = "█" * done + "░" * (10 - done)
            lines.append(f"{s.lesson:<{width}}  {bar}  {s.points:>3} of {s.of}")
        return "\n".join([*lines, next_step(self.stages), *([self._note] if self._note else [])])

    @property
    def _note(self) -> str:
        if self.file is not None:
            return ""
        return "Nothing is recorded outside a work folder; `hetlab lab` makes one."

    def _repr_html_(self) -> str:
        return map_html(self.stages, self._note)


def progress(track: Track | None = None) -> Progress:
    """What the learner has earned so far, lesson by lesson."""
    track = track or find_track()
    file = _learners_file()
    tasks = _read(file)["tasks"] if file and file.exists() else {}
    stages = []
    for lesson in track.lessons:
        mine = [t for i, t in tasks.items() if i.startswith(f"{lesson.id}/")]
        points = min(sum(t.get("points", 0) for t in mine), lesson.points)
        about = {"part": lesson.part, "points": points, "of": lesson.points}
        about |= {"minutes": lesson.minutes, "after": lesson.after, "devices": lesson.devices}
        stages.append(Stage(lesson.id, lesson.title, **about, stretch=lesson.kind == "stretch"))
    return Progress(tuple(stages), file)
