"""Host arrays lent to TVM as tensors of any device, through DLPack and without a copy."""

from __future__ import annotations

import ctypes

import numpy as np

from hetlab.errors import InvalidValue

__all__ = ["CUDA", "Lent", "host_array"]

CUDA = 2
"""DLPack's kDLCUDA."""

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


class Lent:
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
