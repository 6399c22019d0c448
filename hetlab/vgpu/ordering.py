"""What orders memory accesses of different threads, as the race detector sees it."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.races import MAX_CLOCK, RaceDetector

__all__ = ["Ordering"]


class Ordering:
    """The part of a `Run` that keeps the clock of its synchronisations and its race detectors."""

    def _start_clocks(self) -> None:
        self._ticks, self.grid_fence = 0, 0
        self.shared_pool: list[RaceDetector] = []
        self.global_races = RaceDetector(self, "global", _granule(self.sites, "global"))
        self._released = self._acquired = None
        if self.hazards and self.program.fences:
            self._released = np.zeros(self.blocks, np.int32)
            self._acquired = np.zeros(self.blocks, np.int32)
            warps = self.blocks * self.warps_a_block
            self._released_warps = np.zeros(warps, np.int32)
            self._acquired_warps = np.zeros(warps, np.int32)

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
        self._released_warps[batch.threads(lanes) >> 5] = tick

    def acquired(self, lanes, batch) -> None:
        """An atomic or acquiring load: the blocks of these threads see what was published."""
        if self._acquired is None:
            return
        self.global_races.check()
        self._acquired[batch.block_ids[lanes.cta]] = self._ticks
        self._acquired_warps[batch.threads(lanes) >> 5] = self._ticks

    def published(self, writer, reader, clock):
        """Whether an access at `clock` in block `writer` is ordered before `reader`'s now."""
        if self._released is None:
            return np.zeros(len(clock), np.bool_)
        return (self._released[writer] > clock) & (self._acquired[reader] > clock)

    def handed_over(self, writer, reader, clock):
        """The same between two warps of one block, as under a lock."""
        if self._released is None:
            return np.zeros(len(clock), np.bool_)
        return (self._released_warps[writer] > clock) & (self._acquired_warps[reader] > clock)


def _granule(sites, space: str) -> int:
    """log2 of the smallest access to a space."""
    sizes = [s.elem for s in sites if s.space in (space, "generic")]
    return min(sizes, default=4).bit_length() - 1
