"""What a verification found: data first, one sentence each."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["LessonReport", "Report", "VerifyFinding"]


@dataclass(frozen=True)
class VerifyFinding:
    """One thing that is wrong ("error") or worth a look ("warning") in a lesson."""

    level: str
    rule: str
    text: str
    where: str = ""

    def __str__(self) -> str:
        return f"{self.level}: {self.text}" + (f" ({self.where})" if self.where else "")


@dataclass
class LessonReport:
    """The verification of one lesson.

    Attributes
    ----------
    lesson : str
        Its id.
    findings : list of VerifyFinding
        Empty when everything holds.
    done : list of str
        What was looked at, in order: "exercise in step", "solution 100 %", ...
    seconds : float
        How long the verification took here (measured, one run).
    cached : bool
        Whether the result is that of an earlier run on the same content.
    """

    lesson: str
    findings: list[VerifyFinding] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cached: bool = False

    @property
    def passed(self) -> bool:
        """Whether there is no error; warnings do not count."""
        return not any(f.level == "error" for f in self.findings)

    def error(self, rule: str, text: str, where: str = "") -> None:
        """Add something that is wrong."""
        self.findings.append(VerifyFinding("error", rule, text, where))

    def warn(self, rule: str, text: str, where: str = "") -> None:
        """Add something that is worth a look."""
        self.findings.append(VerifyFinding("warning", rule, text, where))

    def to_json(self) -> dict[str, Any]:
        """Plain data, for the cache and for other programs."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> LessonReport:
        """The opposite of :meth:`to_json`."""
        findings = [VerifyFinding(**f) for f in data["findings"]]
        return cls(data["lesson"], findings, list(data["done"]), data["seconds"], data["cached"])


@dataclass(frozen=True)
class Report:
    """The verification of a track's lessons, in order."""

    track: str
    lessons: tuple[LessonReport, ...]

    @property
    def passed(self) -> bool:
        """Whether there was something to verify and all of it holds."""
        return bool(self.lessons) and all(r.passed for r in self.lessons)

    def __repr__(self) -> str:
        lines = []
        for r in self.lessons:
            mark = "✔" if r.passed else "✘"
            lines.append(f"{mark} {r.lesson}" + (" (as before)" if r.cached else ""))
            lines += [f"    {f}" for f in r.findings]
        return "\n".join(lines) or f"the track {self.track} has no lessons"
