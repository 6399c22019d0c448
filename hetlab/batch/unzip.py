"""Look into a zip that a stranger made: names in any encoding, nothing written, nothing trusted.

No entry is ever unpacked to disk, so a name that leads elsewhere leads nowhere; what is
refused is refused by name, and the rest of the zip is still read.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import HetlabError

__all__ = ["MOST_BYTES", "Entry", "entries", "readable_name", "unpack"]

#: Bytes of one file that is read.  Output is thrown away anyway, and 64 MiB of source is no answer.
MOST_BYTES = 64 << 20
#: Entries of one zip: a class of a thousand with fifty files each.
MOST_ENTRIES = 50_000
#: A bomb shrinks a thousandfold; notebooks full of outputs about twentyfold.
MOST_SHRINK = 200
_SMALL = 1 << 20
_UNICODE_PATH = 0x7075  # Info-ZIP's extra field with the name in UTF-8
_UTF8_FLAG = 0x800


@dataclass(frozen=True)
class Entry:
    """One file in a zip.

    Attributes
    ----------
    parts : tuple of str
        Its path, decoded.
    fault : str
        Why it must not be read; empty when it may.
    index : int
        Its place in the zip's directory, by which :func:`unpack` finds it.
    """

    parts: tuple[str, ...]
    fault: str
    index: int


def entries(source: Path | bytes) -> Iterator[Entry]:
    """The files of a zip, in the order of its directory.

    Parameters
    ----------
    source : Path or bytes
        The zip, on disk or in memory.

    Raises
    ------
    HetlabError
        It is no zip, it is damaged, or it has far too many entries.
    """
    with _open(source) as z:
        infos = z.infolist()
        if len(infos) > MOST_ENTRIES:
            raise HetlabError(f"it holds {len(infos)} files, more than {MOST_ENTRIES}")
        for index, info in enumerate(infos):
            if info.is_dir():
                continue
            name = readable_name(_raw_name(info))
            parts = tuple(p for p in re.split(r"[/\\]", name) if p not in ("", "."))
            if parts:
                yield Entry(tuple(p for p in parts if p != ".."), _fault(info, name), index)


def unpack(source: Path | bytes, index: int) -> bytes:
    """The bytes of one entry.

    Raises
    ------
    HetlabError
        The entry is refused, damaged, or larger than it says.
    """
    with _open(source) as z:
        info = z.infolist()[index]
        if why := _fault(info, readable_name(_raw_name(info))):
            raise HetlabError(why)
        try:
            with z.open(info) as stream:
                data = stream.read(MOST_BYTES + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError,
                NotImplementedError) as cause:  # fmt: skip
            raise HetlabError(f"it is damaged in its zip ({cause})") from cause
    if len(data) > MOST_BYTES:
        raise HetlabError(f"it is larger than {MOST_BYTES >> 20} MiB")
    return data


def readable_name(name: str | bytes) -> str:
    """A file's name as text: UTF-8, else GBK (GB 18030), else one character a byte.

    Also for names on disk that Python holds with surrogates in place of foreign bytes.
    """
    if isinstance(name, str):
        try:
            name.encode("utf-8")
            return unicodedata.normalize("NFC", name)
        except UnicodeEncodeError:
            name = name.encode("utf-8", "surrogateescape" if _escaped(name) else "replace")
    for encoding in ("utf-8", "gb18030", "cp437"):
        try:
            text = name.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding != "gb18030" or _plausible(text):
            return unicodedata.normalize("NFC", text)
    return name.decode("latin-1")


def _escaped(name: str) -> bool:
    """Whether all surrogates of a name are Python's marks for foreign bytes."""
    return all("\udc80" <= c <= "\udcff" for c in name if "\ud800" <= c <= "\udfff")


def _plausible(text: str) -> bool:
    """Whether text decoded as GB 18030 looks like Chinese, and not like accents of cp437."""
    foreign = [c for c in text if ord(c) > 127]
    common = sum("一" <= c <= "鿿" or "　" <= c <= "〿" or "＀" <= c <= "￯" for c in foreign)
    return bool(foreign) and 2 * common >= len(foreign)


def _open(source: Path | bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source)
    except (zipfile.BadZipFile, ValueError, EOFError, struct.error) as cause:
        raise HetlabError(f"it is damaged or not a zip ({cause})") from cause
    except OSError as cause:
        raise HetlabError(f"it cannot be read ({cause.strerror or cause})") from cause


def _raw_name(info: zipfile.ZipInfo) -> str | bytes:
    """The name as it stands in the zip: text when it says that it is UTF-8, else bytes."""
    extra = info.extra
    while len(extra) >= 4:
        kind, size = struct.unpack("<HH", extra[:4])
        if kind == _UNICODE_PATH and size > 5 and extra[4] == 1:
            raw = info.orig_filename.encode("cp437", "replace")
            if zlib.crc32(raw) == struct.unpack("<I", extra[5:9])[0]:
                return extra[9 : 4 + size]
        extra = extra[4 + size :]
    if info.flag_bits & _UTF8_FLAG:
        return info.orig_filename
    try:
        return info.orig_filename.encode("cp437")
    except UnicodeEncodeError:
        return info.orig_filename


def _fault(info: zipfile.ZipInfo, name: str) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "it is a link, not a file"
    if kind not in (0, stat.S_IFREG):
        return "it is a device, not a file"
    if ".." in re.split(r"[/\\]", name) or re.match(r"[/\\]|[A-Za-z]:[/\\]", name):
        return "its name leads out of the zip"
    if info.flag_bits & 0x1:
        return "it is encrypted"
    if info.file_size > MOST_BYTES:
        return f"it is larger than {MOST_BYTES >> 20} MiB"
    if info.file_size > _SMALL and info.file_size > MOST_SHRINK * max(info.compress_size, 1):
        return f"it would unpack to {info.file_size >> 20} MiB from almost nothing"
    return ""
