"""Rules on the text of a lesson: terms before their time, long cells, long prose."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

from nbformat import NotebookNode

from .manifest import Lesson, Track
from .report import LessonReport

__all__ = ["check_style", "check_terms", "words"]

MOST_LINES = 15
MOST_WORDS = 120
# Scripts written without blanks between words: whole words cannot be told by their edges.
CJK = re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿]")
CODE = re.compile(r"(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)|`[^`\n]*`", re.DOTALL)
LINK = re.compile(r"\]\([^)]*\)|<?https?://\S+|<!--.*?-->", re.DOTALL)


def prose(cell: NotebookNode) -> str:
    """What a person reads in a cell: its text without code and addresses, or its comments."""
    if cell.cell_type == "markdown":
        return LINK.sub("] ", CODE.sub(" ", cell.source))
    return "\n".join(_comments(cell.source)) if cell.cell_type == "code" else ""


def words(text: str) -> int:
    """How many words a text has; each character of a script without blanks counts as half."""
    return len(re.findall(r"\w+", CJK.sub(" ", text))) + len(CJK.findall(text)) // 2


def check_terms(report: LessonReport, track: Track, lesson: Lesson, name: str, notebook) -> None:
    """No glossary term stands in a lesson before the one that introduces it."""
    place = track.lessons.index(lesson)
    known = {t.casefold() for early in track.lessons[: place + 1] for t in early.terms}
    later = {
        term: other.id
        for other in reversed(track.lessons[place + 1 :])
        for term in other.terms
        if term.casefold() not in known
    }
    for number, cell in enumerate(notebook.cells, 1):
        text = prose(cell)
        for term, owner in later.items():
            if _term(term).search(text):
                report.error(
                    "terms",
                    f"the term {term!r} is introduced in {owner}, which comes later",
                    f"{name}, cell {number} ({cell.id})",
                )


def check_style(report: LessonReport, name: str, notebook) -> None:
    """Short cells, one idea each: warnings only."""
    for number, cell in enumerate(notebook.cells, 1):
        place = f"{name}, cell {number} ({cell.id})"
        if cell.cell_type == "code":
            lines = [s for s in cell.source.split("\n") if s.strip() and s.strip()[0] != "#"]
            if len(lines) > MOST_LINES:
                report.warn("style", f"{len(lines)} lines of code, more than {MOST_LINES}", place)
        elif cell.cell_type == "markdown" and (n := words(prose(cell))) > MOST_WORDS:
            report.warn("style", f"{n} words of prose, more than {MOST_WORDS}", place)


def _term(term: str) -> re.Pattern[str]:
    body = re.escape(term).replace(r"\ ", r"\s+")
    if CJK.search(term):
        return re.compile(body, re.IGNORECASE)
    return re.compile(rf"(?<!\w){body}(?!\w)", re.IGNORECASE)


def _comments(source: str) -> Iterator[str]:
    """The comments of a cell of Python; when it is not quite Python (magics), what looks so."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield token.string
    except (tokenize.TokenError, SyntaxError):
        yield from (line for line in source.split("\n") if line.lstrip().startswith(("#", "//")))
