"""Carry a learner's answers over to a new version of a lesson.

A merge of three notebooks, cell by cell: the base (the track's version that
the learner's copy started from), the learner's copy, and the track's new
version.  The rule above all others: no text that the learner wrote is lost.

- Only the track changed a cell: the new one is taken.
- Only the learner changed it: the learner's is kept.
- Both changed it: the learner's is kept, and the new one is shown in a note below it.
- The learner added a cell: it stays where it is.
- The learner deleted a cell: it stays deleted, unless the grader needs it.
- The track dropped a cell: it goes, unless the learner had changed it.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from ..errors import NotebookError, TrackError
from .align import align, content
from .files import Action, StaleCopyError, digest, keep_old, write_atomic
from .manifest import Track, load_track, read_pointer
from .notebooks import markdown_cell, notebook_bytes, read_notebook, task_of
from .work import base_of, copies, open_work

__all__ = ["Merged", "merge", "update"]


@dataclass
class Merged:
    """The merged notebook, and what a learner should know about it: (kind, sentence) pairs."""

    notebook: NotebookNode
    notes: list[tuple[str, str]] = field(default_factory=list)


def update(work: str | os.PathLike[str], track: Track | None = None) -> list[Action]:
    """Bring every copy in a work folder up to date with its track.

    Parameters
    ----------
    work : path
        The learner's work folder.
    track : Track, optional
        The track; by default the one the work folder was made from.

    Returns
    -------
    list of Action
        What happened, file by file; empty when everything was up to date.
    """
    work = Path(os.path.normpath(Path(work).absolute()))
    if track is None:
        target = read_pointer(work)
        if target is None:
            raise TrackError(
                "this is not a work folder: it has no .hetlab/track.json",
                where=str(work),
                do="Make one with: hetlab lab --work FOLDER",
            )
        track = load_track(target)
    laid = [action for action in open_work(track, work) if action.kind != "stale"]
    for relative, original in copies(track).items():
        for tries in (3, 2, 1):
            try:
                laid += _update_copy(work, relative, original)
                break
            except StaleCopyError:  # saved, or updated by another run, at this very moment
                if tries == 1:
                    raise
    return laid


def _update_copy(work: Path, relative: str, original: Path) -> list[Action]:
    mine_path, base_path = work / relative, base_of(work, relative)
    before = mine_path.read_bytes()
    new = original.read_bytes()
    try:
        mine = read_notebook(mine_path)
        base = read_notebook(base_path) if base_path.is_file() else None
    except NotebookError as error:
        text = f"{error.what}; it is left as it is. Rename it and run hetlab lab to begin afresh"
        return [Action("unreadable", relative, text)]
    merged = merge(base, copy.deepcopy(mine), read_notebook(original))
    actions = []
    if merged.notebook != mine:
        old = keep_old(work, relative, before)
        write_atomic(mine_path, notebook_bytes(merged.notebook), expect=before)
        kept = f"; the copy from before is old/{old.name}"
        actions.append(Action("updated", relative, f"brought up to date{kept}"))
        actions += [Action(kind, relative, text) for kind, text in merged.notes]
    write_atomic(base_path, new)
    return actions


def merge(base: NotebookNode | None, mine: NotebookNode, theirs: NotebookNode) -> Merged:
    """Merge a learner's notebook with the track's new version of it.

    Parameters
    ----------
    base : notebook or None
        The version that `mine` started from; None when it is not known any more.
    mine, theirs : notebook
        The learner's copy and the track's new version.  All are as
        :func:`~hetlab.tracks.notebooks.read_notebook` gives them.
    """
    start = {cell.id: cell for cell in base.cells} if base is not None else {}
    new = {cell.id: cell for cell in theirs.cells}
    again = align(mine.cells, base.cells if base is not None else theirs.cells, theirs.cells)
    merged = Merged(mine)
    cells: dict[str, NotebookNode] = {}
    notes: dict[str, NotebookNode] = {}
    for cell in mine.cells:
        cell.id = again.get(cell.id, cell.id)
        if cell.id in new:
            cells[cell.id] = _both(cell, start.get(cell.id), new[cell.id], merged, notes)
        elif cell.id not in start:
            cells[cell.id] = cell
        elif content(cell) != content(start[cell.id]):
            cells[cell.id] = _left_behind(cell, merged, notes)
        else:
            merged.notes.append(("dropped", f"{_name(cell)}: the track no longer has it"))
    mine_order = [cell.id for cell in mine.cells]
    for cell in theirs.cells:
        if cell.id in cells:
            continue
        if cell.id not in start:
            merged.notes.append(("added", f"{_name(cell)}: new in the track"))
        elif task_of(cell) is not None:
            merged.notes.append(("put back", f"{_name(cell)}: it had been deleted"))
        else:
            continue
        cells[cell.id] = copy.deepcopy(cell)
    order = _order(mine_order, [c.id for c in theirs.cells], list(start), cells)
    mine.cells = _with_notes(order, cells, notes)
    if "hetlab" in theirs.metadata:
        mine.metadata.hetlab = theirs.metadata.hetlab
    return merged


def _both(cell, was, now, merged: Merged, notes: dict[str, NotebookNode]) -> NotebookNode:
    """One cell that the learner's copy and the new version both have."""
    if content(cell) == content(now):
        if was is not None and cell.source == was.source:
            cell.source = now.source  # at most blanks and line ends differ
        return _adopt(cell, now)
    if was is not None and content(cell) == content(was):
        fresh = _adopt(cell, now)
        fresh.cell_type, fresh.source = now.cell_type, now.source
        for key in ("attachments", "outputs", "execution_count"):
            fresh.pop(key, None)
            if key in now:
                fresh[key] = copy.deepcopy(now[key])
        return fresh
    if was is None or content(now) != content(was):
        notes[cell.id] = _note(now, "The track changed the cell above. Your version is kept; "
                               "this is the new one:", quote=True)  # fmt: skip
        merged.notes.append(("conflict", f"{_name(now)}: yours is kept, the new one is below it"))
    elif (role := task_of(now)) and role[0] == "solution":
        merged.notes.append(("kept", f"{_name(now)}: your answer"))
    return _adopt(cell, now)


def _adopt(cell: NotebookNode, now: NotebookNode) -> NotebookNode:
    """The learner's cell with the grader's metadata of the new version."""
    for key in ("hetlab", "nbgrader"):
        cell.metadata.pop(key, None)
        if key in now.metadata:
            cell.metadata[key] = copy.deepcopy(now.metadata[key])
    for key in ("tags", "slideshow"):
        if key in now.metadata:
            cell.metadata[key] = copy.deepcopy(now.metadata[key])
    return cell


def _left_behind(cell: NotebookNode, merged: Merged, notes: dict) -> NotebookNode:
    """A cell that the track dropped and the learner had changed: kept, and no longer graded."""
    merged.notes.append(("kept", f"{_name(cell)}: the track no longer has it, your text is kept"))
    role = task_of(cell)
    cell.metadata.pop("nbgrader", None)
    cell.metadata["hetlab"] = {"was": role[1] if role else cell.id}
    notes[cell.id] = _note(cell, "The track no longer has the cell above. Your text is kept.")
    return cell


def _note(cell: NotebookNode, sentence: str, *, quote: bool = False) -> NotebookNode:
    name = digest(repr((sentence, cell.id, content(cell))).encode("utf-8", "replace"))
    text = f"> **hetlab update.** {sentence}"
    if quote:
        fence = "```"
        while fence in cell.source:
            fence += "`"
        language = "python" if cell.cell_type == "code" else "markdown"
        text += f"\n\n{fence}{language}\n{cell.source}\n{fence}"
    return markdown_cell(f"note-{name[:16]}", text, hetlab={"note": "update"})


def _name(cell: NotebookNode) -> str:
    """What to call a cell in a report: its task, or how it begins."""
    if role := task_of(cell):
        return f"{role[1]} ({role[0]} cell)"
    first = next((line.strip() for line in cell.source.splitlines() if line.strip()), "")
    return f"the cell '{first[:40]}'" if first else "an empty cell"


def _order(
    mine: list[str], theirs: list[str], base: list[str], present: Iterable[str]
) -> list[str]:
    """The learner's order, unless the track has moved cells since: then the track's."""
    present = set(present)
    common = present & set(base) & set(theirs)
    moved = [i for i in base if i in common] != [i for i in theirs if i in common]
    first, second = (theirs, mine) if moved else (mine, theirs)
    order = [i for i in first if i in present]
    after = 0
    for i in second:  # what is new to the first order goes behind its neighbour in the second
        if i in order:
            after = order.index(i) + 1
        elif i in present:
            order.insert(after, i)
            after += 1
    return order


def _with_notes(order: list[str], cells: dict, notes: dict) -> list[NotebookNode]:
    out = []
    for i in order:
        out.append(cells[i])
        if i in notes and notes[i].id not in cells:
            out.append(notes[i])
    return out
