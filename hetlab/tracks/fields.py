"""Checked access to the tables of a manifest, and the rules over all of them.

Each mistake names the key, the rule it breaks, the value and the file.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..errors import TrackError

__all__ = ["Fields", "check_requires", "lesson_order"]

_REQUIRED = object()


class Fields:
    """One table of a TOML file; every key that is read is ticked off.

    Parameters
    ----------
    table : dict
        The table.
    where : str
        The file, and the place in it.
    name : str
        What the table is called in messages; empty for the file's top.
    """

    def __init__(self, table: dict[str, Any], where: str, name: str = "") -> None:
        self.where, self._table, self._name = where, table, name
        self._read: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys that the table has."""
        return iter(self._table)

    def text(
        self,
        key: str,
        default: Any = _REQUIRED,
        *,
        among: Sequence[str] = (),
        like: re.Pattern[str] | None = None,
        rule: str = "",
    ) -> str:
        """A text that is not empty; `among` and `like` narrow it."""
        value = self._get(key, default)
        if not isinstance(value, str) or not value.strip():
            self._wrong(key, rule or "a text that is not empty", value)
        if among and value not in among:
            self._wrong(key, " or ".join(map(repr, among)), value)
        if like is not None and not like.fullmatch(value):
            self._wrong(key, rule, value)
        return value

    def texts(
        self, key: str, default: Sequence[str] = (), *, among: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """A list of different texts, perhaps empty."""
        value = self._get(key, list(default))
        if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
            self._wrong(key, "a list of texts", value)
        if among and (strange := [v for v in value if v not in among]):
            self._wrong(key, "a list of " + ", ".join(map(repr, among)), strange)
        if len(set(value)) < len(value):
            twice = next(v for v in value if value.count(v) > 1)
            self._wrong(key, "free of repeats", twice)
        return tuple(value)

    def number(self, key: str, *, at_least: int) -> int:
        """A whole number that is not too small."""
        value = self._get(key, _REQUIRED)
        if not isinstance(value, int) or isinstance(value, bool) or value < at_least:
            self._wrong(key, f"a whole number of at least {at_least}", value)
        return value

    def table(self, key: str, *, required: bool = True) -> Fields:
        """A table of its own."""
        value = self._get(key, _REQUIRED if required else {})
        if not isinstance(value, dict):
            self._wrong(key, f"a table, written [{key}]", value)
        return Fields(value, self.where, key)

    def tables(self, key: str) -> list[Fields]:
        """A list of tables, perhaps empty."""
        value = self._get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self._wrong(key, f"a list of tables, each written [[{key}]]", value)
        return [Fields(v, self.where, key) for v in value]

    def done(self) -> None:
        """Refuse keys that nobody asked for: a misspelt key must not be silence."""
        for key in self._table:
            if key not in self._read:
                near = difflib.get_close_matches(key, self._read - set(self._table), n=1)
                do = f"Did you mean {near[0]!r}?" if near else ""
                raise TrackError(f"there is no key {self._key(key)!r}", where=self.where, do=do)

    def _get(self, key: str, default: Any) -> Any:
        self._read.add(key)
        value = self._table.get(key, default)
        if value is _REQUIRED:
            near = difflib.get_close_matches(key, self._table, n=1)
            do = f"It has {near[0]!r}, is that meant?" if near else ""
            raise TrackError(f"the key {self._key(key)!r} is missing", where=self.where, do=do)
        return value

    def _key(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key

    def _wrong(self, key: str, rule: str, value: Any) -> None:
        raise TrackError(f"{self._key(key)} must be {rule}, got {value!r}", where=self.where)


def check_requires(spec: str, version: str, where: str) -> None:
    """Refuse a manifest that asks for another version of hetlab.

    Parameters
    ----------
    spec : str
        Like ``">=0.1,<1"``: comparisons with ``>= > <= < == != ~=``, joined by commas.
    version : str
        The version that is running.
    """
    have = _release(version)
    for part in spec.split(","):
        found = re.fullmatch(r"\s*(>=|<=|==|!=|~=|>|<)\s*(\d+(?:\.\d+)*)\s*", part)
        if not found:
            raise TrackError(
                f'track.requires_hetlab must be like ">=0.1,<1", got {spec!r}', where=where
            )
        sign, want = found[1], _release(found[2])
        fits = {
            ">=": have >= want,
            "<=": have <= want,
            "==": have == want,
            "!=": have != want,
            ">": have > want,
            "<": have < want,
            "~=": have >= want and have[: found[2].count(".")] == want[: found[2].count(".")],
        }[sign]
        if not fits:
            raise TrackError(
                f"this track needs hetlab {spec}, and {version} is installed",
                where=where,
                do="Install a hetlab that fits, for example: pip install --upgrade hetlab",
            )


def _release(version: str) -> tuple[int, ...]:
    """The release numbers of a version, padded so that 0.1 equals 0.1.0."""
    numbers = [int(n) for n in re.match(r"\d+(?:\.\d+)*", version)[0].split(".")]
    return tuple(numbers + [0] * (6 - len(numbers)))


def lesson_order(lessons: Sequence[Any], name: str, where: str) -> tuple[Any, ...]:
    """Check that the lessons of the track `name` differ and each comes after what it needs.

    A prerequisite that an included lesson had in its own track, and that this
    track does not take over, is dropped: the instructor decides what comes first.
    """
    place: dict[str, int] = {}
    for i, lesson in enumerate(lessons):
        if lesson.id in place:
            raise TrackError(f"the lesson {lesson.id!r} is there twice", where=where)
        place[lesson.id] = i
    checked = []
    for lesson in lessons:
        missing = [a for a in lesson.after if a not in place]
        if missing and lesson.track == name:
            near = difflib.get_close_matches(missing[0], place, n=1)
            raise TrackError(
                f"lesson.after must name lessons of this track, got {missing[0]!r}",
                where=f"{where}, lesson {lesson.id}",
                do=f"Did you mean {near[0]!r}?" if near else "",
            )
        checked.append(replace(lesson, after=tuple(a for a in lesson.after if a in place)))
    needs = {lesson.id: lesson.after for lesson in checked}
    if circle := _circle(needs):
        raise TrackError(
            "lessons wait for each other in a circle: " + " after ".join(circle), where=where
        )
    for lesson in checked:
        for earlier in lesson.after:
            if place[earlier] > place[lesson.id]:
                raise TrackError(
                    f"lesson {lesson.id!r} comes before {earlier!r}, which it needs (lesson.after)",
                    where=where,
                    do="Move the needed lesson further up in the manifest.",
                )
    return tuple(checked)


def _circle(needs: dict[str, tuple[str, ...]]) -> list[str]:
    """The lessons of one circle in reading order, or nothing."""
    import graphlib

    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]
    return []
