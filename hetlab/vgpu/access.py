"""Loads, stores and atomics: where a thread's address meets real memory.

Each access is checked against the bounds of the array it is meant for, counted,
noted for the race detector, and done, for all threads of the instruction at once.
Accesses that break a rule are reported and left out: such a load gives 0, such a
store does nothing.
"""

from __future__ import annotations

import numpy as np

from hetlab.vgpu import atomics
from hetlab.vgpu.hazards import name_of, who
from hetlab.vgpu.lanes import Addresses, Lanes
from hetlab.vgpu.memory import LOCAL_WINDOW, SHARED_WINDOW, SLOT_BITS

__all__ = ["MemoryPort", "Segment"]

_CODES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")
_ONES = {1: np.uint8(1), 2: np.uint16(0x0101), 4: np.uint32(0x01010101)}
_ONES[8] = np.uint64(0x0101010101010101)


class Segment:
    """The bytes an instruction may touch: an argument's own part of an allocation."""

    __slots__ = ("alloc", "arg", "hi", "lo", "shadowed")

    def __init__(self, alloc, lo, hi, arg=None, shadowed=False) -> None:
        self.alloc, self.lo, self.hi, self.arg, self.shadowed = alloc, lo, hi, arg, shadowed


class MemoryPort:
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
        self.local = self.local_written = None
        if run.program.local_bytes:
            size = shape.size * run.program.local_bytes
            self.local = np.full(size, 0xCD, np.uint8)
            self.local_written = np.zeros(size, np.bool_) if self.hazards else None

    def at(self, lanes: Lanes, v) -> Addresses:
        return Addresses(lanes, v)

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
                self.run.acquired(a.lanes, self.batch)
        return _fetch(site, alloc.view(site.dtype), a, alloc.base, offset)

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
            before = _fetch(site, view, a, alloc.base, offset)
            before = before if site.parts > 1 else (before,)
            races = self.global_races
            races.note(self.batch, site, a, offset, alloc, alloc.base, values, before)
            if site.releases:
                self.run.released(a.lanes, self.batch)
        _put(site, view, a, alloc.base, offset, values)
        if alloc.written is not None:
            _mark(site, alloc.written, a, alloc.base, offset)

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

    def _shared_places(self, a: Addresses):
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

    def load_shared(self, site, a: Addresses, offset: int):
        if not self._shared_ok(site, a, offset):
            return self._careful("load_shared", site, a, offset, self._in_shared)
        if self.count:
            self.run.tally.access("shared", site, a, offset)
        if self.hazards:
            places = self._shared_places(a)
            self._check_shared_written(site, a, offset, places)
            self.shared_races.note(self.batch, site, places, offset, None, 0)
        index = a.cache.get(site.shift)
        if index is None:
            places = self._shared_places(a)
            index = a.cache[site.shift] = places.index(0, site.shift)
        view = self.shared_views[site.dtype]
        if offset >= 0 and site.parts == 1 and isinstance(index, np.ndarray):
            return view[offset >> site.shift :].take(index)
        return _fetch(site, view, self._shared_places(a), 0, offset)

    def store_shared(self, site, a: Addresses, offset: int, values) -> None:
        if not self._shared_ok(site, a, offset):
            self._careful("store_shared", site, a, offset, self._in_shared, values)
            return
        places = self._shared_places(a)
        if self.count:
            self.run.tally.access("shared", site, a, offset)
        view = self.shared_views[site.dtype]
        if self.hazards:
            before = _fetch(site, view, places, 0, offset)
            before = before if site.parts > 1 else (before,)
            self.shared_races.note(self.batch, site, places, offset, None, 0, values, before)
            if self.shared_written is not None:
                _mark(site, self.shared_written, places, 0, offset)
        _put(site, view, places, 0, offset, values)

    def _check_shared_written(self, site, a, offset, places) -> None:
        if self.shared_written is None:
            return
        rows = self.shared_written.reshape(self.batch.shape.blocks, self.stride)
        if rows[:, a.lo + offset : a.hi + offset + site.size].all():
            return
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
        return _fetch(site, self.local.view(site.dtype), places, 0, offset)

    def store_local(self, site, a: Addresses, offset: int, values) -> None:
        if not self._local_ok(site, a, offset):
            self._careful("store_local", site, a, offset, self._in_local, values)
            return
        places = self._local_places(a)
        if self.count:
            self.run.tally.access("local", site, a, offset)
        if self.local_written is not None:
            _mark(site, self.local_written, places, 0, offset)
        _put(site, self.local.view(site.dtype), places, 0, offset, values)

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
            lambda part, keep: self._generic(verb, site, part, offset, *_taken(rest, keep)),
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
            places = self._shared_places(a) if good else a
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
                self.shared_races.note(self.batch, site, places, offset, None, 0)
            elif space == "global":
                if seg.shadowed:
                    races = self.global_races
                    races.note(self.batch, site, a, offset, seg.alloc, base)
                self.run.acquired(a.lanes, self.batch)
                if site.releases:
                    self.run.released(a.lanes, self.batch)
        index = ((places.vector() + offset) - base) >> site.shift
        values = tuple(a.lanes.full(v) for v in values)
        if written is not None:
            _mark(site, written, places, base, offset)
        return atomics.apply(memory, index, op, kind, values, wanted)

    # -- accesses that break a rule
    def _in_global(self, site, v):
        """Which addresses are good, and the rule that the others break."""
        fixed = self.run.fixed[site.id]
        slots = v >> SLOT_BITS
        inside = np.zeros(len(v), np.bool_)
        writable = np.ones(len(v), np.bool_)
        for slot in [None] if fixed else sorted(set(slots.tolist())):
            seg = fixed or self.run.segment(slot)
            if seg is None:
                continue
            here = (v >= seg.lo) & (v + site.size <= seg.hi)
            if slot is not None:
                here &= slots == slot
            inside |= here
            if site.stores and seg.alloc.readonly:
                writable &= ~here
        return inside, writable

    def _in_shared(self, site, v):
        lo, hi = self.run.shared_bounds[site.id]
        return (v >= lo) & (v + site.size <= hi), None

    def _in_local(self, site, v):
        lo, hi = self.run.local_bounds[site.id]
        return (v >= lo) & (v + site.size <= hi), None

    def _careful(self, verb: str, site, a, offset, inside, *rest):
        """Report the threads whose access breaks a rule, and serve the others."""
        v = a.vector() + offset
        space = {self._in_shared: "shared", self._in_local: "local"}.get(inside, "global")
        good, writable = inside(site, v)
        aligned = (v & (site.size - 1)) == 0
        self._complain("out-of-bounds", site, a, v, ~good, space)
        self._complain("misaligned", site, a, v, good & ~aligned, space)
        good = good & aligned
        if writable is not None:
            self._complain("read-only-write", site, a, v, good & ~writable, space)
            good = good & writable
        if good.all():  # each is right, but no single array holds all of them
            slots = v >> SLOT_BITS
            masks = [slots == s for s in sorted(set(slots.tolist()))]
        else:
            masks = [good]

        def again(part, keep):
            if verb == "atomic":
                return self._atomic_in(space, site, part, 0, *_taken(rest, keep))
            return getattr(self, verb)(site, part, 0, *_taken(rest, keep))

        return self._pieces(masks, again, site, Addresses(a.lanes, v), verb)

    def _pieces(self, masks, do, site, a, verb):
        """Serve groups of threads one after another and put their results together."""
        n = a.lanes.n
        out = [np.zeros(n, site.dtype) for _ in range(site.parts)]
        for keep in masks:
            part = a.narrow(keep)
            if part is None:
                continue
            got = do(part, keep)
            if got is None:
                continue
            for target, value in zip(out, got if site.parts > 1 else (got,)):
                target[keep] = value
        if verb.startswith("store"):
            return None
        return tuple(out) if site.parts > 1 else out[0]

    def _complain(self, kind, site, a, v, bad, space) -> None:
        if not bad.any():
            return
        k = int(np.argmax(bad))
        run = self.run

        def make():
            thread = run.thread(int(self.batch.threads(a.lanes)[k]))
            array, index = run.describe(space, site, int(v[k]))
            return {
                "array": array,
                "index": index,
                "threads": [thread],
                "lines": [site.place],
                "space": space,
                "message": _SENTENCES[kind].format(
                    who=who(thread).capitalize(),
                    verb="stores to" if site.stores else "reads",
                    what=name_of(array, index, space),
                    line=site.place[1],
                    size=site.size,
                    address=int(v[k]),
                    extent=run.extent(space, site, int(v[k])),
                ),
            }

        warning = kind == "wrapped-index"
        count = int(np.count_nonzero(bad))
        run.recorder.add(kind, (space, site.id), count, make, warning=warning)

    # -- bytes that nobody has written
    def _check_written(self, site, a, offset, written, base, space, inner=None) -> None:
        """Report threads that read what has never been written.  `inner`: addresses to name."""
        got = _fetch(site, _by_elements(written, site.elem), a, base, offset)
        bad = None
        for part in got if site.parts > 1 else (got,):
            wrong = part != _ONES[site.elem]
            bad = wrong if bad is None else bad | wrong
        if not np.any(bad):
            return
        bad = a.lanes.full(np.asarray(bad) if isinstance(bad, np.ndarray) else np.bool_(bad))
        named = inner if inner is not None else a
        self._complain("uninitialised-read", site, named, named.vector() + offset, bad, space)


_SENTENCES = {
    "out-of-bounds": "{who} {verb} {what} in line {line}, outside {extent}.",
    "misaligned": "{who} {verb} {what} in line {line} at address {address:#x}, "
    "which is no multiple of {size}.",
    "read-only-write": "{who} {verb} {what} in line {line}, which is read-only.",
    "wrapped-index": "{who} {verb} {what} in line {line} by a negative index, which "
    "counts from the end.",
    "uninitialised-read": "{who} {verb} {what} in line {line} before anything was stored there.",
}


def _taken(rest, keep):
    """The same arguments for some of the threads."""

    def take(x):
        if isinstance(x, tuple):
            return tuple(take(y) for y in x)
        return x[keep] if isinstance(x, np.ndarray) else x

    return tuple(take(x) for x in rest)


def _views(view, index, offset, shift, low_enough):
    """Move the offset from many indices into one slice, where that is possible."""
    if offset and isinstance(index, np.ndarray):
        if offset > 0 and low_enough:
            return view[offset >> shift :], index
        return view, index + (offset >> shift)
    return view, index


def _locate(site, view, a, base, offset):
    if a.step is None or a.step < 0:
        index = a.index(base, site.shift)
        return _views(view, index, offset, site.shift, a.lo >= base)
    return view, a.index(base, site.shift, offset)


def _fetch(site, view, a, base, offset):
    """Elements as new arrays (or scalars); a tuple for vector accesses."""
    view, index = _locate(site, view, a, base, offset)
    if site.parts == 1:
        if isinstance(index, np.ndarray):
            return view.take(index)
        return view[index].copy() if isinstance(index, slice) else view[index]
    if isinstance(index, np.ndarray):
        return tuple(view.take(index + j) for j in range(site.parts))
    if isinstance(index, slice):
        s = index
        return tuple(view[s.start + j : s.stop + j : s.step].copy() for j in range(site.parts))
    return tuple(view[index + j] for j in range(site.parts))


def _put(site, view, a, base, offset, values) -> None:
    view, index = _locate(site, view, a, base, offset)
    for j, v in enumerate(values):
        if isinstance(index, slice):
            view[index.start + j : index.stop + j : index.step] = v
        elif isinstance(index, np.ndarray):
            view[index + j if j else index] = v
        else:  # one address: the last thread's value stays
            view[index + j] = v[-1] if isinstance(v, np.ndarray) else v


def _mark(site, written, a, base, offset) -> None:
    ones = _ONES[site.elem]
    view = _by_elements(written, site.elem)
    _put(site, view, a, base, offset, (ones,) * site.parts)


def _by_elements(written, size: int):
    """A map of bytes as one word for each element."""
    return written[: len(written) // size * size].view(f"u{size}")
