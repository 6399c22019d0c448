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
from hetlab.vgpu.counters import divergent_warps
from hetlab.vgpu.hazards import name_of, who
from hetlab.vgpu.lanes import BatchShape, Lanes
from hetlab.vgpu.runtime import DeviceRuntime
from hetlab.vgpu.warp import Warp

__all__ = ["Aborted", "Batch"]

_SERIAL = itertools.count()

_PATIENCE = 8
"""Visits of a polling block after which others go first."""


class Aborted(Exception):
    """The launch ends here; the reason has been recorded as a hazard."""


def _masks(flags):
    """One bool a slot as one 32-bit mask a warp."""
    return np.packbits(flags.reshape(-1, 32), axis=1, bitorder="little").view(np.uint32).reshape(-1)


class _Group:
    """Threads at the same place.

    `parked` is "" or the kind of gate they wait at; `passed` says that they may go through the
    gate of their block.
    """

    __slots__ = ("at", "key", "lanes", "last", "parked", "passed", "regs", "spin", "spin_n")

    def __init__(self, at: int, lanes: Lanes, regs: list) -> None:
        self.at, self.lanes, self.regs = at, lanes, regs
        self.parked, self.passed, self.key = "", False, None
        self.spin, self.spin_n, self.last = 0, 0, 0


class Batch:
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
        self.runtime = DeviceRuntime(run, self)
        self.groups = [_Group(0, shape.whole, list(self.program.initial))]
        self.alive = shape.exists.copy()
        self.living = shape.whole.n
        self.arrivals: dict[int, object] = {}
        self.steps, self.idle = 0, 0
        self.clock = self.fence = run.tick()
        self.specials: dict = {}

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
            found = self._special(name)
            if name.startswith(("clock", "globaltimer")):
                return found
            self.specials[name] = found
        return lanes.of_slots(found)

    def _special(self, name: str):
        u4 = np.uint32
        stem, _, axis = name.partition(".")
        k = {"": 0, "x": 0, "y": 1, "z": 2}.get(axis, 3)
        shape, grid = self.shape, self.run.grid
        if stem in ("tid", "ntid", "ctaid", "nctaid") and k == 3:
            return u4(0)
        if stem == "tid":
            return shape.tid_xyz[k]
        if stem == "ntid":
            return u4(shape.block[k])
        if stem == "nctaid":
            return u4(grid[k])
        if stem in ("ctaid", "clusterid"):
            if grid[k] == 1:
                return u4(0)
            ids = self.block_ids
            value = (ids // [1, grid[0], grid[0] * grid[1]][k] % grid[k]).astype(u4)
            return value[0] if len(ids) == 1 else value[shape.cta]
        if stem == "nclusterid":
            return u4(grid[k])
        if stem == "laneid":
            return shape.lane
        if stem.startswith("lanemask"):
            one = u4(1) << shape.lane
            low = one - u4(1)
            return {"eq": one, "lt": low, "le": low | one, "gt": ~(low | one), "ge": ~low}[
                stem[-2:]
            ]
        if stem == "warpid":
            return (shape.tid >> 5).astype(u4)
        if stem in ("clock64", "globaltimer"):
            return np.uint64(self.run.ticks_of_time())
        if stem in ("clock", "globaltimer_lo"):
            return u4(self.run.ticks_of_time() & 0xFFFFFFFF)
        if stem in ("clock_hi", "globaltimer_hi"):
            return u4(self.run.ticks_of_time() >> 32)
        if stem == "gridid":
            return np.uint64(1)
        if stem.startswith("envreg"):
            return u4(self.run.environment(int(stem[6:] or 0)))
        ones = {"cluster_nctaid", "cluster_nctarank"}
        sizes = {
            "nwarpid": 64,
            "nsmid": 108,
            "dynamic_smem_size": self.run.dynamic_shared,
            "total_smem_size": self.run.shared_bytes,
            "aggr_smem_size": self.run.shared_bytes,
        }
        if stem == "smid":
            return (self.block_ids % 108).astype(u4)[shape.cta]
        return u4(1 if stem in ones else sizes.get(stem, 0))

    # -- running
    def advance(self) -> str:
        """Run until all threads have ended (``done``), or wait for other blocks (``grid``,
        ``spinning``)."""
        program, run = self.program, self.run
        blocks, functions, end = program.blocks, program.functions, len(program.blocks)
        tally = run.tally
        self.idle = 0
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
            if group.spin > _PATIENCE:
                self.idle += 1
                if self.idle > 2 * len(self.groups):
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

    def _choose(self) -> _Group | None:
        """The group that runs next, merged with all others at its place."""
        groups = self.groups
        if len(groups) == 1:
            return None if groups[0].parked else groups[0]
        ready = [g for g in groups if not g.parked]
        if not ready:
            return None
        eager = [g for g in ready if g.spin <= _PATIENCE]
        if eager:
            chosen = min(eager, key=lambda g: g.at)
        else:
            if self._release():
                return self._choose()
            chosen = min(ready, key=lambda g: g.last)
        mates = [
            g
            for g in groups
            if g.at == chosen.at and g.passed == chosen.passed and g.parked in ("", "warp")
        ]
        if len(mates) > 1:
            chosen = self._merge(mates)
        return chosen

    def _merge(self, mates: list[_Group]) -> _Group:
        """Several groups at one place become one, in slot order."""
        shape = self.shape
        slots = [g.lanes.all_slots for g in mates]
        if sum(map(len, slots)) == shape.whole.n:
            lanes = shape.whole
            places = slots if shape.position is None else [shape.position[x] for x in slots]
        else:
            lanes = Lanes(shape, np.sort(np.concatenate(slots), kind="stable"))
            places = [np.searchsorted(lanes.slots, x) for x in slots]
        regs = list(self.program.initial)
        for k in self.program.live[mates[0].at]:
            values = [g.regs[k] for g in mates]
            first = values[0]
            if not any(isinstance(v, np.ndarray) for v in values) and all(
                v is first or v.tobytes() == first.tobytes() for v in values[1:]
            ):
                regs[k] = first
                continue
            regs[k] = merged_values = np.empty(lanes.n, first.dtype)
            for place, v in zip(places, values):
                merged_values[place] = v
        merged = _Group(mates[0].at, lanes, regs)
        merged.passed = mates[0].passed
        merged.last = max(g.last for g in mates)
        merged.spin = min(g.spin for g in mates)
        self.groups = [g for g in self.groups if g not in mates]
        self.groups.append(merged)
        return merged

    def _split(self, group: _Group, lanes: Lanes, at: int) -> _Group:
        """Some threads of a group as a group of their own."""
        regs = list(self.program.initial)
        if at < len(self.program.blocks):
            for k in self.program.live[at]:
                regs[k] = lanes.take(group.regs[k])
        part = _Group(at, Lanes(lanes.shape, lanes.slots), regs)
        part.spin, part.spin_n, part.last = group.spin, group.spin_n, group.last
        return part

    def _branch(self, group: _Group, p, yes: int, no: int, end: int) -> None:
        if not isinstance(p, np.ndarray):
            group.at = yes if p else no
        else:
            taken = np.count_nonzero(p)
            if taken == group.lanes.n:
                group.at = yes
            elif not taken:
                group.at = no
            else:
                self.run.tally.divergent[group.at] += divergent_warps(group.lanes, p)
                self._part(group, [(group.lanes.narrow(p), yes), (group.lanes.narrow(~p), no)], end)
                return
        if group.at >= end:
            self._exit(group)

    def table(self, lanes: Lanes, index, targets: tuple[int, ...]):
        """The next block of ``brx.idx``: one, or one a thread."""
        last = len(targets) - 1
        if not isinstance(index, np.ndarray):
            return targets[min(int(index), last)]
        return np.array(targets)[np.minimum(index, np.uint32(last))]

    def _scatter(self, group: _Group, targets, end: int) -> None:
        where = sorted(set(targets.tolist()))
        if len(where) == 1:
            group.at = where[0]
            if group.at >= end:
                self._exit(group)
            return
        self._part(group, [(group.lanes.narrow(targets == t), t) for t in where], end)

    def _part(self, group: _Group, parts, end: int) -> None:
        self.groups.remove(group)
        for lanes, at in parts:
            part = self._split(group, lanes, at)
            self.groups.append(part)
            if at >= end:
                self._exit(part)

    def _exit(self, group: _Group) -> None:
        self.groups.remove(group)
        self.alive[group.lanes.all_slots] = False
        self.living -= group.lanes.n

    # -- gates
    def _gate(self, group: _Group, block) -> bool:
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

    def _by_barrier(self, group: _Group, number, count) -> None:
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

    def _warp_gate(self, group: _Group) -> bool:
        """Whether all lanes stand here that the mask names and that have not ended."""
        lanes = group.lanes
        mask = self.program.masks[group.at](self, lanes, group.regs)
        everyone = lanes.n == self.living == self.shape.whole.n
        if everyone and not isinstance(mask, np.ndarray) and mask == 0xFFFFFFFF:
            return True
        _, first, _ = lanes.groups(32)
        if isinstance(mask, np.ndarray):
            mask = mask[first]
        warps = lanes.all_slots[first] >> 5
        absent = mask & ~lanes.active
        missing = absent & _masks(self.alive)[warps] != 0
        if not missing.any():
            group.parked = ""
            self._check_mask(group, mask, absent & _masks(self.shape.exists)[warps])
            return True
        if missing.all():
            group.parked = "warp"
            return False
        late = missing[lanes.warp_row]
        waiting = self._split(group, lanes.narrow(late), group.at)
        waiting.parked = "warp"
        ready = self._split(group, lanes.narrow(~late), group.at)
        ready.passed = True
        named = mask[~missing] if isinstance(mask, np.ndarray) else mask
        gone = absent & _masks(self.shape.exists)[warps]
        self._check_mask(ready, named, gone[~missing])
        self.groups.remove(group)
        self.groups += [waiting, ready]
        return False

    def _check_mask(self, group: _Group, mask, ended) -> None:
        """The mask must name the lanes that execute, and none that have ended."""
        if not self.run.hazards:
            return
        lanes = group.lanes
        outside = lanes.active & ~mask
        if not ((ended != 0) | (outside != 0)).any():
            return
        warps = lanes.all_slots[lanes.groups(32)[1]] >> 5
        for bits, other, why in (
            (outside, False, "is not named in the mask of"),
            (ended, True, "has ended and is named in the mask of"),
        ):
            bad = np.flatnonzero(bits)
            if len(bad):
                lane = (int(bits[bad[0]]) & -int(bits[bad[0]])).bit_length() - 1
                slot = int(warps[bad[0]]) * 32 + lane
                self._report_mask(group, slot, why, len(bad), other)

    def _report_mask(self, group: _Group, slot: int, why: str, count: int, other: bool) -> None:
        def make():
            there = Lanes(self.shape, np.array([slot]))
            thread, place = self._thread(there), self._place(group)
            here = np.argmax(group.lanes.all_slots >> 5 == slot >> 5)
            threads = [self._thread(group.lanes, int(here)), thread] if other else [thread]
            op = self.program.blocks[group.at].code[0].op
            return {
                "threads": threads,
                "lines": [place],
                "message": f"{who(thread).capitalize()} {why} the warp-wide {op} in line "
                f"{place[1]}.",
            }

        self.run.recorder.add("divergent-barrier", ("mask", group.at, other), count, make)

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

    def _release_one(self, number: int, here: list[_Group]) -> bool:
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
        if (places[ready] > 1).any():
            self._split_barrier(here, ready & (places > 1))
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
        self._barrier_passed(None if ready.all() else ready)
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

    # -- what goes wrong
    def _place(self, group: _Group) -> tuple[str, int]:
        block = self.program.blocks[min(group.at, len(self.program.blocks) - 1)]
        for i in [*block.code, *([block.jump] if block.jump else [])]:
            if i.loc is not None and i.loc.place()[1]:
                return i.loc.place()
        return ("", 0)

    def _thread(self, lanes: Lanes, k: int = 0) -> dict:
        return self.run.thread(int(self.threads(lanes)[k]))

    def _late(self, group: _Group, ready) -> None:
        """A barrier that opens although threads of the block have ended before it."""
        counted = group.key is not None and group.key[1]
        if self.living == self.shape.whole.n or not self.run.hazards or counted:
            return
        ended = self.shape.exists & ~self.alive
        short = np.zeros(self.shape.blocks, np.bool_)
        short[self.shape.cta[ended]] = True
        short &= ready
        mine = short[group.lanes.cta]
        if not mine.any():
            return
        block = group.lanes.cta[np.argmax(mine)]
        gone = int(np.flatnonzero(ended & (self.shape.cta == block))[0])
        k = int(np.argmax(mine))

        def make():
            threads = [
                self._thread(group.lanes, k),
                self.run.thread(int(self.threads(Lanes(self.shape, np.array([gone])))[0])),
            ]
            place = self._place(group)
            return {
                "threads": threads,
                "lines": [place],
                "message": f"{who(threads[0]).capitalize()} waits at the barrier in line "
                f"{place[1]}, which {who(threads[1])} never reaches: it has ended.",
            }

        self.run.recorder.add("divergent-barrier", ("ended", group.at), int(short.sum()), make)

    def _split_barrier(self, here: list[_Group], blocks) -> None:
        """One block's threads wait for one barrier at different instructions."""
        if not self.run.hazards:
            return
        block = int(np.argmax(blocks))
        found = {}
        for g in here:
            at = np.flatnonzero(g.lanes.cta == block)
            if len(at):
                found.setdefault(g.at, (g, int(at[0])))
        (one, j), (two, k) = list(found.values())[:2]

        def make():
            threads = [self._thread(one.lanes, j), self._thread(two.lanes, k)]
            lines = [self._place(one), self._place(two)]
            return {
                "threads": threads,
                "lines": lines,
                "message": f"Threads of one block wait at different barriers: {who(threads[0])} in "
                f"line {lines[0][1]}, {who(threads[1])} in line {lines[1][1]}.",
            }

        where = ("places", *sorted(found)[:2])
        self.run.recorder.add("divergent-barrier", where, int(np.count_nonzero(blocks)), make)

    def _stuck(self) -> None:
        """No thread can run: report it, and let the first ones through."""
        warps = [g for g in self.groups if g.parked == "warp"]
        if warps:
            group = min(warps, key=lambda g: g.at)
            self._report_warp(group)
            group.parked, group.passed = "", True
            return
        group = min(self.groups, key=lambda g: g.at)

        def make():
            thread, place = self._thread(group.lanes), self._place(group)
            return {
                "threads": [thread],
                "lines": [place],
                "message": f"Deadlock: {who(thread)} waits for ever at the barrier in line "
                f"{place[1]}; fewer threads come to it than it waits for.",
            }

        self.run.recorder.add("deadlock", (group.at,), 1, make)
        raise Aborted

    def _report_warp(self, group: _Group) -> None:
        if not self.run.hazards:
            return
        lanes = group.lanes
        missing = self.alive.copy()
        missing[lanes.all_slots] = False
        mates = np.flatnonzero(missing & (np.arange(len(missing)) >> 5 == lanes.all_slots[0] >> 5))
        other = int(mates[0]) if len(mates) else None

        def make():
            threads, lines = [self._thread(lanes)], [self._place(group)]
            where = "elsewhere"
            if other is not None:
                threads.append(
                    self.run.thread(int(self.threads(Lanes(self.shape, np.array([other])))[0]))
                )
                for g in self.groups:
                    if other in g.lanes.all_slots:
                        lines.append(self._place(g))
                        where = f"in line {lines[1][1]}"
            op = self.program.blocks[group.at].code[0].op
            return {
                "threads": threads,
                "lines": lines,
                "message": f"{who(threads[0]).capitalize()} executes the warp-wide {op} in line "
                f"{lines[0][1]} for lanes that are {where}.",
            }

        self.run.recorder.add("divergent-barrier", ("warp", group.at), lanes.warps, make)

    def _too_long(self, group: _Group) -> None:
        budget = self.run.step_budget

        def make():
            thread, place = self._thread(group.lanes), self._place(group)
            return {
                "threads": [thread],
                "lines": [place],
                "message": f"{who(thread).capitalize()} is still at line {place[1]} after {budget} "
                "steps: the kernel does not seem to end. A larger step_budget lets it run longer.",
            }

        self.run.recorder.add("deadlock", ("budget",), 1, make)
        raise Aborted

    def livelock(self) -> None:
        """Every group waits for news that nobody will bring."""
        group = min(self.groups, key=lambda g: g.at)
        site, address = self._polled(group)

        def make():
            thread, place = self._thread(group.lanes), self._place(group)
            array, index = "", None
            if site is not None:
                place = site.place
                array, index = self.run.describe(site.space, site, address)
            return {
                "array": array,
                "index": index,
                "threads": [thread],
                "lines": [place],
                "space": site.space if site is not None else "",
                "message": f"Deadlock: {who(thread)} waits in line {place[1]} for "
                f"{name_of(array, index, 'a value in')} to change, and no running thread will "
                "change it.",
            }

        self.run.recorder.add("deadlock", ("livelock", group.at), 1, make)
        raise Aborted

    def _polled(self, group: _Group):
        """The memory instruction that a waiting group repeats, and its first thread's address."""
        for block in [self.program.blocks[group.at], *self.program.blocks]:
            lines = {i.line for i in block.code}
            for site in self.run.sites if block.polls else ():
                if site.ptx_line not in lines:
                    continue
                if site.register is None:
                    return (site, site.offset) if site.space == "shared" else (None, 0)
                value = int(np.atleast_1d(group.regs[site.register])[0]) + site.offset
                return (site, value) if value or site.space != "global" else (None, 0)
        return None, 0

    def trap(self, lanes: Lanes, place, what: str = "the kernel stops with a trap") -> None:
        """``trap``: the launch ends."""

        def make():
            thread = self._thread(lanes)
            sentence = what[0].upper() + what[1:]
            return {
                "threads": [thread],
                "lines": [place],
                "message": f"{sentence}: {who(thread)}, line {place[1]}.",
            }

        self.run.recorder.add("trap", (place,), lanes.n, make)
        raise Aborted

    def trap_where(self, lanes: Lanes, p, place) -> None:
        """A predicated ``trap``."""
        there = lanes.narrow(p)
        if there is not None:
            self.trap(there, place)

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
