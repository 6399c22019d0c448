"""Races in shared memory: while all blocks of a batch do the same, one is looked at for all.

Blocks do not see each other's shared memory, and in most kernels each does with its own
exactly what the others do.  So the first block's accesses stand for all, until blocks differ
or a race shows: then the shadow words of the first are spread over the others, and everything
from there to the next barrier is checked in full.
"""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.races import (
    CLOCK_BITS,
    CLOCK_MASK,
    SITE_MASK,
    THREAD_BITS,
    Access,
    RaceDetector,
)

__all__ = ["SharedRaces"]


class _Suspicion(Exception):
    """Something in the first block that must be looked at in all of them."""


class SharedRaces(RaceDetector):
    """The detector of one batch's shared memory; addresses are those inside a block."""

    KEEP = 256

    def __init__(self, run, space: str, shift: int) -> None:
        super().__init__(run, space, shift)
        self.alike = True  # since the last barrier of all blocks
        self.single = False  # the access in hand is that of the first block
        self.clean = False  # so far, nothing in the interval had to be looked at twice

    def interval_ends(self) -> None:
        repeats, key = self.run.repeats, None
        if self.log and self.stores and not self.mixed and self.alike:
            key = repeats.interval(self.log)
        if key in repeats.clean:
            # Their words are missing in the shadows: all that is there is older than the barrier.
            self.log.clear()
            self.stores = False
            return
        self.clean = True
        super().interval_ends()
        if key is not None and self.clean:
            repeats.remember(key)
        self.alike = True

    def _shadow_of(self, a: Access):
        memory = a.batch.memory
        return self.shadow(None, len(memory.shared)), memory.places_shared(a.at)

    def _first(self, a: Access) -> Access | None:
        """The access of the first block alone, when it stands for all."""
        if not self.alike or a.batch.shape.blocks == 1 or a.batch.book is not None:
            return None
        if isinstance(a.clock, np.ndarray) or isinstance(a.fence, np.ndarray):
            return None
        one = a.at.one()
        if one is None:
            return None
        return Access(a.batch, a.site, one, a.offset, None, 0, None, None, a.clock, a.fence)

    def _places(self, a: Access):
        """In the first block, all granules of a vector at once: `_me` repeats its threads."""
        if not self.single:
            yield from super()._places(a)
            return
        memory, n = a.batch.memory, max(a.site.size >> self.shift, 1)
        key = ("granules", n, a.offset)
        where = a.at.cache.get(key)
        if where is None:
            first = (a.at.vector() + a.offset) >> self.shift
            if n > 1:
                first = (first[:, None] + np.arange(n)).reshape(-1)
            where = a.at.cache[key] = first
        yield self.shadow(None, len(memory.shared)), where

    def _me(self, a: Access):
        me, n = super()._me(a), max(a.site.size >> self.shift, 1)
        return me.repeat(n) if self.single and n > 1 else me

    def _stored_twice(self, *about) -> None:
        self.clean = False
        super()._stored_twice(*about)

    def _others(self, a: Access, me, old):
        if self.single:  # all that lies before the last barrier is in order
            recent = (old & CLOCK_MASK) >= a.fence
            if not np.count_nonzero(recent):
                return None
        return super()._others(a, me, old)

    def _load(self, a: Access, remember: bool) -> None:
        if not self._alone(a, super()._load, remember):
            super()._load(a, remember)

    def _store(self, a: Access) -> None:
        if not self._alone(a, super()._store):
            super()._store(a)

    def _alone(self, a: Access, check, *more) -> bool:
        """Check the first block's part; False when all blocks must be checked."""
        first = self._first(a)
        if first is not None:
            self.single = True
            before = []
            if a.site.stores:
                before = [(words.writer, at, words.writer[at].copy()) for words, at in
                          self._places(first)]  # fmt: skip
            try:
                check(first, *more)
                return True
            except _Suspicion:
                for words, at, old in before:
                    words[at] = old
            finally:
                self.single = False
        if self.alike:
            self._spread(a.batch)
        return False

    def _spread(self, batch) -> None:
        """Let the words of the first block stand in the others' shadows too."""
        self.alike = False
        blocks = batch.shape.blocks
        if blocks == 1:
            return
        granules = batch.memory.stride >> self.shift
        ahead = (batch.block_ids - batch.block_ids[0]) * batch.shape.padded << THREAD_BITS
        for shadow in self.shadows.values():
            for words in (shadow.writer, shadow.reader, shadow.reader2):
                if words is not None:
                    table = words[: granules * blocks].reshape(blocks, granules)
                    table[:] = np.where(table[0] != 0, table[0] + ahead[:, None], 0)

    def _collided(self, a: Access, *rest) -> None:
        self.clean = False
        if self.run.tiles:  # copies of one element, equal but for the order of a sum
            return
        if self.single:  # what is stored may be the same in one block and not in another
            raise _Suspicion
        super()._collided(a, *rest)

    def _report(self, a: Access, j: int, me, old, bad, same_value=False) -> None:
        self.clean = False
        if self.run.tiles and a.site.stores:
            bad = bad[(old[bad] >> CLOCK_BITS) & SITE_MASK != a.site.id]
            if not len(bad):
                return
        if self.single:
            raise _Suspicion
        super()._report(a, j, me, old, bad, same_value)
