"""What instructions mean: one table from opcode to a NumPy expression.

An entry is a small function ``rule(m, t, n) -> Sem``: from an instruction's
modifiers, its last type and its number of operands to the types of its results
and sources and an expression over ``{0}, {1}, ...``, the sources as arrays (or
scalars, where all threads agree) of just these types.  Names in expressions
come from `names`.

The entries live in `semantics_int`, `semantics_float` and `semantics_move`;
memory, control and warp instructions are the engine's (`codegen`, `simt`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hetlab.vgpu.ir import SIZES, Instr

__all__ = ["DTYPES", "TABLE", "Sem", "code_of", "const", "entry", "lookup", "names"]

DTYPES = {
    "u8": "u1", "b8": "u1", "s8": "i1", "u16": "u2", "b16": "u2", "s16": "i2",
    "u32": "u4", "b32": "u4", "s32": "i4", "u64": "u8", "b64": "u8", "s64": "i8",
    "f16": "f2", "f32": "f4", "f64": "f8", "pred": "b1",
    "bf16": "u2", "f16x2": "u4", "bf16x2": "u4", "tf32": "u4",
}  # fmt: skip
"""PTX type to the NumPy type code that holds it."""

names: dict[str, object] = {
    "np": np,
    "where": np.where,
    **{c: np.dtype(c).type for c in ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8")},
    **{c: np.dtype(c).type for c in ("f2", "f4", "f8")},
    "b1": np.bool_,
}
"""What an expression may use; `entry` modules add their functions."""


class Sem(NamedTuple):
    """The meaning of one instruction.

    `results` and `sources` are PTX types, `code` the expression.  More than one result: the
    expression is a tuple.  ``kind`` is the class counted by the profiler.
    """

    results: tuple[str, ...]
    sources: tuple[str, ...]
    code: str
    kind: str = ""
    flops: int = 0


Rule = Callable[[tuple, str, int], Sem]
TABLE: dict[str, Rule] = {}


def entry(*ops: str) -> Callable[[Rule], Rule]:
    """Register a rule for some opcodes."""

    def put(rule: Rule) -> Rule:
        for op in ops:
            TABLE[op] = rule
        return rule

    return put


def code_of(t: str) -> str:
    """The NumPy type code of a PTX type."""
    return DTYPES[t]


def const(value, t: str) -> str:
    """A constant of PTX type `t`, as an expression."""
    return f"{DTYPES[t]}({value})"


_KINDS = {"f32": "fp32", "f64": "fp64", "f16": "fp16", "f16x2": "fp16", "bf16": "fp16"}
_KINDS["bf16x2"] = "fp16"


def lookup(i: Instr) -> Sem:
    """The meaning of an instruction.

    Raises
    ------
    PtxError
        Naming opcode and line, when the table has no such instruction.
    """
    from hetlab.vgpu import semantics_float, semantics_int, semantics_move  # noqa: F401

    rule = TABLE.get(i.op)
    types = [m for m in i.mods if m in SIZES]
    if rule is not None:
        try:
            sem = rule(i.mods, types[-1] if types else "b32", len(i.operands))
        except (LookupError, ValueError, StopIteration):
            sem = None
        if sem is not None:
            kind = sem.kind or _KINDS.get(types[0] if types else "", "integer")
            return sem._replace(kind=kind)
    raise unknown(i)


def unknown(i: Instr):
    """The error for an instruction that the virtual GPU does not know."""
    return i.error(
        f"the virtual GPU does not know the instruction {i.opcode!r}",
        f"Please report the opcode {i.opcode} with the source line that made it.",
    )
