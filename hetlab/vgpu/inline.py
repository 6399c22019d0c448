"""Calls become the body of what they call, so that a kernel is one flat list of instructions.

Parameters that functions pass to each other become registers.  What the device
runtime provides (``vprintf``, ``__assertfail``, grid synchronisation) stays a ``call``.
"""

from __future__ import annotations

from hetlab.vgpu.ir import SIZES, Addr, Function, Instr, Module, Neg, PtxError, Reg, Sym, Vec

__all__ = ["RUNTIME", "flatten"]

RUNTIME = {
    "malloc": "b64",
    "free": None,
    "vprintf": "b32",
    "__assertfail": None,
    "__assert_fail": None,
    "cudaCGGetIntrinsicHandle": "b64",
    "cudaCGSynchronize": "b32",
    "cudaCGSynchronizeGrid": "b32",
}
"""Functions of the device runtime and the type each returns."""

_LIMIT = 150_000  # instructions in a flattened kernel
_DEPTH = 64


def flatten(module: Module, entry: str) -> Function:
    """The kernel `entry` with every call inlined.

    Raises
    ------
    PtxError
        For recursion, calls through a register, and functions without a body.
    """
    if entry not in module.functions:
        raise PtxError(f"the module has no kernel {entry!r}; it has {module.entries()}")
    kernel = module.functions[entry]
    flat = Function(entry, True, kernel.params, [], line=kernel.line)
    _Flattener(module, flat).body(kernel, "", {}, None, ())
    _params_to_registers(flat)
    return flat


class _Flattener:
    def __init__(self, module: Module, flat: Function) -> None:
        self.module, self.flat, self.calls = module, flat, 0

    def body(self, f: Function, tag: str, names: dict, after: str | None, stack: tuple) -> None:
        """Append `f`; `tag` makes its names unique, `names` binds its parameters."""
        flat = self.flat
        local = {v.name: v.name + tag for v in f.vars if v.space in ("param", "local")}
        bound = {**local, **names}
        for var in f.vars:
            if var.space == "local":
                copy = type(var)(
                    "local", var.name + tag, var.type, var.nbytes, var.align, line=var.line
                )
                flat.vars.append(copy)
            elif var.space != "param" and not any(v.name == var.name for v in flat.vars):
                flat.vars.append(var)
        flat.regs.update({name + tag: kind for name, kind in f.regs.items()})
        flat.tables.update({k + tag: [x + tag for x in v] for k, v in f.tables.items()})
        at: dict[int, list[str]] = {}
        for label, index in f.labels.items():
            at.setdefault(index, []).append(label + tag)

        def rename(x):
            match x:
                case Reg(name):
                    return Reg(name + tag) if name in f.regs else x
                case Neg(reg):
                    return Neg(rename(reg))
                case Sym(name, offset):
                    return Sym(bound.get(name, name), offset)
                case Addr(base, offset):
                    return Addr(rename(base), offset)
                case Vec(items):
                    return Vec(tuple(rename(y) for y in items))
            return x

        for index, i in enumerate(f.code):
            for label in at.get(index, ()):
                flat.labels[label] = len(flat.code)
            if len(flat.code) > _LIMIT:
                raise i.error(f"the kernel has more than {_LIMIT} instructions with calls inlined")
            pred = (rename(i.pred[0]), i.pred[1]) if i.pred else None
            if i.op == "call":
                self.call(i, pred, rename, tag, (*stack, f.name))
            elif i.op == "ret" and after is not None:
                flat.code.append(Instr("bra", (), (Sym(after),), pred, i.loc, i.line))
            else:
                if i.op in ("bra", "brx"):
                    operands = tuple(
                        Sym(x.name + tag) if isinstance(x, Sym) else rename(x) for x in i.operands
                    )
                else:
                    operands = tuple(rename(x) for x in i.operands)
                flat.code.append(Instr(i.op, i.mods, operands, pred, i.loc, i.line))
        for label in at.get(len(f.code), ()):
            flat.labels[label] = len(flat.code)

    def call(self, i: Instr, pred, rename, tag: str, stack: tuple) -> None:
        target = next((k for k, x in enumerate(i.operands) if isinstance(x, Sym)), None)
        if target is None or isinstance(i.operands[0], Reg):
            # Through a function pointer.  Numba's reference counting has one behind a test that
            # is never true, so that the kernel is refused only where it gets there.
            self.flat.code.append(Instr("trap", (), (), pred, i.loc, i.line))
            return
        name = i.operands[target].name
        before, behind = i.operands[:target], i.operands[target + 1 :]
        results = [rename(x) for x in before[0].items] if before else []
        args = [rename(x) for x in behind[0].items] if behind else []
        if name in RUNTIME:
            operands = (Vec(tuple(results)), Sym(name), Vec(tuple(args)))
            self.flat.code.append(Instr("call", (name,), operands, pred, i.loc, i.line))
            return
        callee = self.module.functions.get(name)
        if callee is None:
            raise i.error(
                f"the function {name!r} is called and has no body here",
                "Compile the kernel together with its device functions (link them first).",
            )
        if name in stack or len(stack) > _DEPTH:
            raise i.error(
                f"{name!r} calls itself; the virtual GPU inlines all calls",
                "Write the recursion as a loop.",
            )
        # A caller may expect a result that a C function of type void never gives.
        if len(args) != len(callee.params) or len(results) < len(callee.returns):
            raise i.error(f"the call of {name!r} does not fit its parameters")
        self.calls += 1
        inner, after = f"~{self.calls}", f"after~{self.calls}"
        names: dict[str, str] = {}
        flat = self.flat
        if pred is not None:
            skip = Instr("bra", (), (Sym(after),), (pred[0], not pred[1]), i.loc, i.line)
            flat.code.append(skip)
        for var, x in zip(callee.params, args):
            if isinstance(x, Sym):
                names[var.name] = x.name
            else:
                names[var.name] = var.name + inner
                where = Addr(Sym(names[var.name]))
                mods = ("param", _bits(var))
                flat.code.append(Instr("st", mods, (where, x), None, i.loc, i.line))
        copies = []
        for var, x in zip(callee.returns, results):
            if isinstance(x, Sym):
                names[var.name] = x.name
            else:
                names[var.name] = var.name + inner
                copies.append((x, Addr(Sym(names[var.name])), ("param", _bits(var))))
        self.body(callee, inner, names, after, stack)
        flat.labels[after] = len(flat.code)
        for x, where, mods in copies:
            flat.code.append(Instr("ld", mods, (x, where), None, i.loc, i.line))
        if not copies:  # a label needs an instruction to stand before
            flat.code.append(Instr("nop", (), (), None, i.loc, i.line))


def _bits(var) -> str:
    return f"b{8 * SIZES[var.type]}" if var.type != "pred" else "pred"


def _params_to_registers(flat: Function) -> None:
    """Loads and stores of parameters that functions pass become moves between registers."""
    own = {p.name for p in flat.params}
    code, shift = [], {}
    for index, i in enumerate(flat.code):
        shift[index] = len(code)
        where = next((x for x in i.operands if isinstance(x, Addr)), None)
        if i.op == "call":
            results, name, args = i.operands
            regs = tuple(  # the stores in front of the call have given each argument its size
                _piece(flat, x.name, 0, flat.regs.get(f"{x.name}+0", "b64"))
                if isinstance(x, Sym)
                else x
                for x in args.items
            )
            outs = tuple(
                _piece(flat, x.name, 0, RUNTIME[name.name] or "b32") if isinstance(x, Sym) else x
                for x in results.items
            )
            code.append(Instr("call", i.mods, (Vec(outs), name, *regs), i.pred, i.loc, i.line))
            continue
        if (
            i.op not in ("ld", "st")
            or "param" not in "".join(i.mods[:2])
            or where is None
            or not isinstance(where.base, Sym)
            or where.base.name in own
        ):
            code.append(i)
            continue
        kind = i.mods[-1]
        if kind not in SIZES:
            raise i.error(f"{i.opcode!r} has no type that is known")
        value = i.operands[0] if i.op == "ld" else i.operands[1]
        items = value.items if isinstance(value, Vec) else (value,)
        offset = where.offset + where.base.offset
        for n, x in enumerate(items):
            piece = _piece(flat, where.base.name, offset + n * SIZES[kind], kind)
            held = SIZES[flat.regs[piece.name]]
            if i.op == "ld" and SIZES[kind] < held:  # a byte, or the low part of a promoted bool
                to = kind if kind[0] in "us" else f"u{8 * SIZES[kind]}"
                mods, pair = (to, f"u{8 * held}"), (x, piece)
                code.append(Instr("cvt", mods, pair, i.pred, i.loc, i.line))
                continue
            pair = (x, piece) if i.op == "ld" else (piece, x)
            code.append(Instr("mov", (_move_kind(kind),), pair, i.pred, i.loc, i.line))
    shift[len(flat.code)] = len(code)
    flat.labels = {name: shift[index] for name, index in flat.labels.items()}
    flat.code = code


def _move_kind(kind: str) -> str:
    return kind if SIZES[kind] > 1 else "b16"


def _piece(flat: Function, base: str, offset: int, kind: str) -> Reg:
    """The register that stands for the bytes of `base` from `offset`."""
    name = f"{base}+{offset}"
    size = max(SIZES[kind], 2)
    known = flat.regs.setdefault(name, f"b{8 * size}")
    if SIZES[known] < size:
        raise PtxError(
            f"the parameter {base} is written and read in pieces of different sizes", flat.line
        )
    return Reg(name)
