"""Triton on a machine without a GPU: unmodified kernels, the real compiler, the virtual GPU.

Triton compiles without a GPU; it asks its *active driver* for everything else.  What
is replaced, in memory and only where there is no GPU:

===============================================  =====================================
``triton.runtime.driver`` (``set_active``)       the device, its limits, the launcher
``knobs.runtime.kernel_load_end_hook``           PTX, beside the cubin that is "loaded"
``KernelInterface.__getitem__``                  the launch, for its arguments
``KernelInterface.warmup``, ``Autotuner.warmup``  the same
``TensorDescriptor``                             its base may be a host array
``knobs.autotuning.listener``                    which configuration was picked, and how
===============================================  =====================================
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hetlab.errors import HetlabError, InvalidValue, UnknownName
from hetlab.vgpu.device import CAPABILITY, SMS
from hetlab.vgpu.frontends import triton_tuning
from hetlab.vgpu.frontends.driver import ATTRIBUTES
from hetlab.vgpu.frontends.triton_arguments import Tensor, as_tensor, wrap
from hetlab.vgpu.frontends.triton_errors import explain
from hetlab.vgpu.frontends.triton_launcher import Function, Launcher

__all__ = ["TritonLaunch", "install", "installed", "virtual"]

DEVICE = 1000
"""Triton caches kernels by device number: one that no real GPU has."""

_STUB = re.compile(r"^\w+ is not started$", re.MULTILINE)
"""What the stub of an exercise asserts, in Triton's error."""

_installed: list[VirtualTritonDriver] = []


class _Utils:
    """What Triton's driver does with binaries and devices."""

    def load_binary(self, name, binary, shared, device):
        # No module handle: Triton gives handles back to whichever driver is active then.
        return None, Function(name), 0, 0, ATTRIBUTES["MAX_THREADS_PER_BLOCK"]

    def unload_module(self, module) -> None:
        return None

    def get_device_properties(self, device) -> dict:
        return {
            "max_shared_mem": ATTRIBUTES["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"],
            "max_num_regs": ATTRIBUTES["MAX_REGISTERS_PER_BLOCK"],
            "multiprocessor_count": SMS,
            "warpSize": 32,
            "sm_clock_rate": ATTRIBUTES["CLOCK_RATE"],
            "mem_clock_rate": ATTRIBUTES["MEMORY_CLOCK_RATE"],
            "mem_bus_width": ATTRIBUTES["GLOBAL_MEMORY_BUS_WIDTH"],
        }


class VirtualTritonDriver:
    """Stands for ``triton.backends.nvidia.driver.CudaDriver``."""

    launcher_cls = Launcher

    def __init__(self) -> None:
        self.utils = _Utils()

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, kind: str) -> str:
        return kind

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 10 * CAPABILITY[0] + CAPABILITY[1], 32)

    def get_current_device(self) -> int:
        return DEVICE

    def set_current_device(self, device) -> None:
        return None

    def get_current_stream(self, device=None) -> int:
        return 0

    def get_device_capability(self, device=None) -> tuple[int, int]:
        return CAPABILITY

    def get_active_torch_device(self):
        raise HetlabError(
            "the virtual GPU is no device of PyTorch", do="Pass NumPy arrays to the kernel."
        )

    get_device_interface = get_empty_cache_for_benchmark = get_active_torch_device

    def get_benchmarker(self):
        return triton_tuning.by_estimate

    def allocate_default_profile_scratch(self, size, alignment, stream):
        return None


class TritonLaunch:
    """``kernel[grid]``: what a launch on the virtual GPU is called through."""

    def __init__(self, kernel, grid) -> None:
        self.kernel, self.grid = kernel, grid
        self.__name__ = _name(kernel)

    def __repr__(self) -> str:
        return f"<launch of the Triton kernel {self.__name__} on the virtual GPU>"

    def __call__(self, *args, **named):
        __tracebackhide__ = True
        _sing()
        return _guarded(self.kernel, "run", self.grid, args, {**named, "warmup": False})

    def compile(self, *args, **named):
        """The compiled kernel of this launch, which does not take place."""
        return _guarded(self.kernel, "run", self.grid, args, {**named, "warmup": True})


def _name(kernel) -> str:
    return getattr(kernel, "__name__", "") or getattr(
        getattr(kernel, "base_fn", None), "__name__", "the kernel"
    )


def _guarded(kernel, method: str, grid, args: tuple, named: dict):
    """Call Triton with wrapped arguments, and put its errors into words."""
    __tracebackhide__ = True
    names = list(getattr(kernel, "arg_names", ()))
    args, named = wrap(names, args, named)
    grid = _grid(grid)
    try:
        return getattr(kernel, method)(*args, grid=grid, **named)
    except TypeError as error:
        told = _misfit(kernel, names, args, named, error)
        if told is None:
            raise
        raise told from None
    except KeyError as error:
        if "was specified but unrecognised" not in str(error):
            raise
        unknown = str(error).split("argument ")[-1].split(" was")[0]
        raise UnknownName("argument", unknown, names, where=_name(kernel)) from None
    except Exception as error:
        if type(error).__module__.startswith("triton."):
            if stub := _STUB.search(str(error)):
                raise NotImplementedError(stub[0]) from None
            explain(kernel, error)
            _show_alone(error)
        raise


def _misfit(kernel, names, args, named, error: TypeError) -> HetlabError | None:
    """Too few or too many arguments; None when the error is another one."""
    if "dynamic_func()" not in str(error):
        return None
    given = {*names[: len(args)], *named}
    if len(args) > len(names):
        return InvalidValue(
            f"the arguments of {_name(kernel)}",
            f"at most {len(names)} ({', '.join(names)})",
            f"{len(args)} of them",
        )
    missing = [name for name in names if name not in given]
    text = str(error).replace("dynamic_func()", _name(kernel))
    if "missing" not in text:
        return HetlabError(text, do=f"It takes: {', '.join(names)}.")
    return HetlabError(
        f"{_name(kernel)} was launched without {' and '.join(missing) or 'an argument'}",
        do=f"It takes: {', '.join(names)}; constants are passed by name, as in BLOCK=1024.",
    )


def _show_alone(error: BaseException) -> None:
    """In a notebook, an error of Triton's compiler is its own text, without a stack."""

    def lines() -> list[str]:
        causes, cause = [], error
        while cause is not None and cause not in causes:
            causes.append(cause)
            cause = cause.__cause__
        told = [f"{type(cause).__name__}: {cause}" for cause in causes]
        return [*told, *getattr(error, "__notes__", ())]

    error._render_traceback_ = lines


def _grid(grid):
    """The grid, checked; a function of the constants stays one."""
    if callable(grid):
        return lambda meta: _grid(grid(meta))
    if grid is None:
        return None
    sizes = tuple(grid) if isinstance(grid, tuple | list) else (grid,)
    whole = all(hasattr(n, "__index__") for n in sizes)
    if not isinstance(grid, tuple | list) or not whole or not 1 <= len(sizes) <= 3:
        raise InvalidValue(
            "the grid",
            "a tuple of one to three whole numbers",
            grid,
            do="Write kernel[(programs,)](...), or a function of the constants that gives one: "
            "lambda meta: (triton.cdiv(n, meta['BLOCK']),).",
        )
    return tuple(int(n) for n in sizes)


_sung: list[bool] = []  # [True] after the canary; [False] while it sings, being a launch itself


def _sing() -> None:
    """Refuse to run what a new release of Triton may have changed."""
    from hetlab.vgpu.canary import canary

    if _sung:
        return
    _sung.append(False)
    try:
        _sung[0] = canary("triton")
    finally:
        if not _sung[0]:
            _sung.clear()


def _load_hook(module, function, name, files, key) -> None:
    """Keep the PTX of a kernel that has just been loaded."""
    if isinstance(function, Function):
        path = next(path for file, path in files.items() if file.endswith(".ptx"))
        function.ptx = Path(path).read_text(encoding="utf-8")


def _warmup(original):
    @functools.wraps(original)
    def warmup(self, *args, grid=None, **named):
        if not _is_active():
            return original(self, *args, grid=grid, **named)
        args, named = wrap(getattr(self, "arg_names", ()), args, named)
        args = tuple(_as_dtype(value) for value in args)
        named = {name: _as_dtype(value) for name, value in named.items()}
        return original(self, *args, grid=grid, **named)

    return warmup


def _as_dtype(value):
    """``warmup`` takes a data type in the place of an array."""
    import numpy as np

    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return Tensor(np.empty(1, value))
    return value


def _prepare_descriptors() -> None:
    """Let ``TensorDescriptor`` take host arrays for its base."""
    from triton.tools import tensor_descriptor

    cls = tensor_descriptor.TensorDescriptor
    check = cls.__post_init__

    class Base(Tensor):
        """The base of a descriptor, whose type is asked for more."""

        @property
        def dtype(self):
            return _Described(self.array.dtype)

    def __post_init__(self):
        base = as_tensor(self.base, "base")
        if isinstance(base, Tensor):
            self.base = Base(base.array)
        self.shape, self.strides = list(map(int, self.shape)), list(map(int, self.strides))
        try:
            check(self)
        except AssertionError as cause:
            raise HetlabError(f"this TensorDescriptor is not possible: {cause}") from None

    def from_tensor(tensor, block_shape, padding="zero", round_f32_to_tf32=False):
        held = as_tensor(tensor, "tensor")
        return cls(held, held.shape, held.stride(), block_shape, padding, round_f32_to_tf32)

    cls.__post_init__, cls.from_tensor = __post_init__, staticmethod(from_tensor)


class _Described:
    """A NumPy type with the attributes that a descriptor asks for."""

    def __init__(self, dtype) -> None:
        self.dtype, self.itemsize = dtype, dtype.itemsize
        self.is_floating_point = dtype.kind not in "biu"

    def __str__(self) -> str:
        return str(self.dtype)

    __repr__ = __str__

    def __eq__(self, other) -> bool:
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def installed() -> bool:
    """Whether Triton's launches go to the virtual GPU."""
    return bool(_installed)


def _is_active() -> bool:
    from triton.runtime import driver

    return isinstance(driver._active, VirtualTritonDriver)


def prepare() -> None:
    """Say to Triton what it would otherwise warn about; before its first compilation."""
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")


@functools.cache
def _patch() -> VirtualTritonDriver:
    """What the virtual GPU needs of Triton, whether it is the active device or not."""
    from triton import knobs
    from triton.runtime import autotuner, jit

    prepare()
    knobs.runtime.kernel_load_end_hook.add(_load_hook)
    real = jit.KernelInterface.__getitem__

    def __getitem__(self, grid):
        return TritonLaunch(self, grid) if _is_active() else real(self, grid)

    jit.KernelInterface.__getitem__ = __getitem__
    jit.KernelInterface.warmup = _warmup(jit.KernelInterface.warmup)
    autotuner.Autotuner.warmup = _warmup(autotuner.Autotuner.warmup)
    _prepare_descriptors()
    triton_tuning.listen()
    return VirtualTritonDriver()


def install() -> None:
    """Let Triton run on the virtual GPU; a second call does nothing."""
    if _installed:
        return
    from triton import knobs
    from triton.runtime import driver

    if knobs.runtime.interpret:
        raise HetlabError(
            "Triton's own interpreter is switched on in this process (TRITON_INTERPRET=1)",
            do="Restart the kernel without that variable.",
        )
    virtual_driver = _patch()
    driver.set_active(virtual_driver)
    _installed.append(virtual_driver)


@contextmanager
def virtual() -> Iterator[None]:
    """Launches inside go to the virtual GPU, also where there is a real one."""
    from triton.runtime import driver

    before = driver._active
    driver.set_active(_patch())
    try:
        yield
    finally:
        driver._active = before


def on_virtual(launch):
    """Triton's own ``kernel[grid]``, made where there is a real GPU, on the virtual one."""
    inside = dict(zip(launch.__code__.co_freevars, launch.__closure__))
    kernel, grid = inside["self"].cell_contents, inside["grid"].cell_contents

    @functools.wraps(launch)
    def elsewhere(*args, **named):
        with virtual():
            return TritonLaunch(kernel, grid)(*args, **named)

    return elsewhere
