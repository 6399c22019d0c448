"""Basic blocks become Python functions over NumPy arrays.

Each block is one function ``block_N(q, L, R)``: `q` the batch, `L` the threads
that run it, `R` the registers.  A register is an array with one element a
thread of `L`, or a scalar where all agree; nothing ever writes into an array
that a register holds.  The function returns the next block, or for a divergent
branch the predicate and both blocks.
"""

from __future__ import annotations

import numpy as np

from hetlab.vgpu import semantics
from hetlab.vgpu.cfg import CARRY, Block, build, defs
from hetlab.vgpu.emit_ops import BlockWriter
from hetlab.vgpu.inline import flatten
from hetlab.vgpu.ir import SIZES, Imm, Instr, Module, PtxError, Sym, Vec
from hetlab.vgpu.program import Program, Site, line_counts
from hetlab.vgpu.provenance import provenance
from hetlab.vgpu.semantics import DTYPES
from hetlab.vgpu.wraps import mark_wraps

__all__ = ["compile_kernel"]


def compile_kernel(module: Module, entry: str) -> Program:
    """Compile one entry of a module."""
    try:
        return _Compiler(module, entry).program()
    except PtxError:
        raise
    except (LookupError, AttributeError, TypeError, ValueError, StopIteration) as cause:
        raise PtxError(f"{entry} has a form that the virtual GPU cannot read") from cause


class _Compiler:
    def __init__(self, module: Module, entry: str) -> None:
        self.f = f = flatten(module, entry)
        mark_wraps(f)
        self.module = module
        self.blocks = build(f)
        self.sites: list[Site] = []
        self.constants: list = []
        self.constant_names: dict = {}
        self.numbers: dict[str, int] = {}
        self.codes: dict[str, str] = {}
        self.fences = False
        self.params, at = {}, 0
        for p in f.params:
            at = -(-at // p.align) * p.align
            self.params[p.name] = at
            at += p.nbytes
        if at > 1 << 16:
            raise PtxError(f"{entry} has {at} bytes of parameters; at most 65536 are possible")
        self._place_variables()
        spaces = dict.fromkeys(self.shared, "shared") | dict.fromkeys(self.local, "local")
        spaces |= {v.name: "global" for v in self.variables}
        self.sources = provenance(f, spaces)
        self.needs_params = False

    # -- memory layout
    def _place_variables(self) -> None:
        f = self.f
        everything = [*self.module.vars.values(), *f.vars]
        used = _used_symbols(f, everything)
        self.shared, self.local, at, lat = {}, {}, 0, 0
        dynamic = [v for v in everything if v.space == "shared" and v.extern]
        for v in everything:
            if v.space == "shared" and not v.extern and v.name in used:
                at = -(-at // v.align) * v.align
                self.shared[v.name] = (at, v.nbytes)
                at += v.nbytes
            elif v.space == "local":
                lat = -(-lat // v.align) * v.align
                self.local[v.name] = (lat, v.nbytes)
                lat += v.nbytes
        align = max([v.align for v in dynamic], default=1)
        for v in dynamic:
            self.shared[v.name] = (-(-at // align) * align, 0)
        self.shared_bytes = -(-at // align) * align if dynamic else at
        self.local_bytes = -(-lat // 16) * 16
        if self.shared_bytes > 1 << 28 or self.local_bytes > 1 << 20:
            raise PtxError(
                f"{f.name} has {self.shared_bytes} bytes of shared memory a block and "
                f"{self.local_bytes} bytes of local memory a thread"
            )
        self.variables = [
            v for v in everything if v.space in ("global", "const") and v.name in used
        ]

    # -- registers
    def _number(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))

    def _width(self, name: str) -> int:
        """Bytes of a register as declared."""
        if name == CARRY.name:
            return 1
        return SIZES[self.f.regs[name]] if name in self.f.regs else 4

    def _storage(self) -> None:
        """A register is stored as the type of its first definition, to save conversions."""
        for b in self.blocks:
            for i in b.code:
                names = defs(i)
                if not names:
                    continue
                kinds = self._result_types(i)
                for name, kind in zip(names, kinds):
                    code = DTYPES.get(kind, "u4")
                    width = self._width(name)
                    if np.dtype(code).itemsize != width or (code == "b1") != (
                        self.f.regs.get(name, "pred") == "pred"
                    ):
                        code = "b1" if self.f.regs.get(name, "pred") == "pred" else f"u{width}"
                    self.codes.setdefault(name, code)

    def _result_types(self, i: Instr) -> list[str]:
        if i.op in semantics.TABLE and not isinstance(i.operands[0], Vec):
            try:
                return list(semantics.lookup(i).results)
            except PtxError:
                return []
        types = [m for m in i.mods if m in SIZES]
        return [types[-1] if types else "b32"] * 8

    def _code(self, name: str) -> str:
        code = self.codes.get(name)
        if code is None:
            kind = self.f.regs.get(name)
            code = "b1" if kind == "pred" or name == CARRY.name else f"u{self._width(name)}"
            self.codes[name] = code
        return code

    # -- constants
    def constant(self, value, code: str) -> str:
        """A NumPy scalar as a name."""
        scalar = np.dtype(code).type(value)
        key = (code, scalar.tobytes())
        name = self.constant_names.get(key)
        if name is None:
            name = self.constant_names[key] = f"K[{len(self.constants)}]"
            self.constants.append(scalar)
        return name

    def immediate(self, x: Imm, t: str, i: Instr) -> str:
        code, size = DTYPES[t], SIZES[t]
        if isinstance(x.value, float):
            if t == "f64" or (t == "b64" and x.width == 64):
                return self.constant(np.float64(x.value).view(code), code)
            if size == 4:
                return self.constant(np.float32(x.value).view(code), code)
            if size == 8:
                return self.constant(np.float64(x.value).view(code), code)
            raise i.error(f"the constant {x.value} does not fit the type .{t}")
        if t == "pred":
            return self.constant(bool(x.value), "b1")
        if code[0] == "f" and not x.width:
            bits = x.value & ((1 << 8 * size) - 1)
            raw = np.dtype(f"u{size}").type(bits)
            return self.constant(raw.view(code), code)
        if size > 8:
            raise i.error("128-bit constants are not supported")
        bits = int(x.value) & ((1 << 8 * size) - 1)
        return self.constant(np.dtype(f"u{size}").type(bits).view(code), code)

    def symbol(self, x: Sym, i: Instr) -> int | str:
        """The address of a variable: an int in its space, or an expression for global ones."""
        if x.name in self.shared:
            return self.shared[x.name][0] + x.offset
        if x.name in self.local:
            return self.local[x.name][0] + x.offset
        if any(v.name == x.name for v in self.variables):
            return f"q.run.address({x.name!r}, {x.offset})"
        if x.name in self.params:
            self.needs_params = True
            return f"q.run.param_address({self.params[x.name] + x.offset})"
        raise i.error(f"{x.name!r} is not defined")

    # -- the program
    def program(self) -> Program:
        self._storage()
        texts = []
        for n, b in enumerate(self.blocks):
            texts.append(BlockWriter(self, n, b).text())
        masks, mask_texts = [], []
        for n, b in enumerate(self.blocks):
            text = _gate_text(self, n, b)
            masks.append(text is not None)
            mask_texts.append(text or "")
        source = "\n".join([*texts, *(t for t in mask_texts if t)])
        scope = {**semantics.names, "K": self.constants, "S": self.sites}
        exec(compile(source, f"<ptx {self.f.name[:60]}>", "exec"), scope)
        for name in self.numbers:
            self._code(name)
        initial = [np.dtype(self._code(name)).type(0) for name in self.numbers]
        return Program(
            name=self.f.name,
            params=self.f.params,
            functions=[scope[f"block_{n}"] for n in range(len(self.blocks))],
            blocks=self.blocks,
            live=[
                tuple(sorted(self._number(r) for r in b.live_in if r in self.numbers))
                for b in self.blocks
            ],
            initial=initial,
            sites=self.sites,
            shared=self.shared,
            shared_bytes=self.shared_bytes,
            local_bytes=self.local_bytes,
            lines=[line_counts(b) for b in self.blocks],
            variables=self.variables,
            source=source,
            fences=self.fences,
            needs_params=self.needs_params,
            uses_grid_sync=any(b.gate == "grid" for b in self.blocks),
            target=self.module.target,
            masks=[scope.get(f"gate_{n}") for n in range(len(self.blocks))],
            local_vars=self.local,
        )


def _used_symbols(f, everything) -> set[str]:
    """Variables that the kernel names, and those that their initial values point to."""
    from hetlab.vgpu.cfg import symbols

    by_name = {v.name: v for v in everything}
    used, work = set(), list(symbols(f))
    while work:
        name = work.pop()
        if name in by_name and name not in used:
            used.add(name)
            work.extend(ref for _, ref, _ in by_name[name].refs)
    return used


def _gate_text(c: _Compiler, n: int, b: Block) -> str | None:
    """A function giving the member mask (warp gates) or barrier number and count."""
    if b.gate not in ("warp", "barrier"):
        return None
    writer = BlockWriter(c, n, b)
    i = b.code[0]
    if b.gate == "warp":
        x = None
        if i.op in ("bar", "barrier"):
            x = i.operands[0]
        elif i.op in ("shfl", "vote", "match", "redux"):
            x = i.operands[-1]
        value = writer.read(x, "u32", i) if x is not None else c.constant(0xFFFFFFFF, "u4")
        body = f"    return {value}"
    else:
        at = 1 if "red" in i.mods else 0
        operands = i.operands[at:-1] if at else i.operands
        number = writer.read(operands[0], "u32", i) if operands else c.constant(0, "u4")
        count = writer.read(operands[1], "u32", i) if len(operands) > 1 else "None"
        body = f"    return {number}, {count}"
    return "\n".join([f"def gate_{n}(q, L, R):", *writer.loads(), body])
