"""Groups of threads that stand at the same place, and how they part and meet again."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.counters import divergent_warps
from hetlab.vgpu.lanes import Lanes

__all__ = ["Aborted", "Group", "Grouping", "masks"]

_NESTED = 4
"""Branches inside branches for which the registers of the whole are kept."""


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


class Grouping:
    """The part of a `Batch` that splits groups where threads part, and merges them again."""

    def _merge(self, mates: list[Group]) -> Group:
        """Several groups at one place become one, in slot order."""
        shape = self.shape
        parent = mates[0].parent
        if parent is not None and (
            any(g.parent is not parent for g in mates)
            or sum(g.lanes.n for g in mates) != parent.lanes.n
        ):
            parent = None
        slots = [g.lanes.all_slots for g in mates] if parent is None else []
        if parent is not None:
            lanes, places = parent.lanes, [g.index for g in mates]
        elif sum(map(len, slots)) == shape.whole.n:
            lanes = shape.whole
            places = slots if shape.position is None else [shape.position[x] for x in slots]
        else:
            lanes = Lanes(shape, np.sort(np.concatenate(slots), kind="stable"))
            places = [np.searchsorted(lanes.slots, x) for x in slots]
        regs = list(self.program.initial)
        for k in self.program.live[mates[0].at]:
            if parent is not None and all(g.regs[k] is g.born[k] for g in mates):
                regs[k] = parent.regs[k]
                continue
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
        merged = Group(mates[0].at, lanes, regs)
        if parent is not None:
            merged.parent, merged.index = parent.parent, parent.index
            merged.born, merged.depth = parent.born, parent.depth
        merged.passed, merged.rank = mates[0].passed, mates[0].rank
        merged.last = max(g.last for g in mates)
        merged.spin = min(g.spin for g in mates)
        self.groups = [g for g in self.groups if g not in mates]
        self.groups.append(merged)
        return merged

    def _split(self, group: Group, lanes: Lanes, at: int) -> Group:
        """Some threads of a group as a group of their own."""
        regs = list(self.program.initial)
        if at < len(self.program.blocks):
            for k in self.program.live[at]:
                regs[k] = lanes.take(group.regs[k])
        part = Group(at, Lanes(lanes.shape, lanes.slots), regs)
        if group.depth < _NESTED:
            part.parent, part.index, part.depth = group, lanes.index, group.depth + 1
            part.born = list(regs)
        part.spin, part.spin_n, part.last = group.spin, group.spin_n, group.last
        part.rank = group.rank
        return part

    def _branch(self, group: Group, p, yes: int, no: int, end: int) -> None:
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

    def _scatter(self, group: Group, targets, end: int) -> None:
        where = sorted(set(targets.tolist()))
        if len(where) == 1:
            group.at = where[0]
            if group.at >= end:
                self._exit(group)
            return
        self._part(group, [(group.lanes.narrow(targets == t), t) for t in where], end)

    def _part(self, group: Group, parts, end: int) -> None:
        self.groups.remove(group)
        for lanes, at in parts:
            part = self._split(group, lanes, at)
            self.groups.append(part)
            if at >= end:
                self._exit(part)

    def _exit(self, group: Group) -> None:
        self.groups.remove(group)
        self.alive[group.lanes.all_slots] = False
        self.living -= group.lanes.n
