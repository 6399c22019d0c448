"""How threads advance: one batch of blocks, its groups of threads, and where they wait.

The rule: of all groups of threads that can run, the one at the lowest block of
the kernel runs next, together with every other group there.  Blocks are numbered
so that this makes threads meet again as early as they can (`cfg`).

Threads wait in front of a *gate* (a barrier, or an instruction of the whole
warp) until all that it names stand there.  A group that keeps asking memory for
news (`Block.polls`) lets the others go first.
"""

from __future__ import annotations

import itertools

import numpy as np

from hetlab.vgpu.access import MemoryPort
from hetlab.vgpu.async_copies import AsyncCopies
from hetlab.vgpu.gates import Gates
from hetlab.vgpu.groups import Group, Grouping
from hetlab.vgpu.lanes import BatchShape, Lanes
from hetlab.vgpu.ordering import Book
from hetlab.vgpu.runtime import DeviceRuntime
from hetlab.vgpu.special import special_register
from hetlab.vgpu.verdicts import Verdicts
from hetlab.vgpu.warp import Warp

__all__ = ["Batch"]

_SERIAL = itertools.count()

_PATIENCE = 8
"""Visits of a polling block after which others go first."""

_TEAMS = 4
"""Teams of warps that run one after the other when the order of warps is drawn by lot."""

_LONG = 100
"""Turns after which a batch that polls and still makes progress lets other batches run."""


class Batch(Grouping, Gates, Verdicts):
    """Some blocks of a grid, from their first instruction to their last.

    Parameters
    ----------
    run : Run
    shape : BatchShape
    block_ids : numpy.ndarray
        The linear block index of each block of the batch.
    """

    warp = Warp()

    def __init__(self, run, shape: BatchShape, block_ids) -> None:
        self.run, self.shape, self.block_ids = run, shape, block_ids
        self.program = run.program
        n = shape.blocks
        self.consecutive = int(block_ids[-1]) - int(block_ids[0]) == n - 1
        self.first_slot = int(block_ids[0]) * shape.padded
        self.serial = next(_SERIAL)
        self.global_races = run.global_races
        self.shared_races = run.shared_detector()
        self.memory = MemoryPort(run, self)
        self.copies = AsyncCopies(self)
        self.runtime = DeviceRuntime(run, self)
        self.groups = [Group(0, shape.whole, list(self.program.initial))]
        self.alive = shape.exists.copy()
        self.living = shape.whole.n
        self.arrivals: dict[int, object] = {}
        self.steps, self.idle, self.moved = 0, 0, False
        self.clock = self.fence = run.tick()
        self.book: Book | None = None  # of barriers that only some warps of a block pass
        self.specials: dict = {}
        self.film, run.film = run.film, None  # the first batch is filmed
        if run.rng is not None:
            self._into_teams()

    # -- identity
    def threads(self, lanes: Lanes):
        """The number of each thread in the whole grid (in slots)."""
        if self.consecutive:
            return lanes.all_slots + self.first_slot
        return self.block_ids[lanes.cta] * self.shape.padded + lanes.of_slots(self.shape.tid)

    def slots(self, threads):
        """The inverse of `threads`."""
        if self.consecutive:
            return threads - self.first_slot
        block = np.searchsorted(self.block_ids, threads // self.shape.padded)
        return block * self.shape.padded + threads % self.shape.padded

    def special(self, lanes: Lanes, name: str):
        """A special register: a scalar, or one value a thread."""
        found = self.specials.get(name)
        if found is None:
            found = special_register(self, name)
            if name.startswith(("clock", "globaltimer")):
                return found
            self.specials[name] = found
        return lanes.of_slots(found)

    def _into_teams(self) -> None:
        """Let warps run in an order drawn by lot: each team up to its next barrier, then the next.

        Teams stay apart, so that the last of them really comes after the others.
        """
        (group,) = self.groups
        team = self.run.rng.integers(_TEAMS, size=self.shape.size >> 5)[group.lanes.all_slots >> 5]
        self.groups = []
        for rank in sorted(set(team.tolist())):
            part = self._split(group, group.lanes.narrow(team == rank), 0)
            part.rank = rank
            self.groups.append(part)

    # -- running
    def advance(self) -> str:
        """Run until all threads have ended (``done``), or wait for other blocks (``grid``,
        ``spinning``)."""
        program, run = self.program, self.run
        blocks, functions, end = program.blocks, program.functions, len(program.blocks)
        tally = run.tally
        self.idle, self.moved = 0, False
        while self.groups:
            group = self._choose()
            if group is None:
                if self._release():
                    continue
                if self._try_warps():
                    continue
                if any(g.parked == "grid" for g in self.groups):
                    return "grid"
                self._stuck()
                continue
            # Counted where news would arrive: the rest of a polling loop may be long.
            if group.spin > _PATIENCE and blocks[group.at].polls:
                self.idle += 1
                if self.idle > (_LONG if self.moved else 2) * len(self.groups):
                    return "spinning"
            self.steps += 1
            if self.steps > run.step_budget:
                self._too_long(group)
            block = blocks[group.at]
            if block.gate and not group.passed and not self._gate(group, block):
                continue
            group.passed = False
            group.last = self.steps
            at, lanes = group.at, group.lanes
            tally.warps[at] += lanes.warps
            tally.lanes[at] += lanes.n
            if group.spin <= _PATIENCE or (block.polls and group.learns(program.live[at])):
                self.moved = True
            if self.film is not None and not self.film.full:
                self.film.visit(at, lanes)
            if block.polls:
                same = group.spin_n == lanes.n
                group.spin = group.spin + 1 if same else 0
                group.spin_n = lanes.n
            elif not block.loop:
                group.spin = group.spin_n = 0
            result = functions[at](self, lanes, group.regs)
            if type(result) is int:
                if result < end:
                    group.at = result
                else:
                    self._exit(group)
            elif isinstance(result, tuple):
                self._branch(group, *result, end)
            else:
                self._scatter(group, result, end)
        return "done"

    def _choose(self) -> Group | None:
        """The group that runs next, merged with all others at its place."""
        groups = self.groups
        if len(groups) == 1:
            return None if groups[0].parked else groups[0]
        ready = [g for g in groups if not g.parked]
        if not ready:
            return None
        eager = [g for g in ready if g.spin <= _PATIENCE]
        if eager:
            chosen = min(eager, key=lambda g: (g.rank, g.at))
        else:
            if self._release():
                return self._choose()
            chosen = min(ready, key=lambda g: g.last)
        mates = [
            g
            for g in groups
            if g.at == chosen.at
            and g.rank == chosen.rank
            and g.passed == chosen.passed
            and g.parked in ("", "warp")
        ]
        if len(mates) > 1:
            chosen = self._merge(mates)
        return chosen

    def pass_grid_barrier(self) -> None:
        """All threads of the grid have arrived."""
        if self.run.hazards:
            self.shared_races.interval_ends()
        for group in self.groups:
            if group.parked == "grid":
                group.parked, group.passed = "", True

    def abandon(self) -> None:
        """The launch was aborted: check what has been noted, no more."""
        if self.run.hazards:
            self.shared_races.check()
            self.global_races.check()

    def finish(self) -> None:
        """The end of the blocks closes the last interval."""
        if self.run.hazards:
            self.shared_races.interval_ends()
            self.global_races.check()
            self.run.shared_pool.append(self.shared_races)
        # Both refer back to the batch: without this its arrays live until a garbage collection.
        self.memory = self.runtime = None
