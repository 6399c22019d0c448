"""The part of the CUDA driver that allocates, copies and pins memory (see ``driver.py``)."""

from __future__ import annotations

import ctypes

import numpy as np

from hetlab.vgpu.device import device
from hetlab.vgpu.memory import DeviceMemoryError

__all__ = ["MemoryFunctions"]

_MAPPED = 0x02  # CU_MEMHOSTALLOC_DEVICEMAP and CU_MEMHOSTREGISTER_DEVICEMAP


def _host(pointer, nbytes: int) -> np.ndarray:
    """The host's bytes at an address that the driver was given."""
    if not nbytes:
        return np.empty(0, np.uint8)
    return np.frombuffer((ctypes.c_uint8 * int(nbytes)).from_address(int(pointer)), np.uint8)


class MemoryFunctions:
    """``cuMem*`` of the virtual driver, named and called as in the driver API."""

    def __init__(self, driver) -> None:
        self._api = driver.CudaAPIError
        self._types = driver.binding
        self._pinned: dict[int, tuple[np.ndarray, int | None]] = {}  # host address: bytes, device
        self._managed: dict[int, np.ndarray] = {}
        self._owned: set[int] = set()

    def _refuse(self, status: str, what: str):
        return self._api(getattr(self._types.CUresult, f"CUDA_ERROR_{status}"), what)

    @property
    def _memory(self):
        return device().memory

    def cuMemGetInfo(self):
        memory = self._memory
        return memory.capacity - memory.used, memory.capacity

    def cuMemAlloc(self, nbytes):
        if nbytes <= 0:
            raise self._refuse("INVALID_VALUE", "cuMemAlloc needs a positive size")
        try:
            address = self._memory.alloc(int(nbytes))
        except (DeviceMemoryError, ValueError) as cause:
            raise self._refuse("OUT_OF_MEMORY", str(cause)) from cause
        self._owned.add(address)
        return self._types.CUdeviceptr(address)

    def cuMemAllocManaged(self, nbytes, flags):
        host = np.zeros(int(nbytes), np.uint8)
        address = self._memory.adopt(host)
        self._owned.add(address)
        self._managed[address] = host
        return self._types.CUdeviceptr(address)

    def managed_host(self, address) -> int:
        """Where the host finds a managed allocation."""
        return self._managed[int(address)].ctypes.data

    def cuMemFree(self, address):
        address = int(address)
        if address not in self._owned:
            raise self._refuse("INVALID_VALUE", f"{address:#x} is not an allocation")
        self._owned.discard(address)
        self._managed.pop(address, None)
        self._memory.free(address)

    def cuMemHostAlloc(self, nbytes, flags):
        host = np.zeros(max(int(nbytes), 1), np.uint8)
        self._pin(host, flags)
        return host.ctypes.data

    def cuMemHostRegister(self, pointer, nbytes, flags):
        if int(pointer) in self._pinned:
            raise self._refuse("HOST_MEMORY_ALREADY_REGISTERED", "this memory is pinned already")
        self._pin(_host(pointer, nbytes), flags)

    def _pin(self, host: np.ndarray, flags: int) -> None:
        mapped = self._memory.adopt(host, readonly=False) if flags & _MAPPED else None
        self._pinned[host.ctypes.data] = (host, mapped)

    def cuMemHostGetDevicePointer(self, pointer, flags):
        _, mapped = self._pinned.get(int(pointer), (None, None))
        if mapped is None:
            raise self._refuse("INVALID_VALUE", "this host memory is not mapped")
        return self._types.CUdeviceptr(mapped)

    def cuMemHostUnregister(self, pointer):
        _, mapped = self._pinned.pop(int(pointer), (None, None))
        if mapped is not None:
            self._memory.free(mapped)

    cuMemFreeHost = cuMemHostUnregister

    def _checked(self, work):
        try:
            return work()
        except DeviceMemoryError as cause:
            raise self._refuse("INVALID_VALUE", str(cause)) from cause

    def cuMemcpyHtoD(self, target, source, nbytes):
        self._checked(lambda: self._memory.write(int(target), _host(source, nbytes)))

    def cuMemcpyDtoH(self, target, source, nbytes):
        _host(target, nbytes)[:] = self._checked(
            lambda: self._memory.read(int(source), int(nbytes))
        )

    def cuMemcpyDtoD(self, target, source, nbytes):
        self._checked(lambda: self._memory.copy(int(target), int(source), int(nbytes)))

    def cuMemsetD8(self, target, value, count):
        filled = np.full(int(count), value & 0xFF, np.uint8)
        self._checked(lambda: self._memory.write(int(target), filled))

    def cuMemcpyHtoDAsync(self, target, source, nbytes, stream):
        self.cuMemcpyHtoD(target, source, nbytes)

    def cuMemcpyDtoHAsync(self, target, source, nbytes, stream):
        self.cuMemcpyDtoH(target, source, nbytes)

    def cuMemcpyDtoDAsync(self, target, source, nbytes, stream):
        self.cuMemcpyDtoD(target, source, nbytes)

    def cuMemsetD8Async(self, target, value, count, stream):
        self.cuMemsetD8(target, value, count)

    def cuMemGetAddressRange(self, address):
        found = self._memory.find(int(address))
        if found is None:
            raise self._refuse("NOT_FOUND", f"{int(address):#x} is not device memory")
        return self._types.CUdeviceptr(found.base), found.nbytes

    def cuPointerGetAttribute(self, attribute, address):
        if self._memory.find(int(address)) is None:
            raise self._refuse("INVALID_VALUE", f"{int(address):#x} is not device memory")
        return self._types.CUdeviceptr(int(address))
