"""The CUDA driver's functions, as far as numba-cuda calls them, on the virtual GPU.

Numba looks each one up by its name in the driver API (``cuMemAlloc``); here the
name is a method.  They take and return what ``cuda.bindings`` takes and returns,
without the status in front, and raise Numba's own ``CudaAPIError``.
Streams run at once, in the order of the calls, which every program must allow.
"""

from __future__ import annotations

import ctypes
import threading
import time
import weakref

from hetlab.vgpu.device import CAPABILITY, SMS
from hetlab.vgpu.frontends.driver_memory import MemoryFunctions
from hetlab.vgpu.occupancy import limits

__all__ = ["VirtualDevice", "VirtualDriver"]

_HAS = limits(CAPABILITY)

ATTRIBUTES = {
    "MULTIPROCESSOR_COUNT": SMS,
    "MAX_THREADS_PER_BLOCK": _HAS.threads_per_block,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2**31 - 1,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK": 48 * 1024,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": _HAS.shared_per_block,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": _HAS.shared,
    "RESERVED_SHARED_MEMORY_PER_BLOCK": _HAS.reserved,
    "MAX_REGISTERS_PER_BLOCK": _HAS.registers,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": _HAS.registers,
    "MAX_THREADS_PER_MULTIPROCESSOR": _HAS.warps * 32,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": _HAS.blocks,
    "TOTAL_CONSTANT_MEMORY": 65536,
    "WARP_SIZE": 32,
    "CLOCK_RATE": 1_410_000,
    "MEMORY_CLOCK_RATE": 1_215_000,
    "GLOBAL_MEMORY_BUS_WIDTH": 5120,
    "L2_CACHE_SIZE": 40 << 20,
    "COMPUTE_CAPABILITY_MAJOR": CAPABILITY[0],
    "COMPUTE_CAPABILITY_MINOR": CAPABILITY[1],
    "ASYNC_ENGINE_COUNT": 3,
    "CAN_MAP_HOST_MEMORY": 1,
    "UNIFIED_ADDRESSING": 1,
    "MANAGED_MEMORY": 1,
    "CONCURRENT_KERNELS": 1,
    "CONCURRENT_MANAGED_ACCESS": 1,
    "COOPERATIVE_LAUNCH": 1,
    "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": 2,
}
"""Device attributes by name: an A100's; the ones that are not here are 0."""


class VirtualDevice:
    """Stands for ``cuda.core.Device``."""

    compute_capability = CAPABILITY
    uuid = "00000000-0000-0000-0000-000000000000"
    memory_resource = None

    def __init__(self, device_id: int = 0) -> None:
        self.device_id = int(device_id or 0)
        self.name = "hetlab virtual GPU (sm_80)"

    def set_current(self) -> None:
        VirtualDriver.instance.make_current()

    @property
    def context(self):
        return self

    @property
    def handle(self):
        return VirtualDriver.instance.context


class VirtualDriver(MemoryFunctions):
    """One instance serves the process; see the module's text.

    Parameters
    ----------
    driver : module
        ``numba.cuda.cudadrv.driver``, for its errors and handle types.
    """

    instance: VirtualDriver

    def __init__(self, driver) -> None:
        super().__init__(driver)
        VirtualDriver.instance = self
        self._local = threading.local()
        self._handles = 0x1000
        self._events: dict[int, float | None] = {}
        self._registered = weakref.WeakValueDictionary()  # kernels and modules by handle
        self.context = self._types.CUcontext(self._handle())

    def _handle(self) -> int:
        self._handles += 16
        return self._handles

    def register(self, thing) -> int:
        """A handle by which the driver's functions find a kernel or module."""
        handle = self._handle()
        self._registered[handle] = thing
        return handle

    # -- the device and its context ------------------------------------------------

    def cuInit(self, flags):
        return None

    def cuDriverGetVersion(self):
        return 13000

    def cuDeviceGetCount(self):
        return 1

    def cuDeviceGet(self, ordinal):
        return self._types.CUdevice(int(ordinal))

    def cuDeviceGetAttribute(self, attribute, device_id):
        return ATTRIBUTES.get(attribute.name.removeprefix("CU_DEVICE_ATTRIBUTE_"), 0)

    def cuDeviceCanAccessPeer(self, one, other):
        return 0

    def cuCtxEnablePeerAccess(self, context, flags):
        raise self._refuse("PEER_ACCESS_UNSUPPORTED", "the virtual GPU is the only device")

    def make_current(self) -> None:
        if not self._stack:
            self._stack.append(self.context)

    @property
    def _stack(self) -> list:
        try:
            return self._local.stack
        except AttributeError:
            self._local.stack = []
            return self._local.stack

    def cuCtxGetCurrent(self):
        return self._stack[-1] if self._stack else self._types.CUcontext(0)

    def cuCtxGetDevice(self):
        if not self._stack:
            raise self._refuse("INVALID_CONTEXT", "no context is current")
        return self._types.CUdevice(0)

    def cuCtxPushCurrent(self, context):
        self._stack.append(context)

    def cuCtxPopCurrent(self):
        if not self._stack:
            raise self._refuse("INVALID_CONTEXT", "no context is current")
        return self._stack.pop()

    def cuCtxCreate(self, *args):
        self._stack.append(self._types.CUcontext(self._handle()))
        return self._stack[-1]

    def cuCtxDestroy(self, context):
        self._stack[:] = [held for held in self._stack if int(held) != int(context)]

    def cuCtxSynchronize(self):
        return None

    def cuDevicePrimaryCtxRetain(self, device_id):
        return self.context

    def cuDevicePrimaryCtxRelease(self, device_id):
        return None

    def cuDevicePrimaryCtxReset(self, device_id):
        for address in list(self._owned):
            self.cuMemFree(address)

    # -- streams and events --------------------------------------------------------

    def cuStreamCreate(self, flags):
        return self._types.CUstream(self._handle())

    def cuStreamDestroy(self, stream):
        return None

    def cuStreamSynchronize(self, stream):
        return None

    def cuStreamWaitEvent(self, stream, event, flags):
        return None

    def cuStreamAddCallback(self, stream, callback, data, flags):
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
        run = kind(int(callback))
        # CUDA calls from a thread of its own, and programs may rely on that.
        worker = threading.Thread(target=run, args=(int(stream or 0), 0, data), daemon=True)
        worker.start()
        worker.join()

    def cuEventCreate(self, flags):
        event = self._types.CUevent(self._handle())
        self._events[int(event)] = None
        return event

    def cuEventDestroy(self, event):
        self._events.pop(int(event), None)

    def cuEventRecord(self, event, stream):
        self._events[int(event)] = time.perf_counter()

    def cuEventQuery(self, event):
        return None

    def cuEventSynchronize(self, event):
        return None

    def cuEventElapsedTime(self, start, end):
        first, last = self._events.get(int(start)), self._events.get(int(end))
        if first is None or last is None:
            raise self._refuse("INVALID_HANDLE", "an event was not recorded")
        return (last - first) * 1e3

    # -- modules and kernels -------------------------------------------------------

    def cuLibraryUnload(self, library):
        return None

    def cuLibraryGetGlobal(self, library, name):
        module = self._registered.get(int(library))
        found = module.symbol(name.decode()) if module is not None else None
        if found is None:
            raise self._refuse("NOT_FOUND", f"the module has no variable {name.decode()}")
        return self._types.CUdeviceptr(found[0]), found[1]

    def cuKernelSetCacheConfig(self, kernel, config, device_id):
        return None

    def cuKernelSetAttribute(self, attribute, value, kernel, device_id):
        return None

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, kernel, threads, dynamic_shared):
        return self._registered[int(kernel)].occupancy(int(threads), int(dynamic_shared)).blocks

    def cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(self, kernel, threads, shared, flags):
        return self.cuOccupancyMaxActiveBlocksPerMultiprocessor(kernel, threads, shared)

    def cuProfilerStart(self):
        return None

    def cuProfilerStop(self):
        return None

    def lookup(self, name: str):
        """The function of that name.

        Raises
        ------
        CudaAPIError
            CUDA's own "not supported", with the name, when it is missing here.
        """
        found = getattr(self, name, None) if name.startswith("cu") else None
        if found is not None:
            return found
        raise self._refuse("NOT_SUPPORTED", f"the virtual GPU has no {name}")
