"""Look for answers in what students will get, however they are written down.

A line of an answer counts as leaked when the same tokens stand anywhere in a
written file, whatever the spaces: in the text, in a notebook's strings, in HTML
or percent escapes, in base64 or hexadecimal, also packed with zlib.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import html
import json
import re
import urllib.parse
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..errors import TrackError
from .manifest import Lesson
from .notebooks import read_notebook
from .regions import mark_lines

__all__ = ["Leak", "Secret", "find_leaks", "public_lines", "secrets_of"]

# One token: a name or number, a text in quotes, or a sign.
TOKEN = re.compile(r"\w+|\"[^\"\n]*\"|'[^'\n]*'|[^\w\s]")
NAME = r"[A-Za-z_]\w*"
# Lines that anybody would write and that give nothing away.
TRIVIAL = re.compile(
    rf"""(?:
      \#.* | //.* | (?:from|import)\s.* | %.*
    | (?:pass|break|continue|else:|try:|finally:|except.*:|return|yield|\}}|\{{)
    | return\s+{NAME}(?:\s*,\s*{NAME})*
    | (?:async\s+)?def\s.*: | class\s.*: | @{NAME}(?:\.{NAME})*(?:\(.*\))?
    | (?:for\s+{NAME}\s+in\s+(?:{NAME}\.)?p?range\([\w\s.,()+\-\[\]]*\)|while\s+True):
    | {NAME}\s*=\s*(?:[-\w.]+|{NAME}\.copy\(\)|(?:np|cp)\.(?:empty|zeros|ones)(?:_like)?\({NAME}\))
    | \"\"\".* | '''.* | {NAME},?
    )""",
    re.VERBOSE,
)
# Fewer signs than this say nothing by themselves.
SHORTEST = 8
# Text in another alphabet: long runs of base64 or hexadecimal digits.
RUN = re.compile(r"[A-Za-z0-9+/_\-]{16,}={0,2}")
DEPTH = 3


@dataclass(frozen=True)
class Secret:
    """One line that students must not get, and where it stands."""

    text: str
    place: str

    @property
    def tokens(self) -> tuple[str, ...]:
        """Its tokens, without a comment at its end."""
        return _tokens(self.text)


@dataclass(frozen=True)
class Leak:
    """A secret, and the place in the release where it was found."""

    secret: Secret
    where: str

    def error(self, more: int = 0) -> TrackError:
        """The leak as an error; `more` is how many others there are."""
        others = f" (and {more} more such lines)" if more else ""
        return TrackError(
            f"the release would hold an answer: {self.secret.text!r}{others}",
            where=f"{self.where}; from {self.secret.place}",
            do="Reword one of the two, or hide it (BEGIN HIDDEN); what is given away on purpose "
            "stands between PUBLIC SPEC marks, or in a cell tagged public-spec.",
        )


def secrets_of(lesson: Lesson) -> list[Secret]:
    """Every telling line of a lesson's answers and hidden regions."""
    found = []
    for name, source, _ in _authored(lesson):
        for number, line in enumerate(mark_lines(source, name), 1):
            if line.region in ("SOLUTION", "HIDDEN") and not line.marker:
                text = line.text.strip()
                if _telling(text):
                    found.append(Secret(text, f"{name}, line {number}"))
    return found


def public_lines(lesson: Lesson) -> set[tuple[str, ...]]:
    """The lines that the author gives away on purpose, as tokens.

    They stand between PUBLIC SPEC marks, or in a notebook's cell that is tagged ``public-spec``.
    """
    return {
        _tokens(line.text)
        for name, source, tagged in _authored(lesson)
        for line in mark_lines(source, name)
        if not line.marker and (line.region == "PUBLIC SPEC" or (tagged and not line.region))
    }


def find_leaks(files: dict[str, bytes], secrets: Iterable[Secret]) -> list[Leak]:
    """Every secret that stands in a file that would be given out, once for each file."""
    wanted = [(s, _pattern(s.tokens), re.sub(r"\s+", "", "".join(s.tokens))) for s in secrets]
    leaks: dict[tuple[str, tuple[str, ...]], Leak] = {}
    for name, data in files.items():
        for view in _views(data.decode("utf-8", "replace"), DEPTH):
            packed = re.sub(r"\s+", "", view)
            for secret, pattern, quick in wanted:
                key = (name, secret.tokens)
                if key not in leaks and quick in packed and (hit := pattern.search(view)):
                    leaks[key] = Leak(secret, f"{name}, {_line(data, view, hit)}")
    return list(leaks.values())


def _authored(lesson: Lesson) -> Iterator[tuple[str, str, bool]]:
    """(place, source, tagged public-spec) of everything that may hold a marked region."""
    for path in (lesson.solution, lesson.notebook):
        if path.is_file():
            for number, cell in enumerate(read_notebook(path).cells, 1):
                place = f"{path.parent.name}/{path.name}, cell {number} ({cell.id})"
                yield place, cell.source, "public-spec" in cell.metadata.get("tags", ())
    for path in lesson.check_files:
        yield path.name, path.read_text(encoding="utf-8-sig"), False


def _telling(text: str) -> bool:
    return (
        not TRIVIAL.fullmatch(text)
        and len("".join(_tokens(text))) >= SHORTEST
        and re.search(r"\w", text) is not None
    )


def _tokens(text: str) -> tuple[str, ...]:
    tokens = TOKEN.findall(text.strip())
    for mark in ("#", "//"):
        at = next((i for i in range(len(tokens)) if "".join(tokens[i:]).startswith(mark)), None)
        # 7 // 2 is arithmetic; // begins a comment in C++ after a semicolon or a brace only
        if at and (mark == "#" or tokens[at - 1] in (";", "{", "}", ")")):
            tokens = tokens[:at]
    return tuple(tokens)


def _pattern(tokens: tuple[str, ...]) -> re.Pattern[str]:
    body = r"\s*".join(re.escape(token).replace(r"\ ", r"\s+") for token in tokens)
    before = r"(?<!\w)" if re.match(r"\w", tokens[0]) else ""
    after = r"(?!\w)" if re.match(r"\w", tokens[-1][-1]) else ""
    return re.compile(before + body + after)


def _views(text: str, depth: int) -> Iterator[str]:
    """A text, and every text that can be unpacked from it."""
    yield text
    if not depth:
        return
    inner = []
    try:
        inner += list(_strings(json.loads(text)))
    except (ValueError, RecursionError):
        inner += [d for d in (html.unescape(text), urllib.parse.unquote(text)) if d != text]
        if re.search(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\"'n\\])", text):
            inner.append(_unescaped(text))
        for run in RUN.findall(text):
            inner += _decoded(run)
    for one in inner:
        yield from _views(one, depth - 1)


def _strings(value: object) -> Iterator[str]:
    """All strings of a JSON value; a list of strings also as one text, as notebooks split it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            yield "".join(value)
        else:
            for item in value:
                yield from _strings(item)


def _unescaped(text: str) -> str:
    """Python's and JSON's escapes resolved, wherever they stand."""

    def char(found: re.Match[str]) -> str:
        if code := found[1] or found[2]:
            return chr(int(code, 16))
        return {"n": "\n", "t": "\t"}.get(found[3], found[3])

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", char, text)


def _decoded(run: str) -> list[str]:
    """What a run of digits says in hexadecimal or base64, unpacked with zlib when it is packed."""
    raws = []
    if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", run):
        raws.append(bytes.fromhex(run))
    digits = run.rstrip("=").replace("-", "+").replace("_", "/")
    with contextlib.suppress(binascii.Error, ValueError):
        raws.append(base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True))
    texts = []
    for raw in raws:
        for wbits in (15, 31):  # zlib, gzip
            try:
                raw = zlib.decompressobj(wbits).decompress(raw, 1 << 20)
                break
            except zlib.error:
                continue
        text = raw.decode("utf-8", "ignore")
        if len(text) >= SHORTEST:
            texts.append(text)
    return texts


def _line(data: bytes, view: str, hit: re.Match[str]) -> str:
    """The line of a file in which a text was found, as well as that can be said."""
    text = data.decode("utf-8", "replace")
    if view == text:
        return f"line {text.count(chr(10), 0, hit.start()) + 1}"
    first = json.dumps(hit[0].split("\n")[0], ensure_ascii=False)[1:-1]
    at = text.find(first)
    return f"line {text.count(chr(10), 0, at) + 1}" if at >= 0 else "in an encoded text"
