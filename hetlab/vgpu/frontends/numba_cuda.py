"""``numba.cuda`` on a machine without a driver: unmodified programs, the virtual GPU.

Numba compiles without a GPU; only at the driver's door does it stop.  A few names
are replaced there, in memory and only where there is no driver:

===============================================  =====================================
``Driver._cuda_python_wrap_fn``                  the ``cu*`` functions (``driver.py``)
``driver.ExperimentalDevice``                    what a device says of itself
``driver.ManagedMemory``                         host and device addresses differ here
``CUDACodeLibrary.get_cufunc``, ``get_ltoir``    PTX is kept instead of a loaded cubin
``dispatcher.launch``, ``LaunchConfig``          the launch (in ``nrt`` too)
``nrt._Linker``                                  the module that counts references
``dispatcher._Kernel.launch``                    which Python arguments a launch has
``devicearray._to_strided_memory_view``          host arrays as arguments, not copied
``dispatcher.compile_cuda``                      line numbers are always kept
===============================================  =====================================
"""

from __future__ import annotations

import contextlib
import functools
import threading
import types

import numpy as np

from hetlab.vgpu.device import device, learners_level
from hetlab.vgpu.frontends import numba_names
from hetlab.vgpu.frontends.driver import VirtualDevice, VirtualDriver
from hetlab.vgpu.frontends.numba_errors import explain
from hetlab.vgpu.frontends.numba_module import (
    VirtualLinker,
    cufunc_getter,
    function_class,
    ltoir_getter,
)
from hetlab.vgpu.launch import LaunchError

__all__ = ["install", "installed"]

_installed: list[VirtualDriver] = []
_local = threading.local()  # .launch: the _Launch that is being prepared


def installed() -> bool:
    """Whether Numba's launches go to the virtual GPU."""
    return bool(_installed)


class _Launch:
    """What belongs to one launch while Numba prepares its arguments."""

    def __init__(self, kernel, args) -> None:
        self.kernel, self.args = kernel, args
        self.held: list[int] = []  # addresses to free afterwards
        self.spans: list[tuple[int, int]] = []  # host memory that is adopted


class _Config:
    """Stands for ``cuda.core.LaunchConfig``, which asks the driver."""

    __slots__ = ("block", "grid", "is_cooperative", "shmem_size")

    def __init__(self, grid, block, shmem_size=0, is_cooperative=False, **more) -> None:
        self.grid, self.block, self.shmem_size = grid, block, shmem_size or 0
        self.is_cooperative = bool(is_cooperative or more.get("cooperative_launch"))


def _launch(stream, config, kernel, *values) -> None:
    """Replaces ``cuda.core.launch``."""
    now: _Launch | None = getattr(_local, "launch", None)
    python = getattr(now.kernel, "py_func", None) if now else None

    def arrays():
        if now is None or now.kernel.extensions:
            return ()
        count = len(now.args)
        names = python.__code__.co_varnames[:count] if python else ()
        names = [*names, *(f"argument {i}" for i in range(len(names), count))]
        return numba_names.array_args(names, now.kernel.argument_types, values)

    try:
        device().launch(
            kernel.engine,
            kernel.origin(python),
            config.grid,
            config.block,
            [_parameter(value) for value in values],
            arrays=arrays,
            dynamic_shared=config.shmem_size,
            cooperative=config.is_cooperative,
        )
    except LaunchError as error:
        raise _refused()(error.what, where=error.where, do=error.do) from None


@functools.cache
def _refused() -> type[LaunchError]:
    """Our launch error that is CUDA's too, for programs that catch CUDA's."""
    from cuda.core._utils.cuda_utils import CUDAError

    class Refused(LaunchError, CUDAError):
        def __str__(self) -> str:
            return f"{LaunchError.__str__(self)} (CUDA_ERROR_INVALID_VALUE)"

    Refused.__name__ = Refused.__qualname__ = "LaunchError"
    return Refused


def _parameter(value):
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, bool) else value
    if hasattr(value, "value"):  # ctypes: the very bytes that the driver would be given
        return bytes(value)
    return 0 if value is None else int(value)


def _remembering(launch):
    """Let a launch know its Python arguments, and free what it borrowed."""

    @functools.wraps(launch)
    def remembered(self, args, *rest, **more):
        before = getattr(_local, "launch", None)
        now = _local.launch = _Launch(self, args)
        try:
            return launch(self, args, *rest, **more)
        finally:
            _local.launch = before
            for address in now.held:
                device().memory.free(address)

    return remembered


def _host_views(devicearray, numba_driver):
    from numba.cuda.api import from_cuda_array_interface as from_interface

    original = devicearray._to_strided_memory_view

    def view(obj, stream=0, copy=None, user_explicit=False):
        """A host array as an argument; ``copy=None`` is an ``In``, which stays unchanged."""
        if numba_driver.is_device_memory(obj):
            return obj._strided_memory_view_shim, False
        described = getattr(obj, "__cuda_array_interface__", None)
        if described is not None:
            array = from_interface(described, owner=obj)  # waits for its stream as well
            return array._strided_memory_view_shim, False
        if not isinstance(obj, (np.ndarray, np.generic)):
            return original(obj, stream, copy is None or copy, user_explicit)
        host = np.asanyarray(obj)
        devicearray.sentry_contiguous(devicearray.array_core(host))
        _warn_of_copies(devicearray, obj, copy)
        now: _Launch | None = getattr(_local, "launch", None)
        memory, shape, strides = device().memory, host.shape, host.strides
        first = host.__array_interface__["data"][0]
        span = (first, first + host.nbytes)
        alone = now is not None and not any(a < span[1] and span[0] < b for a, b in now.spans)
        in_place = copy is not None and alone and isinstance(obj, np.ndarray)
        if in_place and host.flags.writeable and host.flags.aligned:
            address = memory.adopt(host)
            now.spans.append(span)
            _mark_unwritten(memory, address, host)
        else:
            address = memory.alloc(max(host.nbytes, 1)) if host.size else 0
            in_place = False
            if copy is not False and host.size:
                dense = host.view(np.int64) if host.dtype.kind in "mM" else host
                memory.write(address, dense.tobytes("A"))
        if now is not None and address:
            now.held.append(address)
        flags = host.flags
        shim = devicearray._StridedMemoryViewShim(
            ptr=address,
            shape=shape,
            dtype=host.dtype,
            size=host.size,
            _layout=devicearray._StridedLayoutShim(
                strides_in_bytes=strides,
                is_contiguous_c=flags.c_contiguous,
                is_contiguous_f=flags.f_contiguous,
                is_contiguous_any=flags.c_contiguous or flags.f_contiguous,
            ),
        )
        return shim, not in_place

    return view


def _warn_of_copies(devicearray, obj, copy) -> None:
    config = devicearray.config
    if copy is False or config.DISABLE_PERFORMANCE_WARNINGS:
        return
    if config.CUDA_WARN_ON_IMPLICIT_COPY and isinstance(obj, np.ndarray):
        devicearray.warn(
            devicearray.NumbaPerformanceWarning(
                "Host array used in CUDA kernel will incur copy overhead to/from device."
            ),
            stacklevel=learners_level(),
        )


def _mark_unwritten(memory, address: int, array: np.ndarray) -> None:
    from hetlab.vgpu.uninitialised import written

    known = written(array)
    if known is not None and not known.all():
        memory.find(address).written = known


def _with_lines(compile_cuda):
    """Keep line numbers in every compilation, and explain the errors of the outermost one.

    Numba compiles device functions while it types a kernel, and many of these attempts
    fail as a matter of course: only the whole kernel's failure concerns anybody.
    """

    @functools.wraps(compile_cuda)
    def compiled(function, *args, **options):
        lines = bool(options.get("lineinfo"))

        def attempt(forced: bool):
            more = forced and not options.get("debug")  # the two exclude each other
            return compile_cuda(function, *args, **{**options, "lineinfo": lines or more})

        outer = getattr(_local, "lines", None)
        if outer is not None:
            return attempt(outer)
        try:
            _local.lines = True
            return attempt(True)
        except Exception as error:
            if type(error).__name__ != "TypingError":
                _local.lines = False
                with contextlib.suppress(Exception):  # the fault may be in the line numbers
                    return attempt(False)
            explain(function, error)
            raise
        finally:
            _local.lines = None

    return compiled


def install() -> None:
    """Let ``numba.cuda`` run on the virtual GPU; a second call does nothing."""
    if _installed:
        return
    from numba.cuda import codegen, dispatcher
    from numba.cuda.cudadrv import devicearray, devices
    from numba.cuda.cudadrv import driver as numba_driver
    from numba.cuda.memory_management import nrt

    virtual = VirtualDriver(numba_driver)
    singleton = numba_driver.driver
    numba_driver._logger = numba_driver.make_logger()
    singleton.is_initialized, singleton.initialization_error = True, None

    def wrap(self, name):
        found = virtual.lookup(name)
        setattr(self, name, found)  # as the original does: the next call finds it at once
        return found

    numba_driver.Driver._cuda_python_wrap_fn = wrap
    numba_driver.ExperimentalDevice = VirtualDevice

    class ManagedMemory(numba_driver.ManagedMemory):
        def __init__(self, context, pointer, size, owner=None, finalizer=None):
            super().__init__(context, pointer, size, owner, finalizer)
            self._bufptr_ = virtual.managed_host(pointer)

    numba_driver.ManagedMemory = ManagedMemory
    function = numba_driver.Function = function_class(numba_driver)
    library = codegen.CUDACodeLibrary
    library.get_cufunc = cufunc_getter(function, devices)
    library.get_ltoir = ltoir_getter(library.get_ltoir)
    for module in (dispatcher, nrt):
        module.launch, module.LaunchConfig = _launch, _Config
    nrt._Linker = VirtualLinker
    dispatcher._Kernel.launch = _remembering(dispatcher._Kernel.launch)
    devicearray._to_strided_memory_view = _host_views(devicearray, numba_driver)
    devicearray._make_strided_memory_view = lambda obj, *, stream_ptr: types.SimpleNamespace(
        ptr=obj.__array_interface__["data"][0]
    )

    dispatcher.compile_cuda = _with_lines(dispatcher.compile_cuda)
    _installed.append(virtual)
