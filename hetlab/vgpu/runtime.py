"""The device functions that a GPU's runtime provides: printf, malloc, assertions, grid groups."""

from __future__ import annotations

import re

import numpy as np

from hetlab.errors import InvalidValue
from hetlab.vgpu.lanes import Lanes
from hetlab.vgpu.memory import LOCAL_WINDOW, SHARED_WINDOW, DeviceMemoryError

__all__ = ["DeviceRuntime"]

MAX_PRINTED = 10_000
"""Calls of printf that are kept, as a GPU's buffer is finite too."""

_SPEC = re.compile(r"%([-+ #0]*)(\d*|\*)(\.\d*|\.\*)?(hh|h|ll|l|z|j|t)?([diouxXeEfFgGaAcspn%])")


class DeviceRuntime:
    """Runtime functions of one batch."""

    def __init__(self, run, batch) -> None:
        self.run, self.batch = run, batch

    def _bytes(self, address: int, slot: int, n: int) -> bytes:
        """At most `n` bytes from a generic address, as the thread in `slot` sees it."""
        memory = self.batch.memory
        if address >= LOCAL_WINDOW:
            size = self.run.program.local_bytes
            at = address - LOCAL_WINDOW
            whole = memory.local[slot * size : (slot + 1) * size]
        elif address >= SHARED_WINDOW:
            at = address - SHARED_WINDOW
            start = slot // self.batch.shape.padded * memory.stride
            whole = memory.shared[start : start + memory.stride]
        else:
            alloc = self.run.memory.find(address)
            if alloc is None:
                return b""
            at, whole = address - alloc.base, alloc.data
        return whole[at : at + n].tobytes() if at >= 0 else b""

    def _text(self, address: int, slot: int) -> str:
        raw = self._bytes(address, slot, 4096)
        return raw.split(b"\0")[0].decode("utf-8", "replace")

    def vprintf(self, lanes: Lanes, place, form, args):
        """Format the arguments of each thread as C does."""
        out = self.run.printf
        said = set()  # by the blocks, when copies of one element speak once
        forms, pointers = lanes.full(form).tolist(), lanes.full(args).tolist()
        for slot, f, pointer in zip(lanes.all_slots.tolist(), forms, pointers):
            if len(out) >= MAX_PRINTED:
                if len(out) == MAX_PRINTED:
                    out.append(
                        f"... more than {MAX_PRINTED} lines were printed; the rest is lost\n"
                    )
                break
            text = self._format(self._text(f, slot), pointer, slot)
            if self.run.tiles:
                copy = slot // self.batch.shape.padded, text
                if copy in said:
                    continue
                said.add(copy)
            out.append(text)
        return np.uint32(0)

    def _format(self, form: str, pointer: int, slot: int) -> str:
        at = pointer

        def taken(size: int) -> bytes:
            nonlocal at
            begin = -(-at // size) * size
            at = begin + size
            return self._bytes(begin, slot, size).ljust(size, b"\0")

        def star(text: str) -> str:
            if not text.endswith("*"):
                return text
            return text[:-1] + str(int.from_bytes(taken(4), "little", signed=True))

        def one(match: re.Match) -> str:
            flags, width, precision, length, kind = match.groups()
            if kind == "%":
                return "%"
            width, precision = star(width), star(precision or "")
            size = 8 if kind in "eEfFgGaAspn" or length in ("l", "ll", "z", "j", "t") else 4
            raw = taken(size)
            precision = "" if "-" in precision else precision  # as if it were not there
            spec = f"%{flags}{width[:4]}{precision[:5]}"
            if kind in "eEfFgGaA":
                value = float(np.frombuffer(raw, np.float64)[0])
                return value.hex() if kind in "aA" else f"{spec}{kind}" % value
            if kind == "s":
                return f"{spec}s" % self._text(int.from_bytes(raw, "little"), slot)
            number = int.from_bytes(raw, "little", signed=kind in "di")
            if kind == "c":
                return f"{spec}c" % chr(number & 0xFF)
            if kind == "p":
                return f"{number:#x}"
            return f"{spec}{'d' if kind in 'diu' else kind}" % number if kind != "n" else ""

        return _SPEC.sub(one, form)

    def __getattr__(self, name: str):
        if name in ("__assertfail", "__assert_fail"):
            return self._assertfail
        raise AttributeError(name)

    def _assertfail(self, lanes: Lanes, place, message, file, line, function, *size):
        slot = int(lanes.all_slots[0])
        text = self._text(int(np.atleast_1d(message)[0]), slot)
        where = self._text(int(np.atleast_1d(file)[0]), slot), int(np.atleast_1d(line)[0])
        what = f"the assertion {text!r} fails"
        self.batch.trap(lanes, where if where[0] else place, what)

    def malloc(self, lanes: Lanes, place, size):
        """Memory from the device's heap for each thread; 0 when there is none left."""
        memory = self.run.memory

        def one(nbytes: int) -> int:
            try:
                return memory.alloc(nbytes, name="memory of malloc") if nbytes > 0 else 0
            except (DeviceMemoryError, InvalidValue):
                return 0

        return np.array([one(n) for n in lanes.full(size).astype(np.int64).tolist()], np.uint64)

    def free(self, lanes: Lanes, place, pointer):
        """Give memory of `malloc` back; a null pointer is nothing to do."""
        for address in filter(None, lanes.full(pointer).tolist()):
            try:
                self.run.memory.free(address)
            except DeviceMemoryError as error:
                self.batch.trap(lanes, place, f"free fails: {error.what}")

    def cudaCGGetIntrinsicHandle(self, lanes: Lanes, place, scope):
        return np.uint64(1 if self.run.cooperative else 0)

    def cudaCGSynchronize(self, lanes: Lanes, place, *rest):
        return np.uint32(0)  # the block's gate has done the waiting

    cudaCGSynchronizeGrid = cudaCGSynchronize
