"""The kernels of one CUDA module that TVM generated: source to PTX, and their launches.

TVM's own host code starts them: it computes the grid, allocates the workspace between
kernels, and calls each kernel with addresses, scalars and extents of the launch.
"""

from __future__ import annotations

import ctypes
import functools
import re
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from hetlab.vgpu.device import Origin, device
from hetlab.vgpu.frontends.nvrtc import compile_cuda_cpp, variable_names
from hetlab.vgpu.frontends.tvm_headers import HEADERS
from hetlab.vgpu.launch import ArrayArg, Kernel
from hetlab.vgpu.uninitialised import written

__all__ = ["Call", "DeviceCode", "KernelFacts", "Parameter", "calling"]

_DYNAMIC_SHARED = "tirx.use_dyn_shared_memory"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a generated kernel.

    Attributes
    ----------
    name : str
        The buffer's name in the TVM function, or the scalar's.
    itemsize : int
        Bytes an element of the buffer; 0 for a scalar.
    size : callable or None
        Bytes of the buffer, from the kernel's scalars by name; its answer is None when
        they do not say.
    stored : bool
        Whether the kernel writes the buffer.
    """

    name: str
    itemsize: int = 0
    size: Callable[[dict], int | None] | None = None
    stored: bool = False


@dataclass(frozen=True)
class KernelFacts:
    """Name, parameters and launch tags (``blockIdx.x``) of a generated kernel."""

    name: str
    parameters: tuple[Parameter, ...]
    tags: tuple[str, ...]


class Call:
    """One call of a TVM function: the arrays it was given, and the device memory it uses."""

    def __init__(self, given=(), *, tracks: bool = True, options: tuple[str, ...] = ()) -> None:
        self.options = options  # of NVRTC
        self.tracks = tracks  # it sees workspace from its allocation on
        self.given = {array.__array_interface__["data"][0]: array for array in given if array.size}
        self.failure: BaseException | None = None
        self._bases: dict[int, tuple[int, int]] = {}  # host address -> device address, size

    def place(self, address: int, name: str, nbytes: int | None, itemsize: int):
        """Device address of host memory, and the array that lies there when it is known."""
        array = self.given.get(address)
        held, size = self._bases.get(address, (0, -1))
        wanted = nbytes if array is None else array.nbytes
        if held and (wanted is None or size >= wanted):
            return held, array
        if wanted is None:
            wanted = _allocated(address)
        memory = device().memory
        if array is not None:
            base, known = memory.adopt(array, name), written(array)
        else:  # workspace that TVM's host code allocated: nobody has written it yet
            window = (ctypes.c_uint8 * wanted).from_address(address)
            base = memory.adopt(np.frombuffer(window, np.uint8), name)
            memory.find(base).itemsize = itemsize
            known = np.zeros(wanted, np.bool_) if self.tracks else None
            if held and known is not None:  # a kernel sees more of it than those before
                known[:size] = memory.written(held, size)
        if known is not None and not known.all():
            memory.find(base).written = known
        if held:
            memory.free(held)
        self._bases[address] = base, wanted
        return base, array

    def close(self) -> None:
        """Give the device memory back."""
        for base, _ in self._bases.values():
            device().memory.free(base)
        self._bases.clear()


class _Calls(threading.local):
    def __init__(self) -> None:
        self.stack: list[Call] = []


_calls = _Calls()


@contextmanager
def calling(given=(), **named):
    """Launches inside belong to one call, whose arrays are known; the arguments are `Call`'s."""
    call = Call(given, **named)
    _calls.stack.append(call)
    try:
        yield call
    finally:
        _calls.stack.pop()
        call.close()


def _allocated(address: int) -> int:
    """Size of a block of TVM's workspace that only the allocator knows."""
    import os

    if os.name == "nt":
        size = ctypes.cdll.msvcrt._aligned_msize
        size.restype, size.argtypes = ctypes.c_size_t, [ctypes.c_void_p] + [ctypes.c_size_t] * 2
        return size(address, 64, 0)
    size = ctypes.CDLL(None).malloc_usable_size
    size.restype, size.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
    return size(address)


class DeviceCode:
    """A CUDA module of TVM's on the virtual GPU.

    Parameters
    ----------
    source : str
        The CUDA C++ that TVM generated.
    kernels : iterable of KernelFacts
    """

    def __init__(self, source: str, kernels) -> None:
        self.source = source
        self.kernels = {facts.name: facts for facts in kernels}
        self.file = f"{next(iter(self.kernels), 'tvm')}.cu"
        self._ready: dict[tuple, Kernel] = {}

    def ptx(self, options: tuple[str, ...] = ()) -> str:
        """The module, compiled at the first launch."""
        return compile_cuda_cpp(self.source, "", options, self.file, HEADERS)[0]

    def kernel(self, name: str, options: tuple[str, ...] = ()) -> Kernel:
        """A kernel, ready to run."""
        if (name, options) not in self._ready:
            self._ready[name, options] = Kernel(self.ptx(options), name)
        return self._ready[name, options]

    def origin(self, name: str, options: tuple[str, ...] = ()) -> Origin:
        """Where a kernel came from, for its report."""
        ptx = self.ptx(options)
        return Origin(
            name,
            "TVM",
            ptx,
            name,
            sources={self.file: self.source},
            home=(self.file, *lines_of(self.source, name)),
            names=functools.partial(variable_names, ptx),
        )

    def launch(self, name: str, args) -> None:
        """Start a kernel with what TVM's host code passes: parameters, then launch extents."""
        call = _calls.stack[-1] if _calls.stack else None
        try:
            if call is not None:
                self._launch(name, args, call)
            else:
                with calling(tracks=False) as call:
                    self._launch(name, args, call)
        except BaseException as cause:
            if call is not None:
                call.failure = cause  # TVM's host code hands on a text only
            raise

    def _launch(self, name: str, args, call: Call) -> None:
        facts = self.kernels[name]
        values, extents = args[: len(facts.parameters)], args[len(facts.parameters) :]
        launch = dict(zip(facts.tags, map(int, extents)))
        scalars = {p.name: v for p, v in zip(facts.parameters, values) if not p.itemsize}
        passed, arrays = [], []
        for i, (parameter, value) in enumerate(zip(facts.parameters, values)):
            if not parameter.itemsize:
                passed.append(value)
                continue
            address = getattr(value, "value", value) or 0
            nbytes = parameter.size(scalars)
            if not address or nbytes == 0:
                passed.append(0)
                continue
            base, array = call.place(address, parameter.name, nbytes, parameter.itemsize)
            passed.append(base)
            if array is None:
                nbytes = nbytes or device().memory.find(base).nbytes
                shape = (nbytes // parameter.itemsize,)
                strides = (parameter.itemsize,)
            else:
                shape, strides, nbytes = array.shape, array.strides, array.nbytes
            arrays.append(
                ArrayArg(i, parameter.name, base, nbytes, parameter.itemsize, shape, strides)
            )
        raw = device().launch(
            self.kernel(name, call.options),
            self.origin(name, call.options),
            [launch.get(f"blockIdx.{axis}", 1) for axis in "xyz"],
            [launch.get(f"threadIdx.{axis}", 1) for axis in "xyz"],
            passed,
            arrays=arrays,
            dynamic_shared=launch.get(_DYNAMIC_SHARED, 0),
            cooperative="tirx.use_cooperative_launch" in facts.tags,
        )
        if not call.options:
            # `if (k == 0) C[i] = 0; C[i] += ...`: the optimiser loads C[i] first, and drops what
            # it read.  So a kernel's own outputs are judged in unoptimised code only.
            own = {p.name for p in facts.parameters if p.stored}
            raw.hazards[:] = [
                h for h in raw.hazards if h.kind != "uninitialised-read" or h.array not in own
            ]


def lines_of(source: str, name: str) -> tuple[int, int]:
    """First and last line of a kernel's definition in generated CUDA source."""
    head = re.search(
        rf"^extern \"C\" __global__[^;{{]*\b{re.escape(name)}\([^;{{]*\{{", source, re.M
    )
    if not head:
        return 1, source.count("\n") + 1
    end = source.find("\n}", head.end())
    last = source.count("\n", 0, end + 1) + 1 if end >= 0 else source.count("\n") + 1
    return source.count("\n", 0, head.start()) + 1, last
