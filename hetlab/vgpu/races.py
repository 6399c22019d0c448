"""Races: two threads, one place in memory, and nothing that orders them.

A race is found from what threads *may* do, not from the order in which they
happened to run: two threads touch the same bytes, at least one stores, not both
are atomic, and no barrier lies between.  Each thread carries a *clock*, the
number of the last synchronisation it took part in; a shadow word for every
granule of memory remembers who stored last, where, and at which clock, and two
more who read.  So one pass over the accesses, in any order that respects
barriers, finds every such pair.

What orders two accesses: the same thread; a barrier that both threads of a block
passed between them; a ``bar.warp.sync`` for lanes of one warp; and a fence by
the first thread's block or warp followed by an atomic or an acquiring load by the
second's (`ordering`).  Shuffles and votes order nothing (CUDA C++ Programming Guide, warp
shuffle functions).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetlab.vgpu.hazards import race_sentence
from hetlab.vgpu.lanes import Addresses

__all__ = [
    "CLOCK_BITS",
    "CLOCK_MASK",
    "MAX_CLOCK",
    "MAX_SITES",
    "SITE_MASK",
    "THREAD_BITS",
    "Access",
    "RaceDetector",
]

i8 = np.int64

# a shadow word: thread + 1 in the upper 32 bits, then the site, then the clock
_SITE_BITS, CLOCK_BITS = 13, 18
THREAD_BITS = _SITE_BITS + CLOCK_BITS
CLOCK_MASK = (1 << CLOCK_BITS) - 1
SITE_MASK = (1 << _SITE_BITS) - 1
MAX_CLOCK = CLOCK_MASK - 8
MAX_SITES = SITE_MASK


class _Shadow:
    """The shadow words of one piece of memory."""

    __slots__ = ("reader", "reader2", "writer")

    def __init__(self, granules: int) -> None:
        self.writer = np.zeros(granules, i8)
        self.reader = self.reader2 = None

    def readers(self):
        if self.reader is None:
            self.reader = np.zeros(len(self.writer), i8)
            self.reader2 = np.zeros(len(self.writer), i8)
        return self.reader, self.reader2

    def forget_clocks(self) -> None:
        for words in (self.writer, self.reader, self.reader2):
            if words is not None:
                words &= ~i8(CLOCK_MASK)


@dataclass(slots=True)
class Access:
    batch: object
    site: object
    at: Addresses
    offset: int
    key: object  # the allocation, or None for shared memory
    base: int
    values: tuple | None  # what a store wrote,
    before: tuple | None  # and what was there before
    clock: object
    fence: object


class RaceDetector:
    """Finds races in one memory space.

    Parameters
    ----------
    run : Run
        Gives ``sites``, ``recorder``, and ``describe`` for reports.
    space : str
    shift : int
        log2 of the bytes of a granule: the smallest access to this space in the kernel.
    """

    KEEP = 48
    """Accesses that wait for a check before a check is made anyway."""

    def __init__(self, run, space: str, shift: int) -> None:
        self.run, self.space, self.shift = run, space, shift
        self.shadows: dict = {}
        self.log: list[Access] = []
        self.stores = False
        self.mixed = False  # readers of the current interval are in the shadow
        self.later: set[int] = set()  # stores in the shadow that ran after the load in hand
        self.atomic = np.array([s.atomic for s in run.sites] or [False])
        self.strong = np.array([s.strong for s in run.sites] or [False])
        self.warps_a_block = run.warps_a_block
        self.loads: dict[int, Access] = {}  # of tiles: the last one of each instruction

    def shadow(self, key, nbytes: int) -> _Shadow:
        found = self.shadows.get(key)
        if found is None:
            found = self.shadows[key] = _Shadow((nbytes >> self.shift) + 16)
        return found

    def forget_clocks(self) -> None:
        """Start the clocks anew: all that happened so far lies before the next barrier."""
        for shadow in self.shadows.values():
            shadow.forget_clocks()

    def note(self, batch, site, at, offset, key, base, values=None, before=None) -> None:
        """Remember an access; it is checked at the next barrier, or when many have gathered."""
        self.log.append(
            Access(batch, site, at, offset, key, base, values, before, batch.clock, batch.fence)
        )
        self.stores |= site.stores
        if self.run.tiles and not site.stores:
            self.loads[site.id] = self.log[-1]
        if len(self.log) >= self.KEEP:
            self.check()

    def interval_ends(self) -> None:
        """All threads of the batch passed a barrier: nothing after it races with before."""
        if self.stores and not self.mixed:
            # Stores first, then loads: in an interval the order of a pair does not matter.
            log, self.log = self.log, []
            for a in log:
                if a.site.stores:
                    self._store(a)
            self.later = {a.site.id for a in log if a.site.stores}
            for a in log:
                if a.site.stores:
                    self.later.discard(a.site.id)
                else:
                    self._load(a, remember=False)
            self.later = set()
        elif self.stores or self.mixed:
            self.check()
        self.log.clear()
        self.stores = self.mixed = False

    def check(self) -> None:
        """Check what has gathered, in order, and remember the readers."""
        log, self.log = self.log, []
        self.mixed = True
        for a in log:
            if a.site.stores:
                self._store(a)
            else:
                self._load(a, remember=True)
        self.stores = False

    # -- one access
    def _shadow_of(self, a: Access):
        """The shadow of the memory that an access is to, and its addresses there."""
        return self.shadow(a.key, a.key.nbytes), a.at

    def _places(self, a: Access):
        """The shadow and, for each granule of the access, where its words are."""
        shadow, at = self._shadow_of(a)
        n = max(a.site.size >> self.shift, 1)
        first = at.index(a.base, self.shift, a.offset)
        if isinstance(first, int):
            first = np.full(a.at.lanes.n, first)
        for j in range(n):
            if not j:
                yield shadow, first
            elif isinstance(first, slice):
                yield shadow, slice(first.start + j, first.stop + j, first.step)
            else:
                yield shadow, first + j

    def _me(self, a: Access):
        lanes, batch = a.at.lanes, a.batch
        code = lanes.memo.get("code")
        if code is None or code[0] != batch.serial:
            code = lanes.memo["code"] = (batch.serial, (batch.threads(lanes) + 1) << THREAD_BITS)
        return code[1] + ((a.site.id << CLOCK_BITS) + lanes.of_slots(a.clock))

    def _others(self, a: Access, me, old):
        """Indices where `old` is an unordered access of another thread; None if nowhere."""
        if not np.count_nonzero(old):
            return None
        other = ((old ^ me) >> THREAD_BITS != 0) & (old != 0)
        if self.space == "shared":
            fence = a.fence
            if isinstance(fence, np.ndarray):
                fence = fence[a.at.lanes.cta]
            other &= (old & CLOCK_MASK) >= fence
        if not np.count_nonzero(other):
            return None
        return self._unordered(a, me, old, np.flatnonzero(other))

    def _unordered(self, a, me, old, at):
        mine, theirs = me[at], old[at]
        t_me, t_old = (mine >> THREAD_BITS) - 1, (theirs >> THREAD_BITS) - 1
        w_me, w_old = t_me >> 5, t_old >> 5
        b_me, b_old = w_me // self.warps_a_block, w_old // self.warps_a_block
        same_block = b_me == b_old
        clock = theirs & CLOCK_MASK
        fence = a.fence
        if isinstance(fence, np.ndarray):
            fence = fence[a.at.lanes.cta[at]]
        same_warp = w_me == w_old
        met = same_warp & (clock < (mine & CLOCK_MASK))
        if isinstance(a.clock, np.ndarray) and met.any():  # did the other one come, too?
            met &= clock < a.clock[np.where(met, a.batch.slots(t_old), 0)]
        ordered = same_block & ((clock < fence) | met)
        if a.batch.book is not None:
            warps = (a.batch.slots(np.where(same_block, t, t_me)) >> 5 for t in (t_old, t_me))
            ordered |= same_block & a.batch.book.ordered(*warps, clock)
        if self.space == "global":
            ordered |= ~same_block & (clock < self.run.grid_fence)
            ordered |= ~same_block & self.run.published(b_old, b_me, clock)
            ordered |= same_block & self.run.handed_over(w_old, w_me, clock)
            site = (theirs >> CLOCK_BITS) & SITE_MASK
            ordered |= self.strong[site] & self.strong[a.site.id]
        else:
            ordered |= ~same_block
            if self.strong[a.site.id]:  # volatile: a flag between warps, no order inside one
                ordered |= ~same_warp & self.strong[(theirs >> CLOCK_BITS) & SITE_MASK]
        if a.site.atomic:
            ordered |= self.atomic[(theirs >> CLOCK_BITS) & SITE_MASK]
        at = at[~ordered]
        return at if len(at) else None

    def _load(self, a: Access, remember: bool) -> None:
        me = self._me(a)
        for j, (shadow, where) in enumerate(self._places(a)):
            old = shadow.writer[where]
            bad = self._others(a, me, old)
            if bad is not None:
                self._report(a, j, me, old, bad)
            if remember:
                first, second = shadow.readers()
                before = first[where].copy()
                first[where] = me
                lost = first[where] != me  # several threads read one word: keep two of them
                if np.count_nonzero(lost):
                    second[where[lost] if isinstance(where, np.ndarray) else where] = me[lost]
                elif before.any():
                    differs = (before ^ me) >> THREAD_BITS != 0
                    differs &= before != 0
                    if differs.any():
                        if isinstance(where, slice):
                            where = np.arange(where.start, where.stop, where.step)
                        second[where[differs]] = before[differs]

    def _store(self, a: Access) -> None:
        me = self._me(a)
        for j, (shadow, where) in enumerate(self._places(a)):
            old = shadow.writer[where]
            bad = self._others(a, me, old)
            if bad is not None:
                self._stored_twice(a, j, me, old, bad)
            if shadow.reader is not None:
                for readers in (shadow.reader, shadow.reader2):
                    old = readers[where]
                    bad = self._others(a, me, old)
                    if bad is not None and self.loads:
                        bad = self._without_copies(a, old, bad)
                    if bad is not None:
                        self._report(a, j, me, old, bad)
            shadow.writer[where] = me
            if isinstance(where, np.ndarray) and not a.site.atomic:
                now = shadow.writer[where]
                lost = now != me
                if np.count_nonzero(lost):
                    self._collided(a, j, where, me, now, np.flatnonzero(lost))

    def _without_copies(self, a: Access, old, bad):
        """Leave out readers that hold another copy of the storing thread's own element.

        In a tile language a scalar, or a tile of fewer elements than threads, is read by several
        threads and stored by the first of them: the others read it for nothing.
        """
        sites = (old[bad] >> CLOCK_BITS) & SITE_MASK
        slots = a.at.lanes.all_slots[bad]
        apart = a.batch.slots((old[bad] >> THREAD_BITS) - 1) ^ slots
        keep = np.ones(len(bad), np.bool_)
        for number in set(sites.tolist()):
            load = self.loads.get(number)
            if load is not None and load.batch is a.batch:
                keep &= (sites != number) | (apart & ~copy_bits(load.at) != 0)
        bad = bad[keep]
        return bad if len(bad) else None

    def _stored_twice(self, a, j, me, old, bad) -> None:
        """A store over another thread's: harmless if it stored the value that was there."""
        if a.values is not None and a.before is not None:
            value, before = self._part(a, a.values, j), self._part(a, a.before, j)
            same = _equal(value[bad], before[bad])
            if same.any():
                self._report(a, j, me, old, bad[same], same_value=True)
            bad = bad[~same]
            if not len(bad):
                return
        self._report(a, j, me, old, bad)

    def _part(self, a, values, j):
        """The element that granule `j` of the access belongs to, one a thread."""
        return a.at.lanes.full(values[(j << self.shift) // a.site.elem])

    def _collided(self, a, j, where, me, now, lost) -> None:
        """Several lanes of one instruction stored to one word."""
        if a.values is None:
            return
        value = self._part(a, a.values, j)
        order = np.argsort(where, kind="stable")
        winner = order[np.searchsorted(where[order], where[lost], side="right") - 1]
        same = _equal(value[lost], value[winner])
        warp = ((me[lost] >> THREAD_BITS) - 1) >> 5 == ((now[lost] >> THREAD_BITS) - 1) >> 5
        if (~same).any():
            self._report(a, j, me, now, lost[~same])
        elif (~warp).any():
            self._report(a, j, me, now, lost[~warp], same_value=True)

    # -- the report
    def _report(self, a, j, me, old, bad, same_value=False) -> None:
        part = (j << self.shift) // a.site.elem * a.site.elem  # of a vector: which
        sites = (old[bad] >> CLOCK_BITS) & SITE_MASK
        for number in set(sites.tolist()):
            here = bad[sites == number]
            first = self.run.sites[number]
            k = int(here[0])
            earlier = (int(old[k]) >> THREAD_BITS) - 1
            kind = "same-value-store" if same_value else "race"
            where = (self.space, *sorted((number, a.site.id)))

            def make(k=k, earlier=earlier, first=first, kind=kind):
                address = int(a.at.vector()[k]) + a.offset + part
                array, index = self.run.describe(self.space, a.site, address)
                later = (int(me[k]) >> THREAD_BITS) - 1
                threads = [self.run.thread(earlier), self.run.thread(later)]
                sites = [first, a.site]
                if first.id in self.later and not a.site.stores:
                    threads.reverse()
                    sites.reverse()
                return {
                    "array": array,
                    "index": index,
                    "threads": threads,
                    "lines": [site.place for site in sites],
                    "space": self.space,
                    "message": race_sentence(
                        kind, array, index, threads, sites, self.space, self.run.who
                    ),
                }

            self.run.recorder.add(kind, where, len(here), make, warning=same_value)


def copy_bits(at: Addresses) -> int:
    """The bits of a thread's number that do not change the address it reads, as a mask."""
    shape = at.lanes.shape
    if shape.threads & (shape.threads - 1):
        return 0
    table = np.full(shape.size, -1, i8)
    table[at.lanes.all_slots] = at.vector()
    bits = 0
    for b in range(shape.threads.bit_length() - 1):
        pairs = table.reshape(-1, 2, 1 << b)
        if (pairs[:, 0] == pairs[:, 1]).all():
            bits |= 1 << b
    return bits


def _equal(x, y):
    """Bitwise equality, so that not-a-number equals itself."""
    kind = f"u{x.dtype.itemsize}"
    if x.dtype.kind == "b":
        return x == y
    return np.ascontiguousarray(x).view(kind) == np.ascontiguousarray(y).view(kind)
