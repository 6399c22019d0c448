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
    Addr,
    Function,
    Imm,
    Instr,
    Loc,
    Module,
    Neg,
    PtxError,
    Reg,
    Sym,
    Var,
    Vec,
)

__all__ = ["MAX_TEXT", "parse"]

MAX_TEXT = 64 << 20
"""Longest PTX text read, in characters."""

_MAX_VARIABLE = 1 << 31  # bytes
_MAX_NESTING = 64

_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.S)
_LINE_DIRECTIVE = re.compile(r"\.(loc|file|version|target|address_size)\b[^\n]*")
_LABEL = re.compile(r"([A-Za-z$_%][\w$]*)\s*:(?!:)")
_STATEMENT = re.compile(r'(?:"[^"\n]*"|[^";])*+;')
_HEADER = re.compile(r'(?:"[^"\n]*"|[^"{;])*+[{;]')
_HEAD_WORDS = re.compile(r"\.(?:entry|func|section|alias)\b")
_REGS = re.compile(r"\.reg\s+(?:\.v[24]\s+)?\.(\w+)\s+(.*)", re.S)
_VAR = re.compile(
    r"(?P<link>(?:\.(?:visible|extern|weak|common)\s+)*)\.(?P<space>global|shared|const|local|param|tex)"
    r"\s+(?P<rest>.*)",
    re.S,
)
_OPERAND = re.compile(r"\s*([^\s,{}\[\]()|!+-][^\s,{}\[\]()|+-]*|[{}\[\]()|!,+-])")
_INT = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?$")
_NAME = re.compile(r"[A-Za-z$_%][\w$.]*$")
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*?inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?", re.S)


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


def _blank(match: re.Match) -> str:
    """A comment becomes its newlines, so that line numbers stay right; strings stay."""
    found = match[0]
    return found if found[0] == '"' else "\n" * found.count("\n") or " "


class _Reader:
    """One pass over the text, a statement at a time."""

    def __init__(self, text: str) -> None:
        self.text = _COMMENT.sub(_blank, text.replace("\0", " "))
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
            directive = _LINE_DIRECTIVE.match(self.text, self.pos)
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
        end = _HEADER.match(self.text, self.pos)
        head = end[0] if end else ""
        if not _HEAD_WORDS.search(head):
            statement = self._take(_STATEMENT, "a declaration")[:-1]
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
        _Body(self, function).read()
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
        match = _VAR.match(text.strip())
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
            if _INT.match(item.lstrip("-")) or item[:2].lower() in ("0f", "0d") or "." in item:
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
        if _INT.match(body):
            return Imm(sign * self._int(body))
        try:
            return Imm(sign * float(body), 64)
        except ValueError:
            raise self.error(f"{text[:40]!r} is not a constant") from None

    def location(self, directive: str) -> Loc | None:
        """The place that a ``.loc`` names; its caller is an earlier ``.loc`` of that position."""
        match = _LOC.match(directive)
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


class _Body:
    """The statements between a function's braces."""

    def __init__(self, reader: _Reader, function: Function) -> None:
        self.r, self.f = reader, function
        self.scopes: list[dict[str, str]] = [{}]
        self.families: list[tuple[str, int, str, str]] = []  # %r<16>: prefix, count, type, rename
        self.scope_names = [""]
        self.loc: Loc | None = None
        self.jumps: list[tuple[Instr, list[str]]] = []
        self._operand_text = ""
        self._made = 0

    def read(self) -> None:
        r, f = self.r, self.f
        while True:
            char = r._skip()
            if not char:
                raise r.error(f"{f.name} does not end")
            if char == "{":
                r.pos += 1
                self._made += 1
                self.scopes.append({})
                self.scope_names.append(f"@{self._made}")
                if len(self.scopes) > _MAX_NESTING:
                    raise r.error("scopes are nested too deeply")
            elif char == "}":
                r.pos += 1
                self.scopes.pop()
                self.scope_names.pop()
                if not self.scopes:
                    break
            elif char == ";":
                r.pos += 1
            elif directive := _LINE_DIRECTIVE.match(r.text, r.pos):
                r.pos = directive.end()
                if directive[1] == "loc":
                    self.loc = r.location(directive[0])
            elif label := _LABEL.match(r.text, r.pos):
                self._label(label)
            elif char == ".":
                self._declare(r._take(_STATEMENT, "a declaration")[:-1])
            else:
                line = r.line
                f.code.append(self._instruction(r._take(_STATEMENT, "an instruction")[:-1], line))
        self._resolve()

    def _label(self, match: re.Match) -> None:
        r, f = self.r, self.f
        r.pos = match.end()
        r._skip()
        if r.text.startswith(".branchtargets", r.pos):
            body = r._take(_STATEMENT, "a .branchtargets")[14:-1]
            f.tables[match[1] + self.scope_names[-1]] = [x.strip() for x in body.split(",")]
        elif r.text.startswith(".callprototype", r.pos):
            r._take(_STATEMENT, "a .callprototype")
        else:
            name = match[1] + self.scope_names[-1]
            if name in f.labels:
                raise r.error(f"the label {match[1]} is defined twice")
            f.labels[name] = len(f.code)

    def _declare(self, statement: str) -> None:
        r, text = self.r, statement.strip()
        if text.startswith(".pragma"):
            return
        match = _REGS.match(text)
        if match is None:
            for var in r._variables(text, r.line):
                inner = len(self.scopes) > 1 and var.space in ("param", "local", "shared")
                if inner:
                    self.scopes[-1][var.name] = var.name + self.scope_names[-1]
                    var.name += self.scope_names[-1]
                self.f.vars.append(var)
            return
        if match[1] not in SIZES:
            raise r.error(f"registers cannot have the type .{match[1]}")
        for name in match[2].split(","):
            name = name.strip()
            family = re.fullmatch(r"([\w$%]+)<(\d{1,9})>", name)
            if family:
                self.families.append((family[1], int(family[2]), match[1], self.scope_names[-1]))
            elif re.fullmatch(r"[\w$%]+", name):
                unique = name + self.scope_names[-1]
                self.scopes[-1][name] = unique
                self.f.regs[unique] = match[1]
            else:
                raise r.error(f"{name[:40]!r} is not the name of a register")

    def _register(self, name: str) -> str | None:
        """The unique name of a declared register or scoped variable, or None."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        match = re.fullmatch(r"(.*?)(\d{1,9})", name)
        if match:
            live = set(self.scope_names)
            for prefix, count, kind, rename in reversed(self.families):
                if rename in live and name.startswith(prefix):
                    number = name[len(prefix) :]
                    if number.isdigit() and int(number) < count:
                        unique = name + rename
                        self.scopes[self.scope_names.index(rename)][name] = unique
                        self.f.regs[unique] = kind
                        return unique
        return None

    # -- instructions
    def _instruction(self, text: str, line: int) -> Instr:
        text = text.strip()
        pred = None
        match = re.match(r"@\s*(!?)\s*([\w$%]+)\s+", text)
        if match:
            name = self._register(match[2])
            if name is None:
                raise self.r.error(f"the predicate {match[2]} is not declared")
            pred, text = (Reg(name), match[1] == "!"), text[match.end() :]
        match = re.match(r"([a-z]\w*(?:(?:\.|::)[\w]+)*)(?:\s+|$|(?=[({\[]))", text)
        if match is None:
            raise self.r.error(f"an instruction was expected, found {text[:40]!r}")
        op, *mods = match[1].replace("::", ":").split(".")
        instr = Instr(op, tuple(mods), (), pred, self.loc, line)
        if op in ("bra", "brx"):
            words = [w.strip() for w in text[match.end() :].split(",")]
            self.jumps.append((instr, list(self.scope_names)))
            first = self._operands(words[0]) if op == "brx" else (Sym(words[0]),)
            instr.operands = (*first, *(Sym(w) for w in words[1:]))
        else:
            instr.operands = self._operands(text[match.end() :])
        return instr

    def _operands(self, text: str) -> tuple:
        tokens = _OPERAND.findall(text)
        if "".join(tokens) != re.sub(r"\s+", "", text):
            raise self.r.error(f"these operands cannot be read: {text.strip()[:60]!r}")
        tokens.append("")
        out, at = [], 0
        while tokens[at]:
            operand, at = self._operand(tokens, at, 0)
            out.append(operand)
            if tokens[at] == ",":
                at += 1
            elif tokens[at]:
                raise self.r.error(f"unexpected {tokens[at]!r} in {text.strip()[:60]!r}")
        return tuple(out)

    def _operand(self, tokens: list[str], at: int, depth: int):
        token = tokens[at]
        if depth > 4:
            raise self.r.error("operands are nested too deeply")
        if token in ("{", "("):
            close, items = {"{": "}", "(": ")"}[token], []
            at += 1
            while tokens[at] != close:
                if not tokens[at]:
                    raise self.r.error(f"{token!r} is not closed")
                item, at = self._operand(tokens, at, depth + 1)
                items.append(item)
                at += tokens[at] == ","
            return Vec(tuple(items)), at + 1
        if token == "[":
            base, at = self._operand(tokens, at + 1, depth + 1)
            if tokens[at] != "]":
                raise self.r.error("an address is not closed or has parts that are not known")
            at += 1
            if isinstance(base, Sym):
                return Addr(Sym(base.name), base.offset), at
            if isinstance(base, Vec) and len(base.items) == 2 and isinstance(base.items[1], Imm):
                return Addr(base.items[0], int(base.items[1].value)), at
            if not isinstance(base, Reg | Imm):
                raise self.r.error("an address needs a register, a variable or a number")
            return Addr(base), at
        if token == "!":
            inner, at = self._operand(tokens, at + 1, depth + 1)
            if not isinstance(inner, Reg):
                raise self.r.error("'!' needs a predicate register")
            return Neg(inner), at
        if token == "-":
            return self.r._constant("-" + tokens[at + 1]), at + 2
        value, at = self._atom(token), at + 1
        while tokens[at] in ("+", "-", "|"):
            sign = tokens[at]
            right, after = self._operand(tokens, at + 1, depth + 1)
            if sign == "|":
                return Vec((value, right)), after
            if not isinstance(right, Imm) or isinstance(right.value, float):
                raise self.r.error(f"an offset must be a number, found {tokens[at + 1]!r}")
            delta = right.value if sign == "+" else -right.value
            if isinstance(value, Sym):
                value = Sym(value.name, value.offset + delta)
            elif isinstance(value, Imm):
                value = Imm(value.value + delta, value.width)
            else:
                value = Vec((value, Imm(delta)))
            at = after
        return value, at

    def _atom(self, token: str):
        if token == "_":
            return None
        if token[0].isdigit():
            return self.r._constant(token)
        name = self._register(token)
        if name is not None:
            return Reg(name) if name in self.f.regs else Sym(name)
        if not _NAME.match(token):
            raise self.r.error(f"{token[:40]!r} is not an operand")
        if token[0] == "%":
            return Reg(token)
        return Sym(token)

    def _resolve(self) -> None:
        """Give each jump the unique name of its label, the innermost one in sight."""
        f = self.f
        known = f.labels.keys() | f.tables.keys()

        def find(name: str, scopes: list[str]) -> str:
            for scope in reversed(scopes):
                if name + scope in known:
                    return name + scope
            raise PtxError(f"the label {name[:60]!r} is not defined in {f.name}", f.line)

        for instr, scopes in self.jumps:
            instr.operands = tuple(
                Sym(find(x.name, scopes)) if isinstance(x, Sym) else x for x in instr.operands
            )
        for key, names in f.tables.items():
            scope = "@" + key.partition("@")[2] if "@" in key else ""
            f.tables[key] = [find(n, ["", scope] if scope else [""]) for n in names]
