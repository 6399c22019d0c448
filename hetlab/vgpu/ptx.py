"""Reading PTX: the text that NVVM, NVRTC and Triton emit becomes a `Module`.

The grammar follows NVIDIA's *PTX ISA* 9, chapters 4 to 7 and 11.  Nothing here
knows what an instruction means; that is `semantics`.
"""

from __future__ import annotations

import math
import re
import struct

from hetlab.vgpu.ir import (
    SIZES,
    Function,
    Imm,
    Loc,
    Module,
    PtxError,
    Var,
)
from hetlab.vgpu.ptx_body import Body
from hetlab.vgpu.ptx_lex import (
    COMMENT,
    HEAD_WORDS,
    HEADER,
    INT,
    LINE_DIRECTIVE,
    LOC,
    STATEMENT,
    VAR,
    blank,
    settled,
)

__all__ = ["MAX_TEXT", "parse"]

MAX_TEXT = 64 << 20
"""Longest PTX text read, in characters."""

_MAX_VARIABLE = 1 << 31  # bytes


def parse(text: str) -> Module:
    """Parse a PTX module.

    Raises
    ------
    PtxError
        With the line, for text that is not PTX.
    """
    if not isinstance(text, str):
        raise PtxError(f"PTX must be a str, got {type(text).__name__}")
    if len(text) > MAX_TEXT:
        raise PtxError(f"this PTX has {len(text)} characters; at most {MAX_TEXT} are read")
    return _Reader(text).module()


class _Reader:
    """One pass over the text, a statement at a time."""

    def __init__(self, text: str) -> None:
        self.text = COMMENT.sub(blank, settled(text).replace("\0", " "))
        self.pos, self.line, self._counted = 0, 1, 0
        self.files: dict[str, str] = {}
        for n, name in re.findall(r'^[ \t]*\.file\s+(\d+)\s+"([^"\n]*)"', self.text, re.M):
            self.files[n] = name
        self.places: dict[tuple, Loc] = {}

    def error(self, what: str) -> PtxError:
        self._count()
        return PtxError(what, self.line, do="Is this the whole text that the compiler gave?")

    def _count(self) -> None:
        self.line += self.text.count("\n", self._counted, self.pos)
        self._counted = self.pos

    def _skip(self) -> str:
        """Move to the next character that is not blank and return it; '' at the end."""
        text, n = self.text, len(self.text)
        while self.pos < n and text[self.pos].isspace():
            self.pos += 1
        self._count()
        return text[self.pos] if self.pos < n else ""

    def _take(self, pattern: re.Pattern, what: str) -> str:
        match = pattern.match(self.text, self.pos)
        if match is None:
            raise self.error(f"{what} does not end: {self.text[self.pos : self.pos + 40]!r}")
        self.pos = match.end()
        return match[0]

    # -- the module
    def module(self) -> Module:
        module = Module({}, set(), {})
        seen_version = False
        while char := self._skip():
            directive = LINE_DIRECTIVE.match(self.text, self.pos)
            if directive:
                self.pos = directive.end()
                seen_version |= directive[1] == "version"
                if directive[1] == "target":
                    module.target = (
                        directive[0].split()[1].rstrip(",") if " " in directive[0] else ""
                    )
                continue
            if char != ".":
                raise self.error(f"a directive was expected, found {self._context()!r}")
            if not seen_version:
                raise self.error("the text does not begin with .version")
            self._top_level(module)
        if not seen_version:
            raise self.error("the text does not begin with .version")
        return module

    def _context(self) -> str:
        return self.text[self.pos : self.pos + 30].split("\n")[0]

    def _top_level(self, module: Module) -> None:
        line = self.line
        end = HEADER.match(self.text, self.pos)
        head = end[0] if end else ""
        if not HEAD_WORDS.search(head):
            statement = self._take(STATEMENT, "a declaration")[:-1]
            if statement.lstrip().startswith((".pragma", ".callprototype")):
                return
            for var in self._variables(statement, line):
                module.vars[var.name] = var
            return
        self.pos = end.end()
        if ".section" in head:
            close = self.text.find("}", self.pos)
            if head[-1] == "{" and close < 0:
                raise self.error("a .section does not end")
            self.pos = close + 1 if head[-1] == "{" else self.pos
            return
        if ".alias" in head:
            raise self.error(".alias is not supported")
        function = self._function_head(head[:-1], line)
        if head[-1] == ";":
            module.externs.add(function.name)
            return
        if function.name in module.functions:
            raise self.error(f"{function.name} is defined twice")
        Body(self, function).read()
        module.functions[function.name] = function

    def _function_head(self, head: str, line: int) -> Function:
        entry = re.search(r"\.entry\b", head) is not None
        match = re.search(r"\.(?:entry|func)\s*(\([^)]*\))?\s*([\w$]+)\s*(\([^)]*\))?", head)
        if match is None:
            raise self.error(f"a function has no name: {head.strip()[:40]!r}")
        returns, name, params = match[1], match[2], match[3]
        listed = [
            [
                v
                for p in (part or "()")[1:-1].split(",")
                if p.strip()
                for v in self._variables(p, line)
            ]
            for part in (params, returns)
        ]
        return Function(name, entry, listed[0], listed[1], line=line)

    # -- variables
    def _variables(self, text: str, line: int) -> list[Var]:
        match = VAR.match(text.strip())
        if match is None:
            word = text.split()[0] if text.split() else ""
            raise self.error(f"the declaration {word!r} is not known: {text.strip()[:60]!r}")
        rest, _, init = match["rest"].partition("=")
        found = re.search(r"\.align\s+(\d+)", rest)
        align = int(found[1]) if found and len(found[1]) < 6 else 0
        rest = re.sub(
            r"\.align\s+\d+|\.attribute\([^)]*\)|\.ptr\b|\.(?:global|shared|const|local)\b",
            " ",
            rest,
        )
        kind = re.match(r"\s*(?:\.v([248])\s+)?\.(\w+)\s+(.*)", rest, re.S)
        if kind is None or kind[2] not in SIZES:
            raise self.error(f"a variable has no type that is known: {text.strip()[:60]!r}")
        unit = SIZES[kind[2]] * int(kind[1] or 1)
        out = []
        for name in kind[3].split(","):
            shape = re.fullmatch(r"\s*([\w$%.]+)\s*((?:\[\s*\d*\s*\]\s*)*)", name)
            if shape is None:
                raise self.error(f"{name.strip()[:40]!r} is not the name of a variable")
            dims = re.findall(r"\[\s*(\d*)\s*\]", shape[2])
            nbytes = unit * math.prod(self._int(d) if d else 0 for d in dims) if dims else unit
            if nbytes > _MAX_VARIABLE:
                raise self.error(
                    f"{shape[1]} has {nbytes} bytes; at most {_MAX_VARIABLE} are possible"
                )
            var = Var(match["space"], shape[1], kind[2], nbytes, align or min(unit, 16), line=line)
            var.extern = ".extern" in match["link"]
            if init.strip():
                self._initialise(var, init, SIZES[kind[2]])
            out.append(var)
        return out

    def _initialise(self, var: Var, text: str, size: int) -> None:
        items = [x.strip() for x in text.replace("{", " ").replace("}", " ").split(",")]
        items = [x for x in items if x]
        dims_open = var.nbytes == 0
        data = bytearray()
        for item in items:
            if INT.match(item.lstrip("-")) or item[:2].lower() in ("0f", "0d") or "." in item:
                data += self._pack(self._constant(item), size, var.type)
                continue
            ref = re.fullmatch(r"(?:generic\s*\(\s*)?([\w$]+)\s*\)?\s*(?:\+\s*(\d+))?", item)
            if ref is None or size != 8:
                raise self.error(f"{item[:40]!r} is no value for {var.name}")
            var.refs.append((len(data), ref[1], int(ref[2] or 0)))
            data += bytes(8)
        if dims_open:
            var.nbytes = len(data)
        if len(data) > var.nbytes:
            raise self.error(f"{var.name} has {var.nbytes} bytes and {len(data)} bytes of values")
        var.init = (
            bytes(data) + bytes(var.nbytes - len(data)) if var.nbytes < 1 << 26 else bytes(data)
        )

    def _pack(self, value: Imm, size: int, kind: str) -> bytes:
        if kind in ("f32", "f64") and (isinstance(value.value, float) or not value.width):
            return struct.pack("<f" if kind == "f32" else "<d", value.value)
        number = value.value
        if isinstance(number, float):
            raw = struct.pack("<f" if value.width == 32 else "<d", number)
            return raw[:size].ljust(size, b"\0")
        return (number & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    # -- constants and operands
    def _int(self, text: str) -> int:
        text = text.rstrip("U")
        if len(text) > 80:
            raise self.error(f"the number {text[:20]}... is too long")
        if len(text) > 1 and text[0] == "0" and text.isdigit():
            try:
                return int(text, 8)
            except ValueError:
                raise self.error(f"{text} is not an octal number") from None
        return int(text, 0)

    def _constant(self, text: str) -> Imm:
        sign = -1 if text.startswith("-") else 1
        body = text.lstrip("-").strip()
        if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", body):
            return Imm(sign * struct.unpack(">f", bytes.fromhex(body[2:]))[0], 32)
        if re.fullmatch(r"0[dD][0-9a-fA-F]{16}", body):
            return Imm(sign * struct.unpack(">d", bytes.fromhex(body[2:]))[0], 64)
        if INT.match(body):
            return Imm(sign * self._int(body))
        try:
            return Imm(sign * float(body), 64)
        except ValueError:
            raise self.error(f"{text[:40]!r} is not a constant") from None

    def location(self, directive: str) -> Loc | None:
        """The place that a ``.loc`` names; its caller is an earlier ``.loc`` of that position."""
        match = LOC.match(directive)
        if match is None:
            raise self.error(f"this .loc cannot be read: {directive.strip()[:60]!r}")
        file, line, column = match[1], match[2], match[3]
        caller = None
        if match[4]:
            caller = self.places.get((match[4], match[5], match[6]))
            caller = caller or Loc(self.files.get(match[4], ""), self._int(match[5]))
        loc = Loc(
            self.files.get(file, ""), min(self._int(line.lstrip("0") or "0"), 1 << 31), caller
        )
        self.places[file, line, column] = loc
        return loc
