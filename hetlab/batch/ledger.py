"""The results on disk: one file a student, written whole, the same bytes for the same work.

::

    results/students/NAME.json   verdicts, seeds, versions, machine, sandbox, hashes
    results/measured/NAME.json   what no two runs share: seconds, measured ratios
    results/feedback/NAME.html   what the student gets
    results/grades.csv, lms-*.csv, similar.csv, summary.html, run.json

Everything but ``measured/`` and ``run.json`` is a function of what was handed in, the track,
the seed and the versions.  One process at a time writes; a killed run leaves whole files.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hetlab

from ..errors import HetlabError
from ..grading import Verdict
from ..tracks.files import digest, file_errors, make_folder, write_atomic
from ..tracks.manifest import Lesson
from .job import Answer, clean
from .plan import Chosen, Plan

__all__ = ["FORMAT", "Ledger", "checks_hash", "key_of", "slug"]

FORMAT = 1


def slug(name: str) -> str:
    """A file name for a student, different for different students on every file system."""
    kept = re.sub(r"[^\w.-]+", "_", name).strip("._")[:40]
    if kept == name and name == name.casefold():
        return kept
    return f"{kept or 'student'}-{digest(name.encode('utf-8', 'surrogatepass'))[:8]}"


def checks_hash(lesson: Lesson) -> str:
    """The hash of a lesson's checks: of a file, or of all files of a folder."""
    parts = []
    for file in lesson.check_files:
        with file_errors(file, "read the checks"):
            parts.append(f"{file.name} {digest(file.read_bytes())}")
    return digest("\n".join(parts).encode())


def key_of(chosen: Chosen, plan: Plan, checks: str, exercise: str, tier: str, limits: dict) -> str:
    """What a verdict depends on.  A stored one with the same key is the one that would come out."""
    parts = [FORMAT, hetlab.__version__, chosen.sha256, plan.seed, checks, exercise, tier, limits]
    return digest(json.dumps(parts, sort_keys=True).encode())[:32]


class Ledger:
    """The results folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder: a second `hetlab grade` on it is refused, not mixed in."""
        make_folder(self.folder)
        with file_errors(self.folder / ".lock", "write into the results folder"):
            lock = (self.folder / ".lock").open("a")
        with lock:
            try:
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:
                pass  # Windows: two runs at once would both write whole files
            except OSError as cause:
                raise HetlabError(
                    "another run of hetlab grade is writing into this folder",
                    where=str(self.folder),
                    do="Wait until it has ended, or name another folder: --out FOLDER",
                ) from cause
            yield

    def file(self, student: str) -> Path:
        return self.folder / "students" / f"{slug(student)}.json"

    def read(self, student: str) -> dict[str, Any]:
        """What is stored of a student; an empty record when there is nothing, or it is damaged."""
        return _record(self.file(student)) or {}

    def all(self) -> list[dict[str, Any]]:
        """Every student's record, by name."""
        files = (self.folder / "students").glob("*.json")
        found = [r for f in files if (r := _record(f))]
        return sorted(found, key=lambda r: r["student"])

    def write(self, record: dict[str, Any], measured: dict[str, Any]) -> None:
        """Store a student's record, and beside it what was measured."""
        name = record["student"]
        write_atomic(self.file(name), _json(record))
        if measured:
            write_atomic(self.folder / "measured" / self.file(name).name, _json(measured))

    def measured(self, student: str) -> dict[str, Any]:
        path = self.folder / "measured" / self.file(student).name
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def put(self, name: str, data: bytes) -> Path:
        """Write a file of the folder."""
        write_atomic(self.folder / name, data)
        return self.folder / name


def new_record(plan: Plan) -> dict[str, Any]:
    """A student's record before anything was judged."""
    student = plan.student
    lessons = {}
    for lesson, chosen in plan.chosen.items():
        lessons[lesson] = {
            "file": chosen.file,
            "sha256": chosen.sha256,
            "not_counted": list(chosen.others),
            "late": chosen.late,
            "reason": chosen.fault,
            "notes": list(chosen.matched.notes) if chosen.matched else [],
        }
    return {
        "format": FORMAT,
        "hetlab": hetlab.__version__,
        "student": student.name,
        "lms": student.lms,
        "lms_id": student.id,
        "seed": plan.seed,
        "late": plan.late,
        "reasons": list(plan.reasons),
        "notes": list(plan.notes),
        "lessons": lessons,
        "tasks": {},
    }


def enter(record: dict[str, Any], lesson: str, answer: Answer, verdicts: dict[str, Verdict],
          keys: dict[str, str], checks: str) -> list[str]:  # fmt: skip
    """Put an answer into a record; give back the measured sentences that were taken out."""
    entry = record["lessons"][lesson]
    entry["reason"] = answer.fault or answer.reason
    entry["notes"] = list(dict.fromkeys([*entry["notes"], *answer.notes]))
    entry["incidents"] = list(answer.incidents)
    entry["sandbox"] = answer.sandbox
    entry["machine"] = answer.machine
    entry["versions"] = answer.versions or {}
    measured: list[str] = []
    for task_id, verdict in verdicts.items():
        verdict, sentences = clean(verdict)
        measured += sentences
        record["tasks"][task_id] = {
            "points": verdict.points,
            "of": verdict.of,
            "checks": checks,
            "key": keys[task_id],
            "verdict": verdict.to_json(),
        }
    return measured


def _record(file: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return data if data["format"] == FORMAT and isinstance(data["tasks"], dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _json(data: dict[str, Any]) -> bytes:
    text = json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    return text.encode("utf-8", "replace")
