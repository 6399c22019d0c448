"""The first warp's way through a kernel: which of its lanes were active, step by step."""

from __future__ import annotations

import numpy as np

__all__ = ["Film"]

STEPS = 512
"""Instructions that are kept: enough for a picture, and no memory for a long kernel."""


class Film:
    """Records the visits of one warp to basic blocks, until it has seen enough."""

    def __init__(self, program) -> None:
        self.program = program
        self.frames: list[tuple[tuple[str, int], int]] = []  # place, mask; one an instruction
        self.full = False

    def visit(self, at: int, lanes) -> None:
        """Some threads run block `at`; the warp of the first 32 slots is the one that counts."""
        slots = lanes.all_slots[:32]
        slots = slots[slots < 32]
        if not slots.size:
            return
        mask = int(np.bitwise_or.reduce(np.uint32(1) << slots.astype(np.uint32)))
        for place, counts in self.program.lines[at].items():
            self.frames += [(place, mask)] * counts.get("instructions", 0)
        if len(self.frames) >= STEPS:
            del self.frames[STEPS:]
            self.full = True
