"""Read notebooks of any origin into one shape, and write them whole.

Learners' notebooks come from JupyterLab, VS Code, Colab, git merges and
half-finished downloads.  Whatever can be understood becomes nbformat 4.5 with
stable cell ids; whatever cannot becomes one clear line.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from ..errors import NotebookError, one_line
from .files import digest, write_atomic

__all__ = [
    "code_cell",
    "is_untouched",
    "lesson_of",
    "markdown_cell",
    "new_notebook",
    "normal_source",
    "notebook_bytes",
    "read_notebook",
    "source_hash",
    "strip_outputs",
    "task_of",
    "write_notebook",
]

CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CHECK_CALL = re.compile(r"""hetlab\.check\(\s*["']([^"'/]+)/([^"'/]+)["']""")
CELL_TYPES = ["code", "markdown", "raw", "heading"]
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def read_notebook(path: str | os.PathLike[str]) -> NotebookNode:
    """Read a notebook and normalise it to nbformat 4.5.

    nbformat 3, 4.0-4.4 (with or without ids) and 4.5 without ids are accepted, as is a byte
    order mark.  A cell without a usable id gets one made from its content, so that reading the
    same file twice gives the same ids.  A kernel without a language speaks Python.

    Raises
    ------
    NotebookError
        One line: what is wrong with the file, and where.
    """
    path = Path(path)
    data = _parse(_text(path), path)
    with warnings.catch_warnings():  # nbformat announces repairs that are done here anyway
        warnings.simplefilter("ignore")
        try:
            notebook = _upgrade(data, path)
            _normalise(notebook)
            nbformat.validate(notebook)
        except NotebookError:
            raise
        except Exception as cause:
            # Whatever trips over the content: the file has the frame of a notebook and not its
            # insides, and the first line of the reason is all that helps.
            raise _broken(path, f"its content is damaged: {one_line(cause)}") from cause
    return notebook


def notebook_bytes(notebook: NotebookNode, *, outputs: bool = True) -> bytes:
    """The bytes of a notebook's file: UTF-8, sorted keys, a newline at the end.

    Parameters
    ----------
    outputs : bool
        Keep outputs and execution counts; a track's files never have any.
    """
    if not outputs:
        notebook = strip_outputs(notebook)
    text = nbformat.v4.nbjson.writes(notebook) + "\n"
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:  # half a surrogate pair: legal in JSON only as an escape
        return (nbformat.v4.nbjson.writes(notebook, ensure_ascii=True) + "\n").encode("ascii")


def write_notebook(
    path: str | os.PathLike[str], notebook: NotebookNode, *, outputs: bool = True
) -> bool:
    """Write a notebook in one step; return whether the file changed."""
    return write_atomic(Path(path), notebook_bytes(notebook, outputs=outputs))


def strip_outputs(notebook: NotebookNode) -> NotebookNode:
    """A copy without outputs, execution counts and widget state."""
    copy = nbformat.from_dict(json.loads(json.dumps(notebook)))
    copy.metadata.pop("widgets", None)
    for cell in copy.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return copy


def new_notebook(cells: list[NotebookNode], **hetlab: Any) -> NotebookNode:
    """A Python notebook of these cells, with hetlab's own metadata."""
    metadata = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}}
    if hetlab:
        metadata["hetlab"] = hetlab
    return nbformat.from_dict(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}
    )


def markdown_cell(cell_id: str, source: str, **metadata: Any) -> NotebookNode:
    """A cell of text."""
    return nbformat.from_dict(
        {"cell_type": "markdown", "id": cell_id, "metadata": metadata, "source": source}
    )


def code_cell(cell_id: str, source: str, **metadata: Any) -> NotebookNode:
    """A cell of code, not run yet."""
    return nbformat.from_dict(
        {
            "cell_type": "code",
            "id": cell_id,
            "metadata": metadata,
            "source": source,
            "outputs": [],
            "execution_count": None,
        }
    )


def normal_source(source: str) -> str:
    """Source without what editors change on their own: line ends, blanks at ends."""
    lines = [line.rstrip() for line in source.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return "\n".join(lines).strip("\n")


def source_hash(source: str) -> str:
    """The hash by which an untouched solution cell is recognised: 16 hexadecimal digits."""
    return digest(normal_source(source).encode("utf-8", "surrogatepass"))[:16]


def is_untouched(cell: NotebookNode) -> bool:
    """Whether a solution cell of an exercise still holds nothing but its stub."""
    stub = _mapping(cell.metadata.get("hetlab")).get("stub")
    return stub is not None and stub == source_hash(cell.source)


def task_of(cell: NotebookNode) -> tuple[str, str] | None:
    """What a cell is to the grader: ("solution", task), ("check", task), or None.

    hetlab's own metadata decides; nbgrader's is the second witness, for tools that keep only that.
    """
    own = _mapping(cell.metadata.get("hetlab"))
    for kind, key in (("solution", "task"), ("check", "check")):
        if isinstance(own.get(key), str):
            return kind, own[key]
    grader = _mapping(cell.metadata.get("nbgrader"))
    name = grader.get("grade_id")
    if isinstance(name, str):
        if grader.get("solution"):
            return "solution", re.sub(r"-\d+$", "", name)
        if grader.get("grade"):
            return "check", name.removeprefix("check-")
    return None


def lesson_of(
    notebook: NotebookNode, path: str | os.PathLike[str] = "", known: tuple[str, ...] = ()
) -> str | None:
    """The lesson a notebook belongs to, or None.

    Looked for in its metadata, then in its file name, then in the calls of ``hetlab.check``.

    Parameters
    ----------
    known : tuple of str
        The lessons there are; empty accepts any.
    """
    for lesson in _lesson_names(notebook, Path(path)):
        if not known or lesson in known:
            return lesson
    return None


def _lesson_names(notebook: NotebookNode, path: Path) -> Iterator[str]:
    named = _mapping(notebook.metadata.get("hetlab")).get("lesson")
    if isinstance(named, str):
        yield named
    # also "03_topic (1).ipynb", "03_topic-Copy1.ipynb", "exercises-03_topic.20260101-120000.ipynb"
    if found := re.search(r"\d{2}[a-z]?_\w+", path.name.removesuffix(".ipynb")):
        yield found[0]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield from (lesson for lesson, _ in CHECK_CALL.findall(cell.source))


def _broken(path: Path, why: str, do: str = "") -> NotebookError:
    return NotebookError(f"{path.name} is not a notebook that can be read: {why}", do=do,
                         where=str(path))  # fmt: skip


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError as cause:
        raise _broken(path, "there is no such file") from cause
    except IsADirectoryError as cause:
        raise _broken(path, "it is a folder", "Name one notebook in it.") from cause
    except (OSError, ValueError) as cause:  # ValueError: a NUL in the name
        raise _broken(path, getattr(cause, "strerror", None) or str(cause)) from cause
    if not data.strip(b"\xef\xbb\xbf\0 \t\r\n"):
        raise _broken(path, "the file is empty", "Fetch it again, or restore an older copy.")
    try:
        utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        return data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as cause:
        byte = f"the byte 0x{data[cause.start]:02x} at position {cause.start} is not UTF-8 text"
        raise _broken(path, byte, "Save it as UTF-8.") from cause


def _parse(text: str, path: Path) -> dict[str, Any]:
    if marker := re.search(r"^(<<<<<<<|>>>>>>>) ", text, re.MULTILINE):
        line = text.count("\n", 0, marker.start()) + 1
        raise _broken(path, f"line {line} is the mark of an unfinished git merge",
                      "Finish the merge, or restore an older copy.")  # fmt: skip
    try:
        data = json.loads(text)
    except json.JSONDecodeError as cause:
        why = f"it is not valid JSON: {cause.msg} (line {cause.lineno}, column {cause.colno})"
        raise _broken(path, why, "Fetch it again, or restore an older copy.") from cause
    except RecursionError as cause:
        raise _broken(path, "its JSON is nested too deeply") from cause
    except ValueError as cause:  # a number of more digits than Python converts
        raise _broken(path, f"it is not valid JSON: {cause}") from cause
    frame = isinstance(data, dict) and type(data.get("nbformat")) is int
    if not frame or not isinstance(data.get("cells", data.get("worksheets")), list):
        raise _broken(path, "it is JSON, but not a notebook (it has no list of cells)")
    return data


def _upgrade(data: dict[str, Any], path: Path) -> NotebookNode:
    """To the current shape of the format, whatever version the file has."""
    major = data["nbformat"]
    if major > 4:
        raise _broken(path, f"it is of nbformat {major}; this hetlab reads 4 and older")
    data["metadata"] = _mapping(data.get("metadata"))
    if major < 4 or "cells" not in data:
        older = nbformat.reads(json.dumps(data), as_version=nbformat.NO_CONVERT)
        data = json.loads(json.dumps(nbformat.convert(older, 4)))
        for cell in data["cells"]:  # the converter draws ids by lot
            cell.pop("id", None)
    for number, cell in enumerate(data["cells"], 1):
        if not isinstance(cell, dict) or cell.get("cell_type") not in CELL_TYPES:
            raise _broken(path, f"its cell {number} is damaged: it has no known cell_type")
        _repair(cell)
        if not isinstance(cell["source"], (str, list)):
            raise _broken(path, f"its cell {number} is damaged: its source is not text")
    return nbformat.v4.nbjson.to_notebook(data)


def _repair(cell: dict[str, Any]) -> None:
    """Fill in what other tools leave out of a cell."""
    cell["metadata"] = _mapping(cell.get("metadata"))
    if cell.get("source") is None:
        cell["source"] = ""
    if cell["cell_type"] == "heading":
        cell["cell_type"] = "markdown"
        cell.pop("level", None)
    if cell["cell_type"] == "code":
        cell["outputs"] = cell.get("outputs") or []
        cell.setdefault("execution_count", None)
        cell.pop("attachments", None)
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)


def _normalise(notebook: NotebookNode) -> None:
    """The version, the kernel, and an id for every cell."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    kernel = _mapping(notebook.metadata.get("kernelspec"))
    notebook.metadata.kernelspec = nbformat.from_dict(_filled(KERNEL, kernel))
    info = _mapping(notebook.metadata.get("language_info"))
    notebook.metadata.language_info = nbformat.from_dict(_filled({"name": "python"}, info))
    taken: set[str] = set()
    for cell in notebook.cells:
        wanted = cell.get("id")
        if isinstance(wanted, str) and CELL_ID.fullmatch(wanted) and wanted not in taken:
            taken.add(wanted)
        else:
            cell.id = ""
    for cell in notebook.cells:
        if not cell.id:
            cell.id = _content_id(cell, taken)


def _content_id(cell: NotebookNode, taken: set[str]) -> str:
    text = f"{cell.cell_type}\n{normal_source(cell.source)}"
    base = "c-" + digest(text.encode("utf-8", "surrogatepass"))[:12]
    name, n = base, 1
    while name in taken:
        n += 1
        name = f"{base}-{n}"
    taken.add(name)
    return name


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _filled(default: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """`given`, with what it lacks or has as null taken from `default`."""
    return {**default, **{key: value for key, value in given.items() if value is not None}}
