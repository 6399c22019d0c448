"""Names for reports: threads, arrays, indices."""

from __future__ import annotations

from hetlab.vgpu.arguments import extent_of, index_of
from hetlab.vgpu.lanes import unravel
from hetlab.vgpu.memory import SLOT_BITS

__all__ = ["Naming"]


class Naming:
    """The part of a `Run` that says what an address or a thread number means to a learner."""

    def thread(self, number: int) -> dict:
        """Block and thread indices of a thread, given its slot in the whole grid."""
        block, t = divmod(int(number), self.padded)
        return {
            "block": unravel(block, self.grid),
            "thread": unravel(t, self.block),
        }

    def who(self, thread: dict) -> str:
        """``thread (3, 0) of block 1`` for a sentence: with as many axes as the launch has."""
        return (
            f"thread {_axes(thread['thread'], self.block)} of block "
            f"{_axes(thread['block'], self.grid)}"
        )

    def _arg_at(self, site, address: int):
        found = []
        for kind, what in site.sources:
            if kind == "param" and what in self.args:
                found.append(self.args[what])
        if len(found) == 1:
            return found[0]
        pool = found or list(self.args.values())
        for arg in pool:
            lo, hi = extent_of(arg)
            if lo <= address < hi:
                return arg
        near = [a for a in pool if a.base >> SLOT_BITS == address >> SLOT_BITS]
        return near[0] if near else None

    def describe(self, space: str, site, address: int) -> tuple[str, object]:
        """``(array name, index)`` of an address."""
        if space in ("shared", "local"):
            table = self.program.shared if space == "shared" else self.program.local_vars
            size = self.shared_stride if space == "shared" else max(self.program.local_bytes, 1)
            names = [what for k, what in site.sources if k == space and what in table]
            if len(names) != 1:
                address %= size
                names = sorted(table, key=lambda n: table[n][0])
                names = [n for n in names if table[n][0] <= address][-1:]
            if not names:
                return "", address // site.elem
            return names[0], (address - table[names[0]][0]) // site.elem
        arg = self._arg_at(site, address)
        if arg is not None:
            return arg.name, index_of(arg, address)
        alloc = self.memory.find(address)
        if alloc is None:
            return "", None
        size = alloc.itemsize if alloc.itemsize > 1 else site.elem
        return alloc.name, (address - alloc.base) // size

    def extent(self, space: str, site, address: int) -> str:
        """What an index error lies outside of, for a sentence."""
        if space in ("shared", "local"):
            lo, hi = (self.shared_bounds if space == "shared" else self.local_bounds)[site.id]
            return f"its {(hi - lo) // site.elem} elements"
        arg = self._arg_at(site, address)
        if arg is not None and len(arg.shape) > 1:
            return f"its shape {tuple(arg.shape)}"
        if arg is not None:
            return f"its {arg.nbytes // arg.itemsize} elements"
        alloc = self.memory.find(address)
        if alloc is None:
            freed = self.memory.was_freed(address)
            return "all arrays (that memory has been freed)" if freed else "all arrays"
        return f"its {alloc.nbytes} bytes"


def _axes(xyz, extent) -> str:
    count = max((axis for axis in range(3) if extent[axis] > 1), default=0) + 1
    return str(xyz[0]) if count == 1 else "(" + ", ".join(map(str, xyz[:count])) + ")"
