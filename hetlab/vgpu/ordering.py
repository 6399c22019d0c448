"""What orders memory accesses of different threads, as the race detector sees it."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.memory import SLOT_BITS
from hetlab.vgpu.races import MAX_CLOCK, RaceDetector
from hetlab.vgpu.races_shared import SharedRaces

__all__ = ["Book", "Ordering"]

_CHANNELS = 8  # words of the same class are taken for one word: races may hide there, none appear


class Ordering:
    """The part of a `Run` that keeps the clock of its synchronisations and its race detectors."""

    def _start_clocks(self) -> None:
        self._ticks, self.grid_fence = 0, 0
        self.shared_pool: list[RaceDetector] = []
        self.global_races = RaceDetector(self, "global", _granule(self.sites, "global"))
        self._books = None
        if self.hazards and self.program.fences:
            self._books = Book(self.blocks), Book(self.blocks * self.warps_a_block)

    def tick(self) -> int:
        """The number of a new synchronisation."""
        self._ticks += 1
        if self._ticks >= MAX_CLOCK:
            for detector in [self.global_races, *self.shared_pool]:
                detector.forget_clocks()
            for book in self._books or ():
                book.forget_clocks()
            self._ticks, self.grid_fence = 1, 0
        return self._ticks

    def shared_detector(self) -> RaceDetector | None:
        """A detector of races in shared memory for one batch."""
        if not self.hazards:
            return None
        if self.shared_pool:
            return self.shared_pool.pop()
        return SharedRaces(self, "shared", _granule(self.sites, "shared"))

    def released(self, lanes, batch) -> None:
        """A fence: what these threads and their blocks stored may be published from now on."""
        if self._books is None:
            return
        self.global_races.check()
        tick = self.tick()
        clock = np.array(np.broadcast_to(batch.clock, batch.shape.size))
        clock[lanes.all_slots] = tick
        batch.clock = clock
        for book, agents in zip(self._books, _agents(lanes, batch)):
            book.fenced[agents] = tick

    def exchanged(self, site, a, offset: int, batch) -> None:
        """An atomic, or a volatile or synchronising access: threads hear of each other there."""
        if self._books is None:
            return
        if site.releases:
            self.released(a.lanes, batch)
        self.global_races.check()
        word = (a.vector() + offset) >> 2
        channels = (word ^ (word >> 3) ^ (word >> (SLOT_BITS - 2))) & (_CHANNELS - 1)
        for book, agents in zip(self._books, _agents(a.lanes, batch)):
            for channel in sorted(set(channels.tolist())):
                mine = agents[channels == channel]
                if site.stores:
                    book.publish(mine, channel)
                if site.acquires:
                    book.acquire(mine, channel, self._ticks)

    def published(self, writer, reader, clock):
        """Whether an access at `clock` in block `writer` is ordered before `reader`'s now."""
        if self._books is None:
            return np.zeros(len(clock), np.bool_)
        return self._books[0].ordered(writer, reader, clock)

    def handed_over(self, writer, reader, clock):
        """The same between two warps of one block, as under a lock."""
        if self._books is None:
            return np.zeros(len(clock), np.bool_)
        return self._books[1].ordered(writer, reader, clock)


class Book:
    """What agents (blocks, or warps) have told each other through words of global memory.

    Words that many threads ask for fall into a few channels by their address.  An agent that
    changes a word after a fence publishes what it did before the fence on that channel, together
    with what it has heard itself; one that reads a word has heard what its channel carries.
    So two locks order nothing between those who take one and those who take the other.  The
    warps of a block tell each other by named barriers, too: a channel for each.
    """

    def __init__(self, agents: int, channels: int = _CHANNELS) -> None:
        self.fenced = np.zeros(agents, np.int32)
        self.told = np.zeros((agents, channels), np.int32)
        self.heard = np.zeros((agents, channels), np.int32)
        self.carried = np.zeros((channels, channels), np.int32)

    def publish(self, agents, channel: int) -> None:
        self.told[agents, channel] = self.fenced[agents]
        passed_on = self.heard[agents].max(axis=0)
        self.carried[channel] = np.maximum(self.carried[channel], passed_on)

    def acquire(self, agents, channel: int, now: int) -> None:
        self.heard[agents] = np.maximum(self.heard[agents], self.carried[channel])
        self.heard[agents, channel] = now

    def ordered(self, writer, reader, clock):
        limit = clock[:, None]
        return ((self.told[writer] > limit) & (self.heard[reader] > limit)).any(axis=1)

    def forget_clocks(self) -> None:
        """What happened so far stays published, and nothing else: clocks start at 1 again."""
        for ticks in (self.fenced, self.told, self.heard, self.carried):
            np.minimum(ticks, 1, out=ticks)


def _agents(lanes, batch):
    """The block and the warp of each thread."""
    return batch.block_ids[lanes.cta], batch.threads(lanes) >> 5


def _granule(sites, space: str) -> int:
    """log2 of the smallest access to a space."""
    sizes = [s.elem for s in sites if s.space in (space, "generic")]
    return min(sizes, default=4).bit_length() - 1
