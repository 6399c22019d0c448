"""What was found: a verdict says what was proven, and what to look at next."""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Finding", "Verdict"]

_MARK = {"passed": "✔", "partial": "◐", "failed": "✘", "error": "✘", "not started": "○"}
# Okabe and Ito's bluish green, orange, vermilion and grey: told apart by the colour-blind.
_COLOUR = {
    "passed": "#009E73",
    "partial": "#E69F00",
    "failed": "#D55E00",
    "error": "#D55E00",
    "not started": "#888888",
}


@dataclass(frozen=True)
class Finding:
    """What one criterion found.

    Attributes
    ----------
    title : str
        What was judged.
    points, of : int
        Earned, and the most.
    passed : bool or None
        None when it was not looked at.
    text : str
        What was proven, or what is wrong.
    kind : str
        ``value``, ``speed``, ``not started``, ...: the family of reasons.
    details : tuple of str
        Further lines: the failing input, the source line, what it printed.
    """

    title: str
    points: int
    of: int
    passed: bool | None
    text: str = ""
    kind: str = ""
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The judgement of one task.

    Attributes
    ----------
    task : str
        Its id, ``lesson/name``.
    status : str
        ``passed``, ``partial``, ``failed``, ``not started`` or ``error`` (it could not be judged).
    findings : tuple of Finding
        One a criterion.
    misconception : str
        The named misconception whose answer this is, if any.
    says : str
        What to tell a learner who made it.
    look : str
        What to look at next, when it did not pass.
    proof : str
        Where, with which seed and which versions this was obtained, and what was not checked.
    """

    task: str
    status: str
    findings: tuple[Finding, ...] = ()
    misconception: str = ""
    says: str = ""
    look: str = ""
    proof: str = ""
    title: str = field(default="", compare=False)

    @property
    def points(self) -> int:
        return sum(f.points for f in self.findings)

    @property
    def of(self) -> int:
        return sum(f.of for f in self.findings)

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def summary(self) -> str:
        """One line: the reason of the first finding that did not pass, or what was proven."""
        if self.misconception:
            return f"looks like: {self.misconception}"
        for finding in self.findings:
            if finding.passed is False:
                return finding.text
        return "; ".join(f.text for f in self.findings if f.text)

    def __repr__(self) -> str:
        lines = [f"{_MARK[self.status]} {self.task}   {self.points} of {self.of} points"]
        width = max((len(f.title) for f in self.findings), default=0)
        for f in self.findings:
            score = f"{f.points}/{f.of}" if f.passed is not None else f"-/{f.of}"
            head = f"  {f.title:<{width}}  {score}  "
            lines += _wrap(f.text, head)
            lines += [line for d in f.details for line in _wrap(d, "      ", keep=True)]
        if self.misconception:
            lines += _wrap(f"{self.misconception}. {self.says}".strip(), "  This looks like: ")
        if self.look:
            lines += _wrap(self.look, "  Look next: ")
        if self.proof:
            lines += _wrap(self.proof, "  ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        e = html.escape
        colour = _COLOUR[self.status]
        rows = []
        for f in self.findings:
            score = f"{f.points}/{f.of}" if f.passed is not None else f"–/{f.of}"
            mark = {True: "✔", False: "✘", None: "·"}[f.passed]
            more = "".join(
                f'<pre style="margin:2px 0;white-space:pre-wrap">{e(d)}</pre>' for d in f.details
            )
            rows.append(
                f'<tr style="background:none"><td style="text-align:left">{mark} {e(f.title)}</td>'
                f"<td>{score}</td>"
                f'<td style="text-align:left;white-space:pre-wrap">{e(f.text)}{more}</td></tr>'
            )
        tail = []
        if self.misconception:
            says = f"<b>{e(self.misconception)}.</b> {e(self.says)}"
            tail.append(f"<div>This looks like: {says}</div>")
        if self.look:
            tail.append(f"<div><b>Look next:</b> {e(self.look)}</div>")
        if self.proof:
            tail.append(f'<div style="opacity:.75;font-size:90%">{e(self.proof)}</div>')
        return (
            f'<div style="border-left:4px solid {colour};padding:2px 0 2px 10px">'
            f'<div><b><span style="color:{colour}">{_MARK[self.status]}</span> {e(self.task)}</b>'
            f" &nbsp; {self.points} of {self.of} points</div>"
            f'<table style="margin:4px 0">{"".join(rows)}</table>{"".join(tail)}</div>'
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data; :meth:`from_json` gives the verdict back."""
        from dataclasses import asdict

        return {**asdict(self), "points": self.points, "of": self.of}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Verdict:
        findings = tuple(Finding(**{**f, "details": tuple(f["details"])}) for f in data["findings"])
        known = ("task", "status", "misconception", "says", "look", "proof", "title")
        return cls(findings=findings, **{k: data[k] for k in known})


def _wrap(text: str, head: str, *, keep: bool = False) -> list[str]:
    """Wrap a text behind a head; `keep` leaves its own line breaks and spaces alone."""
    rest = " " * len(head)
    if keep:
        return [head + line for line in text.splitlines()]
    return textwrap.wrap(
        text, 100, initial_indent=head, subsequent_indent=rest, break_long_words=False
    ) or [head.rstrip()]
