"""The text of one block's function: registers, addresses, plain instructions, the jump."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu import semantics
from hetlab.vgpu.cfg import CARRY, Block
from hetlab.vgpu.ir import SIZES, Addr, Imm, Instr, Neg, PtxError, Reg, Sym, Vec
from hetlab.vgpu.memory import LOCAL_WINDOW, SHARED_WINDOW
from hetlab.vgpu.program import Site
from hetlab.vgpu.semantics import DTYPES
from hetlab.vgpu.tensor_runs import plan

__all__ = ["BlockEmitter"]

_STRONG = {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "sc"}
_SPECIAL = ("tid", "ntid", "ctaid", "nctaid", "laneid", "warpid", "nwarpid", "smid", "nsmid",
            "gridid", "clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo",
            "globaltimer_hi",
            "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge", "envreg1",
            "envreg2", "dynamic_smem_size", "total_smem_size", "aggr_smem_size", "clusterid",
            "nclusterid", "cluster_ctaid", "cluster_nctaid", "cluster_ctarank", "cluster_nctarank",
            "is_explicit_cluster", "reserved_smem_offset_begin")  # fmt: skip
_WIDE_SPECIAL = {"clock64", "globaltimer", "gridid"}


class BlockEmitter:
    """Writes the function of one block."""

    def __init__(self, compiler, number: int, block: Block) -> None:
        self.c, self.n, self.b = compiler, number, block
        self.lines: list[str] = []
        self.loaded: dict[str, str] = {}
        self.written: dict[str, str] = {}
        self.version: dict[str, int] = {}
        self.known: dict = {}  # addresses and predicate subsets already computed
        self.serial = 0

    def loads(self) -> list[str]:
        return [f"    {local} = R[{self.c._number(name)}]" for name, local in self.loaded.items()]

    def text(self) -> str:
        code, at = self.b.code, 0
        while at < len(code):
            i = code[at]
            run = plan(code[at:]) if i.op == "mma" and i.mods[-1] != "f16" else None
            if run:  # f16 sums are rounded after each instruction
                for move in run.moves:
                    self.instruction(move)
                self.mma_run(run, i)
            else:
                self.instruction(i)
            at += run.length if run else 1
        end = self._jump()
        out = [f"def block_{self.n}(q, L, R):", "    M = q.memory", *self.loads(), *self.lines]
        for name in self.written:
            if name in self.b.live_out:
                out.append(f"    R[{self.c._number(name)}] = {self._local(name)}")
        return "\n".join([*out, *end])

    def emit(self, text: str) -> None:
        self.lines.append("    " + text)

    def fresh(self, stem: str) -> str:
        self.serial += 1
        return f"{stem}{self.serial}"

    # -- registers
    def _local(self, name: str) -> str:
        return f"r{self.c._number(name)}"

    def _special(self, name: str, i: Instr) -> tuple[str, str]:
        stem = name[1:]
        base = stem.split(".")[0]
        if base not in _SPECIAL and not base.startswith("envreg"):
            raise i.error(
                f"the register {name} is not declared and is no special register",
                f"Please report the register {name}.",
            )
        code = "u8" if base in _WIDE_SPECIAL else "u4"
        return f"q.special(L, {stem!r})", code

    def raw(self, name: str, i: Instr) -> tuple[str, str]:
        """Expression and type code of a register as it is stored."""
        if name not in self.c.f.regs and name != CARRY.name:
            return self._special(name, i)
        local = self._local(name)
        if name not in self.loaded and name not in self.written:
            self.loaded[name] = local
        return local, self.c._code(name)

    def read(self, x, t: str, i: Instr) -> str:
        """An operand as an expression of PTX type `t`."""
        c, want, size = self.c, DTYPES[t], SIZES[t]
        match x:
            case Reg(name):
                text, code = self.raw(name, i)
            case Neg(reg):
                return f"(~{self.read(reg, 'pred', i)})"
            case Imm():
                return c.immediate(x, t, i)
            case Sym("WARP_SZ"):
                return c.constant(32, want)
            case Sym():
                where = c.symbol(x, i)
                if size < (4 if isinstance(where, int) else 8):
                    raise i.error(f"{i.opcode!r} has no room for the address of {x.name}")
                if isinstance(where, int):
                    return c.constant(where, want)
                return f"{want}({where})"
            case _:
                raise i.error(f"{i.opcode!r} cannot take this operand")
        if code == want:
            return text
        have = np.dtype(code).itemsize
        if (code == "b1") != (want == "b1"):
            raise i.error(f"{i.opcode!r} mixes a predicate and a number")
        if have == size:
            return f"{text}.view({want})"
        bits = text if code[0] == "u" else f"{text}.view(u{have})"
        text = f"{bits}.astype(u{size})"
        return text if want == f"u{size}" else f"{text}.view({want})"

    def fit(self, x, t: str, text: str, i: Instr) -> str:
        """An expression of PTX type `t` as the type that the register `x` is stored in."""
        if not isinstance(x, Reg) or (x.name not in self.c.f.regs and x != CARRY):
            raise i.error(f"{i.opcode!r} needs a register for its result")
        have, want = DTYPES[t], self.c._code(x.name)
        got, size = np.dtype(have).itemsize, np.dtype(want).itemsize
        if have == want:
            return text
        if (have == "b1") != (want == "b1") or got > size:
            raise i.error(f"the result of {i.opcode!r} does not fit the register {x.name}")
        if got < size:  # sign- or zero-extended
            if have[0] == "f":
                text, have = f"({text}).view(u{got})", f"u{got}"
            have = f"{have[0]}{size}"
            text = f"({text}).astype({have})"
        return text if have == want else f"({text}).view({want})"

    def write(self, x, t: str, text: str, i: Instr, keep: str | None = None) -> None:
        """Assign an expression of PTX type `t`; `keep` is a predicate under which it happens."""
        if x is None:
            return
        text = self.fit(x, t, text, i)
        if keep is not None:
            text = f"sel({keep}, {text}, {self.raw(x.name, i)[0]})"
        self._assign(x.name, text)

    def arrive(self, x, t: str, text: str, i: Instr, lanes: str) -> None:
        """Assign an expression that has one element for each thread of `lanes`."""
        text = self.fit(x, t, text, i)
        if lanes != "L":
            text = f"{lanes}.put({text}, {self.raw(x.name, i)[0]}, L.n)"
        self._assign(x.name, text)

    def _assign(self, name: str, text: str) -> None:
        local = self._local(name)
        self.emit(f"{local} = {text}")
        self.written[name] = local
        self.version[name] = self.version.get(name, 0) + 1

    # -- addresses
    def lanes(self, keep: str | None) -> str:
        """The name of the threads that execute: `L`, or those under the predicate."""
        if keep is None:
            return "L"
        return self.known[keep]

    def address(self, x: Addr, space: str, i: Instr, lanes: str) -> tuple[str, int]:
        """The name of an `Addresses` and the constant that is added to it."""
        offset = x.offset
        match x.base:
            case Reg(name):
                key = (name, self.version.get(name, 0), lanes, space)
                text, code = self.raw(name, i)
                if np.dtype(code).itemsize < 4:
                    raise i.error("an address must have 32 or 64 bits")
            case Sym(name, more):
                where = self.c.symbol(x.base, i)
                own = name in self.c.shared or name in self.c.local
                if space == "generic" and own:
                    base = SHARED_WINDOW if name in self.c.shared else LOCAL_WINDOW
                    where = where + base
                key = ("sym", name, more, lanes, space)
                text = self.c.constant(where, "u8") if isinstance(where, int) else f"u8({where})"
            case Imm(value):
                key = ("imm", value, lanes, space)
                text = self.c.constant(int(value) & (2**64 - 1), "u8")
            case _:
                raise i.error("this form of address is not supported")
        found = self.known.get(key)
        if found is None:
            found = self.fresh("A")
            inner = text if lanes == "L" else f"{lanes}.take({text})"
            at = "shared_at" if space == "shared" else "at"
            self.emit(f"{found} = M.{at}({lanes}, {inner})")
            self.known[key] = found
        return found, offset

    def site(self, i: Instr, op: str, space: str, t: str, parts: int, where: Addr) -> str:
        c = self.c
        base = where.base
        sources = frozenset()
        if isinstance(base, Reg):
            sources = c.sources.get(base.name, frozenset())
        elif isinstance(base, Sym):
            kind = (
                "shared" if base.name in c.shared else "local" if base.name in c.local else "global"
            )
            sources = frozenset({(kind, base.name)})
        site = Site(
            len(c.sites), op, space, DTYPES[t], SIZES[t], parts,
            i.loc.place() if i.loc else ("", 0), i.line, i.opcode, sources,
            strong=bool(_STRONG & set(i.mods)) or op == "atomic",
        )  # fmt: skip
        site.acquires = op != "store" and site.strong
        site.releases = op != "load" and bool({"release", "acq_rel", "sc"} & set(i.mods))
        c.fences |= site.releases
        site.register = c._number(base.name) if isinstance(base, Reg) else None
        site.offset = where.offset
        if isinstance(base, Sym) and base.name in c.shared:
            site.offset += c.symbol(base, i)
        c.sites.append(site)
        return f"S[{site.id}]"

    def wrapped(self, i: Instr, site: str, at: str, offset: int, lanes: str) -> None:
        """Look whether an index of this access counts from the end of its array."""
        for name in i.wraps:
            text, _ = self.raw(name, i)
            if lanes != "L":
                text = f"{lanes}.take({text})"
            self.emit(f"M.wrapped({site}, {at}, {offset}, {text})")

    # -- instructions
    def instruction(self, i: Instr) -> None:
        """Write one instruction; operands that make no sense are an error with its line."""
        try:
            self._instruction(i)
        except PtxError:
            raise
        except (LookupError, AttributeError, TypeError, ValueError, StopIteration) as cause:
            raise i.error(f"the operands of {i.opcode!r} do not fit it") from cause

    def _instruction(self, i: Instr) -> None:
        keep = None
        if i.pred is not None:
            reg, negated = i.pred
            keep = self.read(Neg(reg) if negated else reg, "pred", i)
        handler = getattr(self, f"op_{i.op}", None)
        if handler is None:
            self._table(i, keep)
            return
        if keep is None:
            handler(i, None)
            return
        # instructions with side effects run with just the threads whose predicate holds
        name = self.fresh("P")
        group = self.fresh("G")
        self.emit(f"{name} = {keep}")
        self.emit(f"{group} = L.narrow({name})")
        self.known[name] = group
        before = self.lines
        self.lines = []
        known = dict(self.known)
        handler(i, name)
        self.known = known
        body, self.lines = self.lines, before
        self.emit(f"if {group} is not None:")
        self.lines.extend("    " + line for line in body)
        if not body:
            self.emit("    pass")

    def _table(self, i: Instr, keep: str | None) -> None:
        if i.op == "mov" and any(isinstance(x, Vec) for x in i.operands):
            return self._mov_vector(i, keep)
        sem = semantics.lookup(i)
        target = i.operands[0] if i.operands else None
        targets = list(target.items) if isinstance(target, Vec) else [target]
        operands = list(i.operands[1:])
        if i.op in ("addc", "subc", "madc"):
            operands.append(CARRY)
        if "cc" in i.mods:
            targets.append(CARRY)
        if len(operands) != len(sem.sources) or len(targets) > len(sem.results):
            raise i.error(
                f"{i.opcode!r} has {len(operands)} source operands, not {len(sem.sources)}"
            )
        if i.op == "selp" and isinstance(operands[2], Imm):
            raise i.error("selp needs a predicate")
        values = [self.read(x, t, i) for x, t in zip(operands, sem.sources)]
        text = sem.code.format(*values)
        if len(sem.results) == 1:
            return self.write(targets[0], sem.results[0], text, i, keep)
        names = [self.fresh("t") for _ in sem.results]
        self.emit(f"{', '.join(names)} = {text}")
        for x, t, name in zip(targets, sem.results, names):
            self.write(x, t, name, i, keep)
        return None

    def _mov_vector(self, i: Instr, keep) -> None:
        target, source = i.operands
        t = i.mods[-1]
        if isinstance(target, Vec) and isinstance(source, Vec):
            for x, y in zip(target.items, source.items):
                self.write(x, t, self.read(y, t, i), i, keep)
            return
        items = (target if isinstance(target, Vec) else source).items
        size = SIZES[t] // len(items)
        if SIZES[t] == 16 or size not in (1, 2, 4):
            raise semantics.unknown(i)
        part, whole = f"b{8 * size}", f"b{SIZES[t] * 8}"
        u = DTYPES[whole]
        if isinstance(target, Vec):
            value = self.fresh("t")
            self.emit(f"{value} = {self.read(source, whole, i)}")
            for k, x in enumerate(items):
                shifted = f"({value} >> {self.c.constant(8 * size * k, u)})" if k else value
                self.write(x, part, f"{shifted}.astype(u{size})", i, keep)
            return
        terms = []
        for k, x in enumerate(items):
            term = f"{self.read(x, part, i)}.astype({u})"
            terms.append(f"({term} << {self.c.constant(8 * size * k, u)})" if k else term)
        self.write(target, whole, " | ".join(terms), i, keep)

    # -- the end
    def _jump(self) -> list[str]:
        i, b = self.b.jump, self.b
        if i is None:
            return [f"    return {b.successors[0]}"]
        head = []
        if i.op == "brx":
            if i.pred is not None:
                raise semantics.unknown(i)
            index = self.read(i.operands[0], "u32", i)
            return [f"    return q.table(L, {index}, {tuple(b.successors)!r})"]
        if i.pred is None:
            if i.op == "trap":
                place = i.loc.place() if i.loc else ("", 0)
                head = [f"    q.trap(L, {place!r})"]
            return [*head, f"    return {b.successors[0]}"]
        reg, negated = i.pred
        p = self.read(Neg(reg) if negated else reg, "pred", i)
        if i.op == "trap":
            place = i.loc.place() if i.loc else ("", 0)
            return [
                f"    q.trap_where(L, {p}, {place!r})",
                f"    return {p}, {b.successors[0]}, {b.successors[1]}",
            ]
        if b.successors[0] == b.successors[1]:
            return [f"    return {b.successors[0]}"]
        return [f"    return {p}, {b.successors[0]}, {b.successors[1]}"]
