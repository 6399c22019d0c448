"""One kernel, ready to run: PTX text in, results, counters and hazards out.

This is the engine's whole public face; front ends (Numba, NVRTC, Triton, TVM) end here.

>>> kernel = Kernel(ptx_text)                        # compiled once, cached by text
>>> memory = Memory()
>>> a = memory.adopt(array, "a")
>>> run = kernel.run((4,), (256,), [a, array.size], memory=memory)
>>> run.counters["global_load_requests"], run.hazards
"""

from __future__ import annotations

import hashlib
import math
import re
import time
from dataclasses import dataclass, field
from functools import lru_cache

from hetlab.errors import InvalidValue
from hetlab.vgpu.arguments import ArrayArg, LaunchError, Param, dims, packed
from hetlab.vgpu.codegen import compile_kernel
from hetlab.vgpu.counters import COUNTERS
from hetlab.vgpu.film import Film
from hetlab.vgpu.hazards import Hazard
from hetlab.vgpu.ir import Module, PtxError
from hetlab.vgpu.memory import Memory
from hetlab.vgpu.program import Program
from hetlab.vgpu.ptx import parse
from hetlab.vgpu.races import MAX_SITES
from hetlab.vgpu.run import Run

__all__ = ["COUNTERS", "ArrayArg", "Hazard", "Kernel", "LaunchError", "Param", "RawLaunch"]


@dataclass(slots=True)
class RawLaunch:
    """What one launch did.

    Attributes
    ----------
    counters : dict of str to int
        The names of `COUNTERS`, exact; all zero with ``count=False``.
    lines : dict
        ``{(file, line): {counter: int}}``, only counters that are not zero.
    hazards, warnings : list of Hazard
    seconds : float
        Host time of the run (not a device time).
    printf : list of str
        What the kernel printed, one entry a call and thread.
    blocks, blocks_run : int
        Blocks of the grid, and how many of them ran (``sample``).
    sites : list of dict
        Each memory instruction: ``line, space, op, array, size, requests, transactions, bytes,
        lanes, pattern`` (the address offsets of one warp's 32 lanes, None for idle lanes).
    timeline : list
        ``((file, line), mask)`` for each of the first instructions of the first warp: the bits
        of the lanes that were active.
    """

    counters: dict
    lines: dict
    hazards: list
    warnings: list
    seconds: float
    printf: list
    blocks: int
    blocks_run: int
    sites: list = field(default_factory=list)
    timeline: list = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True without hazards (warnings do not count)."""
        return not self.hazards


class Kernel:
    """An entry of a PTX module.

    Parameters
    ----------
    ptx_text : str
        A whole PTX module.
    entry : str, optional
        The kernel's name; may be left out when the module has one entry.

    Attributes
    ----------
    name : str
    params : list of Param
    shared_bytes : int
        Static shared memory a block.
    max_threads : int or None
        Threads a block by the kernel's launch bounds.
    source_lines : set of (file, line)
        The source lines that have instructions.

    Raises
    ------
    hetlab.vgpu.ptx.PtxError
        When the text is not PTX, or uses what the virtual GPU does not know.
    """

    def __init__(self, ptx_text: str, entry: str | None = None) -> None:
        self.program = _compiled(ptx_text, entry)
        self.module_key = hashlib.sha256(ptx_text.encode()).hexdigest()
        self.name = self.program.name
        self.shared_bytes = self.program.shared_bytes
        self.max_threads = _launch_bounds(ptx_text, self.name)
        self.params, at = [], 0
        for p in self.program.params:
            at = -(-at // p.align) * p.align
            self.params.append(Param(p.name, p.nbytes, p.align, at, p.type))
            at += p.nbytes
        self.param_bytes = at
        self.source_lines = {place for rows in self.program.lines for place in rows if place[1]}

    @staticmethod
    def variable(ptx_text: str, name: str, memory: Memory) -> tuple[int, int] | None:
        """Address and size of a module's variable, placed if it was not yet; None if unknown.

        Its kernels use the variable at the same address, whichever of them ran first.
        """
        found = _parsed(ptx_text).vars.get(name)
        if found is None or found.space not in ("global", "const"):
            return None
        key = hashlib.sha256(ptx_text.encode()).hexdigest()
        placed = memory.modules.setdefault(key, {})
        if name not in placed:
            readonly, size = found.space == "const", max(found.nbytes, 1)
            placed[name] = memory.alloc(size, name=name, initialised=True, readonly=readonly)
            if found.init:
                memory.write(placed[name], found.init)
        return placed[name], found.nbytes

    def run(
        self,
        grid,
        block,
        params,
        *,
        memory: Memory,
        dynamic_shared: int = 0,
        count: bool = True,
        hazards: bool = True,
        arrays=(),
        sample: float | None = None,
        order_seed: int | None = None,
        cooperative: bool = False,
        step_budget: int | None = None,
        tiles: bool = False,
    ) -> RawLaunch:
        """Run the kernel to its end.

        Parameters
        ----------
        grid, block : int or tuple of up to three ints
        params : bytes or sequence
            The parameter buffer as the driver would get it, or one value a parameter: an int, a
            float, or bytes for a struct.
        memory : Memory
        dynamic_shared : int
            Bytes of ``extern`` shared memory a block.
        count, hazards : bool
            Count traffic and instructions; look for hazards.  Out-of-bounds, misaligned and
            deadlock are found in either case, because the result would be wrong without.
        arrays : sequence of ArrayArg
        sample : float, optional
            Run only this fraction of the blocks, evenly spread, always the same ones.
        order_seed : int, optional
            Run blocks, and the warps of each, in an order drawn from this seed.
        cooperative : bool
            Grid-wide synchronisation is allowed; the grid must be resident at one time.
        step_budget : int, optional
            Basic-block visits a batch of blocks may take before the launch ends as a deadlock.
        tiles : bool
            The language knows tiles and no threads: an element that several threads of a block
            hold is one element, read once and printed once.

        Raises
        ------
        LaunchError
            When no GPU would accept the launch.
        """
        grid, block = dims("grid", grid), dims("block", block)
        self._check(grid, block, dynamic_shared, cooperative)
        if sample is not None and not 0 < sample <= 1:
            raise InvalidValue("sample", "above 0 and at most 1", sample)
        if sample is not None and cooperative:
            raise LaunchError(
                f"{self.name} is launched cooperatively: its blocks wait for each other, so that "
                "a sample of them would wait for ever",
                do="Profile a smaller grid as a whole.",
            )
        raw = self._pack(params)
        begin = time.perf_counter()
        run = Run(
            self.program, self.module_key, grid, block, raw, memory, arrays,
            dynamic_shared=dynamic_shared, count=count, hazards=hazards, cooperative=cooperative,
            step_budget=step_budget, tiles=tiles,
        )  # fmt: skip
        film = run.film = Film(self.program) if count else None
        blocks = grid[0] * grid[1] * grid[2]
        ran = run.execute(sample, order_seed)
        lines = run.tally.lines() if count else {}
        return RawLaunch(
            counters=run.tally.totals(lines),
            lines=lines,
            hazards=run.recorder.hazards,
            warnings=run.recorder.warnings,
            seconds=time.perf_counter() - begin,
            printf=run.printf,
            blocks=blocks,
            blocks_run=ran,
            sites=run.tally.sites(run.describe) if count else [],
            timeline=film.frames if film else [],
        )

    def _check(self, grid, block, dynamic, cooperative) -> None:
        threads = block[0] * block[1] * block[2]
        if threads > 1024 or block[2] > 64:
            raise LaunchError(
                f"a block must have at most 1024 threads (64 in z), got {block}: {threads} threads",
                do="Use smaller blocks and more of them.",
            )
        if self.max_threads and threads > self.max_threads:
            raise LaunchError(
                f"{self.name} is compiled for at most {self.max_threads} threads a block "
                f"(its launch bounds), got {threads}",
                do="Use smaller blocks, or change the launch bounds.",
            )
        if grid[0] >= 1 << 31 or grid[1] > 65535 or grid[2] > 65535:
            raise LaunchError(
                f"a grid must be at most (2147483647, 65535, 65535) blocks, got {grid}"
            )
        limit = _SHARED_LIMITS.get(self.program.target.rstrip("af"), 163) * 1024
        total = self.shared_bytes + dynamic
        if dynamic < 0 or total > limit or self.shared_bytes > 48 * 1024:
            raise LaunchError(
                f"{self.name} asks for {total} bytes of shared memory a block "
                f"({self.shared_bytes} static, at most 49152; {dynamic} dynamic); "
                f"{limit} are possible",
                do="Use a smaller tile.",
            )
        if cooperative and threads * grid[0] * grid[1] * grid[2] > Run.RESIDENT:
            raise LaunchError(
                f"a cooperative launch must fit the GPU: at most {Run.RESIDENT} threads, "
                f"got {grid} blocks of {threads}",
                do="Use fewer blocks, each looping over several pieces of work.",
            )
        if self.program.uses_grid_sync and not cooperative:
            raise LaunchError(
                f"{self.name} synchronises the whole grid, which needs a cooperative launch",
                do="Launch it cooperatively, or split it into two kernels.",
            )

    def _pack(self, params) -> bytes:
        if isinstance(params, bytes | bytearray | memoryview):
            raw = bytes(params)
            if len(raw) < self.param_bytes:
                raise LaunchError(
                    f"{self.name} takes {self.param_bytes} bytes of parameters, got {len(raw)}"
                )
            return raw
        values = list(params)
        if len(values) != len(self.params):
            raise LaunchError(f"{self.name} takes {len(self.params)} parameters, got {len(values)}")
        raw = bytearray(self.param_bytes)
        for p, value in zip(self.params, values):
            raw[p.offset : p.offset + p.size] = packed(p, value)
        return bytes(raw)


_SHARED_LIMITS = {"sm_70": 96, "sm_72": 96, "sm_75": 64, "sm_80": 163, "sm_86": 99, "sm_87": 163,
                  "sm_89": 99, "sm_90": 227, "sm_100": 227, "sm_120": 99}  # fmt: skip
# KB a block, CUDA C++ Programming Guide, technical specifications per compute capability


def _launch_bounds(text: str, name: str) -> int | None:
    """Threads a block that ``.maxntid`` or ``.reqntid`` allow the kernel; None without either."""
    at = text.find(f".entry {name}(")
    head = text[at : text.find("{", at)] if at >= 0 else ""
    found = re.search(r"\.(?:maxntid|reqntid)\s+([\d,\s]+)", head)
    return math.prod(map(int, re.findall(r"\d+", found[1]))) if found else None


@lru_cache(maxsize=64)
def _parsed(text: str) -> Module:
    return parse(text)


@lru_cache(maxsize=256)
def _compiled(text: str, entry: str | None) -> Program:
    module = _parsed(text)
    entries = module.entries()
    if entry is None:
        if len(entries) != 1:
            raise PtxError(
                f"the module has {len(entries)} kernels: {', '.join(entries) or 'none'}",
                do="Name the one that is meant.",
            )
        entry = entries[0]
    program = compile_kernel(module, entry)
    if len(program.sites) > MAX_SITES:
        raise PtxError(f"{entry} has more than {MAX_SITES} memory instructions")
    return program
