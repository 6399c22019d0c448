"""Device memory: allocations with real bounds at virtual addresses.

Each allocation lies in an address *slot* of its own, 64 GiB wide and aligned to
64 GiB, so that no index error of a kernel can land in a neighbour, ``find`` is one
dictionary look-up, and an address that was freed is never handed out again.

An allocation may remember which of its bytes have been written (``cudaMalloc``
promises nothing about its content); ``None`` stands for "all of them".
"""

from __future__ import annotations

import ctypes
import threading

import numpy as np

from hetlab.errors import HetlabError, InvalidValue

__all__ = [
    "LOCAL_WINDOW",
    "SHARED_WINDOW",
    "SLOT_BITS",
    "Allocation",
    "DeviceMemoryError",
    "Memory",
]

SLOT_BITS = 36
"""An allocation's slot spans 2**36 bytes."""

SHARED_WINDOW = 1 << 61
"""Where a block's shared memory appears among generic addresses."""

LOCAL_WINDOW = 1 << 62
"""Where a thread's local memory appears among generic addresses."""

_FILL = 0xCD  # what unwritten device memory reads as: visible in a result, equal in every run


class DeviceMemoryError(HetlabError, MemoryError):
    """An address or size that device memory cannot serve."""


class Allocation:
    """One piece of device memory.

    Attributes
    ----------
    base : int
        Virtual address of the first byte.
    nbytes : int
        Size in bytes.
    name : str
        What the learner calls it; may be empty.
    itemsize : int
        Bytes an element, for reports (1 when unknown).
    readonly : bool
        A store by a kernel is a hazard.
    data : numpy.ndarray
        The bytes, ``uint8``.
    written : numpy.ndarray or None
        One bool a byte: has it been written?  None means all of them.
    """

    __slots__ = (
        "_views",
        "base",
        "data",
        "itemsize",
        "keep",
        "name",
        "nbytes",
        "readonly",
        "written",
    )

    def __init__(self, base, data, *, name="", itemsize=1, readonly=False, written=None, keep=None):
        self.base, self.data, self.nbytes = base, data, data.nbytes
        self.name, self.itemsize, self.readonly = name, itemsize, readonly
        self.written, self.keep, self._views = written, keep, {}

    def view(self, dtype) -> np.ndarray:
        """The bytes as elements of `dtype`; bytes past the last whole element are left out."""
        seen = self._views.get(dtype)
        if seen is None:
            size = np.dtype(dtype).itemsize
            seen = self._views[dtype] = self.data[: self.nbytes // size * size].view(dtype)
        return seen

    def settle(self) -> None:
        """Forget the map of written bytes once all of them are."""
        if self.written is not None and self.written.all():
            self.written = None

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<Allocation{name} {self.base:#x}, {self.nbytes} bytes>"


class Memory:
    """The memory of one virtual GPU.

    Parameters
    ----------
    capacity : int
        Bytes that may be allocated at one time; host arrays that were adopted do not count.
    """

    def __init__(self, capacity: int = 16 << 30) -> None:
        self.capacity, self.used = capacity, 0
        self._slots: dict[int, Allocation] = {}
        self._freed: dict[int, str] = {}
        self._next = 1
        self._lock = threading.Lock()
        self.modules: dict = {}  # a module's variables, placed once a memory (see launch.Kernel)

    def alloc(self, nbytes, *, name="", initialised=False, itemsize=1, readonly=False) -> int:
        """Allocate `nbytes` and return the virtual address, a multiple of 256.

        With ``initialised=False`` a kernel's read of a byte that nobody has written is a
        hazard; with True the bytes are zero and count as written.
        """
        if nbytes < 0 or nbytes >= 1 << (SLOT_BITS - 1):
            raise InvalidValue("nbytes", f"from 0 to {(1 << (SLOT_BITS - 1)) - 1}", nbytes)
        if self.used + nbytes > self.capacity:
            raise DeviceMemoryError(
                f"out of device memory: {nbytes} bytes asked for, "
                f"{self.capacity - self.used} of {self.capacity} free",
                do="Free arrays that are no longer needed, or work in pieces.",
            )
        try:
            data = np.zeros(nbytes, np.uint8) if initialised else np.full(nbytes, _FILL, np.uint8)
        except MemoryError as cause:
            raise DeviceMemoryError(f"this machine has no {nbytes} bytes left") from cause
        written = None if initialised or not nbytes else np.zeros(nbytes, np.bool_)
        kind = {"name": name, "itemsize": itemsize, "readonly": readonly, "written": written}
        with self._lock:
            self.used += nbytes
        return self._place(data, 0, 0, **kind)

    def adopt(self, array: np.ndarray, name: str = "", *, readonly: bool | None = None) -> int:
        """Let the device see a host array, without a copy; return the address of its element 0.

        Any strides are allowed, negative ones too.  The array is kept alive until `free`.
        """
        if not isinstance(array, np.ndarray):
            raise InvalidValue("array", "a numpy.ndarray", array)
        first = array.__array_interface__["data"][0]
        low = high = first
        if array.size:
            for n, s in zip(array.shape, array.strides):
                low, high = low + min(0, (n - 1) * s), high + max(0, (n - 1) * s)
            high += array.itemsize
        if array.flags.c_contiguous and array.size and array.dtype != object:
            data = array.reshape(-1).view(np.uint8)
        else:
            data = np.frombuffer((ctypes.c_uint8 * (high - low)).from_address(low), np.uint8)
        # A view keeps its alignment: its array begins at a multiple of 256, as on a device.
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        shift = (low - owner.__array_interface__["data"][0]) % 256
        if readonly is None:
            readonly = not array.flags.writeable
        size = array.itemsize or 1
        kind = {"name": name, "itemsize": size, "readonly": readonly, "keep": array}
        return self._place(data, first - low, shift, **kind)

    def _place(self, data, offset: int, shift: int, **kind) -> int:
        with self._lock:
            slot, self._next = self._next, self._next + 1
            base = (slot << SLOT_BITS) + shift
            self._slots[slot] = Allocation(base, data, **kind)
        return base + offset

    def allocations(self) -> list[Allocation]:
        """All that is allocated or adopted now, oldest first."""
        with self._lock:
            return [self._slots[slot] for slot in sorted(self._slots)]

    def place_at(self, base: int, data: np.ndarray, **kind) -> None:
        """Put an allocation where another memory has it; the next slot comes after it."""
        slot = base >> SLOT_BITS
        with self._lock:
            self._slots[slot] = Allocation(base, data, **kind)
            self._next = max(self._next, slot + 1)

    def free(self, addr: int) -> None:
        """Give back the allocation that holds `addr`."""
        with self._lock:
            gone = self._slots.pop(int(addr) >> SLOT_BITS, None)
            if gone is not None:
                if gone.keep is None:
                    self.used -= gone.nbytes
                if len(self._freed) > 10_000:
                    self._freed.clear()
                self._freed[int(addr) >> SLOT_BITS] = gone.name
        if gone is None:
            raise self._bad(addr, 0)

    def find(self, addr: int) -> Allocation | None:
        """The allocation whose slot holds `addr`, or None.

        The address may still lie outside the allocation's bytes: an index error points into
        the empty rest of the slot, and its report can name the array that was meant.
        """
        return self._slots.get(int(addr) >> SLOT_BITS)

    def was_freed(self, addr: int) -> bool:
        """Whether `addr` lies in an allocation that has been freed."""
        return int(addr) >> SLOT_BITS in self._freed

    def bytes(self, addr: int, nbytes: int) -> np.ndarray:
        """A writable ``uint8`` view of device memory; it does not mark anything as written."""
        mem = self.find(addr)
        if mem is None or not 0 <= int(addr) - mem.base <= mem.nbytes - nbytes or nbytes < 0:
            raise self._bad(addr, nbytes)
        start = int(addr) - mem.base
        return mem.data[start : start + nbytes]

    def write(self, addr: int, data) -> None:
        """Copy `data` (bytes or an array) to the device and mark it as written."""
        data = np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else data
        data = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        self.bytes(addr, data.nbytes)[:] = data
        self.mark(addr, data.nbytes)

    def mark(self, addr: int, nbytes: int, written: bool | np.ndarray = True) -> None:
        """Record which of the `nbytes` bytes from `addr` have been written."""
        mem = self.find(addr)
        if mem is not None and mem.written is not None:
            mem.written[int(addr) - mem.base : int(addr) - mem.base + nbytes] = written
            mem.settle()

    def written(self, addr: int, nbytes: int) -> np.ndarray:
        """One bool a byte: has it been written?"""
        self.bytes(addr, nbytes)
        mem = self.find(addr)
        if mem.written is None:
            return np.ones(nbytes, np.bool_)
        return mem.written[int(addr) - mem.base : int(addr) - mem.base + nbytes].copy()

    def read(self, addr: int, nbytes: int) -> np.ndarray:
        """A copy of `nbytes` bytes from the device, as ``uint8``."""
        return self.bytes(addr, nbytes).copy()

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Copy inside the device; unwritten bytes stay unwritten."""
        self.bytes(target, nbytes)[:] = self.read(source, nbytes)
        self.mark(target, nbytes, self.written(source, nbytes))

    def _bad(self, addr, nbytes) -> DeviceMemoryError:
        addr = int(addr)
        mem = self.find(addr)
        if mem is not None:
            what = (
                f"{nbytes} bytes at {addr:#x} are not inside {mem.name or 'the allocation'}, "
                f"which has {mem.nbytes} bytes at {mem.base:#x}"
            )
        elif self.was_freed(addr):
            what = f"the device memory at {addr:#x} has been freed"
        else:
            what = f"there is no device memory at {addr:#x}"
        return DeviceMemoryError(what, do="Check the pointer and the size of the copy.")
