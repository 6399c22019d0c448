"""Numba's compiled modules on the virtual GPU: PTX where it expects loaded code."""

from __future__ import annotations

import functools
import types
from pathlib import Path

from hetlab.vgpu.device import CAPABILITY, Origin, device
from hetlab.vgpu.frontends import numba_names
from hetlab.vgpu.frontends.driver import VirtualDriver
from hetlab.vgpu.launch import Kernel
from hetlab.vgpu.occupancy import occupancy
from hetlab.vgpu.resources import resources

__all__ = [
    "VirtualKernel",
    "VirtualLinker",
    "VirtualObject",
    "cufunc_getter",
    "function_class",
    "ltoir_getter",
]


class VirtualKernel:
    """Stands for ``cuda.core.Kernel``: PTX instead of a handle of loaded code."""

    def __init__(self, ptx: str, name: str, library=None) -> None:
        self.ptx, self.name, self.library = ptx, name, library
        self.engine = Kernel(ptx, name)
        self.handle = VirtualDriver.instance.register(self)
        self._origin: Origin | None = None

    @functools.cached_property
    def resources(self):
        """Registers and memory; None when the assembler cannot tell."""
        try:
            return resources(self.ptx, self.name)
        except Exception:  # a figure for the occupancy only: the launch needs none of it
            return None

    @functools.cached_property
    def attributes(self):
        """What ``cuda.core`` calls the kernel's attributes."""
        got = self.resources
        registers = got.registers if got else 0
        limit = 65536 // max(registers, 1) // 32 * 32
        return types.SimpleNamespace(
            num_regs=registers,
            const_size_bytes=got.constant if got else 0,
            local_size_bytes=got.stack if got else 0,
            shared_size_bytes=self.engine.shared_bytes,
            max_threads_per_block=min(1024, limit),
        )

    def occupancy(self, threads: int, dynamic_shared: int):
        """Blocks resident on a multiprocessor of the virtual GPU."""
        shared = self.engine.shared_bytes + dynamic_shared
        return occupancy(threads, self.attributes.num_regs, shared, CAPABILITY)

    def names(self) -> dict[str, str]:
        """The learner's names of shared and constant arrays, by symbol."""
        return numba_names.symbol_names(self.library.get_llvm_str()) if self.library else {}

    def shapes(self, python) -> dict[str, tuple[int, ...]]:
        """The shapes of shared arrays with several axes, by symbol."""
        if not (self.library and python):
            return {}
        return numba_names.symbol_shapes(self.library.get_llvm_str(), python)

    def origin(self, python) -> Origin:
        """Where the kernel came from; ``python`` is its function, when that is known."""
        if self._origin is None:
            name = python.__name__ if python else self.name
            home = numba_names.home(python) if python else None
            self._origin = Origin(
                name,
                "Numba",
                self.ptx,
                self.name,
                home=home,
                names=self.names,
                shapes=lambda: self.shapes(python),
            )
        return self._origin


class VirtualObject:
    """Stands for ``cuda.core.ObjectCode``: a module of PTX with its kernels and variables."""

    def __init__(self, ptx: str, library=None) -> None:
        self.ptx, self.library, self._kernels = ptx, library, {}
        self.handle = VirtualDriver.instance.register(self)

    def get_kernel(self, name: str) -> VirtualKernel:
        """The kernel of that name."""
        if name not in self._kernels:
            self._kernels[name] = VirtualKernel(self.ptx, name, self.library)
        return self._kernels[name]

    def symbol(self, name: str) -> tuple[int, int] | None:
        """Address and size of a variable of the module."""
        return Kernel.variable(self.ptx, name, device().memory)


class VirtualLinker:
    """Stands for Numba's ``_Linker`` where it links for loading: CUDA C++ and PTX, joined."""

    def __init__(self, **options) -> None:
        self._texts: list[str] = []
        self.info_log = ""

    def add_cu_file(self, path: str) -> None:
        """Add a CUDA C++ file."""
        self._texts.append(numba_names.compile_linked(Path(path).read_text(), Path(path).name))

    def complete(self) -> VirtualObject:
        """The module of everything that was added."""
        return VirtualObject(numba_names.merge_ptx(self._texts))


def function_class(numba_driver):
    """A ``Function`` of Numba's whose registers are looked up only when somebody asks."""

    class VirtualFunction(numba_driver.Function):
        __slots__ = ("__weakref__",)

        def __init__(self, module, kernel, name) -> None:
            self.module, self.kernel, self.name = module, kernel, name
            self.handle = kernel.handle

        @property
        def attrs(self):
            has = self.kernel.attributes
            return numba_driver.FuncAttr(
                regs=has.num_regs,
                shared=has.shared_size_bytes,
                local=has.local_size_bytes,
                const=has.const_size_bytes,
                maxthreads=has.max_threads_per_block,
            )

    return VirtualFunction


def cufunc_getter(function, devices):
    """Replaces ``CUDACodeLibrary.get_cufunc``: the module is PTX, not a loaded cubin."""

    def get_cufunc(self):
        if self._entry_name is None:
            raise RuntimeError("a device function is not a kernel and has no entry to launch")
        context = devices.get_context()
        found = self._cufunc_cache.get(context.device.id)
        if found is None:
            module = context.create_module_image(
                VirtualObject(numba_names.library_ptx(self), self),
                self._setup_functions,
                self._teardown_functions,
            )
            kernel = module.object_code.get_kernel(self._entry_name)
            found = function(module, kernel, self._entry_name)
            self._cufunc_cache[context.device.id] = found
        return found

    return get_cufunc


def ltoir_getter(get_ltoir):
    """``CUDACodeLibrary.get_ltoir`` for modules with line numbers that nobody asked for.

    NVRTC marks the version of its debug information as "must agree", Numba as "warn";
    the linker takes such a pair for a conflict.
    """

    @functools.wraps(get_ltoir)
    def marked(self, cc=None):
        before = self.llvm_strs
        soft, strict = '!{ i32 2, !"Debug Info Version"', '!{ i32 1, !"Debug Info Version"'
        self._llvm_strs = [text.replace(soft, strict) for text in before]
        try:
            return get_ltoir(self, cc)
        finally:
            self._llvm_strs = before

    return marked
