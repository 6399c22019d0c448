"""One launch: its arguments, its memory, and the batches of blocks that carry it out."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.access import Segment
from hetlab.vgpu.arguments import ArrayArg, extent_of, index_of
from hetlab.vgpu.counters import Tally
from hetlab.vgpu.groups import Aborted
from hetlab.vgpu.hazards import Recorder
from hetlab.vgpu.lanes import batch_shape, unravel
from hetlab.vgpu.memory import SLOT_BITS, Memory
from hetlab.vgpu.races import MAX_CLOCK, RaceDetector
from hetlab.vgpu.simt import Batch

__all__ = ["ArrayArg", "Run"]


_BATCH_THREADS = 8192  # measured: four times faster a thread than 65,536, which leave the cache
_BATCH_SLOTS = 65536
_BATCH_BYTES = 32 << 20
# glibc returns the top of its heap to the system when much of it is free, and each launch would
# fault the same pages in again (measured: 1.3 ms become 3). Freeing one large block, which is
# never touched, raises that threshold to twice its size (mallopt(3), M_MMAP_THRESHOLD).
np.empty(16 << 20, np.uint8)

_SPIN_ROUNDS = 10  # rounds in which nobody learns anything new before a livelock is declared


class Run:
    """The state of a launch that its batches share."""

    RESIDENT = 108 * 2048
    """Threads resident at one time (an A100's); no further blocks start before one ends."""

    def __init__(
        self, program, module_key, grid, block, raw, memory: Memory, arrays, *,
        dynamic_shared, count, hazards, cooperative, step_budget,
    ) -> None:  # fmt: skip
        self.program, self.module_key, self.memory = program, module_key, memory
        self.grid, self.block, self.raw = grid, block, raw
        self.count, self.hazards, self.cooperative = count, hazards, cooperative
        self.step_budget = step_budget or 1_000_000
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
        self._ticks, self.grid_fence = 0, 0
        self.shared_pool: list[RaceDetector] = []
        self.global_races = RaceDetector(self, "global", _granule(self.sites, "global"))
        self.blocks = grid[0] * grid[1] * grid[2]
        self._released = self._acquired = None
        if hazards and program.fences:
            self._released = np.zeros(self.blocks, np.int32)
            self._acquired = np.zeros(self.blocks, np.int32)

    # -- parameters and variables
    def param(self, offset: int, code: str):
        """A parameter's value, a NumPy scalar."""
        found = self._params.get((offset, code))
        if found is None:
            found = np.frombuffer(self.raw, code, 1, offset)[0]
            self._params[offset, code] = found
        return found

    def param_address(self, offset: int) -> int:
        """The address of a parameter, for kernels that index into a struct."""
        if not self._param_base:
            size = max(len(self.raw), 1)
            base = self.memory.alloc(size, name="parameters", initialised=True, readonly=True)
            self.memory.write(base, self.raw)
            self._param_base = base
            self._temporary.append(base)
        return self._param_base + offset

    def environment(self, number: int) -> int:
        """``%envreg1`` and ``%envreg2``: where a cooperative launch keeps its grid barrier."""
        if not self.cooperative or number not in (1, 2):
            return 0
        if not self._workspace:
            self._workspace = self.memory.alloc(64, name="grid barrier", initialised=True)
            self._temporary.append(self._workspace)
        return self._workspace >> 32 if number == 1 else self._workspace & 0xFFFFFFFF

    def _place_variables(self) -> dict[str, int]:
        """Addresses of the module's variables, which live as long as the memory."""
        placed = self.memory.modules.setdefault(self.module_key, {})
        new = [v for v in self.program.variables if v.name not in placed]
        for v in new:
            readonly = v.space == "const"
            placed[v.name] = self.memory.alloc(
                max(v.nbytes, 1), name=v.name, initialised=True, readonly=readonly
            )
            if v.init:
                self.memory.write(placed[v.name], v.init)
        for v in new:
            for offset, name, addend in v.refs:
                value = placed.get(name, 0) + addend
                self.memory.write(placed[v.name] + offset, value.to_bytes(8, "little"))
        return placed

    def address(self, name: str, offset: int) -> int:
        return self.variables[name] + offset

    # -- which memory an instruction means
    def _pointer(self, offset: int) -> int | None:
        """The value of a parameter that is a pointer to device memory."""
        if offset + 8 > len(self.raw):
            return None
        value = int.from_bytes(self.raw[offset : offset + 8], "little")
        if offset in self.args or self.memory.find(value) is not None:
            return value
        return None

    def _fixed(self, site) -> Segment | None:
        """The one segment that a memory instruction can mean, if its address tells."""
        if site.space not in ("global", "generic", "const"):
            return None
        found = []
        for kind, what in site.sources:
            if kind == "param":
                value = self._pointer(what)
                if value is not None:
                    found.append((what, value))
            elif kind == "global" and what in self.variables:
                found.append((None, self.variables[what]))
            elif kind in ("loaded", "shared", "local"):
                return None
        if len(found) != 1:
            return None
        offset, value = found[0]
        alloc = self.memory.find(value)
        arg = self.args.get(offset)
        if alloc is None:
            return None
        if arg is None:
            return Segment(alloc, alloc.base, alloc.base + alloc.nbytes)
        lo, hi = extent_of(arg)
        return Segment(alloc, max(lo, alloc.base), min(hi, alloc.base + alloc.nbytes), arg)

    def segment(self, slot: int) -> Segment | None:
        """The allocation in an address slot, whole."""
        if slot not in self._segments:
            alloc = self.memory.find(slot << SLOT_BITS)
            self._segments[slot] = (
                None
                if alloc is None
                else Segment(
                    alloc, alloc.base, alloc.base + alloc.nbytes, None, self.is_shadowed(alloc)
                )
            )
        return self._segments[slot]

    def _stored_slots(self) -> set[int] | None:
        """Slots of the allocations that the kernel may store to; None when it may be any."""
        slots = set()
        for site, seg in zip(self.sites, self.fixed):
            if not site.stores or site.space not in ("global", "generic"):
                continue
            if seg is not None:
                slots.add(seg.alloc.base)
            elif not site.sources or not all(k in ("shared", "local") for k, _ in site.sources):
                return None
        return slots

    def is_shadowed(self, alloc) -> bool:
        if not self.hazards or alloc.readonly:
            return False
        return self._shadowed is None or alloc.base in self._shadowed

    def _bounds(self, site, kind: str, table: dict) -> tuple[int, int]:
        """The part of shared or local memory that an instruction may touch."""
        total = self.shared_bytes if kind == "shared" else self.program.local_bytes
        names = [what for k, what in site.sources if k == kind]
        others = any(
            k in ("shared", "local", "global", "loaded") and k != kind for k, _ in site.sources
        )
        if len(names) != 1 or others or names[0] not in table:
            return 0, total
        at, size = table[names[0]]
        return (at, at + size) if size else (at, total)

    # -- synchronisation between threads, as the race detector sees it
    def tick(self) -> int:
        """The number of a new synchronisation."""
        self._ticks += 1
        if self._ticks >= MAX_CLOCK:
            for detector in [self.global_races, *self.shared_pool]:
                detector.forget_clocks()
            self._ticks, self.grid_fence = 1, 0
        return self._ticks

    def shared_detector(self) -> RaceDetector | None:
        """A detector of races in shared memory for one batch."""
        if not self.hazards:
            return None
        if self.shared_pool:
            return self.shared_pool.pop()
        return RaceDetector(self, "shared", _granule(self.sites, "shared"))

    def released(self, lanes, batch) -> None:
        """A fence: what the blocks of these threads stored may be published from now on."""
        if self._released is None:
            return
        self.global_races.check()
        tick = self.tick()
        clock = np.array(np.broadcast_to(batch.clock, batch.shape.size))
        clock[lanes.all_slots] = tick
        batch.clock = clock
        self._released[batch.block_ids[lanes.cta]] = tick

    def acquired(self, lanes, batch) -> None:
        """An atomic or acquiring load: the blocks of these threads see what was published."""
        if self._acquired is None:
            return
        self.global_races.check()
        self._acquired[batch.block_ids[lanes.cta]] = self._ticks

    def published(self, writer, reader, clock):
        """Whether an access at `clock` in block `writer` is ordered before `reader`'s now."""
        if self._released is None:
            return np.zeros(len(clock), np.bool_)
        return (self._released[writer] > clock) & (self._acquired[reader] > clock)

    # -- names for reports
    def thread(self, number: int) -> dict:
        """Block and thread indices of a thread, given its slot in the whole grid."""
        block, t = divmod(int(number), self.padded)
        return {
            "block": unravel(block, self.grid),
            "thread": unravel(t, self.block),
        }

    def _arg_at(self, site, address: int):
        found = []
        for kind, what in site.sources:
            if kind == "param" and what in self.args:
                found.append(self.args[what])
        if len(found) == 1:
            return found[0]
        pool = found or list(self.args.values())
        for arg in pool:
            lo, hi = extent_of(arg)
            if lo <= address < hi:
                return arg
        near = [a for a in pool if a.base >> SLOT_BITS == address >> SLOT_BITS]
        return near[0] if near else None

    def describe(self, space: str, site, address: int) -> tuple[str, object]:
        """``(array name, index)`` of an address."""
        if space in ("shared", "local"):
            table = self.program.shared if space == "shared" else self.program.local_vars
            size = self.shared_stride if space == "shared" else max(self.program.local_bytes, 1)
            names = [what for k, what in site.sources if k == space and what in table]
            if len(names) != 1:
                address %= size
                names = sorted(table, key=lambda n: table[n][0])
                names = [n for n in names if table[n][0] <= address][-1:]
            if not names:
                return "", address // site.elem
            return names[0], (address - table[names[0]][0]) // site.elem
        arg = self._arg_at(site, address)
        if arg is not None:
            return arg.name, index_of(arg, address)
        alloc = self.memory.find(address)
        if alloc is None:
            return "", None
        size = alloc.itemsize if alloc.itemsize > 1 else site.elem
        return alloc.name, (address - alloc.base) // size

    def extent(self, space: str, site, address: int) -> str:
        """What an index error lies outside of, for a sentence."""
        if space in ("shared", "local"):
            lo, hi = (self.shared_bounds if space == "shared" else self.local_bounds)[site.id]
            return f"its {(hi - lo) // site.elem} elements"
        arg = self._arg_at(site, address)
        if arg is not None and len(arg.shape) > 1:
            return f"its shape {tuple(arg.shape)}"
        if arg is not None:
            return f"its {arg.nbytes // arg.itemsize} elements"
        alloc = self.memory.find(address)
        if alloc is None:
            freed = self.memory.was_freed(address)
            return "all arrays (that memory has been freed)" if freed else "all arrays"
        return f"its {alloc.nbytes} bytes"

    def ticks_of_time(self) -> int:
        """A clock that never stands still and is the same in every run."""
        self._time += 32
        return self._time

    # -- carrying it out
    def _chosen(self, sample, seed):
        """The linear indices of the blocks to run, in order."""
        if sample is not None:
            n = max(1, round(self.blocks * sample))
            return (np.arange(n) * self.blocks) // n
        if seed is not None:
            return np.random.default_rng(seed).permutation(self.blocks)
        return None

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


def _granule(sites, space: str) -> int:
    """log2 of the smallest access to a space."""
    sizes = [s.elem for s in sites if s.space in (space, "generic")]
    return min(sizes, default=4).bit_length() - 1
