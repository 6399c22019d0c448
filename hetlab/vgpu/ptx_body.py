"""Reading the body of a PTX function: scopes, registers, labels, instructions."""

from __future__ import annotations

import re

from hetlab.vgpu.ir import SIZES, Addr, Function, Imm, Instr, Loc, Neg, PtxError, Reg, Sym, Vec
from hetlab.vgpu.ptx_lex import LABEL, LINE_DIRECTIVE, NAME, OPERAND, REGS, STATEMENT

__all__ = ["Body"]

_MAX_NESTING = 64


class Body:
    """The statements between a function's braces."""

    def __init__(self, reader, function: Function) -> None:
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
            elif directive := LINE_DIRECTIVE.match(r.text, r.pos):
                r.pos = directive.end()
                if directive[1] == "loc":
                    self.loc = r.location(directive[0])
            elif label := LABEL.match(r.text, r.pos):
                self._label(label)
            elif char == ".":
                self._declare(r._take(STATEMENT, "a declaration")[:-1])
            else:
                line = r.line
                f.code.append(self._instruction(r._take(STATEMENT, "an instruction")[:-1], line))
        self._resolve()

    def _label(self, match: re.Match) -> None:
        r, f = self.r, self.f
        r.pos = match.end()
        r._skip()
        if r.text.startswith(".branchtargets", r.pos):
            body = r._take(STATEMENT, "a .branchtargets")[14:-1]
            f.tables[match[1] + self.scope_names[-1]] = [x.strip() for x in body.split(",")]
        elif r.text.startswith(".callprototype", r.pos):
            r._take(STATEMENT, "a .callprototype")
        else:
            name = match[1] + self.scope_names[-1]
            if name in f.labels:
                raise r.error(f"the label {match[1]} is defined twice")
            f.labels[name] = len(f.code)

    def _declare(self, statement: str) -> None:
        r, text = self.r, statement.strip()
        if text.startswith(".pragma"):
            return
        match = REGS.match(text)
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
        tokens = OPERAND.findall(text)
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
        if not NAME.match(token):
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
