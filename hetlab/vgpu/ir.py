"""What a PTX module is made of: functions, instructions, operands, variables, source places."""

from __future__ import annotations

from dataclasses import dataclass, field

from hetlab.errors import HetlabError

__all__ = [
    "SIZES",
    "Addr",
    "Function",
    "Imm",
    "Instr",
    "Loc",
    "Module",
    "Neg",
    "PtxError",
    "Reg",
    "Sym",
    "Var",
    "Vec",
]

SIZES = {
    "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16, "pred": 1,
}  # fmt: skip
"""Bytes of each PTX type."""


class PtxError(HetlabError, ValueError):
    """Text that is not PTX, or PTX that the virtual GPU cannot run."""

    def __init__(self, what: str, line: int = 0, *, loc: Loc | None = None, do: str = "") -> None:
        where = f"PTX line {line}" if line else ""
        if loc is not None and loc.file:
            where = f"{loc.file}, line {loc.line}" + (f"; {where}" if where else "")
        super().__init__(what, where=where, do=do)
        self.ptx_line = line


@dataclass(frozen=True, slots=True)
class Loc:
    """A place in the learner's source.

    `caller` is the place this code was inlined at, when a compiler inlined it.
    """

    file: str
    line: int
    caller: Loc | None = None

    def chain(self) -> list[Loc]:
        """This place, its caller, that one's caller, ...; the outermost is last."""
        out, place = [], self
        while place is not None and len(out) < 100:
            out.append(place)
            place = place.caller
        return out

    def place(self) -> tuple[str, int]:
        """``(file, line)`` of the innermost frame that a learner wrote.

        Code inlined from an installed library counts for the line that called it.
        """
        chain = [p for p in self.chain() if p.line]
        for p in chain:
            if not any(part in p.file for part in _LIBRARIES):
                return p.file, p.line
        return (chain[-1].file, chain[-1].line) if chain else (self.file, 0)


_LIBRARIES = ("site-packages", "dist-packages", "cu13/include", "<numba", "/usr/include", "nvrtc",
              "triton/language/")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reg:
    """A register, special registers (``%tid.x``) included."""

    name: str


@dataclass(frozen=True, slots=True)
class Imm:
    """A constant: an int, or a float with the width it was written in (``0f``: 32, ``0d``: 64)."""

    value: int | float
    width: int = 0


@dataclass(frozen=True, slots=True)
class Sym:
    """The address of a variable or function, plus an offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Addr:
    """``[base + offset]``."""

    base: Reg | Sym | Imm
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Vec:
    """``{a, b}``, ``a|b`` or ``(a, b)``; an item may be None for ``_``."""

    items: tuple


@dataclass(frozen=True, slots=True)
class Neg:
    """``!p``."""

    reg: Reg


@dataclass(slots=True)
class Instr:
    """One instruction: ``@!p op.mod.mod operands``."""

    op: str
    mods: tuple[str, ...]
    operands: tuple
    pred: tuple[Reg, bool] | None  # (register, negated)
    loc: Loc | None
    line: int  # of the PTX text
    wraps: tuple[str, ...] = ()  # amounts added to negative indices (see `wraps`)

    @property
    def opcode(self) -> str:
        return ".".join((self.op, *self.mods))

    def error(self, what: str, do: str = "") -> PtxError:
        """An error that points at this instruction."""
        return PtxError(what, self.line, loc=self.loc, do=do)


@dataclass(slots=True)
class Var:
    """A variable in memory, or a parameter."""

    space: str
    name: str
    type: str
    nbytes: int
    align: int
    init: bytes | None = None
    refs: list = field(default_factory=list)  # (offset, symbol, addend): addresses inside `init`
    extern: bool = False
    line: int = 0


@dataclass(slots=True)
class Function:
    """An ``.entry`` or a ``.func`` with a body."""

    name: str
    entry: bool
    params: list[Var]
    returns: list[Var]
    code: list[Instr] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[str]] = field(default_factory=dict)  # .branchtargets
    regs: dict[str, str] = field(default_factory=dict)  # register -> declared type
    vars: list[Var] = field(default_factory=list)  # .local, .shared, .param inside the body
    line: int = 0


@dataclass(slots=True)
class Module:
    """A parsed PTX module."""

    functions: dict[str, Function]
    externs: set[str]
    vars: dict[str, Var]
    target: str = ""

    def entries(self) -> list[str]:
        return [f.name for f in self.functions.values() if f.entry]
