"""What was found out about addresses in shared memory, kept for when they come again.

A loop over tiles asks for the same few sets of addresses in every turn, and the next launch of
the kernel for the same ones again.  So their analysis (bounds, bank conflicts, places in the
batch's memory) is done once, and an interval between barriers in which all accesses are as in
one that had no race is not searched for races again.

What this may assume: an array that a register holds is never written to; what `Addresses` cache
depends on the threads, the addresses, and the kernel with the size of its shared memory, and a
`Repeats` belongs to one such kernel.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

import numpy as np

from hetlab.vgpu.lanes import Addresses, Lanes

__all__ = ["Repeats", "repeats_of"]

_ROOM = 32 << 20  # bytes of addresses that one kernel may keep
_WORDS = 6  # words of 8 bytes a thread for one set of addresses, with what is cached of it
_INTERVALS = 4096

_serial = itertools.count(1)


class Repeats:
    """The sets of addresses of one kernel, and its intervals without a race."""

    def __init__(self) -> None:
        self.known: dict[tuple, Addresses] = {}
        self.clean: set[tuple] = set()
        self.used = 0

    def addresses(self, lanes: Lanes, v) -> Addresses:
        """`Addresses` of all threads of a batch, the same object for the same addresses."""
        key = (lanes.n, v.tobytes())
        found = self.known.get(key)
        if found is None:
            found = Addresses(lanes, v)
            found.serial = next(_serial)  # never given twice, unlike the place of an object
            if self.used > _ROOM:
                self.known.clear()
                self.used = 0
            self.used += 8 * _WORDS * (lanes.n if isinstance(v, np.ndarray) else 1)
            self.known[key] = found
        return found

    @staticmethod
    def interval(log: list) -> tuple | None:
        """What decides whether the accesses of an interval race, as a key; None if unknown.

        In an interval all clocks count from the barrier before it, the fence: nothing older can
        race.  Threads are told apart by their place in the block, which the addresses fix.
        """
        fence = log[0].fence
        key = []
        for a in log:
            serial = a.at.serial
            if serial is None or a.fence is not fence or isinstance(a.clock, np.ndarray):
                return None
            key.append((a.site.id, serial, a.offset, a.clock - fence))
        return None if isinstance(fence, np.ndarray) else tuple(key)

    def remember(self, interval: tuple) -> None:
        """Note an interval that was searched and has no race."""
        if len(self.clean) >= _INTERVALS:
            self.clean.clear()
        self.clean.add(interval)


@lru_cache(maxsize=4)
def _kept(*kernel) -> Repeats:
    return Repeats()


def repeats_of(run) -> Repeats:
    """What is kept for a launch's kernel with its size of block and of shared memory."""
    return _kept(run.module_key, run.program.name, run.block, run.shared_stride, run.tiles)
