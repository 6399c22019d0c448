"""Find what was handed in, whatever the layout: files, folders, zips, downloads of platforms.

Every student found gets an entry, also one who handed in nothing that can be read:
a grader that leaves a student out is worse than one that is wrong about them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import HetlabError, InvalidValue, one_line
from .names import attempt_of, sender
from .unzip import MOST_BYTES, entries, readable_name, unpack

__all__ = ["Handed", "Student", "collect", "read_one"]

#: Folders and files that no person handed in on purpose.
_NOISE = {"__MACOSX", "__pycache__", ".ipynb_checkpoints", ".hetlab", ".git", ".DS_Store",
          "Thumbs.db", "desktop.ini", "old", "lessons", "START_HERE.ipynb", "hetlab-work.json",
          "hetlab-pack.json"}  # fmt: skip
_ARCHIVES = (".rar", ".7z", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
#: Zips in a zip: a class download of packed work.  Deeper nesting is a bomb or a mistake.
_DEEPEST = 3
#: Folders of a student's own work, which are nobody's names.
_WORK = {"exercises", "notebooks", "solutions", "data", "images", "src"}


@dataclass(frozen=True)
class Handed:
    """One file that a student handed in.

    Attributes
    ----------
    name : str
        Its path below the student's place, for people.
    read : callable
        Gives its bytes; raises HetlabError with one reason.
    fault : str
        Why it cannot be read; empty when it can be tried.
    attempt : int
        Its number among files of the same name (a platform's ``-1``).
    when : str
        When it was handed in, where the platform's name says so.
    late : bool
    """

    name: str
    read: Callable[[], bytes] = field(repr=False, compare=False)
    fault: str = ""
    attempt: int = 1
    when: str = ""
    late: bool = False

    @property
    def order(self) -> tuple[str, int, str]:
        """Sorts attempts from first to last."""
        return self.when, self.attempt, self.name


@dataclass
class Student:
    """Everything of one student.

    Attributes
    ----------
    name : str
        As it will stand in the table; unique in a batch.
    lms, id : str
        The platform and the student's number there, when its names were recognised.
    files : list of Handed
        What may be notebooks.
    others : list of str
        What else was handed in.
    """

    name: str
    lms: str = ""
    id: str = ""
    files: list[Handed] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _File:
    """A file anywhere: in a folder, or in zips in zips."""

    parts: tuple[str, ...]
    read: Callable[[], bytes]
    fault: str = ""


def collect(place: str | os.PathLike[str], lessons: tuple[str, ...] = ()) -> list[Student]:
    """Find every student's files.

    Parameters
    ----------
    place : path
        A folder, a zip or a single notebook.
    lessons : tuple of str
        The track's lesson ids, which are no part of a student's name.

    Returns
    -------
    list of Student
        Sorted by name.

    Raises
    ------
    InvalidValue
        There is no such place, or nothing in it.
    """
    place = Path(place)
    if not place.exists():
        raise InvalidValue("SUBMISSIONS", "a folder, a zip or a notebook that exists", str(place))
    if place.is_dir():
        found = _tree(_walk(place), lessons)
    else:
        found = _tree([_File((readable_name(place.name),), _reader(place))], lessons)
    students: dict[tuple[str, str], Student] = {}
    for file in found:
        _assign(file, lessons, students)
    if not students:
        raise InvalidValue("SUBMISSIONS", "a place with at least one submission", str(place))
    return _named(list(students.values()))


def _walk(root: Path) -> Iterator[_File]:
    """The files of a folder; links are named and not followed."""
    for folder, names, files in os.walk(root):
        here = Path(folder)
        links = [n for n in names if (here / n).is_symlink()]
        names[:] = sorted(n for n in names if n not in links and n not in _NOISE)
        above = tuple(readable_name(p) for p in here.relative_to(root).parts)
        for name in sorted([*files, *links]):
            path = here / name
            parts = (*above, readable_name(name))
            if path.is_symlink():
                yield _File(parts, _reader(path), "it is a link, not a file")
            elif not path.is_file():
                yield _File(parts, _reader(path), "it is a device, not a file")
            elif path.stat().st_size > MOST_BYTES and path.suffix.lower() != ".zip":
                yield _File(parts, _reader(path), f"it is larger than {MOST_BYTES >> 20} MiB")
            else:
                yield _File(parts, _reader(path))
        if not names and not files and here != root and len(above) == 1:
            yield _File((*above, ""), bytes, "the folder is empty")


def _reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            with path.open("rb") as stream:
                return stream.read(MOST_BYTES + 1)
        except OSError as cause:
            raise HetlabError(f"it cannot be read ({cause.strerror or cause})") from cause

    read.path = path
    return read


def _tree(files: Iterable[_File], lessons: tuple[str, ...], depth: int = 0) -> list[_File]:
    """The same with zips opened.  A zip stands for a folder of its name."""
    files = [f for f in files if not any(p in _NOISE or p.startswith("._") for p in f.parts)]
    tops = {f.parts[0] for f in files if f.parts[0][:1] != "."}
    found: list[_File] = []
    for file in files:
        if file.fault or not file.parts[-1].lower().endswith(".zip"):
            found.append(file)
            continue
        try:
            inside = _tree(_inside(file, depth), lessons, depth + 1)
        except HetlabError as error:
            found.append(replace(file, fault=error.what))
            continue
        if not inside:
            found.append(replace(file, fault="the zip is empty"))
            continue
        head = file.parts
        if len(head) == 1 and not depth and not sender(head[0]).lms:
            inside, is_class = _class_of(inside, lessons, alone=len(tops) == 1)
            head = () if is_class else head
        found += [replace(f, parts=(*head, *f.parts)) for f in inside]
    return found if depth else _class_of(found, lessons, alone=False)[0]


def _class_of(
    files: list[_File], lessons: tuple[str, ...], *, alone: bool
) -> tuple[list[_File], bool]:
    """Whether files are those of a class, a student a top name; without a folder around them.

    What a platform named is a class.  Without such names several folders or zips are one; several
    files only when they are all there is (`alone`), since a student hands in several too.
    """
    inner = _cut(files)
    for candidate in (files, inner) if inner else (files,):
        tops = {f.parts[0]: len(f.parts) > 1 for f in candidate}
        people = [sender(top, lessons, folder=folder) for top, folder in tops.items()]
        if any(p.lms for p in people):
            return candidate, True
        counted = [
            bool(p.name)
            for p, (top, folder) in zip(people, tops.items())
            if folder or (alone and top.lower().endswith(".ipynb"))
        ]
        if len(counted) > 1 and all(counted) and not _WORK & set(tops):
            return candidate, True
    return files, False


def _cut(files: list[_File]) -> list[_File]:
    """Without the one folder that everything lies in, as "compress this folder" makes it."""
    tops = {f.parts[0] for f in files}
    if len(tops) != 1 or any(len(f.parts) < 2 or not f.parts[1] for f in files):
        return []
    return [replace(f, parts=f.parts[1:]) for f in files]


def _inside(file: _File, depth: int) -> Iterator[_File]:
    if depth >= _DEEPEST:
        raise HetlabError("zips are nested too deeply")
    source = getattr(file.read, "path", None)
    held = source if source is not None else file.read()
    for entry in entries(held):

        def read(index: int = entry.index) -> bytes:
            return unpack(source if source is not None else file.read(), index)

        yield _File(entry.parts, read, entry.fault)


def _assign(file: _File, lessons: tuple[str, ...], students: dict) -> None:
    """Put a file with its student."""
    top = file.parts[0]
    alone = len(file.parts) == 1
    zipped = top.lower().endswith(".zip") and not alone
    if alone and (top.startswith(".") or top in _NOISE):
        return
    who = sender(top, lessons, folder=not alone and not zipped)
    if alone and not who.lms and not _looks_handed_in(file):
        return
    name = who.name or Path(top).stem
    student = students.setdefault((name, who.id), Student(name, who.lms, who.id))
    shown = "/".join(file.parts[1:]) or (who.file or top)
    handed = Handed(shown, file.read, file.fault, attempt_of(shown), who.when, who.late)
    base = file.parts[-1]
    if base == "":
        return
    if _may_be_notebook(base, file):
        student.files.append(handed)
    elif base.lower().endswith((".zip", *_ARCHIVES)):
        why = file.fault or "only .zip archives can be read; hand in the notebook or a zip"
        student.files.append(replace(handed, fault=why))
    elif not (who.lms == "blackboard" and base.lower().endswith(".txt")):
        student.others.append(shown)


def _may_be_notebook(base: str, file: _File) -> bool:
    """By its name, or by how it begins: renamed notebooks are common."""
    lower = base.lower()
    if ".ipynb" in lower:
        return True
    if file.fault or (not lower.endswith((".json", ".txt", ".download")) and "." in lower):
        return False
    try:
        head = file.read()[:MOST_BYTES]
    except HetlabError:
        return False
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and b'"nbformat"' in head


def _looks_handed_in(file: _File) -> bool:
    """Whether a file beside the submissions is one itself, and no list or note of the teacher's."""
    lower = file.parts[0].lower()
    known = (".py", ".pdf", ".doc", ".docx", ".html", ".zip", *_ARCHIVES)
    return lower.endswith(known) or _may_be_notebook(file.parts[0], file)


def _named(students: list[Student]) -> list[Student]:
    """Make names unique: two students of one name are told apart by their number."""
    count: dict[str, int] = {}
    for student in students:
        student.name = " ".join(
            "".join(c if c.isprintable() else " " for c in student.name).split()
        )
        student.name = student.name or "(no name)"
        count[student.name] = count.get(student.name, 0) + 1
    for student in students:
        if count[student.name] > 1 and student.id:
            student.name = f"{student.name} ({student.id})"
    return sorted(students, key=lambda s: (s.name, s.id))


def read_one(handed: Handed) -> tuple[bytes, str]:
    """The bytes of a file and why there are none."""
    if handed.fault:
        return b"", handed.fault
    try:
        data = handed.read()
    except HetlabError as error:
        return b"", error.what
    except Exception as error:  # a file system in trouble must not end the batch
        return b"", f"it cannot be read ({one_line(error)})"
    if len(data) > MOST_BYTES:
        return b"", f"it is larger than {MOST_BYTES >> 20} MiB"
    return data, ""
