"""Negative indices that Numba lets count from the end, found in its PTX.

``a[i]`` compiles to "add the length to `i` if `i` is negative", without a branch.
This module finds the amount that is added (the length or 0) and says which memory
instructions use it, so that a negative `i` can be reported as what it mostly is: a
mistake at an edge.
"""

from __future__ import annotations

from hetlab.vgpu.ir import Addr, Function, Imm, Instr, Reg, Vec

__all__ = ["mark_wraps"]

_THROUGH = {"add", "shl", "mul", "mad", "cvt", "mov", "cvta", "sub"}
_SMALL = ("%tid", "%laneid", "%ctaid", "%ntid", "%nctaid")


def mark_wraps(f: Function) -> None:
    """Give each memory instruction the amounts added to negative indices (`Instr.wraps`)."""
    definitions: dict[str, list[Instr]] = {}
    for i in f.code:
        target = i.operands[0] if i.operands else None
        for x in target.items if isinstance(target, Vec) else (target,):
            if isinstance(x, Reg):
                definitions.setdefault(x.name, []).append(i)

    def only(x) -> Instr | None:
        found = definitions.get(x.name, ()) if isinstance(x, Reg) else ()
        return found[0] if len(found) == 1 else None

    def through_cvt(x):
        """The register before width conversions."""
        for _ in range(4):
            d = only(x)
            if d is None or d.op not in ("cvt", "mov") or not isinstance(d.operands[1], Reg):
                break
            x = d.operands[1]
        return x

    def is_length(x) -> bool:
        """A length: a parameter, or a constant of the array's type."""
        d = only(through_cvt(x))
        return isinstance(x, Imm) or (d is not None and d.op == "ld" and "param" in d.mods)

    def wraps_by(x) -> bool:
        """Whether `x` is the length if some index is negative, and else 0."""
        d = only(through_cvt(x))
        if d is None:
            return False
        if d.op == "and":
            for part in d.operands[1:]:
                s = only(part)
                if s is not None and s.op == "shr" and s.mods[-1][0] == "s":
                    top = isinstance(s.operands[2], Imm) and s.operands[2].value
                    if top == int(s.mods[-1][1:]) - 1:
                        return not _never_negative(s.operands[1], only)
        if d.op == "shr" and d.mods[-1][0] in "ub":
            s = only(d.operands[1])
            if s is not None and s.op == "and" and isinstance(s.operands[2], Imm):
                bits = int(s.mods[-1][1:])
                sign = int(s.operands[2].value) & ((1 << bits) - 1) == 1 << bits - 1
                return sign and not _never_negative(s.operands[1], only)
        if d.op == "selp":
            p = only(d.operands[3])
            if p is not None and p.op == "setp" and isinstance(p.operands[2], Imm):
                chosen = {"lt": 0, "le": 0, "gt": 1, "ge": 1}.get(p.mods[0])
                if chosen is not None and p.mods[-1][0] == "s":
                    length, zero = d.operands[1 + chosen], d.operands[2 - chosen]
                    return isinstance(zero, Imm) and zero.value == 0 and is_length(length)
        return False

    wraps: dict[str, frozenset] = {}
    for i in f.code:
        if i.op != "add" or i.mods[-1][0] == "f" or not isinstance(i.operands[0], Reg):
            continue
        for amount in i.operands[1:]:
            if isinstance(amount, Reg) and wraps_by(amount):
                wraps[i.operands[0].name] = frozenset({amount.name})
    if not wraps:
        return
    changed = True
    while changed:
        changed = False
        for i in f.code:
            if i.op not in _THROUGH or not i.operands or not isinstance(i.operands[0], Reg):
                continue
            new = frozenset().union(
                *(wraps.get(x.name, frozenset()) for x in i.operands[1:] if isinstance(x, Reg))
            )
            old = wraps.get(i.operands[0].name, frozenset())
            if not new <= old:
                wraps[i.operands[0].name] = old | new
                changed = True
    for i in f.code:
        for x in i.operands:
            if isinstance(x, Addr) and isinstance(x.base, Reg) and x.base.name in wraps:
                i.wraps = tuple(sorted(wraps[x.base.name]))


def _never_negative(x: Reg, only) -> bool:
    for _ in range(6):
        if x.name.startswith(_SMALL):
            return True
        d = only(x)
        if d is None or d.op not in ("cvt", "mov") or not isinstance(d.operands[1], Reg):
            return False
        x = d.operands[1]
    return False
