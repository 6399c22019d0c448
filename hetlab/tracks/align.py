"""Find again the cells whose ids another tool threw away.

Colab, some editors and git filters drop or renumber cell ids.  A cell is then
known by its task, by its exact text, by the functions it defines, or by its
likeness to the text it once had, in this order.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Sequence

from nbformat import NotebookNode

from .notebooks import normal_source, task_of

__all__ = ["DEFINES", "align", "content", "match_cells"]

LIKENESS = 0.6
# A likeness takes time quadratic in the text; beyond this many pairs nobody waits for it.
MOST_PAIRS = 4000
DEFINES = re.compile(r"^\s*(?:def|class)\s+(\w+)", re.MULTILINE)


def content(cell: NotebookNode) -> tuple[Hashable, ...]:
    """What a person sees of a cell: its type, its text, its pictures."""
    pictures = tuple(sorted((k, str(v)) for k, v in cell.get("attachments", {}).items()))
    return cell.cell_type, normal_source(cell.source), pictures


def align(
    mine: Sequence[NotebookNode], known: Sequence[NotebookNode], new: Sequence[NotebookNode]
) -> dict[str, str]:
    """Which of the learner's cells with unknown ids are which known cells.

    A cell that lost its id alone (cut here, pasted there) is known by its task only.  Text decides
    when all ids are gone, which is a tool's doing, and when the new version has news at all.

    Parameters
    ----------
    mine : sequence of cells
        The learner's notebook.
    known : sequence of cells
        The notebook it started from.
    new : sequence of cells
        The version that comes; a cell with an id of it is no stranger.

    Returns
    -------
    dict
        The learner's cell id -> the known cell id, for the cells that were found again.
    """
    known_ids, new_ids = {cell.id for cell in known}, {cell.id for cell in new}
    my_ids = {cell.id for cell in mine}
    strangers = [c for c in mine if c.id not in known_ids | new_ids and not _left_by_us(c)]
    lost = [cell for cell in known if cell.id not in my_ids]
    found: dict[str, str] = {}
    _pair(strangers, lost, task_of, found)
    news = [(c.id, content(c)) for c in known] != [(c.id, content(c)) for c in new]
    if news and not my_ids & (known_ids | new_ids):
        for key in (_text, _defined):
            _pair(strangers, lost, key, found)
        _pair_by_likeness(strangers, lost, found)
    return found


def match_cells(mine: Sequence[NotebookNode], known: Sequence[NotebookNode]) -> dict[str, str]:
    """Which cells of a notebook that was handed in are which of those that were handed out.

    By id, then by task, by exact text, by the functions that are defined, by likeness.  Unlike
    :func:`align` it uses text for every cell that is still unknown: nobody will edit the result.

    Returns
    -------
    dict
        Id in `mine` -> id in `known`, each used once.
    """
    known_ids = {cell.id for cell in known}
    found = {cell.id: cell.id for cell in mine if cell.id in known_ids}
    strangers = [cell for cell in mine if cell.id not in found]
    lost = [cell for cell in known if cell.id not in found]
    for key in (task_of, _text, _defined):
        _pair(strangers, lost, key, found)
    _pair_by_likeness(strangers, lost, found)
    return found


def _left_by_us(cell: NotebookNode) -> bool:
    """Whether an earlier update put the cell there, or kept it when the track dropped it."""
    own = cell.metadata.get("hetlab")
    return isinstance(own, dict) and ("note" in own or "was" in own)


def _text(cell: NotebookNode) -> Hashable:
    return content(cell) if cell.source.strip() else None


def _defined(cell: NotebookNode) -> Hashable:
    names = tuple(DEFINES.findall(cell.source)) if cell.cell_type == "code" else ()
    return names or None


def _pair(
    strangers: list[NotebookNode],
    lost: list[NotebookNode],
    key: Callable[[NotebookNode], Hashable],
    found: dict[str, str],
) -> None:
    """Pair cells of equal key in their order, and take them out of both lists."""
    waiting: dict[Hashable, list[NotebookNode]] = {}
    for cell in lost:
        if (name := key(cell)) is not None:
            waiting.setdefault(name, []).append(cell)
    for cell in list(strangers):
        if queue := waiting.get(key(cell)):
            _found(cell, queue.pop(0), strangers, lost, found)


def _pair_by_likeness(
    strangers: list[NotebookNode], lost: list[NotebookNode], found: dict[str, str]
) -> None:
    if len(strangers) * len(lost) > MOST_PAIRS:
        return
    pairs = []
    for i, cell in enumerate(strangers):
        matcher = difflib.SequenceMatcher(b=normal_source(cell.source), autojunk=True)
        for j, other in enumerate(lost):
            if cell.cell_type != other.cell_type or not other.source.strip():
                continue
            matcher.set_seq1(normal_source(other.source))
            if matcher.real_quick_ratio() > LIKENESS and matcher.quick_ratio() > LIKENESS:
                pairs.append((-matcher.ratio(), i, j, cell, other))
    for likeness, _, _, cell, other in sorted(pairs, key=lambda pair: pair[:3]):
        if -likeness > LIKENESS and cell in strangers and other in lost:
            _found(cell, other, strangers, lost, found)


def _found(cell, other, strangers, lost, found) -> None:
    found[cell.id] = other.id
    strangers[:] = [c for c in strangers if c.id != cell.id]
    lost[:] = [c for c in lost if c.id != other.id]
