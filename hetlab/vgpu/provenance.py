"""Where addresses come from: which parameter or variable each memory instruction points into.

Static and flow-insensitive: a register may hold an address derived from any of
the sources of the registers it was added up from.  Products, shifts and loaded
values are no addresses.  At a launch the values of the parameters tell pointers
from sizes (`Run.target`), so ``data + n * stride`` names ``data``.
"""

from __future__ import annotations

from hetlab.vgpu.ir import Addr, Function, Imm, Instr, Reg, Sym, Vec

__all__ = ["Source", "provenance"]

Source = tuple[str, object]
"""``("param", offset)``, ``("shared", name)``, ``("global", name)``, ``("local", name)``, or
``("loaded", None)`` for an address that was read from memory."""

# which source operands an address can pass through (indices into the operands)
_CARRIES = {"add": (1, 2), "sub": (1,), "mov": (1,), "cvta": (1,), "cvt": (1,), "mad": (3,),
            "selp": (1, 2), "and": (1, 2), "or": (1, 2), "bfi": (2,), "lop3": (1, 2, 3),
            "min": (1, 2), "max": (1, 2), "slct": (1, 2), "addc": (1, 2), "shfl": (1,),
            "fma": (), "xor": (1, 2)}  # fmt: skip


def provenance(f: Function, spaces: dict[str, str]) -> dict[str, frozenset[Source]]:
    """The sources of each register.

    Parameters
    ----------
    f : Function
        A flattened kernel.
    spaces : dict
        Name of each variable to its memory space.
    """
    offsets, at = {}, 0
    for p in f.params:
        at = -(-at // p.align) * p.align
        offsets[p.name] = at
        at += p.nbytes
    known: dict[str, frozenset[Source]] = {}

    def of(x) -> frozenset[Source]:
        match x:
            case Reg(name):
                return known.get(name, frozenset())
            case Sym(name, _):
                return frozenset({(spaces[name], name)}) if name in spaces else frozenset()
            case Addr(base, _):
                return of(base)
        return frozenset()

    def sources(i: Instr) -> frozenset[Source]:
        if i.op == "ld":
            where = i.operands[1]
            if "param" in "".join(i.mods[:2]) and isinstance(where, Addr):
                base = where.base
                if isinstance(base, Sym) and base.name in offsets:
                    return frozenset({("param", offsets[base.name] + where.offset + base.offset)})
            return frozenset({("loaded", None)}) if i.mods[-1].endswith("64") else frozenset()
        out: frozenset[Source] = frozenset()
        for k in _CARRIES.get(i.op, ()):
            if k < len(i.operands) and not isinstance(i.operands[k], Imm | Vec):
                out |= of(i.operands[k])
        return out

    work = [i for i in f.code if i.operands and (i.op in _CARRIES or i.op == "ld")]
    changed = True
    rounds = 0
    while changed and rounds < 200:
        changed, rounds = False, rounds + 1
        for i in work:
            target = i.operands[0]
            items = target.items if isinstance(target, Vec) else (target,)
            new = sources(i)
            if not new:
                continue
            for x in items:
                if isinstance(x, Reg):
                    old = known.get(x.name, frozenset())
                    if not new <= old:
                        known[x.name] = old | new
                        changed = True
    return known
