"""One launch: its arguments, its memory, and the batches of blocks that carry it out."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.access import Segment
from hetlab.vgpu.arguments import ArrayArg
from hetlab.vgpu.counters import Tally
from hetlab.vgpu.groups import Aborted
from hetlab.vgpu.hazards import Recorder
from hetlab.vgpu.lanes import batch_shape
from hetlab.vgpu.memory import Memory
from hetlab.vgpu.naming import Naming
from hetlab.vgpu.ordering import Ordering
from hetlab.vgpu.placement import Placement
from hetlab.vgpu.repeats import repeats_of
from hetlab.vgpu.simt import Batch

__all__ = ["ArrayArg", "Run"]


_BATCH_THREADS = 16384  # measured: a quarter less time than 8,192; 65,536 leave the cache
_BATCH_SLOTS = 65536
_BATCH_BYTES = 32 << 20
# glibc returns the top of its heap to the system when much of it is free, and each launch would
# fault the same pages in again (measured: 1.3 ms become 3). Freeing one large block, which is
# never touched, raises that threshold to twice its size (mallopt(3), M_MMAP_THRESHOLD).
np.empty(16 << 20, np.uint8)

_SPIN_ROUNDS = 10  # rounds in which nobody learns anything new before a livelock is declared


class Run(Placement, Ordering, Naming):
    """The state of a launch that its batches share."""

    RESIDENT = 108 * 2048
    """Threads resident at one time (an A100's); no further blocks start before one ends."""

    def __init__(
        self, program, module_key, grid, block, raw, memory: Memory, arrays, *,
        dynamic_shared, count, hazards, cooperative, step_budget, tiles=False,
    ) -> None:  # fmt: skip
        self.program, self.module_key, self.memory = program, module_key, memory
        self.grid, self.block, self.raw = grid, block, raw
        self.count, self.hazards, self.cooperative = count, hazards, cooperative
        self.step_budget, self.tiles = step_budget or 1_000_000, tiles
        self.dynamic_shared = dynamic_shared
        self.shared_bytes = program.shared_bytes + dynamic_shared
        self.shared_stride = max(16, -(-self.shared_bytes // 16) * 16)
        self.threads_a_block = block[0] * block[1] * block[2]
        self.padded = -(-self.threads_a_block // 32) * 32
        self.warps_a_block = self.padded // 32
        self.sites = program.sites
        self.tally, self.recorder, self.printf = Tally(program), Recorder(), []
        self._params: dict = {}
        self._temporary: list[int] = []
        self._param_base = self._workspace = 0
        self._segments: dict[int, Segment | None] = {}
        self.arrays = {a.param_index: a for a in arrays}
        self.args = {}  # parameter offset -> ArrayArg
        at = 0
        for k, p in enumerate(program.params):
            at = -(-at // p.align) * p.align
            if k in self.arrays:
                self.args[at] = self.arrays[k]
            at += p.nbytes
        self._time = 0
        self.variables = self._place_variables()
        self.fixed = [self._fixed(s) for s in self.sites]
        self._shadowed = self._stored_slots()
        for seg in self.fixed:
            if seg is not None:
                seg.shadowed = self.is_shadowed(seg.alloc)
        self.shared_bounds = [self._bounds(s, "shared", program.shared) for s in self.sites]
        self.local_bounds = [self._bounds(s, "local", program.local_vars) for s in self.sites]
        self.blocks = grid[0] * grid[1] * grid[2]
        self.rng = None  # of the order of warps
        self.repeats = repeats_of(self)
        self.asked_for_grid = False  # by a launch that is not cooperative
        self._start_clocks()

    def ticks_of_time(self) -> int:
        """A clock that never stands still and is the same in every run."""
        self._time += 32
        return self._time

    # -- carrying it out
    def _chosen(self, sample, seed):
        """The linear indices of the blocks to run, in order."""
        chosen = None
        if sample is not None:
            n = max(1, round(self.blocks * sample))
            chosen = (np.arange(n) * self.blocks) // n
        if seed is not None:
            self.rng = np.random.default_rng(seed)
            chosen = self.rng.permutation(self.blocks if chosen is None else chosen)
        return chosen

    def execute(self, sample=None, seed=None) -> int:
        """Run the blocks; return how many."""
        chosen = self._chosen(sample, seed)
        total = self.blocks if chosen is None else len(chosen)
        each = min(_BATCH_THREADS // self.threads_a_block, _BATCH_SLOTS // self.padded)
        each = max(1, each)
        resident = _resident_blocks(self.padded, self.shared_bytes)
        each = min(each, max(1, _BATCH_BYTES // self.shared_stride), total, resident)
        local = self.program.local_bytes * self.padded
        if local:
            each = max(1, min(each, _BATCH_BYTES // local))
        starts = range(0, total, each)
        waiting = iter(starts)
        active: list[Batch] = []
        left = len(starts)
        rounds = 0

        def admit() -> None:
            nonlocal left
            start = next(waiting)
            left -= 1
            stop = min(start + each, total)
            ids = np.arange(start, stop) if chosen is None else np.sort(chosen[start:stop])
            active.append(Batch(self, batch_shape(self.block, stop - start), ids))

        try:
            with np.errstate(all="ignore"):
                while left or active:
                    if not active:
                        admit()
                    states = []
                    for batch in list(active):
                        state = batch.advance()
                        if state == "done":
                            batch.finish()
                            active.remove(batch)
                        states.append(state)
                    if "done" in states:
                        rounds = 0
                        continue
                    if left and (len(active) + 1) * each <= resident:
                        admit()
                    elif all(s == "grid" for s in states) and not left:
                        self._grid_passed(active)
                    else:
                        rounds = 0 if any(b.moved for b in active) else rounds + 1
                        if rounds > _SPIN_ROUNDS:
                            active[0].livelock()
        except Aborted:
            for batch in active:
                batch.abandon()
        finally:
            for address in self._temporary:
                self.memory.free(address)
            for slot in self._segments.values():
                if slot is not None:
                    slot.alloc.settle()
            for seg in self.fixed:
                if seg is not None:
                    seg.alloc.settle()
        return total

    def _grid_passed(self, active: list[Batch]) -> None:
        """All threads of the grid stand at the grid barrier."""
        if self.hazards:
            self.global_races.check()
        for batch in active:
            batch.pass_grid_barrier()
        self.grid_fence = self.tick()
        for batch in active:
            batch.clock = batch.fence = self.grid_fence


def _resident_blocks(threads: int, shared: int) -> int:
    """Blocks that an A100 holds at one time (CUDA C++ Programming Guide, limits of 8.0)."""
    room = 164 * 1024 // (-(-shared // 128) * 128 + 1024)
    return 108 * max(1, min(32, 2048 // threads, room))
