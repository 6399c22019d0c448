"""The text of instructions that touch memory, warps, barriers or the device runtime."""

from __future__ import annotations

from hetlab.vgpu import semantics
from hetlab.vgpu.emit import BlockEmitter
from hetlab.vgpu.inline import RUNTIME
from hetlab.vgpu.ir import SIZES, Addr, Imm, Instr, Reg, Sym, Vec
from hetlab.vgpu.semantics import DTYPES
from hetlab.vgpu.tensor import PER_WORD, ldmatrix, mma
from hetlab.vgpu.tensor_runs import Plan, product

__all__ = ["BlockWriter"]

_SPACES = ("global", "shared", "local", "const", "param")
_SHAPES = {
    "m16n8k16": ("f16", "bf16", "s8", "u8"),
    "m16n8k8": ("f16", "bf16", "tf32"),
    "m16n8k4": ("tf32",),
    "m16n8k32": ("s8", "u8"),
    "m8n8k4": ("f64",),
}
_ATOMIC_OPS = ("add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec")


semantics.names.update(ldmatrix=ldmatrix, mma=mma, product=product)


class BlockWriter(BlockEmitter):
    """Writes the function of one block; ``op_ld`` handles ``ld``, and so on."""

    def _space(self, i: Instr) -> str:
        for m in i.mods:
            head = m.split(":")[0]
            if head in _SPACES:
                return head
        return "generic"

    def _parts(self, i: Instr) -> int:
        return next((int(m[1:]) for m in i.mods if m in ("v2", "v4", "v8")), 1)

    def op_ld(self, i: Instr, keep) -> None:
        t, space, parts = i.mods[-1], self._space(i), self._parts(i)
        if t not in DTYPES or len(i.operands) != 2 or not isinstance(i.operands[1], Addr):
            raise semantics.unknown(i)
        target, where = i.operands
        items = target.items if isinstance(target, Vec) else (target,)
        if len(items) != parts:
            raise i.error(f"{i.opcode!r} loads {parts} values into {len(items)} registers")
        if space == "param":
            base = where.base
            if isinstance(base, Sym) and base.name in self.c.params:
                at = self.c.params[base.name] + base.offset + where.offset
                for k, x in enumerate(items):
                    text = f"q.run.param({at + k * SIZES[t]}, {DTYPES[t]!r})"
                    self.write(x, t, text, i, keep)
                return
            space = "const"
        site = self.site(i, "load", space, t, parts, where)
        lanes = self.lanes(keep)
        at, offset = self.address(where, space, i, lanes)
        value = self.fresh("t")
        self.emit(f"{value} = M.load_{space}({site}, {at}, {offset})")
        self.wrapped(i, site, at, offset, lanes)
        for k, x in enumerate(items):
            if x is not None:
                self.arrive(x, t, value if parts == 1 else f"{value}[{k}]", i, lanes)

    def op_st(self, i: Instr, keep) -> None:
        t, space, parts = i.mods[-1], self._space(i), self._parts(i)
        if t not in DTYPES or len(i.operands) != 2 or not isinstance(i.operands[0], Addr):
            raise semantics.unknown(i)
        where, source = i.operands
        items = source.items if isinstance(source, Vec) else (source,)
        if len(items) != parts:
            raise i.error(f"{i.opcode!r} stores {parts} values from {len(items)} registers")
        if space in ("const", "param"):
            raise i.error(f"a kernel cannot store to .{space} memory")
        site = self.site(i, "store", space, t, parts, where)
        lanes = self.lanes(keep)
        at, offset = self.address(where, space, i, lanes)
        values = [self.read(x, t, i) for x in items]
        if lanes != "L":
            values = [f"{lanes}.take({v})" for v in values]
        self.emit(f"M.store_{space}({site}, {at}, {offset}, ({', '.join(values)},))")
        self.wrapped(i, site, at, offset, lanes)

    def op_cp(self, i: Instr, keep) -> None:
        lanes = self.lanes(keep)
        if "commit_group" in i.mods:
            self.emit(f"q.copies.commit({lanes})")
            return
        if "wait_group" in i.mods or "wait_all" in i.mods:
            groups = i.operands[0].value if i.operands else 0
            self.emit(f"q.copies.wait({lanes}, {int(groups)}, {'wait_all' in i.mods})")
            return
        size = i.operands[2].value if len(i.operands) > 2 else 0
        if i.mods[0] != "async" or "global" not in i.mods[1:] or size not in (4, 8, 16):
            raise semantics.unknown(i)
        target, source = i.operands[:2]
        t, parts = ("b32", 1) if size == 4 else ("b64", size // 8)
        load = self.site(i, "load", "global", t, parts, source)
        store = self.site(i, "store", "shared", t, parts, target)
        a, offset = self.address(source, "global", i, lanes)
        b, at = self.address(target, "shared", i, lanes)
        left = self.read(i.operands[3], "u32", i) if len(i.operands) > 3 else "None"
        left = f"{lanes}.take({left})" if lanes != "L" else left
        self.emit(f"q.copies.start({load}, {store}, {a}, {offset}, {b}, {at}, {left})")

    def op_ldmatrix(self, i: Instr, keep) -> None:
        count = next((int(m[1]) for m in i.mods if m in ("x1", "x2", "x4")), 0)
        target, where = i.operands
        items = target.items if isinstance(target, Vec) else (target,)
        if keep is not None or "m8n8" not in i.mods or i.mods[-1] != "b16" or len(items) != count:
            raise semantics.unknown(i)
        site = self.site(i, "load", "shared", "b32", 4, where)
        at, offset = self.address(where, "shared", i, "L")
        value = self.fresh("t")
        call = f"ldmatrix(M, {site}, {at}, {offset}, {count}, {'trans' in i.mods})"
        self.emit(f"{value} = {call}")
        for k, x in enumerate(items):
            self.write(x, "b32", f"{value}[{k}]", i)

    def op_mma(self, i: Instr, keep) -> None:
        shape, kinds = self._mma_form(i, keep)
        inner, outer = self._mma_words(kinds)
        a, b, c = (x.items if isinstance(x, Vec) else (x,) for x in i.operands[1:])
        a, b = (", ".join(self.read(x, inner, i) for x in part) for part in (a, b))
        c = ", ".join(self.read(x, outer, i) for x in c)
        value, limits = self.fresh("t"), "satfinite" in i.mods
        self.emit(f"{value} = mma(L, {shape}, {kinds!r}, {limits}, ({a},), ({b},), ({c},))")
        target = i.operands[0]
        for r, x in enumerate(target.items if isinstance(target, Vec) else (target,)):
            self.write(x, outer, f"{value}[{r}]", i)

    def mma_run(self, run: Plan, i: Instr) -> None:
        """Several ``mma`` as one product."""
        shape, kinds = self._mma_form(i, None)
        inner, outer = self._mma_words(kinds)

        def words(parts, t: str) -> str:
            return "".join(f"({', '.join(self.read(x, t, i) for x in p)},), " for p in parts)

        results = ", ".join(
            f"({row}, {column}, ({', '.join(self.read(x, outer, i) for x in c)},))"
            for row, column, c, _ in run.chains
        )
        value, limits = self.fresh("t"), "satfinite" in i.mods
        self.emit(
            f"{value} = product(L, {shape}, {kinds!r}, {limits}, ({words(run.a, inner)}), "
            f"({words(run.b, inner)}), {run.rows!r}, {run.columns!r}, ({results},))"
        )
        targets = [x for *_, d in run.chains for x in d]
        for r, x in enumerate(targets):
            self.write(x, outer, f"{value}[{r}]", i)

    def _mma_words(self, kinds) -> tuple[str, str]:
        """PTX types of the registers of A and B, and of C and D."""
        inner = "f64" if kinds[1] == "f64" else "b32"
        return inner, "b32" if kinds[0] == "f16" else kinds[0]

    def _mma_form(self, i: Instr, keep):
        """The shape and the types of an ``mma``; an error for those that are not known."""
        kinds = tuple(m for m in i.mods if m in SIZES)
        shape = next((m for m in i.mods if m in _SHAPES), None)
        if (
            keep is not None
            or shape is None
            or kinds[1] not in _SHAPES[shape]
            or "row" not in i.mods
            or len(kinds) != 4
            or kinds[0] != kinds[3]
        ):
            raise semantics.unknown(i)
        d, *sources = (x.items if isinstance(x, Vec) else (x,) for x in i.operands)
        m, n, k = (int(x) for x in shape[1:].replace("n", " ").replace("k", " ").split())
        per = PER_WORD[kinds[1]] * 32
        wanted = (m * k // per, n * k // per, m * n // (64 if kinds[0] == "f16" else 32))
        if tuple(map(len, sources)) != wanted or len(d) != wanted[2]:
            raise i.error(f"{i.opcode!r} has fragments of the wrong size")
        return (m, n, k), kinds

    def op_atom(self, i: Instr, keep) -> None:
        result = i.op == "atom"
        t, space = i.mods[-1], self._space(i)
        op = next((m for m in i.mods if m in _ATOMIC_OPS), None)
        if op is None or t not in DTYPES or SIZES[t] > 8 or self._parts(i) > 1:
            raise semantics.unknown(i)
        where, *sources = i.operands[1:] if result else i.operands
        if not isinstance(where, Addr) or len(sources) != (2 if op == "cas" else 1):
            raise i.error(f"{i.opcode!r} has the wrong operands")
        site = self.site(i, "atomic", space, t, 1, where)
        lanes = self.lanes(keep)
        at, offset = self.address(where, space, i, lanes)
        values = [self.read(x, t, i) for x in sources]
        if lanes != "L":
            values = [f"{lanes}.take({v})" for v in values]
        wanted = result and i.operands[0] is not None
        call = f"M.atomic({site}, {at}, {offset}, {op!r}, {t!r}, ({', '.join(values)},), {wanted})"
        if not wanted:
            self.emit(call)
            return
        value = self.fresh("t")
        self.emit(f"{value} = {call}")
        self.arrive(i.operands[0], t, value, i, lanes)

    op_red = op_atom

    def op_bar(self, i: Instr, keep) -> None:
        lanes = self.lanes(keep)
        if "warp" in i.mods:
            self.emit(f"q.warp_synced({lanes}, {self.read(i.operands[0], 'u32', i)})")
            return
        for number in i.operands[1:2] if "red" in i.mods else i.operands[:1]:
            if isinstance(number, Imm) and not 0 <= number.value <= 15:
                raise i.error(f"a block has the barriers 0 to 15, not {number.value}")
        if "arrive" in i.mods:
            number, count = (self.read(x, "u32", i) for x in i.operands)
            self.emit(f"q.arrive({lanes}, {number}, {count})")
        elif "red" in i.mods:
            op = next(m for m in i.mods if m in ("popc", "and", "or"))
            value = self.read(i.operands[-1], "pred", i)
            t = "u32" if op == "popc" else "pred"
            self.arrive(i.operands[0], t, f"q.barrier_reduce({lanes}, {op!r}, {value})", i, lanes)
        elif "sync" not in i.mods:
            raise semantics.unknown(i)

    op_barrier = op_bar

    def op_membar(self, i: Instr, keep) -> None:
        if not {"cta", "proxy"} & set(i.mods):
            self.c.fences = True
            self.emit(f"q.run.released({self.lanes(keep)}, q)")

    op_fence = op_membar

    def op_shfl(self, i: Instr, keep) -> None:
        if "sync" not in i.mods or len(i.operands) != 5:
            raise i.error("shfl without .sync does not exist on sm_70 and newer")
        lanes = self.lanes(keep)
        target, *sources = i.operands
        a, b, c, mask = (self.read(x, "b32", i) for x in sources)
        value = self.fresh("t")
        mode = next(m for m in i.mods if m in ("up", "down", "bfly", "idx"))
        args = ", ".join(x if lanes == "L" else f"{lanes}.take({x})" for x in (a, b, c, mask))
        self.emit(f"{value} = q.warp.shfl({lanes}, {mode!r}, {i.line}, {args})")
        items = target.items if isinstance(target, Vec) else (target,)
        for k, (x, t) in enumerate(zip(items, ("b32", "pred"))):
            if x is not None:
                self.arrive(x, t, f"{value}[{k}]", i, lanes)

    def op_vote(self, i: Instr, keep) -> None:
        op = next((m for m in i.mods if m in ("all", "any", "uni", "ballot")), None)
        if "sync" not in i.mods or op is None:
            raise i.error("vote without .sync does not exist on sm_70 and newer")
        lanes = self.lanes(keep)
        p, mask = self.read(i.operands[1], "pred", i), self.read(i.operands[2], "b32", i)
        if lanes != "L":
            p, mask = f"{lanes}.take({p})", f"{lanes}.take({mask})"
        t = "b32" if op == "ballot" else "pred"
        self.arrive(i.operands[0], t, f"q.warp.vote({lanes}, {op!r}, {p}, {mask})", i, lanes)

    def op_match(self, i: Instr, keep) -> None:
        lanes = self.lanes(keep)
        t = i.mods[-1]
        a, mask = self.read(i.operands[1], t, i), self.read(i.operands[2], "b32", i)
        target = i.operands[0]
        items = target.items if isinstance(target, Vec) else (target,)
        value = self.fresh("t")
        if lanes != "L":
            a, mask = f"{lanes}.take({a})", f"{lanes}.take({mask})"
        self.emit(f"{value} = q.warp.match({lanes}, {'all' in i.mods}, {a}, {mask})")
        for k, (x, kind) in enumerate(zip(items, ("b32", "pred"))):
            if x is not None:
                self.arrive(x, kind, f"{value}[{k}]", i, lanes)

    def op_redux(self, i: Instr, keep) -> None:
        lanes = self.lanes(keep)
        op = next(m for m in i.mods if m in ("add", "min", "max", "and", "or", "xor"))
        t = i.mods[-1]
        a, mask = self.read(i.operands[1], t, i), self.read(i.operands[2], "b32", i)
        if lanes != "L":
            a, mask = f"{lanes}.take({a})", f"{lanes}.take({mask})"
        self.arrive(i.operands[0], t, f"q.warp.redux({lanes}, {op!r}, {a}, {mask})", i, lanes)

    def op_activemask(self, i: Instr, keep) -> None:
        lanes = self.lanes(keep)
        self.arrive(i.operands[0], "b32", f"q.warp.activemask({lanes})", i, lanes)

    def op_call(self, i: Instr, keep) -> None:
        lanes = self.lanes(keep)
        results, name, *args = i.operands
        values = (
            ", ".join(self.read(x, "b64", i) for x in args)
            if name.name != "cudaCGSynchronize"
            else ""
        )
        if lanes != "L":
            values = ", ".join(f"{lanes}.take({self.read(x, 'b64', i)})" for x in args)
        place = i.loc.place() if i.loc else ("", 0)
        call = f"q.runtime.{name.name}({lanes}, {place!r}{', ' if values else ''}{values})"
        x = results.items[0] if results.items else None
        if isinstance(x, Reg) and x.name in self.c.f.regs:
            self.arrive(x, RUNTIME[name.name] or "b32", call, i, lanes)
        else:
            self.emit(call)

    def _nothing(self, i: Instr, keep) -> None:
        """Instructions without an effect here."""

    op_nop = op_nanosleep = op_pmevent = op_prefetch = op_prefetchu = op_discard = _nothing
    op_applypriority = op_griddepcontrol = op_brkpt = op_setmaxnreg = _nothing

    def op_mbarrier(self, i: Instr, keep) -> None:
        """Library code may hold it on paths that are never taken: an error when it is reached."""
        self.c.constants.append(semantics.unknown(i))
        self.emit(f"raise K[{len(self.c.constants) - 1}]")
