"""Look for answers in what students will get, however they are written down.

A line of an answer is found when the same tokens stand anywhere in a written
file, whatever the spaces: in the text, in a notebook's strings, in HTML or
percent escapes, in base64 or hexadecimal, also packed with zlib.

Kernels are made of idioms that lessons teach, so one line says little: an answer
counts as leaked into a file that holds most of its telling lines.
"""

from __future__ import annotations

import ast
import base64
import binascii
import contextlib
import functools
import html
import json
import re
import urllib.parse
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..errors import TrackError
from .manifest import Lesson
from .notebooks import read_notebook
from .regions import mark_lines

__all__ = [
    "Leak",
    "Secret",
    "find_leaks",
    "given_lines",
    "hinted",
    "most_of_an_answer",
    "not_in",
    "public_lines",
    "secrets_of",
    "taught_lines",
]

# One token: a name or number, a text in quotes, or a sign.
TOKEN = re.compile(r"\w+|\"[^\"\n]*\"|'[^'\n]*'|[^\w\s]")
NAME = r"[A-Za-z_]\w*"
TYPE = r"(?::\s*tl\.constexpr)?"
# Lines that anybody would write and that give nothing away.
TRIVIAL = re.compile(
    rf"""(?:
      \#.* | //.* | (?:from|import)\s.* | %.*
    | (?:pass|break|continue|else:|try:|finally:|except.*:|return|yield|\}}|\{{)
    | return\s+{NAME}(?:\s*,\s*{NAME})*
    | (?:async\s+)?def\s.*: | class\s.*: | @{NAME}(?:\.{NAME})*(?:\(.*\))?
    | (?:for\s+{NAME}\s+in\s+(?:{NAME}\.)?p?range\([\w\s.,()+\-\[\]]*\)|while\s+True):
    | (?:np|cp)\.(?:empty|zeros|ones)(?:_like)?\({NAME}\),?
    | {NAME}\s*=\s*(?:[-~]?[\w.]+|{NAME}\.copy\(\))
    | {NAME}\s*=\s*(?:np|cp)\.(?:empty|zeros|ones)(?:_like)?\({NAME}\)
    | \"\"\".* | '''.* | {NAME},? | \"[\w\s]*\",? | yield\s+Case\(
    # What formatting leaves of a longer line: an opening, an argument, a list of parameters.
    | (?:{NAME}\s*=\s*)?{NAME}(?:\.{NAME})*\( | {NAME}={NAME},? | lambda[\s\w,]*:\s*\(
    | {NAME}(?:\s*[+]\s*{NAME})*, | {NAME}{TYPE}(?:,\s*{NAME}{TYPE})*,?
    | {NAME}\s*=\s*tl\.program_id\([012]\)
    | {NAME}(?:,\s*{NAME})*\s*=\s*cuda\.grid\([123]\) | cuda\.sync(?:threads|warp)\(\)
    )""",
    re.VERBOSE,
)
# Fewer signs than this say nothing by themselves.
SHORTEST = 8
# Text in another alphabet: long runs of base64 or hexadecimal digits.
RUN = re.compile(r"[A-Za-z0-9+/_\-]{16,}={0,2}")
DEPTH = 3
# From this share of its telling lines on, an answer has leaked.
SHARE = 0.6


@dataclass(frozen=True)
class Secret:
    """One line that students must not get, and where it stands."""

    text: str
    place: str
    answer: str = ""  # the marked region that it belongs to
    region: str = "HIDDEN"

    @property
    def tokens(self) -> tuple[str, ...]:
        """Its tokens, without a comment at its end."""
        return _tokens(self.text)


@dataclass(frozen=True)
class Leak:
    """A secret, and the place in the release where it was found."""

    secret: Secret
    file: str
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
        answer = ""
        for number, line in enumerate(mark_lines(source, name), 1):
            if line.marker:
                answer = f"{lesson.id}, {name}, line {number}"
            elif line.region in ("SOLUTION", "HIDDEN") and _telling(line.text.strip()):
                found.append(
                    Secret(line.text.strip(), f"{name}, line {number}", answer, line.region)
                )
    return found


def most_of_an_answer(leaks: Iterable[Leak], secrets: Iterable[Secret]) -> list[Leak]:
    """The leaks of hidden lines, and those into files that hold `SHARE` of an answer's lines."""
    lines = Counter(answer for answer, _ in {(s.answer, s.tokens) for s in secrets})
    leaks = list(leaks)
    found = Counter((leak.secret.answer, leak.file) for leak in leaks)
    told = {
        (leak.file, leak.secret.tokens): leak  # several answers may share a line
        for leak in reversed(leaks)
        if leak.secret.region == "HIDDEN"
        or found[leak.secret.answer, leak.file] >= SHARE * lines[leak.secret.answer]
    }
    return list(reversed(told.values()))


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


def hinted(lesson: Lesson) -> str:
    """The texts of all hints: the third one of a task is nearly its code, on purpose."""
    trees = [ast.parse(path.read_text(encoding="utf-8-sig")) for path in lesson.check_files]
    calls = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    hints = [k.value for call in calls for k in call.keywords if k.arg == "hints"]
    hints += [call.args[3] for tree in trees for call in ast.walk(tree) if _is_task(call)]
    texts = (node.value for hint in hints for node in ast.walk(hint) if _is_text(node))
    return "\n".join(texts)


def _is_task(node: ast.AST) -> bool:
    named = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Task"
    return named and len(node.args) > 3


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def not_in(text: str, secrets: Iterable[Secret]) -> list[Secret]:
    """The secrets that a text does not say."""
    return [s for s in secrets if not _pattern(s.tokens).search(text)]


def given_lines(lesson: Lesson) -> set[tuple[str, ...]]:
    """The code that an exercise gives: to repair a kernel is to change some of its lines."""
    cells = read_notebook(lesson.solution).cells if lesson.solution.is_file() else ()
    return _open_code(cells, f"solutions/{lesson.id}.ipynb")


def taught_lines(lesson: Lesson) -> set[tuple[str, ...]]:
    """The code of a lesson's cells: wrong answers are made of the same idioms."""
    cells = read_notebook(lesson.notebook).cells if lesson.notebook.is_file() else ()
    return _open_code(cells, f"notebooks/{lesson.id}.ipynb")


def _open_code(cells: Iterable, name: str) -> set[tuple[str, ...]]:
    return {
        _tokens(line.text)
        for cell in cells
        if cell.cell_type == "code"
        for line in mark_lines(cell.source, name)
        if not line.marker and not line.region
    }


def find_leaks(files: dict[str, bytes], secrets: Iterable[Secret]) -> list[Leak]:
    """Every secret that stands in a file that would be given out, once for each file."""
    index = _index(secrets)
    leaks: dict[tuple[str, str, tuple[str, ...]], Leak] = {}
    for name, data in files.items():
        for view in dict.fromkeys(_views(data.decode("utf-8", "replace"), DEPTH)):
            for secret, tokens in _candidates(index, re.sub(r"\s+", "", view)):
                key = (name, secret.answer, tokens)
                if key not in leaks and (hit := _pattern(tokens).search(view)):
                    leaks[key] = Leak(secret, name, f"{name}, {_line(data, view, hit)}")
    return list(leaks.values())


#: A secret's first signs without spaces -> its number, all its signs, the secret, its tokens.
_Index = dict[str, list[tuple[int, str, Secret, tuple[str, ...]]]]


def _index(secrets: Iterable[Secret]) -> _Index:
    """Secrets by how they begin: a course has thousands, and a text holds few beginnings."""
    index: _Index = {}
    for number, secret in enumerate(secrets):
        tokens = secret.tokens
        signs = re.sub(r"\s+", "", "".join(tokens))
        index.setdefault(signs[:SHORTEST], []).append((number, signs, secret, tokens))
    return index


def _candidates(index: _Index, packed: str) -> list[tuple[Secret, tuple[str, ...]]]:
    """Secrets whose signs stand in a text without spaces, in their order."""
    places = range(len(packed))
    begins = {packed[i : i + SHORTEST] for i in places}
    short = {begin for begin in index if len(begin) < SHORTEST and begin in packed}
    found = [entry for begin in (index.keys() & begins) | short for entry in index[begin]]
    return [(s, tokens) for _, signs, s, tokens in sorted(found, key=_number) if signs in packed]


def _number(entry: tuple) -> int:
    return entry[0]


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


@functools.cache
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
