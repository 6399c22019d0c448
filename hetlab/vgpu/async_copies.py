"""``cp.async``: copies from global to shared memory that are pending until waited for.

The bytes move at once; what stays open is the right to look at them.  Until its
thread waits, a copy counts as a store in every interval between barriers, so a
read by another thread races with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetlab.vgpu.lanes import Lanes

__all__ = ["AsyncCopies"]


@dataclass(slots=True)
class _Copy:
    lanes: Lanes
    noted: tuple  # the arguments of RaceDetector.note
    age: int = -1  # groups committed since; -1 before the commit


class AsyncCopies:
    """The pending copies of a batch."""

    def __init__(self, batch) -> None:
        self.batch, self.pending = batch, []

    def start(self, load, store, source, offset, target, at, size=None) -> None:
        """Copy for each thread; where `size` is less than the copy's, the rest is zero."""
        memory = self.batch.memory
        values = self._read(memory, load, source, offset, size)
        memory.store_shared(store, target, at, values)
        if memory.hazards:
            noted = (self.batch, store, target, at, None, 0, values, None)
            self.pending.append(_Copy(target.lanes, noted))

    def _read(self, memory, load, source, offset, size):
        lanes = source.lanes
        parts = range(load.parts)
        if size is None or (not isinstance(size, np.ndarray) and size >= load.size):
            got = memory.load_global(load, source, offset)
            return got if load.parts > 1 else (got,)
        size = lanes.full(size).astype(np.int64)
        out = [np.zeros(lanes.n, load.dtype) for _ in parts]
        keep = size > 0
        part = source.narrow(keep)
        if part is None:
            return tuple(out)
        got = memory.load_global(load, part, offset)
        for j, (target, value) in enumerate(zip(out, got if load.parts > 1 else (got,))):
            target[keep] = value
            there = np.clip(size - j * load.elem, 0, load.elem)
            if (there < load.elem).any():
                bits = (8 * np.minimum(there, load.elem - 1)).astype(np.uint64)
                mask = (np.uint64(1) << bits) - np.uint64(1)
                mask[there == load.elem] = ~np.uint64(0)
                target &= mask.astype(load.dtype)
        return tuple(out)

    def _of(self, lanes: Lanes):
        """The pending copies of these threads."""
        if lanes.n == self.batch.living:
            return list(self.pending)
        mine = set(lanes.all_slots.tolist())
        return [c for c in self.pending if int(c.lanes.all_slots[0]) in mine]

    def commit(self, lanes: Lanes) -> None:
        """``cp.async.commit_group``."""
        for copy in self._of(lanes):
            copy.age += 1

    def wait(self, lanes: Lanes, groups: int, everything: bool = False) -> None:
        """``cp.async.wait_group``: all but the last `groups` groups are there."""
        if self.pending:
            done = [c for c in self._of(lanes) if everything or c.age >= groups]
            self.pending = [c for c in self.pending if c not in done]

    def interval_begins(self) -> None:
        """After a barrier: what is still pending may arrive at any time from now on."""
        for copy in self.pending:
            self.batch.shared_races.note(*copy.noted)
