"""What lies where in a launch: parameters, variables, and the memory an instruction means."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.access import Segment
from hetlab.vgpu.arguments import extent_of
from hetlab.vgpu.memory import SLOT_BITS

__all__ = ["Placement"]


class Placement:
    """The part of a `Run` that knows its parameters, variables and bounds."""

    # -- parameters and variables
    def param(self, offset: int, code: str):
        """A parameter's value, a NumPy scalar."""
        found = self._params.get((offset, code))
        if found is None:
            found = np.frombuffer(self.raw, code, 1, offset)[0]
            self._params[offset, code] = found
        return found

    def param_address(self, offset: int) -> int:
        """The address of a parameter, for kernels that index into a struct."""
        if not self._param_base:
            size = max(len(self.raw), 1)
            base = self.memory.alloc(size, name="parameters", initialised=True, readonly=True)
            self.memory.write(base, self.raw)
            self._param_base = base
            self._temporary.append(base)
        return self._param_base + offset

    def environment(self, number: int) -> int:
        """``%envreg1`` and ``%envreg2``: where a cooperative launch keeps its grid barrier."""
        if number not in (1, 2):
            return 0
        if not self.cooperative:
            self.asked_for_grid = True
            return 0
        if not self._workspace:
            self._workspace = self.memory.alloc(64, name="grid barrier", initialised=True)
            self._temporary.append(self._workspace)
        return self._workspace >> 32 if number == 1 else self._workspace & 0xFFFFFFFF

    def _place_variables(self) -> dict[str, int]:
        """Addresses of the module's variables, which live as long as the memory."""
        placed = self.memory.modules.setdefault(self.module_key, {})
        new = [v for v in self.program.variables if v.name not in placed]
        for v in new:
            readonly = v.space == "const"
            placed[v.name] = self.memory.alloc(
                max(v.nbytes, 1), name=v.name, initialised=True, readonly=readonly
            )
            if v.init:
                self.memory.write(placed[v.name], v.init)
        for v in new:
            for offset, name, addend in v.refs:
                value = placed.get(name, 0) + addend
                self.memory.write(placed[v.name] + offset, value.to_bytes(8, "little"))
        return placed

    def address(self, name: str, offset: int) -> int:
        return self.variables[name] + offset

    # -- which memory an instruction means
    def _pointer(self, offset: int) -> int | None:
        """The value of a parameter that is a pointer to device memory."""
        if offset + 8 > len(self.raw):
            return None
        value = int.from_bytes(self.raw[offset : offset + 8], "little")
        if offset in self.args or self.memory.find(value) is not None:
            return value
        return None

    def _fixed(self, site) -> Segment | None:
        """The one segment that a memory instruction can mean, if its address tells."""
        if site.space not in ("global", "generic", "const"):
            return None
        found = []
        for kind, what in site.sources:
            if kind == "param":
                value = self._pointer(what)
                if value is not None:
                    found.append((what, value))
            elif kind == "global" and what in self.variables:
                found.append((None, self.variables[what]))
            elif kind in ("loaded", "shared", "local"):
                return None
        if len(found) != 1:
            return None
        offset, value = found[0]
        alloc = self.memory.find(value)
        arg = self.args.get(offset)
        if alloc is None:
            return None
        if arg is None:
            return Segment(alloc, alloc.base, alloc.base + alloc.nbytes)
        lo, hi = extent_of(arg)
        return Segment(alloc, max(lo, alloc.base), min(hi, alloc.base + alloc.nbytes), arg)

    def segment(self, slot: int) -> Segment | None:
        """The allocation in an address slot, whole."""
        if slot not in self._segments:
            alloc = self.memory.find(slot << SLOT_BITS)
            self._segments[slot] = (
                None
                if alloc is None
                else Segment(
                    alloc, alloc.base, alloc.base + alloc.nbytes, None, self.is_shadowed(alloc)
                )
            )
        return self._segments[slot]

    def _stored_slots(self) -> set[int] | None:
        """Slots of the allocations that the kernel may store to; None when it may be any."""
        slots = set()
        for site, seg in zip(self.sites, self.fixed):
            if not site.stores or site.space not in ("global", "generic"):
                continue
            if seg is not None:
                slots.add(seg.alloc.base)
            elif not site.sources or not all(k in ("shared", "local") for k, _ in site.sources):
                return None
        return slots

    def is_shadowed(self, alloc) -> bool:
        if not self.hazards or alloc.readonly:
            return False
        return self._shadowed is None or alloc.base in self._shadowed

    def _bounds(self, site, kind: str, table: dict) -> tuple[int, int]:
        """The part of shared or local memory that an instruction may touch."""
        total = self.shared_bytes if kind == "shared" else self.program.local_bytes
        names = [what for k, what in site.sources if k == kind]
        others = any(
            k in ("shared", "local", "global", "loaded") and k != kind for k, _ in site.sources
        )
        if len(names) != 1 or others or names[0] not in table:
            return 0, total
        at, size = table[names[0]]
        return (at, at + size) if size else (at, total)
