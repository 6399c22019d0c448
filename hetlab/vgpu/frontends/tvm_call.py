"""Calling a compiled TVM function with NumPy arrays: ``lib["main"](a, b, c)``.

The arrays are lent to TVM's host code as if they lay on the device ``cuda:0``, without
a copy; the launches inside find them again by their addresses.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from hetlab.errors import HetlabError, InvalidValue
from hetlab.vgpu.frontends.tvm_module import calling

__all__ = ["Operator", "install"]

_CUDA = 2  # kDLCUDA of DLPack
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # DLDataTypeCode


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("index", ctypes.c_int)]


class _DataType(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    """DLPack's DLManagedTensor."""


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]

_lent: dict[int, tuple] = {}


@_Deleter
def _give_back(managed) -> None:
    _lent.pop(ctypes.addressof(managed.contents), None)


class _Lent:
    """A host array that says, in DLPack's words, that it lies on a device of some kind."""

    def __init__(self, array: np.ndarray, home: int) -> None:
        self.array, self.home = array, home

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.home, 0

    def __dlpack__(self, **_):
        array, managed = self.array, _Managed()
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        strides = (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides))
        kind = _DataType(*_dlpack_type(array.dtype), 1)
        pointer = array.__array_interface__["data"][0]
        managed.tensor = _Tensor(
            pointer, _Device(self.home, 0), array.ndim, kind, shape, strides, 0
        )
        managed.deleter = _give_back
        _lent[ctypes.addressof(managed)] = managed, shape, strides, array
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype = ctypes.py_object
        capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return capsule(ctypes.addressof(managed), b"dltensor", None)


def _dlpack_type(dtype: np.dtype) -> tuple[int, int]:
    if dtype.name == "bfloat16":
        return 4, 16
    code = _CODES.get(dtype.kind)
    if code is None or dtype.hasobject:
        raise InvalidValue("array", "an array of numbers that TVM knows", dtype)
    return code, 8 * dtype.itemsize


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
        self, library, name: str, function, *, virtual: bool, home: int = _CUDA, **call
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
        from hetlab.vgpu.frontends.tvm_words import argument_error

        try:
            return self._on_virtual(args) if self.virtual else self._on_real(args)
        except HetlabError:
            raise
        except Exception as cause:
            told = argument_error(str(cause), args)
            if told is None:
                raise
            raise told from cause

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
            passed.append(tvm_ffi.from_dlpack(_Lent(array, self._home)))
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


def host_array(value) -> np.ndarray | None:
    """The memory of an array argument as a NumPy array; None for what has none on the host."""
    if isinstance(value, np.ndarray):
        return value
    if not hasattr(value, "__dlpack_device__"):
        return None
    from hetlab.vgpu.frontends.tvm_adapter import on_host

    if not on_host(value.__dlpack_device__()[0]):
        return None
    if not callable(getattr(value, "data_ptr", None)):
        return np.from_dlpack(value)
    dtype = np.dtype(_STANDS_FOR.get(str(value.dtype).removeprefix("torch."), str(value.dtype)))
    shape = tuple(map(int, value.shape))
    count = int(np.prod(shape, dtype=np.int64))
    if not count:
        return np.empty(shape, dtype)
    window = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(value.data_ptr())
    return np.frombuffer(window, dtype).reshape(shape)


# Types that NumPy lacks; to the virtual GPU an element is its bytes.
_STANDS_FOR = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}


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
        if not has_kernels(self):
            return function
        return Operator(self, name, function, virtual=virtual)

    @functools.wraps(own_call)
    def __call__(self, *args, **named):
        if named or not has_kernels(self):
            return own_call(self, *args, **named)
        return self["main"](*args)

    @functools.wraps(own_compile)
    def compile(mod, target=None, **named):
        library = own_compile(mod, target, **named)
        if type(library) is kind:
            library._hetlab_built = mod, target, named
        return library

    kind.__getitem__, kind.__call__, tvm.compile = __getitem__, __call__, compile
    if virtual:
        _install_machine(tvm.relax.VirtualMachine)


def _install_machine(machine: type) -> None:
    """Let Relax's virtual machine take NumPy arrays where its device is the virtual GPU."""
    own_init, own_item = machine.__init__, machine.__getitem__

    @functools.wraps(own_init)
    def __init__(self, rt_mod, device, *args, **named):
        first = device[0] if isinstance(device, (list, tuple)) else device
        own_init(self, rt_mod, device, *args, **named)
        self._hetlab_home = first.dlpack_device_type()

    @functools.wraps(own_item)
    def __getitem__(self, key):
        function = own_item(self, key)
        if getattr(self, "_hetlab_home", None) != _CUDA:
            return function
        # Its pool hands memory on from one tensor to the next, written or not.
        return Operator(self, key, function, virtual=True, tracks=False)

    machine.__init__, machine.__getitem__ = __init__, __getitem__
