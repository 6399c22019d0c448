"""Point out submissions that are alike after renaming and reformatting: a place to look.

Each answer's syntax tree is written as a sequence of tokens in which a student's own names,
constants, comments and layout do not appear.  Runs of K tokens are hashed, and winnowing keeps the
smallest hash of each window: Schleimer, Wilkerson, Aiken, "Winnowing: local algorithms for
document fingerprinting", SIGMOD 2003.  What was handed out, and what many wrote, counts for nobody.
"""

from __future__ import annotations

import ast
import itertools
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from ..tracks.notebooks import task_of

__all__ = ["Pair", "Prints", "fingerprints", "similar", "tokens"]

#: Tokens in a run, and runs in a window: a match of K + WINDOW - 1 tokens is never missed.
K, WINDOW = 12, 6
#: From this share of the smaller answer on a pair is named.
SHARE = 0.8
#: Fewer prints than this say nothing: short tasks have few answers.
FEWEST = 10
#: What more than this part of a class wrote is how one writes it.
COMMON = 0.2

Prints = dict[int, str]


@dataclass(frozen=True)
class Pair:
    """Two submissions that are alike.

    Attributes
    ----------
    share : float
        The shared part of the smaller one's fingerprints, 0 to 1.
    tasks : tuple of str
        Where the shared parts stand.
    """

    lesson: str
    one: str
    other: str
    share: float
    tasks: tuple[str, ...]


def tokens(source: str) -> list[list[str]]:
    """A token sequence for each top-level statement; text that is no Python goes by its words."""
    code = "\n".join("" if re.match(r"\s*[%!?]", line) else line for line in source.split("\n"))
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        words = re.findall(r"\w+|[^\w\s]", re.sub(r"#.*", "", code))
        return [["NAME" if word[0].isalpha() or word[0] == "_" else word for word in words]]
    try:
        return [list(_walk(statement)) for statement in tree.body]
    except RecursionError:
        return []


def _walk(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        yield type(node.value).__name__
        return
    yield type(node).__name__
    if isinstance(node, ast.Attribute):
        yield node.attr  # a library's name, not the student's
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment", "ctx", "attr"):
            continue
        if name == "body" and isinstance(value, list):
            value = [v for v in value if not _is_text(v)]
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child)


def _is_text(node: ast.AST) -> bool:
    """A docstring, or a text that stands alone as a comment."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def fingerprints(cells: Iterable[NotebookNode]) -> Prints:
    """The fingerprints of the code cells of a notebook, each with the task that it stands in."""
    found: Prints = {}
    task = ""
    for cell in cells:
        role = task_of(cell)
        task = role[1] if role else task
        if cell.cell_type != "code" or (role and role[0] == "check"):
            continue
        for sequence in tokens(cell.source):
            for print_ in _winnow(sequence):
                found.setdefault(print_, task)
    return found


def _winnow(sequence: list[str]) -> set[int]:
    hashes = [
        zlib.crc32("\0".join(sequence[i : i + K]).encode()) for i in range(len(sequence) - K + 1)
    ]
    if not hashes:
        return set()
    if len(hashes) <= WINDOW:
        return {min(hashes)}
    return {min(hashes[i : i + WINDOW]) for i in range(len(hashes) - WINDOW + 1)}


def similar(lesson: str, prints: dict[str, Prints], baseline: Prints) -> list[Pair]:
    """The pairs of one lesson that share most of what is their own.

    Parameters
    ----------
    prints : dict
        Student -> fingerprints.
    baseline : dict
        The fingerprints of what was handed out.

    Returns
    -------
    list of Pair
        The most alike first.
    """
    wrote = Counter(p for mine in prints.values() for p in mine)
    most = max(3, COMMON * len(prints))
    own = {
        student: {p for p in mine if p not in baseline and wrote[p] <= most}
        for student, mine in prints.items()
    }
    owners: dict[int, list[str]] = {}
    for student in sorted(own):
        if len(own[student]) >= FEWEST:
            for p in own[student]:
                owners.setdefault(p, []).append(student)
    shared: Counter[tuple[str, str]] = Counter()
    for students in owners.values():
        shared.update(itertools.combinations(students, 2))
    pairs = []
    for (one, other), count in shared.items():
        share = count / min(len(own[one]), len(own[other]))
        if share >= SHARE:
            common = own[one] & own[other]
            places = tuple(sorted({prints[one][p] or "beside the tasks" for p in common}))
            pairs.append(Pair(lesson, one, other, round(share, 3), places))
    return sorted(pairs, key=lambda p: (-p.share, p.one, p.other))
