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
    _fields_ = [("type", ctypes.c_int), ("index", ctypes.c_int)]  # noqa: RUF012


class _DataType(ctypes.Structure):
    _fields_ = [  # noqa: RUF012
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]


class _Tensor(ctypes.Structure):
    _fields_ = [  # noqa: RUF012
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


class _OnDevice:
    """A host array that says, in DLPack's words, that it lies on ``cuda:0``."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, 0

    def __dlpack__(self, **_):
        array, managed = self.array, _Managed()
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        strides = (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides))
        kind = _DataType(*_dlpack_type(array.dtype), 1)
        pointer = array.__array_interface__["data"][0]
        managed.tensor = _Tensor(pointer, _Device(_CUDA, 0), array.ndim, kind, shape, strides, 0)
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
    """

    def __init__(self, library, name: str, function) -> None:
        self.library, self.name, self.function = library, name, function

    def __repr__(self) -> str:
        return f"<TVM function {self.name!r} for CUDA, on the virtual GPU>"

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.function, name)

    def __call__(self, *args):
        """Run the function; arrays that it writes are changed in place.

        Raises
        ------
        InvalidValue
            When an argument is not what the function was compiled for.
        """
        import tvm_ffi

        passed, given = [], []
        for i, value in enumerate(args):
            array = host_array(value)
            if array is None:
                passed.append(value.item() if isinstance(value, np.generic) else value)
                continue
            given.append(array)
            if not isinstance(value, np.ndarray) and value.__dlpack_device__()[0] == _CUDA:
                passed.append(value)
                continue
            if not array.flags.c_contiguous:
                raise InvalidValue(
                    f"argument {i} of {self.name}",
                    "contiguous in memory",
                    f"strides {array.strides} of shape {array.shape}",
                    do="Pass np.ascontiguousarray(array), and read the result from that.",
                )
            passed.append(tvm_ffi.from_dlpack(_OnDevice(array)))
        with calling(given) as call:
            try:
                return self.function(*passed)
            except Exception as cause:
                if isinstance(call.failure, HetlabError):
                    raise call.failure from None
                from hetlab.vgpu.frontends.tvm_words import argument_error

                told = argument_error(str(cause), args)
                if told is None:
                    raise
                raise told from cause


def host_array(value) -> np.ndarray | None:
    """The memory of an array argument as a NumPy array; None for what is no array."""
    if isinstance(value, np.ndarray):
        return value
    if not hasattr(value, "__dlpack_device__"):
        return None
    kind, _ = value.__dlpack_device__()
    if not hasattr(value, "data_ptr") or not hasattr(value, "strides"):
        return np.from_dlpack(value)
    if kind not in (1, _CUDA):
        raise InvalidValue("tensor", "on tvm.cpu() or tvm.cuda()", value.device)
    pointer = value.data_ptr() if callable(value.data_ptr) else value.data_ptr
    dtype = np.dtype(_numpy_name(str(value.dtype).removeprefix("torch.")))
    count = int(np.prod(value.shape, dtype=np.int64))
    if not pointer or not count:
        return np.empty(tuple(value.shape), dtype)
    window = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(pointer)
    array = np.frombuffer(window, dtype).reshape(tuple(value.shape))
    return array


def _numpy_name(name: str) -> str:
    # NumPy has no such types; as far as the virtual GPU sees, an element is its bytes.
    odd = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
    return odd.get(name, name)


def install(tvm) -> None:
    """Let libraries for the virtual GPU hand out operators."""
    from hetlab.vgpu.frontends.tvm_adapter import device_code

    own_item = tvm.runtime.Executable.__getitem__
    own_call = tvm.runtime.Executable.__call__

    @functools.wraps(own_item)
    def __getitem__(self, name):
        function = own_item(self, name)
        return Operator(self, name, function) if device_code(self.mod) else function

    @functools.wraps(own_call)
    def __call__(self, *args, **named):
        if named or not device_code(self.mod):
            return own_call(self, *args, **named)
        return self["main"](*args)

    tvm.runtime.Executable.__getitem__ = __getitem__
    tvm.runtime.Executable.__call__ = __call__
