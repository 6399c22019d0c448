"""``track.toml``: what lessons a track has, in which order, and what each needs.

A track is a folder with a manifest at its root.  Reading it checks everything
that can be checked without opening a notebook, so that the rest of hetlab can
rely on what a :class:`Track` says.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hetlab

from ..errors import TrackError, UnknownName
from .fields import Fields, check_requires, lesson_order

__all__ = ["Lesson", "Track", "default_work", "find_track", "find_work", "load_track"]

MANIFEST = "track.toml"
POINTER = ".hetlab/track.json"

# NN_topic; letters of any script, so that a lesson may be called 02_异构计算
LESSON_ID = re.compile(r"\d{2}[a-z]?_\w+")
TRACK_NAME = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True)
class Lesson:
    """One lesson of a track, as its manifest describes it.

    Attributes
    ----------
    id : str
        ``NN_topic``; also the stem of its files.
    title : str
        A sentence that begins with a verb.
    minutes : int
        The time a learner needs.
    kind : {"core", "stretch"}
    after : tuple of str
        Lessons that come before this one.
    devices, platforms : tuple of str
        What it runs on.
    points : int
        The sum over its tasks.
    terms : tuple of str
        Glossary terms that it introduces.
    claims : tuple of str
        Numbers of the statements in its text that tests defend.
    root : Path
        The folder of the track that owns its files.
    track : str
        The name of that track; another one than the lesson's track for an included lesson.
    """

    id: str
    title: str
    minutes: int
    kind: str
    after: tuple[str, ...]
    devices: tuple[str, ...]
    platforms: tuple[str, ...]
    points: int
    terms: tuple[str, ...]
    claims: tuple[str, ...]
    root: Path
    track: str

    @property
    def notebook(self) -> Path:
        """The lesson itself."""
        return self.root / "notebooks" / f"{self.id}.ipynb"

    @property
    def exercise(self) -> Path:
        """The exercises, generated from the solutions."""
        return self.root / "exercises" / f"{self.id}.ipynb"

    @property
    def solution(self) -> Path:
        """The authored exercises with their answers (absent from a release)."""
        return self.root / "solutions" / f"{self.id}.ipynb"

    @property
    def checks(self) -> Path:
        """The checks: the authored file or folder, or the public part of it in a release."""
        places = [self.root / "solutions" / "checks", self.root / "checks"]
        ways = [p / name for p in places for name in (f"{self.id}.py", self.id)]
        return next((way for way in ways if way.exists()), ways[0])

    @property
    def check_files(self) -> tuple[Path, ...]:
        """The files of the checks in the order of their names; none when there are no checks."""
        checks = self.checks
        if checks.is_dir():
            return tuple(sorted(checks.glob("*.py")))
        return (checks,) if checks.is_file() else ()


@dataclass(frozen=True)
class Track:
    """A lesson track: a folder, its manifest and its lessons in order."""

    root: Path
    name: str
    title: str
    version: str
    requires_hetlab: str
    language: str
    lessons: tuple[Lesson, ...]
    include: tuple[str, ...] = ()
    sources: dict[str, Path] = field(default_factory=dict, hash=False)

    @property
    def manifest(self) -> Path:
        """The manifest's path."""
        return self.root / MANIFEST

    @property
    def own(self) -> tuple[Lesson, ...]:
        """The lessons whose files lie in this track's own folder."""
        return tuple(lesson for lesson in self.lessons if lesson.root == self.root)

    @property
    def released(self) -> bool:
        """Whether this is what students get: lessons of its own, and no solutions beside them."""
        return bool(self.own) and not (self.root / "solutions").is_dir()

    def lesson(self, lesson_id: str) -> Lesson:
        """The lesson of that id; an unknown one lists the close ones."""
        for lesson in self.lessons:
            if lesson.id == lesson_id:
                return lesson
        known = [lesson.id for lesson in self.lessons]
        raise UnknownName("lesson", lesson_id, known, where=str(self.manifest))

    def __repr__(self) -> str:
        return f"Track({self.name!r}, {len(self.lessons)} lessons, {str(self.root)!r})"


def load_track(path: str | os.PathLike[str]) -> Track:
    """Read a track's manifest.

    Parameters
    ----------
    path : path
        The track's folder, or its ``track.toml``.

    Raises
    ------
    TrackError
        For every mistake in the manifest, with the key, the rule, the value and the file.
    """
    return _load(Path(path), ())


def find_track(start: str | os.PathLike[str] | None = None) -> Track:
    """Find the track that belongs to a place on disk.

    Looked for in this order: the folder in the environment variable ``HETLAB_TRACK``; the nearest
    folder from `start` (or the current folder) upwards that is a track or a learner's work
    folder; the checkout that hetlab was installed from.

    Raises
    ------
    TrackError
        When there is none, or the one that was found has a mistake.
    """
    if named := os.environ.get("HETLAB_TRACK"):
        try:
            return load_track(named)
        except TrackError as error:
            where = f"{error.where}, named by the environment variable HETLAB_TRACK"
            raise TrackError(error.what, where=where, do=error.do) from error
    here = Path.cwd() if start is None else Path(start)
    here = here.absolute()
    for folder in (here, *here.parents):
        if (folder / MANIFEST).is_file():
            return load_track(folder)
        if (target := read_pointer(folder)) is not None and (target / MANIFEST).is_file():
            return load_track(target)
    home = Path(hetlab.__file__).resolve().parent.parent
    if (home / MANIFEST).is_file():
        return load_track(home)
    raise TrackError(
        f"no lesson track was found: no {MANIFEST} here or in any folder above",
        where=str(here),
        do="Go into a track's folder, or name it in the environment variable HETLAB_TRACK.",
    )


def read_pointer(folder: Path) -> Path | None:
    """The track that a work folder was made from, or None when `folder` is not one."""
    try:
        text = (folder / POINTER).read_text(encoding="utf-8")
        target = json.loads(text)["track"]
        return Path(os.path.normpath(folder / target))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def find_work(start: str | os.PathLike[str] | None = None) -> Path | None:
    """The nearest work folder from `start` (or the current folder) upwards, or None."""
    here = (Path.cwd() if start is None else Path(start)).absolute()
    return next((f for f in (here, *here.parents) if (f / POINTER).is_file()), None)


def default_work(track: Track) -> Path:
    """Where a learner's copies go when no folder was named: the one they stand in, else ``work``
    beside the lessons, else (a track that cannot be written to) ``hetlab-work`` right here."""
    if (found := find_work()) is not None:
        return found
    beside = track.root / "work"
    writable = os.access(beside if beside.exists() else track.root, os.W_OK)
    return beside if writable else Path.cwd() / "hetlab-work"


def _load(path: Path, seen: tuple[Path, ...]) -> Track:
    file = path if path.name == MANIFEST and not path.is_dir() else path / MANIFEST
    file = Path(os.path.normpath(file.absolute()))
    top = Fields(_parse(file), str(file))
    head = top.table("track")
    # First of all: a newer format may hold keys this version would call mistakes.
    requires = head.text("requires_hetlab", ">=0.1")
    check_requires(requires, hetlab.__version__, str(file))
    name = head.text("name", like=TRACK_NAME, rule="a short name of letters, digits, - and _")
    title, version = head.text("title"), head.text("version", "0.1.0")
    language, include = head.text("language", "en"), head.texts("include")
    head.done()
    root, places = file.parent, top.table("sources", required=False)
    sources = {key: Path(os.path.normpath(root / places.text(key))) for key in places}
    own = tuple(_lesson(entry, root, name) for entry in top.tables("lesson"))
    top.done()
    if file in seen:
        circle = " -> ".join(str(p.parent) for p in (*seen[seen.index(file) :], file))
        raise TrackError(f"tracks include each other in a circle: {circle}", where=str(file))
    borrowed = tuple(_borrow(item, sources, file, (*seen, file)) for item in include)
    lessons = lesson_order((*borrowed, *own), name, str(file))
    return Track(root, name, title, version, requires, language, lessons, include, sources)


def _parse(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError) as cause:
        raise TrackError(
            "this folder is not a lesson track: it has no " + MANIFEST,
            where=str(file.parent),
            do="Make one with: hetlab track new FOLDER",
        ) from cause
    except OSError as cause:
        raise TrackError(
            f"the manifest cannot be read: {cause.strerror or cause}", where=str(file)
        ) from cause
    except UnicodeDecodeError as cause:
        raise TrackError(
            f"the manifest must be UTF-8 text, got the byte 0x{cause.object[cause.start]:02x} "
            f"at position {cause.start}",
            where=str(file),
            do="Save it as UTF-8 in your editor.",
        ) from cause
    except tomllib.TOMLDecodeError as cause:
        raise TrackError(f"the manifest is not valid TOML: {cause}", where=str(file)) from cause


def _lesson(entry: Fields, root: Path, track: str) -> Lesson:
    lesson_id = entry.text("id", like=LESSON_ID, rule='like "03_my_topic"')
    entry.where += f", lesson {lesson_id}"
    lesson = Lesson(
        id=lesson_id,
        title=entry.text("title"),
        minutes=entry.number("minutes", at_least=1),
        kind=entry.text("kind", "core", among=("core", "stretch")),
        after=entry.texts("after"),
        devices=entry.texts("devices", ("cpu",)),
        platforms=entry.texts(
            "platforms", ("linux", "windows", "macos"), among=("linux", "windows", "macos")
        ),
        points=entry.number("points", at_least=0),
        terms=entry.texts("terms"),
        claims=entry.texts("claims"),
        root=root,
        track=track,
    )
    entry.done()
    return lesson


def _borrow(item: str, sources: dict[str, Path], file: Path, seen: tuple[Path, ...]) -> Lesson:
    """The lesson that an entry such as ``hetlab:04_write_gpu_kernels`` names."""
    where = f"{file}, track.include"
    name, colon, lesson_id = item.partition(":")
    if not (colon and name and lesson_id):
        raise TrackError(
            f'an item of include must be like "track:lesson", got {item!r}', where=where
        )
    home = Path(hetlab.__file__).resolve().parent.parent
    if name not in sources and not (name == "hetlab" and (home / MANIFEST).is_file()):
        raise TrackError(
            f"include names the track {name!r}, and [sources] does not say where it lies",
            where=where,
            do=f'Add to the manifest: [sources] and, under it, {name} = "../folder".',
        )
    other = _load(sources.get(name, home), seen)
    if other.name != name:
        raise TrackError(
            f"the source of {name!r} is a track named {other.name!r}",
            where=f"{file}, sources.{name}",
        )
    return other.lesson(lesson_id)
