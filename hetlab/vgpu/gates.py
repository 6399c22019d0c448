"""Gates: where threads wait for the others of their block or warp, and when they pass."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.groups import Group, masks
from hetlab.vgpu.lanes import Lanes
from hetlab.vgpu.ordering import Book

__all__ = ["Gates"]


class Gates:
    """The part of a `Batch` that holds threads back and lets them through."""

    def _gate(self, group: Group, block) -> bool:
        """Whether the group, or the part of it that stays in `group`, may pass now."""
        if block.gate == "warp":
            return self._warp_gate(group)
        if block.gate == "grid":
            group.parked = "grid"
            return False
        number, count = self.program.masks[group.at](self, group.lanes, group.regs)
        uniform = not (isinstance(number, np.ndarray) or isinstance(count, np.ndarray))
        everyone = uniform and group.lanes.n == self.living and not self.arrivals
        shape = self.shape
        if everyone and (count is None or shape.threads <= int(count) <= shape.padded):
            self._late(group, np.ones(self.shape.blocks, np.bool_))
            self._barrier_passed(None)
            return True
        if not uniform:
            self._by_barrier(group, number, count)
            return False
        group.parked = "barrier"
        group.key = (int(number), None if count is None else int(count))
        return False

    def _by_barrier(self, group: Group, number, count) -> None:
        """Threads that wait at one instruction for different barriers part."""
        lanes = group.lanes
        pairs = lanes.full(number).astype(np.int64) << 32
        if count is not None:
            pairs = pairs | lanes.full(count)
        self.groups.remove(group)
        for pair in sorted(set(pairs.tolist())):
            part = self._split(group, lanes.narrow(pairs == pair), group.at)
            part.parked = "barrier"
            part.key = (pair >> 32, None if count is None else pair & 0xFFFFFFFF)
            self.groups.append(part)

    def _warp_gate(self, group: Group) -> bool:
        """Whether all lanes stand here that the mask names and that have not ended.

        Lanes of one warp may have different masks: tiles of a warp wait each for themselves.
        """
        lanes = group.lanes
        mask = self.program.masks[group.at](self, lanes, group.regs)
        everyone = lanes.n == self.living == self.shape.whole.n
        if everyone and not isinstance(mask, np.ndarray) and mask == 0xFFFFFFFF:
            return True
        here = lanes.all_slots >> 5
        lost = mask & ~lanes.active[lanes.warp_row]  # lanes that are named and not here
        missing = lost & masks(self.alive)[here] != 0
        if not missing.any():
            group.parked = ""
            self._check_mask(group, mask, lost & masks(self.shape.exists)[here])
            return True
        if missing.all():
            group.parked = "warp"
            return False
        waiting = self._split(group, lanes.narrow(missing), group.at)
        waiting.parked = "warp"
        ready = self._split(group, lanes.narrow(~missing), group.at)
        ready.passed = True
        named = mask[~missing] if isinstance(mask, np.ndarray) else mask
        gone = lost & masks(self.shape.exists)[here]
        self._check_mask(ready, named, gone[~missing])
        self.groups.remove(group)
        self.groups += [waiting, ready]
        return False

    def _try_warps(self) -> bool:
        """Look again at threads that wait for lanes of their warp: some may have exited."""
        for group in [g for g in self.groups if g.parked == "warp"]:
            if self._warp_gate(group):
                group.parked, group.passed = "", True
                return True
            if group not in self.groups:
                return True
        return False

    def _release(self) -> bool:
        """Let threads through barriers at which all of their block have arrived."""
        waiting = [g for g in self.groups if g.parked == "barrier"]
        freed = False
        for number in sorted({g.key[0] for g in waiting}):
            here = [g for g in waiting if g.key[0] == number]
            freed |= self._release_one(number, here)
        return freed

    def _release_one(self, number: int, here: list[Group]) -> bool:
        n = self.shape.blocks
        arrived, needed = np.zeros(n, np.int64), np.zeros(n, np.int64)
        living = np.bincount(self.shape.cta[self.alive], minlength=n)
        places = np.zeros(n, np.int64)
        for g in here:
            mine = np.bincount(g.lanes.cta, minlength=n)
            count = g.key[1]
            arrived += mine
            if count is None:
                want = living
            else:  # whole warps count: 48 threads are 64 to a barrier
                want = self.shape.threads if count == self.shape.padded else count
            needed = np.where(mine > 0, np.maximum(needed, want), needed)
        for place in {g.at for g in here}:
            there = np.zeros(n, np.bool_)
            for g in here:
                if g.at == place:
                    there[g.lanes.cta] = True
            places += there
        extra = self.arrivals.get(number)
        ready = (arrived > 0) & (arrived + (0 if extra is None else extra) >= needed)
        if not ready.any():
            return False
        if extra is not None:
            extra[ready] = 0
        counted = any(g.key[1] is not None for g in here)
        if not counted and (places[ready] > 1).any():
            self._split_barrier(here, ready & (places > 1))
        if counted and (arrived[ready] < self.shape.threads).any():
            for block in np.flatnonzero(ready):
                mine = [g.lanes.all_slots[g.lanes.cta == block] for g in here]
                self._some_passed(number, np.concatenate(mine))
        else:
            self._barrier_passed(None if ready.all() else ready)
        for g in here:
            keep = ready[g.lanes.cta]
            self._late(g, ready)
            if keep.all():
                g.parked, g.passed = "", True
                continue
            part = g.lanes.narrow(keep)
            if part is None:
                continue
            rest = self._split(g, g.lanes.narrow(~keep), g.at)
            rest.parked, rest.key = "barrier", g.key
            free = self._split(g, part, g.at)
            free.passed = True
            self.groups.remove(g)
            self.groups += [rest, free]
        return True

    def _barrier_passed(self, blocks) -> None:
        """Close the interval of all blocks of the batch (None) or of some."""
        run = self.run
        if not run.hazards:
            return
        if blocks is None:
            self.shared_races.interval_ends()
            self.memory.interval_ends()
            self.clock = self.fence = run.tick()
            self.copies.interval_begins()
            return
        self.shared_races.check()
        tick = run.tick()
        fence = (
            np.full(self.shape.blocks, self.fence)
            if np.ndim(self.fence) == 0
            else self.fence.copy()
        )
        fence[blocks] = tick
        clock = (
            np.full(self.shape.size, self.clock) if np.ndim(self.clock) == 0 else self.clock.copy()
        )
        clock[blocks[self.shape.cta]] = tick
        self.fence, self.clock = fence, clock
        self.copies.interval_begins()

    def _some_passed(self, number: int, slots, waited: bool = True) -> None:
        """A barrier of some warps of a block: orders these, and no others."""
        run = self.run
        if not run.hazards:
            return
        self.shared_races.check()
        self.global_races.check()
        if self.book is None:
            self.book = Book(self.shape.size >> 5, 16)
        tick, warps, channel = run.tick(), slots >> 5, number & 15
        self.clock = np.array(np.broadcast_to(self.clock, self.shape.size))
        self.clock[slots] = tick
        self.book.fenced[warps] = tick
        self.book.publish(warps, channel)
        if waited:
            self.book.acquire(warps, channel, tick)
            self.copies.interval_begins()

    def warp_synced(self, lanes: Lanes, mask) -> None:
        """``bar.warp.sync``: orders the memory accesses of a warp's lanes."""
        run = self.run
        if not run.hazards:
            return
        if self.shared_races.log or self.shared_races.mixed:
            self.shared_races.check()
        tick = run.tick()
        if lanes.n == self.living and np.ndim(self.clock) == 0:
            self.clock = tick
            return
        clock = (
            np.full(self.shape.size, self.clock) if np.ndim(self.clock) == 0 else self.clock.copy()
        )
        clock[lanes.all_slots] = tick
        self.clock = clock

    def arrive(self, lanes: Lanes, number, count) -> None:
        """``bar.arrive``: count the threads, and go on."""
        number = int(lanes.full(number)[0])
        self._some_passed(number, lanes.all_slots, waited=False)
        known = self.arrivals.setdefault(number, np.zeros(self.shape.blocks, np.int64))
        known += np.bincount(lanes.cta, minlength=self.shape.blocks)

    def barrier_reduce(self, lanes: Lanes, op: str, p):
        """``bar.red``: count, all or any over the threads of each block."""
        blocks = self.shape.blocks
        hits = np.bincount(lanes.cta, weights=lanes.full(p), minlength=blocks).astype(np.uint32)
        if op == "popc":
            return hits[lanes.cta]
        if op == "or":
            return (hits > 0)[lanes.cta]
        return (hits == np.bincount(lanes.cta, minlength=blocks))[lanes.cta]
