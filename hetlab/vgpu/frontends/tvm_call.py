"""Calling a compiled TVM function with NumPy arrays: ``lib["main"](a, b, c)``.

The arrays are lent to TVM's host code as if they lay on the device ``cuda:0``, without
a copy; the launches inside find them again by their addresses.
"""

from __future__ import annotations

import functools

import numpy as np

from hetlab.errors import HetlabError, InvalidValue
from hetlab.vgpu.frontends.tvm_lend import CUDA, Lent, host_array
from hetlab.vgpu.frontends.tvm_module import calling

__all__ = ["NativeFunction", "Operator", "install"]

ALIGNMENT = 64
"""Bytes to which TVM's code for the CPU takes every array to be aligned (kAllocAlignment)."""


class Operator:
    """A function of a TVM library, called with NumPy arrays or TVM tensors.

    Attributes
    ----------
    library : tvm.runtime.Executable
        What ``tvm.compile`` returned.
    name : str
        The function's name in it.
    function : tvm_ffi.Function
        TVM's own function, which takes tensors on ``tvm.cuda()``.
    virtual : bool
        Whether it runs on the virtual GPU.
    """

    def __init__(
        self, library, name: str, function, *, virtual: bool, home: int = CUDA, **call
    ) -> None:
        self.library, self.name, self.function, self.virtual = library, name, function, virtual
        self._home, self._call = home, call  # where TVM's host code sees the arrays; see `Call`

    def __repr__(self) -> str:
        where = "the virtual GPU" if self.virtual else "this machine's GPU"
        return f"<TVM function {self.name!r} for CUDA, on {where}>"

    def __getattr__(self, name: str):
        if name.startswith("__") or name in ("function", "library"):
            raise AttributeError(name)
        return getattr(self.function, name)

    def on_virtual_gpu(self) -> Operator:
        """The same function on the virtual GPU, also where there is a real one."""
        if self.virtual:
            return self
        from hetlab.vgpu.frontends.tvm_adapter import build_virtual

        library, home = build_virtual(self.library)
        function = library.mod.get_function(self.name)
        return Operator(library, self.name, function, virtual=True, home=home)

    def without_optimisation(self) -> Operator:
        """The same function, its kernels compiled without optimisation."""
        same = self.on_virtual_gpu()
        call = {**same._call, "options": ("--device-debug",)}
        return Operator(
            same.library, same.name, same.function, virtual=True, home=same._home, **call
        )

    def __call__(self, *args):
        """Run the function; arrays that it writes are changed in place.

        Raises
        ------
        InvalidValue
            When an argument is not what the function was compiled for.
        """
        return _told(self._on_virtual if self.virtual else self._on_real, args)

    def _on_virtual(self, args):
        import tvm_ffi

        passed, given, copied = [], [], []
        for i, value in enumerate(args):
            array = host_array(value)
            if array is None and hasattr(value, "numpy"):  # it lies on a real GPU
                array = np.ascontiguousarray(value.numpy())
                copied.append((value, array))
            if array is None:
                passed.append(value.item() if isinstance(value, np.generic) else value)
                continue
            given.append(array)
            if not array.flags.c_contiguous:
                raise InvalidValue(
                    f"argument {i} of {self.name}",
                    "contiguous in memory",
                    f"strides {array.strides} of shape {array.shape}",
                    do="Pass np.ascontiguousarray(array), and read the result from that.",
                )
            passed.append(tvm_ffi.from_dlpack(Lent(array, self._home)))
        with calling(given, **self._call) as call:
            try:
                result = self.function(*passed)
            except Exception:
                if isinstance(call.failure, HetlabError):
                    raise call.failure from None
                raise
        for value, array in copied:
            value.copyfrom(array)
        return result

    def _on_real(self, args):
        """TVM's own call; NumPy arrays travel to the GPU and back."""
        import tvm

        there = {
            i: tvm.runtime.tensor(value, tvm.cuda())
            for i, value in enumerate(args)
            if isinstance(value, np.ndarray)
        }
        result = self.function(*(there.get(i, value) for i, value in enumerate(args)))
        for i, tensor in there.items():
            if args[i].flags.writeable:
                args[i][...] = tensor.numpy()
        return result


class NativeFunction:
    """A function of a TVM library for the CPU, safe to call with NumPy arrays.

    TVM's code loads whole vectors from addresses that it takes to be multiples of 64,
    and the process dies where one is not.  NumPy promises 16.  So an array that lies
    otherwise is copied before the call, and back after it; TVM's own tensors never are.
    """

    def __init__(self, name: str, function) -> None:
        self.name, self.function = name, function

    def __repr__(self) -> str:
        return f"<TVM function {self.name!r} for the CPU>"

    def __getattr__(self, name: str):
        if name.startswith("__") or name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    def __call__(self, *args):
        """Run the function; arrays that it writes are changed in place."""
        return _told(self._run, args)

    def _run(self, args):
        import tvm

        moved = {
            i: tvm.runtime.tensor(value)
            for i, value in enumerate(args)
            if isinstance(value, np.ndarray) and value.flags.c_contiguous and not _fits(value)
        }
        result = self.function(*(moved.get(i, value) for i, value in enumerate(args)))
        for i, tensor in moved.items():
            if args[i].flags.writeable:
                args[i][...] = tensor.numpy()
        return result


def _fits(array: np.ndarray) -> bool:
    return array.flags.writeable and array.__array_interface__["data"][0] % ALIGNMENT == 0


def _told(run, args):
    """Call, with TVM's complaints about arguments in words."""
    from hetlab.vgpu.frontends.tvm_words import argument_error

    try:
        return run(args)
    except HetlabError:
        raise
    except Exception as cause:
        told = argument_error(str(cause), args)
        if told is None:
            raise
        raise told from cause


def install(tvm, virtual: bool) -> None:
    """Let libraries for CUDA hand out operators, and remember what they were built from."""
    from hetlab.vgpu.frontends.tvm_adapter import device_code

    kind = tvm.runtime.Executable
    own_item, own_call, own_compile = kind.__getitem__, kind.__call__, tvm.compile

    def has_kernels(library) -> bool:
        if virtual:
            return bool(device_code(library.mod))
        return hasattr(library, "_hetlab_built") and any(
            module.kind == "cuda" for module in library.mod.imports
        )

    @functools.wraps(own_item)
    def __getitem__(self, name):
        function = own_item(self, name)
        if has_kernels(self):
            return Operator(self, name, function, virtual=virtual)
        native = self.mod.kind == "llvm" and not self.mod.imports
        return NativeFunction(name, function) if native else function

    @functools.wraps(own_call)
    def __call__(self, *args, **named):
        return own_call(self, *args, **named) if named else self["main"](*args)

    @functools.wraps(own_compile)
    def compile(mod, target=None, **named):
        library = own_compile(mod, target, **named)
        if type(library) is kind:
            library._hetlab_built = mod, target, named
        return library

    kind.__getitem__, kind.__call__, tvm.compile = __getitem__, __call__, compile
    _install_machine(tvm.relax.VirtualMachine, virtual)


def _install_machine(machine: type, virtual: bool) -> None:
    """Let Relax's virtual machine take NumPy arrays on the CPU and the virtual GPU."""
    own_init, own_item = machine.__init__, machine.__getitem__

    @functools.wraps(own_init)
    def __init__(self, rt_mod, device, *args, **named):
        first = device[0] if isinstance(device, (list, tuple)) else device
        own_init(self, rt_mod, device, *args, **named)
        self._hetlab_home = first.dlpack_device_type()

    @functools.wraps(own_item)
    def __getitem__(self, key):
        function = own_item(self, key)
        home = getattr(self, "_hetlab_home", None)
        if home == CUDA and virtual:
            # Its pool hands memory on from one tensor to the next, written or not.
            return Operator(self, key, function, virtual=True, tracks=False)
        return NativeFunction(key, function) if home == 1 else function

    machine.__init__, machine.__getitem__ = __init__, __getitem__
