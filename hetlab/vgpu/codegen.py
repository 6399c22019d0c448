"""Basic blocks become Python functions over NumPy arrays.

Each block is one function ``block_N(q, L, R)``: `q` the batch, `L` the threads
that run it, `R` the registers.  A register is an array with one element a
thread of `L`, or a scalar where all agree; nothing ever writes into an array
that a register holds.  The function returns the next block, or for a divergent
branch the predicate and both blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from hetlab.vgpu import semantics
from hetlab.vgpu.cfg import CARRY, Block, build, defs
from hetlab.vgpu.inline import flatten
from hetlab.vgpu.ir import SIZES, Addr, Imm, Instr, Module, Neg, PtxError, Reg, Sym, Var, Vec
from hetlab.vgpu.memory import LOCAL_WINDOW, SHARED_WINDOW
from hetlab.vgpu.provenance import provenance
from hetlab.vgpu.semantics import DTYPES
from hetlab.vgpu.wraps import mark_wraps

__all__ = ["Program", "Site", "compile_kernel"]

_SPACES = ("global", "shared", "local", "const", "param")
_STRONG = {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "sc"}
_SPECIAL = ("tid", "ntid", "ctaid", "nctaid", "laneid", "warpid", "nwarpid", "smid", "nsmid",
            "gridid", "clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo",
            "globaltimer_hi",
            "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge", "envreg1",
            "envreg2", "dynamic_smem_size", "total_smem_size", "aggr_smem_size", "clusterid",
            "nclusterid", "cluster_ctaid", "cluster_nctaid", "cluster_ctarank", "cluster_nctarank",
            "is_explicit_cluster", "reserved_smem_offset_begin")  # fmt: skip
_WIDE_SPECIAL = {"clock64", "globaltimer", "gridid"}


@dataclass(slots=True, eq=False)
class Site:
    """One memory instruction.

    `size` is the bytes a thread accesses, `elem` those of one of its `parts` elements; `place`
    the learner's ``(file, line)``; `sources` where the address comes from (`provenance`).
    """

    id: int
    op: str  # load, store, atomic
    space: str
    dtype: str
    elem: int
    parts: int
    place: tuple[str, int]
    ptx_line: int
    opcode: str
    sources: frozenset = frozenset()
    strong: bool = False
    size: int = 0
    shift: int = 0
    stores: bool = False
    atomic: bool = False
    acquires: bool = False
    releases: bool = False
    register: int | None = None  # the one that holds the address,
    offset: int = 0  # and what is added to it

    def __post_init__(self) -> None:
        self.size = self.elem * self.parts
        self.shift = int(math.log2(self.elem))
        self.stores = self.op != "load"
        self.atomic = self.op == "atomic"


@dataclass(slots=True)
class Program:
    """A kernel as the engine runs it.

    Attributes
    ----------
    functions : list of callable
        One a block.
    blocks : list of Block
    live : list of tuple of int
        Registers that are live at each block's entry.
    initial : list
        A zero of the right type for each register.
    sites : list of Site
    shared : dict
        Variable name to ``(offset, nbytes)`` in a block's shared memory; dynamic ones have 0 bytes.
    shared_bytes, local_bytes : int
        A block's static shared memory; a thread's local memory.
    lines : list of dict
        For each block ``{place: {counter: instructions}}``.
    """

    name: str
    params: list
    functions: list
    blocks: list[Block]
    live: list[tuple[int, ...]]
    initial: list
    sites: list[Site]
    shared: dict[str, tuple[int, int]]
    shared_bytes: int
    local_bytes: int
    lines: list[dict]
    variables: list[Var]
    addresses: dict[str, int] = field(default_factory=dict)
    source: str = ""
    fences: bool = False
    needs_params: bool = False
    uses_grid_sync: bool = False
    target: str = ""
    masks: list = field(default_factory=list)
    local_vars: dict = field(default_factory=dict)


def compile_kernel(module: Module, entry: str) -> Program:
    """Compile one entry of a module."""
    return _Compiler(module, entry).program()


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
            texts.append(_BlockWriter(self, n, b).text())
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
            lines=[_line_counts(b) for b in self.blocks],
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
    writer = _BlockWriter(c, n, b)
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


def _line_counts(b: Block) -> dict:
    """Instructions of a block by source line and class."""
    out: dict = {}
    for i in [*b.code, *([b.jump] if b.jump else [])]:
        place = i.loc.place() if i.loc else ("", 0)
        counts = out.setdefault(place, {})
        kind, flops = classify(i)
        for key, amount in (("instructions", 1), (f"instructions_{kind}", 1), ("flops", flops)):
            if amount:
                counts[key] = counts.get(key, 0) + amount
    return out


def classify(i: Instr) -> tuple[str, int]:
    """The class an instruction is counted in, and its floating-point operations a thread."""
    if i.op in ("ld", "st", "atom", "red", "cp", "ldu", "prefetch", "ldmatrix", "stmatrix"):
        return "memory", 0
    if i.op in ("bra", "brx", "ret", "exit", "call", "trap"):
        return "control", 0
    if i.op in (
        "bar",
        "barrier",
        "membar",
        "fence",
        "shfl",
        "vote",
        "match",
        "redux",
        "activemask",
    ):
        return "sync", 0
    if i.op in semantics.TABLE:
        try:
            sem = semantics.lookup(i)
            return sem.kind, sem.flops
        except PtxError:
            pass
    return "other", 0


class _BlockWriter:
    """Writes the function of one block."""

    def __init__(self, compiler: _Compiler, number: int, block: Block) -> None:
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
        for i in self.b.code:
            self.instruction(i)
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
            self.emit(f"{found} = M.at({lanes}, {inner})")
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
        keep = None
        if i.pred is not None:
            reg, negated = i.pred
            keep = self.read(Neg(reg) if negated else reg, "pred", i)
        handler = getattr(self, f"_{i.op}", None)
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

    def _space(self, i: Instr) -> str:
        for m in i.mods:
            head = m.split(":")[0]
            if head in _SPACES:
                return head
        return "generic"

    def _parts(self, i: Instr) -> int:
        return next((int(m[1:]) for m in i.mods if m in ("v2", "v4", "v8")), 1)

    def _ld(self, i: Instr, keep) -> None:
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

    def _st(self, i: Instr, keep) -> None:
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

    def _atom(self, i: Instr, keep) -> None:
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

    _red = _atom

    def _bar(self, i: Instr, keep) -> None:
        lanes = self.lanes(keep)
        if "warp" in i.mods:
            self.emit(f"q.warp_synced({lanes}, {self.read(i.operands[0], 'u32', i)})")
        elif "arrive" in i.mods:
            number, count = (self.read(x, "u32", i) for x in i.operands)
            self.emit(f"q.arrive({lanes}, {number}, {count})")
        elif "red" in i.mods:
            op = next(m for m in i.mods if m in ("popc", "and", "or"))
            value = self.read(i.operands[-1], "pred", i)
            t = "u32" if op == "popc" else "pred"
            self.arrive(i.operands[0], t, f"q.barrier_reduce({lanes}, {op!r}, {value})", i, lanes)
        elif "sync" not in i.mods:
            raise semantics.unknown(i)

    _barrier = _bar

    def _membar(self, i: Instr, keep) -> None:
        if not {"cta", "proxy"} & set(i.mods):
            self.c.fences = True
            self.emit(f"q.run.released({self.lanes(keep)}, q)")

    _fence = _membar

    def _shfl(self, i: Instr, keep) -> None:
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

    def _vote(self, i: Instr, keep) -> None:
        op = next((m for m in i.mods if m in ("all", "any", "uni", "ballot")), None)
        if "sync" not in i.mods or op is None:
            raise i.error("vote without .sync does not exist on sm_70 and newer")
        lanes = self.lanes(keep)
        p, mask = self.read(i.operands[1], "pred", i), self.read(i.operands[2], "b32", i)
        if lanes != "L":
            p, mask = f"{lanes}.take({p})", f"{lanes}.take({mask})"
        t = "b32" if op == "ballot" else "pred"
        self.arrive(i.operands[0], t, f"q.warp.vote({lanes}, {op!r}, {p}, {mask})", i, lanes)

    def _match(self, i: Instr, keep) -> None:
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

    def _redux(self, i: Instr, keep) -> None:
        lanes = self.lanes(keep)
        op = next(m for m in i.mods if m in ("add", "min", "max", "and", "or", "xor"))
        t = i.mods[-1]
        a, mask = self.read(i.operands[1], t, i), self.read(i.operands[2], "b32", i)
        if lanes != "L":
            a, mask = f"{lanes}.take({a})", f"{lanes}.take({mask})"
        self.arrive(i.operands[0], t, f"q.warp.redux({lanes}, {op!r}, {a}, {mask})", i, lanes)

    def _activemask(self, i: Instr, keep) -> None:
        lanes = self.lanes(keep)
        self.arrive(i.operands[0], "b32", f"q.warp.activemask({lanes})", i, lanes)

    def _call(self, i: Instr, keep) -> None:
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
            from hetlab.vgpu.inline import RUNTIME

            self.arrive(x, RUNTIME[name.name] or "b32", call, i, lanes)
        else:
            self.emit(call)

    def _nothing(self, i: Instr, keep) -> None:
        """Instructions without an effect here."""

    _nop = _nanosleep = _pmevent = _prefetch = _prefetchu = _discard = _applypriority = _nothing
    _griddepcontrol = _brkpt = _setmaxnreg = _nothing

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


_ATOMIC_OPS = ("add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec")
