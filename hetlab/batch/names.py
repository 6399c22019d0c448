"""Whose submission is it?  What learning platforms make of a student's name.

Moodle      ``Full Name_12345_assignsubmission_file_/03_topic.ipynb``
Canvas      ``namefirst_LATE_12345_67890_03_topic-1.ipynb``
Blackboard  ``Homework 3_user_attempt_2026-01-31-23-59-59_03_topic.ipynb``
anything    the folder's or the file's name, without the lesson's
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Sender", "attempt_of", "sender"]

_MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<id>\d{1,12})_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)", re.DOTALL
)
_CANVAS = re.compile(
    r"(?P<name>.+?)_(?P<late>late_)?(?P<id>\d{3,})_(?P<submission>\d{3,})_(?P<file>.+)",
    re.IGNORECASE | re.DOTALL,
)
_BLACKBOARD = re.compile(
    r"(?P<homework>.+)_(?P<name>[^_]+)_attempt_(?P<when>\d{4}(?:-\d\d){5})(?:[_.](?P<file>.+))?",
    re.DOTALL,
)
_SUFFIXES = re.compile(r"(\.(ipynb|zip|json|txt|html|py|tar|gz|tgz|rar|7z|pdf|download))+$", re.I)
# A browser's second download, Canvas's second upload.
_AGAIN = re.compile(r"(?:-(?P<canvas>\d{1,2})| ?\((?P<browser>\d{1,2})\))$")


@dataclass(frozen=True)
class Sender:
    """Who handed something in.

    Attributes
    ----------
    name : str
        As the platform spells it; empty when the name says nothing.
    lms : str
        "moodle", "canvas", "blackboard" or empty.
    id : str
        The platform's number or user name.
    late : bool
        Whether the platform marked it as late.
    when : str
        ``YYYY-MM-DD-hh-mm-ss`` where the platform wrote it into the name.
    file : str
        The name that the student gave the file, where it is known.
    """

    name: str
    lms: str = ""
    id: str = ""
    late: bool = False
    when: str = ""
    file: str = ""


def sender(name: str, lessons: tuple[str, ...] = (), *, folder: bool = False) -> Sender:
    """Who handed in a file or folder of this name.

    Parameters
    ----------
    name : str
        The name of the file or folder, decoded.
    lessons : tuple of str
        Lesson ids, which are no part of a student's name.
    folder : bool
        A folder's name keeps its dots.
    """
    if found := _MOODLE.fullmatch(name):
        return Sender(found["name"].strip(), "moodle", found["id"], file=found["file"])
    if found := _BLACKBOARD.fullmatch(name):
        return Sender(
            found["name"], "blackboard", found["name"], when=found["when"], file=found["file"] or ""
        )
    if not folder and (found := _CANVAS.fullmatch(name)):
        late = bool(found["late"])
        return Sender(found["name"], "canvas", found["id"], late=late, file=found["file"])
    stem = name if folder else _SUFFIXES.sub("", name)
    if any(lesson.lower() in name.lower() for lesson in lessons):
        # Only here is a number at the end no part of the name: student-1 and student-2 are two.
        stem = _AGAIN.sub("", re.sub(r"-Copy\d+$", "", stem))
        for lesson in sorted(lessons, key=len, reverse=True):
            stem = re.sub(re.escape(lesson), " ", stem, flags=re.IGNORECASE)
        stem = re.sub(r"\s+", " ", stem.strip(" _-.·+()[]【】（）"))
    return Sender(stem.strip(), file=name)


def attempt_of(file: str) -> int:
    """Which attempt a file's own name says it is: 1, or one more than its ``-1`` or ``(1)``."""
    found = _AGAIN.search(_SUFFIXES.sub("", file))
    return 1 + int(found["canvas"] or found["browser"]) if found else 1
