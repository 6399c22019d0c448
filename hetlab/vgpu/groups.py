"""Groups of threads that stand at the same place."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.lanes import Lanes

__all__ = ["Aborted", "Group", "masks"]


class Aborted(Exception):
    """The launch ends here; the reason has been recorded as a hazard."""


def masks(flags):
    """One bool a slot as one 32-bit mask a warp."""
    return np.packbits(flags.reshape(-1, 32), axis=1, bitorder="little").view(np.uint32).reshape(-1)


class Group:
    """Threads at the same place.

    `parked` is "" or the kind of gate they wait at; `passed` says that they may go through the
    gate of their block.
    """

    __slots__ = ("at", "key", "lanes", "last", "parked", "passed", "regs", "seen", "spin", "spin_n")

    def __init__(self, at: int, lanes: Lanes, regs: list) -> None:
        self.at, self.lanes, self.regs = at, lanes, regs
        self.parked, self.passed, self.key = "", False, None
        self.spin, self.spin_n, self.last = 0, 0, 0
        self.seen: list = []

    def learns(self, live) -> bool:
        """Whether its live registers differ from those at the last visit of a polling block."""
        now = [self.regs[k] for k in live]
        same = len(now) == len(self.seen) and all(
            x is y or np.array_equal(x, y) for x, y in zip(now, self.seen)
        )
        self.seen = now
        return not same
