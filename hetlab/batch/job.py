"""One notebook to grade, and the answer: plain data that crosses to a process or a cluster."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..grading import Finding, Verdict

__all__ = ["Answer", "Job", "clean", "not_judged"]

# What differs between two runs of the same notebook and means nothing.
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_TEMPORARY = re.compile(r"(?:/[\w.+-]+)*/(?:hetlab-[\w-]{6,}|ipykernel_\d+)/")


@dataclass(frozen=True)
class Job:
    """One notebook of one student.

    Attributes
    ----------
    student, lesson : str
    notebook : dict
        Matched to the exercise, without outputs.
    tasks : tuple of str
        The names of the tasks to judge.
    seed : int
    tier : str
        The sandbox to use.
    limits : dict
    """

    student: str
    lesson: str
    notebook: dict[str, Any]
    tasks: tuple[str, ...]
    seed: int
    tier: str
    limits: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.student}: {self.lesson}"

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        data = json.loads(text)
        return cls(**{**data, "tasks": tuple(data["tasks"])})


@dataclass(frozen=True)
class Answer:
    """What became of a job.

    Attributes
    ----------
    verdicts : tuple of Verdict
    reason : str
        What went wrong with the whole notebook, for the student.
    notes, incidents : tuple of str
    sandbox : str
    seconds : float
    machine : str
    versions : dict
    fault : str
        The grader's own failure; nothing of the student's.
    """

    verdicts: tuple[Verdict, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    incidents: tuple[str, ...] = ()
    sandbox: str = ""
    seconds: float = 0.0
    machine: str = ""
    versions: dict[str, str] | None = None
    fault: str = ""

    def to_json(self) -> str:
        data = asdict(self)
        data["verdicts"] = [v.to_json() for v in self.verdicts]
        return json.dumps(data)

    @classmethod
    def from_json(cls, text: str) -> Answer:
        data = json.loads(text)
        data["verdicts"] = tuple(Verdict.from_json(v) for v in data["verdicts"])
        return cls(**{**data, "notes": tuple(data["notes"]), "incidents": tuple(data["incidents"])})


def not_judged(task_id: str, of: int, title: str, why: str, kind: str = "missing") -> Verdict:
    """A verdict of 0 points for a task that nothing could be asked of."""
    return Verdict(
        task_id, "failed", (Finding("right values", 0, of, False, why, kind),), title=title
    )


def clean(verdict: Verdict) -> tuple[Verdict, list[str]]:
    """A verdict without what no two runs share, and the measured sentences that were taken out.

    Addresses and temporary paths become ``0x...`` and ``.../``.  A measured ratio becomes the
    band that it reached; the sentence with the numbers is given back beside it.
    """
    findings, measured = [], []
    for f in verdict.findings:
        text = _scrub(f.text)
        if f.kind == "speed" and "measured" in text:
            measured.append(f"{verdict.task}, {f.title}: {text}")
            text = _band(f)
        findings.append(replace(f, text=text, details=tuple(_scrub(d) for d in f.details)))
    return replace(verdict, findings=tuple(findings), proof=_scrub(verdict.proof)), measured


def _band(finding: Finding) -> str:
    if finding.points == finding.of:
        return "as fast as asked (measured)"
    if finding.points:
        return f"faster, but not as fast as asked: {finding.points} of {finding.of} (measured)"
    return "not as fast as asked (measured)"


def _scrub(text: str) -> str:
    return _TEMPORARY.sub(".../", _ADDRESS.sub("0x...", text))
