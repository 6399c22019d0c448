"""Numba kernels on the virtual GPU without touching Numba: on a machine with a GPU.

There ``kernel[grid, block](...)`` belongs to the GPU.  The microscope compiles the
Python function once more, for itself, and lends it the arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from hetlab.errors import InvalidValue
from hetlab.vgpu.device import CAPABILITY, Origin, device
from hetlab.vgpu.frontends import numba_names
from hetlab.vgpu.launch import Kernel

__all__ = ["direct", "without_optimisation"]


def _configuration(launch):
    """Dispatcher, grid, block and shared bytes of ``kernel[grid, block, stream, shared]``."""
    dispatcher = getattr(launch, "dispatcher", None)
    if dispatcher is None or not hasattr(launch, "griddim"):
        raise InvalidValue("launch", "a configured kernel, as in kernel[grid, block]", launch)
    return dispatcher, launch.griddim, launch.blockdim, launch.sharedmem


def without_optimisation(launch) -> Callable:
    """The launch of the same Python function, compiled without optimisation."""
    from numba.cuda.dispatcher import CUDADispatcher

    dispatcher, grid, block, shared = _configuration(launch)
    options = {**dispatcher.targetoptions, "opt": False}
    plain = CUDADispatcher(dispatcher.py_func, targetoptions=options)
    return plain[grid, block, 0, shared]


def direct(launch) -> Callable:
    """A callable that runs the configured kernel on the virtual GPU alone."""
    dispatcher, grid, block, shared = _configuration(launch)

    def run(*args) -> None:
        borrowed = [_Borrowed(value) for value in args]
        try:
            kinds = tuple(dispatcher.typeof_pyval(value) for value in args)
            compiled = _compiled(dispatcher, kinds)
            values = []
            for kind, value in zip(kinds, borrowed):
                _flatten(kind, value, values)
            names = dispatcher.py_func.__code__.co_varnames
            device().launch(
                compiled.engine,
                compiled.origin,
                grid,
                block,
                values,
                arrays=numba_names.array_args(names, kinds, values),
                dynamic_shared=shared,
                cooperative=compiled.cooperative,
            )
        finally:
            for value in borrowed:
                value.give_back()

    return run


class _Borrowed:
    """An argument; an array of the GPU is copied to the host for the time of the launch."""

    def __init__(self, value) -> None:
        self.value, self.host, self.address = value, None, 0
        if isinstance(value, np.ndarray):
            self.host = value
        elif hasattr(value, "copy_to_host"):
            self.host = value.copy_to_host()
        if self.host is not None and self.host.size:
            self.address = device().memory.adopt(self.host)

    def give_back(self) -> None:
        if self.address:
            device().memory.free(self.address)
        if self.host is not None and self.host is not self.value and self.host.size:
            self.value.copy_to_device(self.host)


class _Compiled:
    def __init__(self, dispatcher, kinds) -> None:
        from numba.cuda import compiler, types

        options = dispatcher.targetoptions
        function = dispatcher.py_func
        result = compiler.compile_cuda(
            function,
            types.void,
            kinds,
            lineinfo=True,
            fastmath=options.get("fastmath", False),
            nvvm_options={"opt": 3, "fastmath": options.get("fastmath", False)},
            cc=CAPABILITY,
        )
        library, name = result.library, result.fndesc.llvm_func_name
        library._entry_name = name
        compiler.kernel_fixup(library.get_function(name), False)
        for item in options.get("link") or ():
            library.add_linking_file(item)
        ptx = numba_names.library_ptx(library, CAPABILITY)
        self.engine, self.cooperative = Kernel(ptx, name), library.use_cooperative
        self.origin = Origin(
            function.__name__,
            "Numba",
            ptx,
            name,
            home=numba_names.home(function),
            names=functools.cache(lambda: numba_names.symbol_names(library.get_llvm_str())),
            shapes=functools.cache(
                lambda: numba_names.symbol_shapes(library.get_llvm_str(), function)
            ),
        )


def _compiled(dispatcher, kinds) -> _Compiled:
    made = dispatcher.__dict__.setdefault("_hetlab_compiled", {})
    if kinds not in made:
        made[kinds] = _Compiled(dispatcher, kinds)
    return made[kinds]


def _flatten(kind, borrowed: _Borrowed, values: list) -> None:
    """The arguments as the kernel takes them (see ``_Kernel._prepare_args``)."""
    from numba.cuda import types

    if isinstance(kind, types.Array):
        host = borrowed.host
        values += [0, 0, host.size, host.itemsize, borrowed.address, *host.shape, *host.strides]
        return
    value = borrowed.value
    if isinstance(kind, types.Complex):
        part = np.float32 if kind == types.complex64 else np.float64
        values += [part(value.real).tobytes(), part(value.imag).tobytes()]
    elif isinstance(kind, (types.Integer, types.Float, types.Boolean)):
        values.append(np.dtype(str(kind) if str(kind) != "bool" else "?").type(value).tobytes())
    else:
        raise InvalidValue(
            "argument",
            "an array or a number, when the virtual GPU runs beside a real one",
            value,
        )
