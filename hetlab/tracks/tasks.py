"""The tasks of a lesson: loading its checks file."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path

from ..errors import TrackError, UnknownName, one_line
from ..grading import Task
from .manifest import Lesson, Track

__all__ = ["find_task", "load_tasks"]

_loaded: dict[tuple[tuple[Path, int], ...], dict[str, Task]] = {}


def load_tasks(track: Track, lesson_id: str) -> dict[str, Task]:
    """All tasks of a lesson, in the order of its checks file.

    Parameters
    ----------
    track : Track
    lesson_id : str
        ``NN_topic``.

    Raises
    ------
    UnknownName
        When the track has no such lesson.
    TrackError
        When the checks file is missing, does not run, or names a task twice.
    """
    return _load(track.lesson(lesson_id))


def find_task(track: Track, task_id: str) -> tuple[Lesson, Task]:
    """The lesson and the task of an id ``lesson/task``.

    Raises
    ------
    UnknownName
        With the close ones, when there is no such task.
    """
    lesson_id, _, name = task_id.partition("/")
    lessons = {lesson.id: lesson for lesson in track.lessons}
    if lesson_id in lessons:
        lesson = lessons[lesson_id]
        tasks = _load(lesson)
        if name in tasks:
            return lesson, tasks[name]
        raise UnknownName("task", task_id, (f"{lesson_id}/{n}" for n in tasks))
    raise UnknownName("task", task_id, _all_ids(lessons.values()), where=f"track {track.name}")


def _all_ids(lessons) -> list[str]:
    """Every task's id; a lesson whose checks do not load must not hide the others."""
    ids = []
    for lesson in lessons:
        try:
            ids += [f"{lesson.id}/{name}" for name in _load(lesson)]
        except TrackError:
            continue
    return ids


def _load(lesson: Lesson) -> dict[str, Task]:
    files = lesson.check_files
    if not files:
        raise TrackError(
            f"lesson {lesson.id} has no checks", where=str(lesson.checks), do="Create the file."
        )
    key = tuple((file, file.stat().st_mtime_ns) for file in files)
    if key not in _loaded:
        name = f"hetlab_checks_{lesson.id}"
        if lesson.checks.is_dir():
            _make_package(name, lesson.checks)
            found = [_run(file, f"{name}.{file.stem}", lesson.id) for file in files]
        else:
            found = [_run(files[0], name, lesson.id)]
        _loaded[key] = _tasks(found, lesson.checks)
    return _loaded[key]


def _make_package(name: str, folder: Path) -> None:
    """Let the files of a folder import from one another: ``from .common import spec``."""
    for old in [n for n in sys.modules if n == name or n.startswith(f"{name}.")]:
        del sys.modules[old]
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package


def _run(file: Path, name: str, lesson_id: str) -> dict:
    if name in sys.modules and "." in name:
        return vars(sys.modules[name])  # another file of the folder has imported it
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and compilers look their module up by name while it runs.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as cause:
        frames, at, place = cause.__traceback__, 0, file
        while frames is not None:
            # A file of a folder may fail inside another one that it imports.
            where = Path(frames.tb_frame.f_code.co_filename)
            if where == file or ("." in name and where.parent == file.parent):
                at, place = frames.tb_lineno, where
            frames = frames.tb_next
        at = at or getattr(cause, "lineno", 0) or 0
        raise TrackError(
            f"the checks of lesson {lesson_id} do not run: {one_line(cause)}",
            where=f"{place}, line {at}" if at else str(file),
        ) from cause
    return vars(module)


def _tasks(modules: list[dict], file: Path) -> dict[str, Task]:
    every = (value for names in modules for value in names.values())
    found = list(dict.fromkeys(v for v in every if isinstance(v, Task)))
    tasks = {task.name: task for task in found}
    if len(tasks) < len(found):
        twice = sorted(t.name for t in found if tasks[t.name] is not t)
        raise TrackError(f"the task {twice[0]!r} is defined twice", where=str(file))
    if not tasks:
        raise TrackError("the checks define no Task", where=str(file))
    return tasks
