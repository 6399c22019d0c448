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
    gate of their block.  A part of a group remembers it as `parent`, where it stood in it
    (`index`) and the registers it was given (`born`): when all parts meet again, a register that
    none of them changed is the parent's.  Groups of a lower `rank` run first.
    """

    __slots__ = (
        "at", "born", "depth", "index", "key", "lanes", "last", "parent", "parked", "passed",
        "rank", "regs", "seen", "spin", "spin_n",
    )  # fmt: skip

    def __init__(self, at: int, lanes: Lanes, regs: list) -> None:
        self.at, self.lanes, self.regs = at, lanes, regs
        self.parked, self.passed, self.key = "", False, None
        self.spin, self.spin_n, self.last, self.rank = 0, 0, 0, 0
        self.seen: list = []
        self.parent, self.index, self.born, self.depth = None, None, regs, 0

    def learns(self, live) -> bool:
        """Whether its live registers differ from those at the last visit of a polling block."""
        now = [self.regs[k] for k in live]
        same = len(now) == len(self.seen) and all(
            x is y or np.array_equal(x, y) for x, y in zip(now, self.seen)
        )
        self.seen = now
        return not same
