"""Files as a track and a work folder need them: whole or not at all, and never lost.

Every write goes to a new file beside its target and is moved into place in one
step, so that a reader, a second process or a full disk never sees half a file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import HetlabError, TrackError

__all__ = [
    "Action",
    "StaleCopyError",
    "digest",
    "file_errors",
    "keep_old",
    "make_folder",
    "timestamp",
    "write_atomic",
]


@dataclass(frozen=True)
class Action:
    """One thing that was done to a file, or deliberately left undone.

    Attributes
    ----------
    kind : str
        "new", "updated", "kept", "added", "dropped", "conflict", "put back", "old copy",
        "unchanged", "skipped" or "unreadable".
    file : str
        The file, relative to the folder that is worked on.
    text : str
        What happened, as a sentence for the learner.
    """

    kind: str
    file: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}: {self.text}"


class StaleCopyError(HetlabError):
    """A file changed on disk between reading and writing it."""


def digest(data: bytes) -> str:
    """SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def timestamp() -> str:
    """Local time as part of a file name: ``20260131-235959``."""
    return time.strftime("%Y%m%d-%H%M%S")


@contextlib.contextmanager
def file_errors(path: Path, doing: str) -> Iterator[None]:
    """Turn the operating system's refusals into one sentence.

    Parameters
    ----------
    path : Path
        The file or folder that is worked on.
    doing : str
        Completes "could not": "write the notebook".
    """
    try:
        yield
    except OSError as cause:
        reason = cause.strerror or str(cause)
        raise TrackError(
            f"could not {doing}: {reason}",
            where=str(path),
            do="Check that the folder exists, is yours to write and has space left.",
        ) from cause


def make_folder(path: Path) -> Path:
    """Make a folder and its parents; a file that stands in the way is an error."""
    with file_errors(path, "make the folder"):
        path.mkdir(parents=True, exist_ok=True)
    return path


def write_atomic(path: Path, data: bytes, *, expect: bytes | None = None) -> bool:
    """Write a whole file in one step; return whether anything changed.

    Parameters
    ----------
    path : Path
        Target; its folder is made when missing.  A link is followed, not replaced.
    data : bytes
        The whole content.
    expect : bytes, optional
        Write only if the file still holds these bytes.

    Raises
    ------
    TrackError
        When the operating system refuses.
    StaleCopyError
        When `expect` is given and the file holds something else by now.
    """
    path = path.resolve() if path.is_symlink() else path
    make_folder(path.parent)
    with file_errors(path, "write the file"):
        before = path.read_bytes() if path.exists() else None
        if expect is not None and before != expect:
            raise StaleCopyError(
                "the file was changed by another program while it was being updated",
                where=str(path),
                do="Nothing was written; run the command again.",
            )
        if before == data:
            return False
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".hetlab-", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            Path(temporary).chmod(path.stat().st_mode & 0o777 if before is not None else _mode())
            Path(temporary).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise
    return True


def _mode() -> int:
    """The permissions an ordinary new file gets (mkstemp gives its owner's only)."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def keep_old(work: Path, relative: str, data: bytes) -> Path:
    """Keep some bytes in ``work/old/`` under a name that was free, and return it.

    ``exercises/03_topic.ipynb`` becomes ``old/exercises-03_topic.<time>.ipynb``.  When the newest
    old copy of that file holds the same bytes already, no second one is made.
    """
    parts = Path(relative)
    stem = "-".join([*parts.parent.parts, parts.stem])
    folder = make_folder(work / "old")
    earlier = [p for p in folder.iterdir() if p.name.startswith(f"{stem}.")]
    newest = max(earlier, key=lambda p: (p.stat().st_mtime_ns, p.name), default=None)
    with file_errors(folder, "keep the old copy"):
        if newest is not None and newest.is_file() and newest.read_bytes() == data:
            return newest
        stamp, n = timestamp(), 0
        while True:
            tail = f"-{n}" if n else ""
            path = folder / f"{stem}.{stamp}{tail}{parts.suffix}"
            try:
                with path.open("xb") as out:
                    out.write(data)
                return path
            except FileExistsError:
                n += 1
