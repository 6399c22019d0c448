"""Negative indices that Numba lets count from the end, found in its PTX.

``a[i]`` compiles to "add the length to `i` if `i` is negative", without a branch.
This module finds that addition and says which memory instructions use its result,
so that a negative `i` can be reported as what it mostly is: a mistake at an edge.
"""

from __future__ import annotations

from hetlab.vgpu.ir import Addr, Function, Imm, Instr, Reg, Vec

__all__ = ["mark_wraps"]

_THROUGH = {"add", "shl", "mul", "mad", "cvt", "mov", "cvta", "sub"}
_SMALL = ("%tid", "%laneid", "%ctaid", "%ntid", "%nctaid")


def mark_wraps(f: Function) -> None:
    """Give each memory instruction of a flattened kernel the indices that may wrap (`Instr.wraps`)."""
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

    def sign_of(x) -> Reg | None:
        """The index whose sign decides `x`: the length if it is negative, else 0."""
        d = only(through_cvt(x))
        if d is None:
            return None
        if d.op == "and":
            for part in d.operands[1:]:
                s = only(part)
                if s is not None and s.op == "shr" and s.mods[-1][0] == "s":
                    amount = s.operands[2]
                    if isinstance(amount, Imm) and amount.value == int(s.mods[-1][1:]) - 1:
                        return s.operands[1]
        if d.op == "shr" and d.mods[-1][0] in "ub":
            s = only(d.operands[1])
            if s is not None and s.op == "and" and isinstance(s.operands[2], Imm):
                bits = int(s.mods[-1][1:])
                if int(s.operands[2].value) & ((1 << bits) - 1) == 1 << bits - 1:
                    return s.operands[1]
        if d.op == "selp":
            p = only(d.operands[3])
            if p is not None and p.op == "setp" and isinstance(p.operands[2], Imm):
                test = (p.mods[0], p.operands[2].value)
                zero = [isinstance(x, Imm) and x.value == 0 for x in d.operands[1:3]]
                if (test == ("lt", 0) and zero[1]) or (test == ("gt", -1) and zero[0]):
                    return p.operands[1]
        return None

    wraps: dict[str, frozenset] = {}
    for i in f.code:
        if i.op != "add" or i.mods[-1][0] == "f" or not isinstance(i.operands[0], Reg):
            continue
        for half in (1, 2):
            index = sign_of(i.operands[half])
            if isinstance(index, Reg) and not _never_negative(index, only):
                wraps[i.operands[0].name] = frozenset({index.name})
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
