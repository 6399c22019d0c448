"""A kernel as the engine runs it, and what its instructions count as."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from hetlab.vgpu import semantics
from hetlab.vgpu.cfg import Block
from hetlab.vgpu.ir import Instr, PtxError, Var

__all__ = ["Program", "Site", "classify", "line_counts"]


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


def line_counts(b: Block) -> dict:
    """Instructions of a block by source line and class."""
    out: dict = {}
    for i in [*b.code, *([b.jump] if b.jump else [])]:
        place = i.loc.place() if i.loc else ("", 0)
        counts = out.setdefault(place, {})
        kind, flops = classify(i)
        tensor = flops if kind == "tensor" else 0
        for key, amount in (("instructions", 1), (f"instructions_{kind}", 1), ("flops", flops),
                            ("flops_tensor", tensor)):  # fmt: skip
            if amount:
                counts[key] = counts.get(key, 0) + amount
    return out


def _mma_flops(i: Instr) -> int:
    """Operations a thread of one warp's product: 2 M N K / 32; none for integers."""
    shape = next((re.fullmatch(r"m(\d+)n(\d+)k(\d+)", m) for m in i.mods if m[0] == "m"), None)
    if shape is None or "s32" in i.mods:
        return 0
    return 2 * math.prod(map(int, shape.groups())) // 32


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
    if i.op == "mma":
        return "tensor", _mma_flops(i)
    if i.op in semantics.TABLE:
        try:
            sem = semantics.lookup(i)
            return sem.kind, sem.flops
        except PtxError:
            pass
    return "other", 0
