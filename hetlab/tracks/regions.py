"""Regions that authors mark in a file's lines, and what replaces an answer.

::

    ### BEGIN SOLUTION          an answer: the exercise gets a stub instead
    ### END SOLUTION
    ### BEGIN HIDDEN            never leaves the author's track
    ### END HIDDEN
    ### BEGIN PUBLIC SPEC       resembles an answer, and is given away on purpose
    ### END PUBLIC SPEC

In C++ a marker may follow ``//``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import TrackError

__all__ = ["LANGUAGES", "Line", "drop_hidden", "mark_lines", "replace_solutions", "stub_lines"]

KINDS = ("SOLUTION", "HIDDEN", "PUBLIC SPEC")
MARKER = re.compile(r"\s*(?://\s*)?###\s+(BEGIN|END)\s+(SOLUTION|HIDDEN|PUBLIC SPEC)\s*")
# What was surely meant as a marker: a misspelt one would publish the answer.
ALMOST = re.compile(
    r"\s*(?:#+|//+|--|%)[\s#/]*(?:BEGIN|END)\b.{0,3}\b(?:SOLUTION|HIDDEN|PUBLIC|SOLU?T?[A-Z]*ON)\b.*",
    re.IGNORECASE,
)

_PYTHON = ("# YOUR CODE HERE", 'raise NotImplementedError("{task} is not started")')
LANGUAGES = {
    "python": _PYTHON,
    "tvm": _PYTHON,
    # Triton compiles no raise; a static assertion is its way to say the same.
    "triton": ("# YOUR CODE HERE", 'tl.static_assert(False, "{task} is not started")'),
    "cuda_cpp": ("// YOUR CODE HERE", '#error "{task} is not started"'),
}


@dataclass(frozen=True)
class Line:
    """One line, the region it lies in, and whether it is a marker itself.

    ``region`` is "" outside of all regions; ``marker`` is "BEGIN", "END" or "".
    """

    text: str
    region: str
    marker: str = ""


def mark_lines(source: str, where: str) -> list[Line]:
    """Split a source into lines that know their region.

    Raises
    ------
    TrackError
        A region that is not opened, not closed, opened twice, or a marker that is misspelt.
    """
    lines: list[Line] = []
    region, opened = "", 0
    for number, text in enumerate(source.split("\n"), 1):
        place = f"{where}, line {number}"
        found = MARKER.fullmatch(text)
        if not found:
            if ALMOST.fullmatch(text):
                raise TrackError(
                    f"a marker must be like '### BEGIN SOLUTION', got {text.strip()!r}", where=place
                )
            lines.append(Line(text, region))
            continue
        word, kind = found[1], found[2]
        if word == "BEGIN":
            if region:
                raise TrackError(
                    f"BEGIN {kind} stands inside the {region} region of line {opened}", where=place
                )
            region, opened = kind, number
            lines.append(Line(text, kind, word))
        else:
            if region != kind:
                inside = f"the open region is {region}" if region else "no region is open"
                raise TrackError(f"END {kind} without its BEGIN ({inside})", where=place)
            lines.append(Line(text, kind, word))
            region = ""
    if region:
        raise TrackError(
            f"BEGIN {region} without its END {region}", where=f"{where}, line {opened}"
        )
    return lines


def stub_lines(task: str, language: str, where: str) -> list[str]:
    """What a learner finds in the place of an answer."""
    try:
        return [line.format(task=task) for line in LANGUAGES[language]]
    except KeyError:
        rule = " or ".join(map(repr, LANGUAGES))
        raise TrackError(
            f"the language of a task must be {rule}, got {language!r}", where=where
        ) from None


def replace_solutions(source: str, where: str, stub: Callable[[], list[str]]) -> str:
    """Put a stub, at the region's indentation, in the place of each SOLUTION region."""
    out: list[str] = []
    for line in mark_lines(source, where):
        if line.region != "SOLUTION":
            out.append(line.text)
        elif line.marker == "BEGIN":
            indent = line.text[: len(line.text) - len(line.text.lstrip())]
            out += [indent + text for text in stub()]
    return "\n".join(out)


def drop_hidden(source: str, where: str) -> str:
    """Leave out the HIDDEN regions, with their markers."""
    return "\n".join(line.text for line in mark_lines(source, where) if line.region != "HIDDEN")
