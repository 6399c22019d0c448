"""Save a whole work folder into one file, and bring it back.

A machine such as Binder's forgets everything after ten idle minutes.  The file
is an ordinary zip with a list of its contents, so that a damaged one is noticed
before anything is touched.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import tempfile
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import hetlab

from ..errors import TrackError
from .files import Action, digest, file_errors, keep_old, make_folder, timestamp
from .manifest import POINTER

__all__ = ["MOST_BYTES", "MOST_FILES", "restore", "save"]

CONTENTS = "hetlab-work.json"
ARCHIVE_NAME = re.compile(r"hetlab-work-[\d-]+\.zip")
LEFT_OUT = {".ipynb_checkpoints", "__pycache__", ".pytest_cache"}

#: Limits that a work folder stays far below and a zip bomb breaks.  They hold for saving too, so
#: that whatever was saved can be restored.
MOST_FILES = 20_000
MOST_BYTES = 512 << 20
#: A larger file is stored as it is; so none that claims to shrink this much is ours.
LARGE = 32 << 20
MOST_SHRINK = 20


def save(
    work: str | os.PathLike[str],
    file: str | os.PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Pack a work folder.

    Parameters
    ----------
    work : path
        The work folder.
    file : path, optional
        The zip to write; by default ``hetlab-work-<time>.zip`` in the work folder, where
        JupyterLab's file browser can download it.  It must not exist yet.
    progress : callable, optional
        Called with the relative path of each file before it is packed.

    Returns
    -------
    Path
        The zip.
    """
    work = Path(os.path.normpath(Path(work).absolute()))
    if not work.is_dir():
        raise TrackError("there is no such work folder", where=str(work))
    target = _free_name(work) if file is None else Path(file).absolute()
    if target.exists():
        raise TrackError(
            "the file exists already and is not overwritten",
            where=str(target),
            do="Choose another name.",
        )
    make_folder(target.parent)
    with file_errors(target, "save the work folder"):
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".hetlab-", suffix=".tmp")
        try:
            with (
                os.fdopen(handle, "wb") as out,
                zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z,
            ):
                _pack(work, z, progress)
            if target.exists():
                raise FileExistsError(17, "another run has just written it", str(target))
            Path(temporary).replace(target)
        finally:
            Path(temporary).unlink(missing_ok=True)
    return target


def restore(file: str | os.PathLike[str], work: str | os.PathLike[str]) -> list[Action]:
    """Unpack a saved work folder; a file that differs is moved to ``old/`` first.

    Everything is unpacked and compared with the list of contents before the
    work folder is touched, so a damaged or hostile file leaves it as it was.

    Raises
    ------
    TrackError
        One sentence on what is wrong with the file.
    """
    file = Path(file)
    work = Path(os.path.normpath(Path(work).absolute()))
    if work.exists() and not work.is_dir():
        raise TrackError("the work folder must be a folder, got a file", where=str(work))
    try:
        with zipfile.ZipFile(file) as z:
            members = _checked(z, file)
            hashes = _contents(z, members, file)
            near = work if work.exists() else make_folder(work.parent)
            with tempfile.TemporaryDirectory(prefix=".hetlab-", dir=near) as room:
                for name, info in members.items():
                    _unpack(z, info, Path(room) / name, hashes[name], file)
                _no_way_out(work, members)
                make_folder(work)
                return [_place(Path(room) / name, work, name) for name in members]
    except FileNotFoundError as cause:
        raise _refused(file, "there is no such file") from cause
    except IsADirectoryError as cause:
        raise _refused(file, "it is a folder") from cause
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as cause:
        raise _refused(file, f"it is damaged or not a zip ({cause})") from cause
    except OSError as cause:
        raise _refused(file, cause.strerror or str(cause)) from cause


def _free_name(work: Path) -> Path:
    stamp, n = timestamp(), 1
    path = work / f"hetlab-work-{stamp}.zip"
    while path.exists():
        path = work / f"hetlab-work-{stamp}-{n}.zip"
        n += 1
    return path


def _pack(work: Path, z: zipfile.ZipFile, progress: Callable[[str], None] | None) -> None:
    hashes, names = {}, list(_to_save(work))
    _check_limits({name: (work / name).stat().st_size for name in names}, work)
    for relative in names:
        if progress is not None:
            progress(relative)
        data = (work / relative).read_bytes()
        hashes[relative] = digest(data)
        # The earliest date a zip can hold would break for files that have none.
        info = zipfile.ZipInfo(
            relative, time.localtime(max((work / relative).stat().st_mtime, 3e8))[:6]
        )
        info.compress_type = zipfile.ZIP_STORED if len(data) > LARGE else zipfile.ZIP_DEFLATED
        info.external_attr = (stat.S_IFREG | 0o644) << 16
        z.writestr(info, data)
    contents = {
        "format": 1,
        "hetlab": hetlab.__version__,
        "saved": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "files": hashes,
    }
    z.writestr(CONTENTS, json.dumps(contents, ensure_ascii=False, indent=1) + "\n")


def _check_limits(sizes: dict[str, int], work: Path) -> None:
    """Refuse to save what could not be restored."""
    for name in sizes:
        if why := _unsafe_name(name):
            raise TrackError(f"the file {name!r} cannot be saved: its name {why}",
                             where=str(work), do="Rename it, then save again.")  # fmt: skip
    total = sum(sizes.values())
    if len(sizes) > MOST_FILES or total > MOST_BYTES:
        largest = max(sizes, key=sizes.__getitem__)
        raise TrackError(
            f"the work folder must hold at most {MOST_FILES} files and {MOST_BYTES >> 20} MiB "
            f"to be saved, got {len(sizes)} files and {total >> 20} MiB",
            where=str(work),
            do=f"Move large data out of it; the largest file is {largest}.",
        )


def _to_save(work: Path) -> Iterator[str]:
    """Every ordinary file: not links, not the pointer to this machine's track, not older saves."""
    for folder, names, files in os.walk(work):
        names[:] = sorted(
            n for n in names if n not in LEFT_OUT and not (Path(folder) / n).is_symlink()
        )
        for name in sorted(files):
            path = Path(folder) / name
            relative = path.relative_to(work).as_posix()
            left_out = (
                relative == POINTER
                or ARCHIVE_NAME.fullmatch(relative)
                or name.endswith((".tmp", ".lock"))
            )
            if not left_out and relative != CONTENTS and path.is_file() and not path.is_symlink():
                yield relative


def _refused(file: Path, why: str) -> TrackError:
    return TrackError(
        f"{file.name} cannot be restored: {why}",
        where=str(file),
        do="Nothing was changed. Use a file that `hetlab save` wrote.",
    )


def _checked(z: zipfile.ZipFile, file: Path) -> dict[str, zipfile.ZipInfo]:
    """The members, if every one of them is harmless."""
    infos = z.infolist()
    if len(infos) > MOST_FILES:
        raise _refused(file, f"it holds {len(infos)} files, more than {MOST_FILES}")
    if (size := sum(info.file_size for info in infos)) > MOST_BYTES:
        raise _refused(file, f"it would unpack to {size / 2**20:.0f} MiB, more than "
                             f"{MOST_BYTES / 2**20:.0f} MiB")  # fmt: skip
    members, seen = {}, set()
    for info in infos:
        name = info.filename
        if why := _unsafe(info):
            raise _refused(file, f"its entry {name!r} {why}")
        same = unicodedata.normalize("NFC", name).casefold().rstrip("/")
        if same in seen:
            raise _refused(file, f"its entry {name!r} is there twice")
        seen.add(same)
        if not info.is_dir():
            members[name] = info
    for name in members:
        if any(str(above) in members for above in PurePosixPath(name).parents):
            raise _refused(file, f"its entry {name!r} lies in a folder that is also a file")
    return members


def _unsafe(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.flag_bits & 0x1:
        return "is encrypted"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device, not a file"
    if info.file_size > LARGE and info.file_size > MOST_SHRINK * info.compress_size:
        return f"would unpack to {info.file_size >> 20} MiB from almost nothing"
    return _unsafe_name(info.orig_filename)


def _unsafe_name(name: str) -> str:
    """Why a name must not be written to, on any system; empty when it is harmless."""
    parts = name.rstrip("/").split("/")
    if name.startswith("/") or "\\" in name or not name.isprintable():
        return "is not a plain relative path"
    if re.match(r"[A-Za-z]:", name):
        return "begins with a drive"
    if any(part in ("", ".", "..") for part in parts):
        return "leads out of the work folder"
    if any(part.endswith((" ", ".")) for part in parts):
        return "has a part that ends with a blank or a dot"
    if len(name.encode()) > 1000 or any(len(part.encode()) > 250 for part in parts):
        return "is too long"
    return ""


def _contents(z: zipfile.ZipFile, members: dict, file: Path) -> dict[str, str]:
    """The list of contents; it must name exactly the members that are there."""
    info = members.pop(CONTENTS, None)
    if info is None:
        raise _refused(file, "it is a zip, but not one of a work folder")
    try:
        hashes = json.loads(z.read(info))["files"]
        complete = set(hashes) == set(members)
    except (ValueError, KeyError, TypeError, RecursionError) as cause:
        raise _refused(file, "its list of contents cannot be read") from cause
    if not complete:
        raise _refused(file, "its list of contents does not fit what it holds")
    return hashes


def _unpack(z: zipfile.ZipFile, info: zipfile.ZipInfo, to: Path, sha: str, file: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    left = info.file_size
    with z.open(info) as source, to.open("wb") as out:
        while piece := source.read(1 << 20):
            left -= len(piece)
            if left < 0:
                raise _refused(file, f"its entry {info.filename!r} is larger than it says")
            out.write(piece)
    if digest(to.read_bytes()) != sha:
        raise _refused(file, f"its entry {info.filename!r} is damaged")


def _no_way_out(work: Path, members: dict) -> None:
    """Refuse to write through links, and where a folder and a file would meet."""
    for name in members:
        path = work / name
        for above in list(path.parents)[: len(Path(name).parts) - 1]:
            if above.is_symlink() or (above.exists() and not above.is_dir()):
                raise TrackError(
                    "a link or a file stands where the saved work has a folder",
                    where=str(above),
                    do="Move it away, then restore again. Nothing was changed.",
                )
        if path.is_dir() and not path.is_symlink():
            raise TrackError(
                "a folder stands where the saved work has a file",
                where=str(path),
                do="Move it away, then restore again. Nothing was changed.",
            )


def _place(source: Path, work: Path, name: str) -> Action:
    target = work / name
    with file_errors(target, "restore the file"):
        make_folder(target.parent)
        text, kind = "restored", "new"
        if target.exists() or target.is_symlink():
            data = target.read_bytes() if target.exists() else b""
            if data == source.read_bytes():
                return Action("unchanged", name, "is the same already")
            old = keep_old(work, name, data)
            text, kind = f"restored; what was there is old/{old.name}", "updated"
            if target.is_symlink():
                target.unlink()
        shutil.copyfile(
            source, beside := target.with_name(f".hetlab-{digest(name.encode())[:8]}.tmp")
        )
        beside.replace(target)
    return Action(kind, name, text)
