"""Loads, stores and atomics: where a thread's address meets real memory.

Each access is checked against the bounds of the array it is meant for, counted,
noted for the race detector, and done, for all threads of the instruction at once.
Accesses that break a rule are reported and left out: such a load gives 0, such a
store does nothing.
"""

from __future__ import annotations

import numpy as np

from hetlab.vgpu import atomics
from hetlab.vgpu.elements import fetch, mark, put
from hetlab.vgpu.lanes import Addresses, Lanes
from hetlab.vgpu.memory import LOCAL_WINDOW, SHARED_WINDOW, SLOT_BITS
from hetlab.vgpu.rules import Rules, taken

__all__ = ["MemoryPort", "Segment"]

_CODES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")


class Segment:
    """The bytes an instruction may touch: an argument's own part of an allocation."""

    __slots__ = ("alloc", "arg", "hi", "lo", "shadowed")

    def __init__(self, alloc, lo, hi, arg=None, shadowed=False) -> None:
        self.alloc, self.lo, self.hi, self.arg, self.shadowed = alloc, lo, hi, arg, shadowed


class MemoryPort(Rules):
    """The memory of a batch: global memory through the run, shared and local memory its own."""

    def __init__(self, run, batch) -> None:
        self.run, self.batch = run, batch
        self.count, self.hazards = run.count, run.hazards
        self.last: list[Segment | None] = list(run.fixed)
        shape = batch.shape
        self.stride = run.shared_stride
        self.shared = np.full(shape.blocks * self.stride, 0xCD, np.uint8)
        self.shared_views = {c: self.shared.view(c) for c in _CODES}
        self.shared_races, self.global_races = batch.shared_races, batch.global_races
        self.shared_written = np.zeros(len(self.shared), np.bool_) if self.hazards else None
        self.known_written: set[tuple[int, int]] = set()  # parts of it that are, in every block
        self.local = self.local_written = None
        if run.program.local_bytes:
            size = shape.size * run.program.local_bytes
            self.local = np.full(size, 0xCD, np.uint8)
            self.local_written = np.zeros(size, np.bool_) if self.hazards else None

    def at(self, lanes: Lanes, v) -> Addresses:
        return Addresses(lanes, v)

    def shared_at(self, lanes: Lanes, v) -> Addresses:
        """Addresses in shared memory, which are often the same as before."""
        return self.run.repeats.addresses(lanes, v) if lanes.slots is None else Addresses(lanes, v)

    # -- global memory
    def _segment(self, site, a: Addresses, offset: int) -> Segment | None:
        """The segment that holds all addresses, or None if no one does."""
        seg = self.last[site.id]
        lo, hi = a.lo + offset, a.hi + offset + site.size
        if seg is not None and lo >= seg.lo and hi <= seg.hi:
            return seg
        if self.run.fixed[site.id] is not None:
            return None
        seg = self.run.segment(lo >> SLOT_BITS)
        if seg is not None and lo >= seg.lo and hi <= seg.hi:
            self.last[site.id] = seg
            return seg
        return None

    def load_global(self, site, a: Addresses, offset: int):
        seg = self._segment(site, a, offset)
        if seg is None or (a.low | offset) & (site.size - 1):
            return self._careful("load_global", site, a, offset, self._in_global)
        alloc = seg.alloc
        if self.count:
            self.run.tally.access("global", site, a, offset)
        if self.hazards:
            if alloc.written is not None:
                self._check_written(site, a, offset, alloc.written, alloc.base, "global")
            if seg.shadowed:
                self.global_races.note(self.batch, site, a, offset, alloc, alloc.base)
            if site.acquires:
                self.run.exchanged(site, a, offset, self.batch)
        return fetch(site, alloc.view(site.dtype), a, alloc.base, offset)

    load_const = load_global

    def store_global(self, site, a: Addresses, offset: int, values) -> None:
        seg = self._segment(site, a, offset)
        if seg is None or seg.alloc.readonly or (a.low | offset) & (site.size - 1):
            self._careful("store_global", site, a, offset, self._in_global, values)
            return
        alloc = seg.alloc
        if self.count:
            self.run.tally.access("global", site, a, offset)
        view = alloc.view(site.dtype)
        if self.hazards and seg.shadowed:
            before = fetch(site, view, a, alloc.base, offset)
            before = before if site.parts > 1 else (before,)
            races = self.global_races
            races.note(self.batch, site, a, offset, alloc, alloc.base, values, before)
            if site.strong:
                self.run.exchanged(site, a, offset, self.batch)
        put(site, view, a, alloc.base, offset, values)
        if alloc.written is not None:
            mark(site, alloc.written, a, alloc.base, offset)

    def wrapped(self, site, a: Addresses, offset: int, amount) -> None:
        """Warn of negative indices: those to which a length was added."""
        if self.hazards and amount.any():
            bad = a.lanes.full(amount) != 0
            self._complain("wrapped-index", site, a, a.vector() + offset, bad, site.space)

    # -- shared memory
    def _shared_ok(self, site, a: Addresses, offset: int) -> bool:
        lo, hi = self.run.shared_bounds[site.id]
        return (
            a.lo + offset >= lo
            and a.hi + offset + site.size <= hi
            and not (a.low | offset) & (site.size - 1)
        )

    def places_shared(self, a: Addresses) -> Addresses:
        """The addresses in the batch's shared memory, block after block."""
        found = a.cache.get("places")
        if found is None:
            if self.batch.shape.blocks == 1:
                found = a
            else:
                key = ("shared base", self.stride)
                base = a.lanes.memo.get(key)
                if base is None:
                    base = a.lanes.memo[key] = a.lanes.cta * self.stride
                found = Addresses(a.lanes, base + a.ad)
            a.cache["places"] = found
        return found

    def _look_shared(self, site, a: Addresses, offset: int) -> None:
        """Count and check a load from shared memory."""
        if self.count:
            self.run.tally.access("shared", site, a, offset)
        if self.hazards:
            self._check_shared_written(site, a, offset)
            self.shared_races.note(self.batch, site, a, offset, None, 0)

    def seen_shared(self, site, a: Addresses, offset: int) -> bool:
        """Whether a load breaks no rule; if so, it is counted and checked."""
        good = self._shared_ok(site, a, offset)
        if good:
            self._look_shared(site, a, offset)
        return good

    def rows_shared(self, site, a: Addresses, offset: int):
        """16 bytes a thread, as rows of four 32-bit words."""
        if not self.seen_shared(site, a, offset):
            words = self._careful("load_shared", site, a, offset, self._in_shared)
            return np.stack([a.lanes.full(w) for w in words], axis=-1)
        index = (self.places_shared(a).vector() + offset) >> 4
        return self.shared.view("c16").take(index).view("u4").reshape(-1, 4)

    def load_shared(self, site, a: Addresses, offset: int):
        if not self._shared_ok(site, a, offset):
            return self._careful("load_shared", site, a, offset, self._in_shared)
        self._look_shared(site, a, offset)
        index = a.cache.get(site.shift)
        if index is None:
            places = self.places_shared(a)
            index = a.cache[site.shift] = places.index(0, site.shift)
        view = self.shared_views[site.dtype]
        if offset >= 0 <= a.lo and site.parts == 1 and isinstance(index, np.ndarray):
            return view[offset >> site.shift :].take(index)
        return fetch(site, view, self.places_shared(a), 0, offset)

    def store_shared(self, site, a: Addresses, offset: int, values) -> None:
        if not self._shared_ok(site, a, offset):
            self._careful("store_shared", site, a, offset, self._in_shared, values)
            return
        places = self.places_shared(a)
        if self.count:
            self.run.tally.access("shared", site, a, offset)
        view = self.shared_views[site.dtype]
        if self.hazards:
            before = fetch(site, view, places, 0, offset)
            before = before if site.parts > 1 else (before,)
            self.shared_races.note(self.batch, site, a, offset, None, 0, values, before)
            self._mark_shared(site, a, offset, places)
        put(site, view, places, 0, offset, values)

    def _mark_shared(self, site, a, offset, places) -> None:
        """Note what a store has written, unless all from its first to its last byte is."""
        part = a.lo + offset, a.hi + offset + site.size
        if self.shared_written is None or part in self.known_written:
            return
        mark(site, self.shared_written, places, 0, offset)
        rows = self.shared_written.reshape(self.batch.shape.blocks, self.stride)
        if rows[:, part[0] : part[1]].all():
            self.known_written.add(part)

    def _check_shared_written(self, site, a, offset) -> None:
        if self.shared_written is None:
            return
        part = a.lo + offset, a.hi + offset + site.size
        if part in self.known_written:
            return
        rows = self.shared_written.reshape(self.batch.shape.blocks, self.stride)
        if rows[:, part[0] : part[1]].all():
            self.known_written.add(part)
            return
        places = self.places_shared(a)
        self._check_written(site, places, offset, self.shared_written, 0, "shared", a)

    def interval_ends(self) -> None:
        """After a barrier of all threads: stop asking once all shared memory is written."""
        if self.shared_written is not None and self.shared_written.all():
            self.shared_written = None

    # -- local memory
    def _local_places(self, a: Addresses):
        found = a.cache.get("local")
        if found is None:
            base = a.lanes.all_slots * self.run.program.local_bytes
            found = a.cache["local"] = Addresses(a.lanes, base + a.ad)
        return found

    def _local_ok(self, site, a, offset) -> bool:
        lo, hi = self.run.local_bounds[site.id]
        return (
            a.lo + offset >= lo
            and a.hi + offset + site.size <= hi
            and not (a.low | offset) & (site.size - 1)
        )

    def load_local(self, site, a: Addresses, offset: int):
        if not self._local_ok(site, a, offset):
            return self._careful("load_local", site, a, offset, self._in_local)
        places = self._local_places(a)
        if self.count:
            self.run.tally.access("local", site, a, offset)
        if self.local_written is not None:
            self._check_written(site, places, offset, self.local_written, 0, "local", a)
        return fetch(site, self.local.view(site.dtype), places, 0, offset)

    def store_local(self, site, a: Addresses, offset: int, values) -> None:
        if not self._local_ok(site, a, offset):
            self._careful("store_local", site, a, offset, self._in_local, values)
            return
        places = self._local_places(a)
        if self.count:
            self.run.tally.access("local", site, a, offset)
        if self.local_written is not None:
            mark(site, self.local_written, places, 0, offset)
        put(site, self.local.view(site.dtype), places, 0, offset, values)

    # -- generic addresses
    def _window(self, a: Addresses, offset: int):
        """The space of all addresses and the addresses in it; None when they are mixed."""
        lo, hi = a.lo + offset, a.hi + offset
        if hi < SHARED_WINDOW:
            return "global", a
        for name, start, end in (
            ("shared", SHARED_WINDOW, LOCAL_WINDOW),
            ("local", LOCAL_WINDOW, 1 << 63),
        ):
            if lo >= start and hi < end:
                inner = a.cache.get(name + " window")
                if inner is None:
                    moved = a.ad - np.int64(start)
                    inner = a.cache[name + " window"] = Addresses(a.lanes, moved)
                return name, inner
        return None

    def _generic(self, verb: str, site, a, offset, *rest):
        found = self._window(a, offset)
        if found is not None:
            space, inner = found
            if space == "local" and self.local is None:
                space, inner = "global", a  # no local memory: reported as out of bounds
            if verb == "atomic":
                return self._atomic_in(space, site, inner, offset, *rest)
            return getattr(self, f"{verb}_{space}")(site, inner, offset, *rest)
        v = a.vector()
        kind = (v >= SHARED_WINDOW).astype(np.int8) + (v >= LOCAL_WINDOW)
        return self._pieces(
            [kind == k for k in range(3)],
            lambda part, keep: self._generic(verb, site, part, offset, *taken(rest, keep)),
            site, a, verb,
        )  # fmt: skip

    def load_generic(self, site, a, offset):
        return self._generic("load", site, a, offset)

    def store_generic(self, site, a, offset, values):
        return self._generic("store", site, a, offset, values)

    # -- atomics
    def atomic(self, site, a, offset, op, kind, values, wanted):
        if site.space == "generic":
            return self._generic("atomic", site, a, offset, op, kind, values, wanted)
        return self._atomic_in(site.space, site, a, offset, op, kind, values, wanted)

    def _atomic_in(self, space, site, a, offset, op, kind, values, wanted):
        if space == "global":
            seg = self._segment(site, a, offset)
            good = seg is not None and not seg.alloc.readonly
            good = good and not (a.low | offset) & (site.size - 1)
            places, base = a, seg.alloc.base if good else 0
        elif space == "shared":
            good, base = self._shared_ok(site, a, offset), 0
            places = self.places_shared(a) if good else a
        else:
            good, base = self.local is not None and self._local_ok(site, a, offset), 0
            places = self._local_places(a) if good else a
        if not good:
            inside = {"global": self._in_global, "shared": self._in_shared}
            return self._careful(
                "atomic",
                site,
                a,
                offset,
                inside.get(space, self._in_local),
                op,
                kind,
                values,
                wanted,
            )
        written = None
        if space == "global":
            memory, written = seg.alloc.view(site.dtype), seg.alloc.written
        elif space == "shared":
            memory, written = self.shared_views[site.dtype], self.shared_written
        else:
            memory, written = self.local.view(site.dtype), self.local_written
        if self.count:
            self.run.tally.access(space, site, a, offset)
        if self.hazards:
            if written is not None:
                self._check_written(site, places, offset, written, base, space, a)
            if space == "shared":
                self.shared_races.note(self.batch, site, a, offset, None, 0)
            elif space == "global":
                if seg.shadowed:
                    races = self.global_races
                    races.note(self.batch, site, a, offset, seg.alloc, base)
                self.run.exchanged(site, a, offset, self.batch)
        index = ((places.vector() + offset) - base) >> site.shift
        values = tuple(a.lanes.full(v) for v in values)
        if written is not None:
            mark(site, written, places, base, offset)
        return atomics.apply(memory, index, op, kind, values, wanted)
