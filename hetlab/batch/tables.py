"""The tables: grades for people, grades for platforms, a human's last word."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import HetlabError, UnknownName
from .ledger import Ledger

__all__ = [
    "Override",
    "Row",
    "grades_csv",
    "lms_csv",
    "platform_of",
    "read_overrides",
    "rows_of",
    "shown",
    "table",
]

#: A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


@dataclass(frozen=True)
class Override:
    """A human's last word: these points, for this task or (task empty) in all."""

    student: str
    task: str
    points: float
    why: str = ""


@dataclass
class Row:
    """One student in the table.

    Attributes
    ----------
    points : float
        After what is kept of late work, and after overrides.
    tasks : dict
        Task id -> points, after overrides.
    by_hand : tuple of str
        Tasks that a human decided; "" for the sum.
    told : tuple of str
        The part of the reason that the student is told too: all but what is to be looked at.
    """

    student: str
    points: float
    max_points: int
    tasks: dict[str, float]
    sandbox: str
    reason: str
    late: bool = False
    by_hand: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    record: dict[str, Any] = field(default_factory=dict, repr=False)


def rows_of(
    ledger: Ledger, tasks: dict[str, int], overrides: list[Override] = (), late_keeps: float = 100
) -> list[Row]:
    """A row for everybody in the results folder.

    Parameters
    ----------
    tasks : dict
        Task id -> most points: the columns.
    late_keeps : float
        Per cent of the points that late work keeps.
    """
    return [_row(record, tasks, overrides, late_keeps) for record in ledger.all()]


def _row(record: dict, tasks: dict[str, int], overrides: list[Override], late_keeps: float) -> Row:
    name = record["student"]
    points: dict[str, float] = {t: record["tasks"].get(t, {}).get("points", 0) for t in tasks}
    reasons = _said(record, "reason", record.get("reasons", []))
    mine = [o for o in overrides if o.student == name]
    for o in mine:
        if o.task:
            points[o.task] = o.points
    total = sum(points.values())
    late = bool(record.get("late"))
    if late and late_keeps < 100:
        kept = round(total * late_keeps / 100, 2)
        reasons.append(f"handed in late: {late_keeps:g} % of {shown(total)} points")
        total = kept
    elif late:
        reasons.append("handed in late")
    for o in mine:
        if not o.task:
            total = o.points
        what = o.task or "the sum"
        reasons.append(f"{what} decided by hand: {o.why}" if o.why else f"{what} decided by hand")
    used = {e.get("sandbox") for e in record["lessons"].values()} - {None, ""}
    look = [f"to look at: {text}" for text in _said(record, "incidents")]
    return Row(
        name, total, sum(tasks.values()), points, " ".join(sorted(used)),
        "; ".join([*reasons, *look]), late, tuple(o.task for o in mine), tuple(reasons), record,
    )  # fmt: skip


def _said(record: dict, part: str, first: Iterable[str] = ()) -> list[str]:
    """A part of what was said of each notebook; with the lesson's name where not of all."""
    found = list(first)
    faults: dict[str, list[str]] = {}
    for lesson, entry in record["lessons"].items():
        said = entry.get(part) or []
        for text in [said] if isinstance(said, str) else said:
            faults.setdefault(text, []).append(lesson)
    for text, lessons in faults.items():
        some = len(lessons) < len(record["lessons"])
        found.append(f"{', '.join(lessons)}: {text}" if some else text)
    return list(dict.fromkeys(found))


def grades_csv(rows: list[Row], tasks: dict[str, int]) -> bytes:
    """``grades.csv``: UTF-8 with a mark that spreadsheets need to see Chinese."""
    head = ["student", "points", "max_points", *tasks, "sandbox", "reason"]
    lines = [
        [r.student, shown(r.points), r.max_points, *(shown(r.tasks[t]) for t in tasks),
         r.sandbox, r.reason]
        for r in rows
    ]  # fmt: skip
    return table([head, *lines])


def lms_csv(rows: list[Row], platform: str, title: str) -> bytes:
    """What a learning platform imports.

    Moodle: the grading worksheet (Identifier, Full name, Grade).  Canvas: the gradebook (Student,
    ID, the assignment's title).  Blackboard: the grade centre (Username and a column).
    """
    if platform == "moodle":
        head = ["Identifier", "Full name", "Grade", "Maximum Grade"]
        lines = [
            [f"Participant {r.record.get('lms_id', '')}".strip(), r.student, shown(r.points),
             r.max_points]
            for r in rows
        ]  # fmt: skip
    elif platform == "canvas":
        head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title]
        lines = [[r.student, r.record.get("lms_id", ""), "", "", "", shown(r.points)] for r in rows]
        lines.insert(0, ["    Points Possible", "", "", "", "", rows[0].max_points if rows else 0])
    elif platform == "blackboard":
        head = ["Username", title]
        lines = [[r.record.get("lms_id") or r.student, shown(r.points)] for r in rows]
    else:
        head, lines = ["student", title], [[r.student, shown(r.points)] for r in rows]
    return table([head, *lines])


def platform_of(rows: list[Row]) -> str:
    """The platform that most submissions came from; empty when names did not say."""
    counts: dict[str, int] = {}
    for row in rows:
        if lms := row.record.get("lms"):
            counts[lms] = counts.get(lms, 0) + 1
    return max(sorted(counts), key=lambda lms: counts[lms], default="")


def table(lines: list[list[Any]]) -> bytes:
    """CSV that a spreadsheet opens without running anything that a student wrote."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    for line in lines:
        writer.writerow([_safe(cell) if isinstance(cell, str) else cell for cell in line])
    return b"\xef\xbb\xbf" + out.getvalue().encode("utf-8", "replace")


def _safe(text: str) -> str:
    text = "".join(c if c.isprintable() else " " for c in text)
    return "'" + text if text.lstrip().startswith(_FORMULA) else text


def shown(value: float) -> int | float:
    """Points as people write them: whole numbers without a point."""
    return int(value) if float(value).is_integer() else round(value, 2)


def read_overrides(path: Path, tasks: dict[str, int]) -> list[Override]:
    """Read ``overrides.csv``: student, task (empty: the sum), points, why.

    Raises
    ------
    HetlabError
        With the line, before anything is graded.
    """
    if not path.exists():
        return []
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as cause:
        raise HetlabError(
            f"the overrides cannot be read: {cause}", where=str(path), do="Save it as UTF-8 CSV."
        ) from cause
    reader = csv.DictReader(io.StringIO(text))
    missing = {"student", "task", "points"} - {(n or "").strip() for n in reader.fieldnames or ()}
    if missing:
        raise HetlabError(
            f"the overrides lack the column {sorted(missing)[0]!r}",
            where=str(path),
            do="The first line must be: student,task,points,why",
        )
    found = []
    for number, line in enumerate(reader, 2):
        cells = {
            (k or "").strip(): (v or "").strip() for k, v in line.items() if isinstance(v, str)
        }
        if any(cells.values()):
            found.append(_override(cells, f"{path}, line {number}", tasks))
    return found


def _override(cells: dict[str, str], where: str, tasks: dict[str, int]) -> Override:
    task = cells["task"]
    if task and task not in tasks:
        raise UnknownName("task", task, tasks, where=where)
    try:
        points = float(cells["points"])
    except ValueError:
        points = math.nan
    if not math.isfinite(points) or points < 0:
        raise HetlabError(
            f"points must be a number of 0 or more, got {cells['points']!r}", where=where
        )
    student = cells["student"].removeprefix("'")
    return Override(student, task, points, cells.get("why", ""))
