"""What a batch reports when threads do not meet where they must, or never end."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.groups import Aborted, Group
from hetlab.vgpu.hazards import name_of
from hetlab.vgpu.lanes import Lanes

__all__ = ["Verdicts"]


class Verdicts:
    """The part of a `Batch` that finds and words divergent barriers, deadlocks and traps."""

    def _place(self, group: Group) -> tuple[str, int]:
        block = self.program.blocks[min(group.at, len(self.program.blocks) - 1)]
        for i in [*block.code, *([block.jump] if block.jump else [])]:
            if i.loc is not None and i.loc.place()[1]:
                return i.loc.place()
        return ("", 0)

    def _thread(self, lanes: Lanes, k: int = 0) -> dict:
        return self.run.thread(int(self.threads(lanes)[k]))

    def _late(self, group: Group, ready) -> None:
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
                "message": f"{self.run.who(threads[0]).capitalize()} waits at the barrier in line "
                f"{place[1]}, which {self.run.who(threads[1])} never reaches: it has ended.",
            }

        self.run.recorder.add("divergent-barrier", ("ended", group.at), int(short.sum()), make)

    def _split_barrier(self, here: list[Group], blocks) -> None:
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
                "message": "Threads of one block wait at different barriers: "
                f"{self.run.who(threads[0])} in line {lines[0][1]}, "
                f"{self.run.who(threads[1])} in line {lines[1][1]}.",
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
                "message": f"Deadlock: {self.run.who(thread)} waits for ever at the barrier in "
                f"line {place[1]}; fewer threads come to it than it waits for.",
            }

        self.run.recorder.add("deadlock", (group.at,), 1, make)
        raise Aborted

    def _report_warp(self, group: Group) -> None:
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
                "message": f"{self.run.who(threads[0]).capitalize()} executes the warp-wide {op} "
                f"in line {lines[0][1]} for lanes that are {where}.",
            }

        self.run.recorder.add("divergent-barrier", ("warp", group.at), lanes.warps, make)

    def _too_long(self, group: Group) -> None:
        budget = self.run.step_budget

        def make():
            thread, place = self._thread(group.lanes), self._place(group)
            return {
                "threads": [thread],
                "lines": [place],
                "message": f"{self.run.who(thread).capitalize()} is still at line {place[1]} "
                f"after {budget} steps: the kernel does not seem to end. "
                "A larger step_budget lets it run longer.",
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
                "message": f"Deadlock: {self.run.who(thread)} waits in line {place[1]} for "
                f"{name_of(array, index, 'a value in')} to change, and no running thread will "
                "change it.",
            }

        self.run.recorder.add("deadlock", ("livelock", group.at), 1, make)
        raise Aborted

    def _polled(self, group: Group):
        """The memory instruction that a waiting group repeats, and its first thread's address."""
        around = [self.program.blocks[group.at], *self.program.blocks]
        # What an atomic finds may be handed on through shared memory: look for the atomic first.
        for atomic in (True, False):
            for block in around:
                lines = {i.line for i in block.code}
                for site in self.run.sites if block.polls or (atomic and block.loop) else ():
                    if site.ptx_line not in lines or (atomic and not site.atomic):
                        continue
                    if site.register is None:
                        return (site, site.offset) if site.space == "shared" else (None, 0)
                    value = int(np.atleast_1d(group.regs[site.register])[0]) + site.offset
                    return (site, value) if value or site.space != "global" else (None, 0)
        return None, 0

    def trap(self, lanes: Lanes, place, what: str = "the kernel stops with a trap") -> None:
        """``trap``: the launch ends."""
        if self.run.asked_for_grid:
            what = "the barrier of the whole grid needs a cooperative launch, and this is none"

        def make():
            thread = self._thread(lanes)
            sentence = what[0].upper() + what[1:]
            return {
                "threads": [thread],
                "lines": [place],
                "message": f"{sentence}: {self.run.who(thread)}, line {place[1]}.",
            }

        self.run.recorder.add("trap", (place,), lanes.n, make)
        raise Aborted

    def trap_where(self, lanes: Lanes, p, place) -> None:
        """A predicated ``trap``."""
        there = lanes.narrow(p)
        if there is not None:
            self.trap(there, place)

    def _check_mask(self, group: Group, mask, ended) -> None:
        """Each lane's mask must name itself, and none that have ended (bits in `ended`)."""
        if not self.run.hazards:
            return
        slots = group.lanes.all_slots
        outside = (mask >> (slots & 31).astype(np.uint32)) & 1 == 0
        if outside.any():
            slot = int(slots[np.argmax(outside)])
            warps = len(set((slots[outside] >> 5).tolist()))
            self._report_mask(group, slot, "is not named in the mask of", warps, False)
        bad = np.flatnonzero(ended)
        if len(bad):
            bits = int(ended[bad[0]])
            slot = int(slots[bad[0]] & ~31) + (bits & -bits).bit_length() - 1
            warps = len(set((slots[bad] >> 5).tolist()))
            self._report_mask(group, slot, "has ended and is named in the mask of", warps, True)

    def _report_mask(self, group: Group, slot: int, why: str, count: int, other: bool) -> None:
        def make():
            there = Lanes(self.shape, np.array([slot]))
            thread, place = self._thread(there), self._place(group)
            here = np.argmax(group.lanes.all_slots >> 5 == slot >> 5)
            threads = [self._thread(group.lanes, int(here)), thread] if other else [thread]
            op = self.program.blocks[group.at].code[0].op
            return {
                "threads": threads,
                "lines": [place],
                "message": f"{self.run.who(thread).capitalize()} {why} the warp-wide {op} in line "
                f"{place[1]}.",
            }

        self.run.recorder.add("divergent-barrier", ("mask", group.at, other), count, make)
