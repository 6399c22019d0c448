"""Arguments of a launch: its dimensions and parameters; names, bounds and indices of arrays."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from hetlab.errors import HetlabError
from hetlab.vgpu.ir import SIZES

__all__ = ["ArrayArg", "LaunchError", "Param", "dims", "extent_of", "index_of", "packed"]


class LaunchError(HetlabError):
    """A launch that no GPU would accept: too many threads a block, too much shared memory."""


@dataclass(frozen=True, slots=True)
class Param:
    """A kernel parameter: its PTX name, size and alignment in bytes, offset, PTX type (``u64``)."""

    name: str
    size: int
    align: int
    offset: int
    kind: str


@dataclass(frozen=True, slots=True)
class ArrayArg:
    """An array behind a pointer parameter: what names, bounds and indices in reports come from.

    Attributes
    ----------
    param_index : int
        Which parameter holds the address of element 0.
    name : str
        The Python name.
    base : int
        Virtual address of element 0.
    nbytes : int
        Size in bytes of a contiguous array; for strided ones the bounds follow from `shape` and
        `strides`.  A view's bounds are the view's own: a kernel handed ``a[10:20]`` must not
        touch ``a[20]``.
    itemsize : int
        Bytes an element.
    shape, strides : tuple of int
        As NumPy's; strides in bytes.
    """

    param_index: int
    name: str
    base: int
    nbytes: int
    itemsize: int
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()


def extent_of(arg: ArrayArg) -> tuple[int, int]:
    """First byte and end of what an array argument may touch."""
    if not arg.shape or not arg.strides:
        return arg.base, arg.base + arg.nbytes
    if 0 in arg.shape:
        return arg.base, arg.base
    low = sum(min(0, (n - 1) * s) for n, s in zip(arg.shape, arg.strides))
    high = sum(max(0, (n - 1) * s) for n, s in zip(arg.shape, arg.strides))
    return arg.base + low, arg.base + high + arg.itemsize


def index_of(arg: ArrayArg, address: int):
    """The index of an address, counted as in Python; past the end in the slowest dimension."""
    offset = address - arg.base
    if len(arg.shape) < 2 or len(arg.strides) != len(arg.shape):
        step = arg.strides[0] if len(arg.strides) == 1 and arg.strides[0] else arg.itemsize
        return offset // step
    order = sorted(range(len(arg.shape)), key=lambda d: -abs(arg.strides[d]))
    index = [0] * len(arg.shape)
    for d in order:
        step = arg.strides[d]
        if step:
            index[d] = offset // step if step > 0 else -(offset // -step)
            offset -= index[d] * step
    return tuple(index)


def packed(p: Param, value) -> bytes:
    """The bytes of one parameter, from a number, a NumPy scalar, or bytes for a struct."""
    if isinstance(value, bytes | bytearray):
        data = bytes(value)
    elif isinstance(value, np.generic) and value.nbytes == p.size:
        data = value.tobytes()
    elif p.size > SIZES[p.kind]:
        raise LaunchError(f"the parameter {p.name} is a struct of {p.size} bytes; pass bytes")
    elif isinstance(value, float | np.floating):
        data = struct.pack({2: "<e", 4: "<f", 8: "<d"}[p.size], value)
    else:
        try:
            data = (int(value) & ((1 << 8 * p.size) - 1)).to_bytes(p.size, "little")
        except (TypeError, ValueError):
            raise LaunchError(
                f"the parameter {p.name} takes {p.size} bytes; {type(value).__name__} is neither "
                "a number nor bytes"
            ) from None
    if len(data) != p.size:
        raise LaunchError(f"the parameter {p.name} has {p.size} bytes, got {len(data)}")
    return data


def dims(name: str, value) -> tuple[int, int, int]:
    """A grid or block as three numbers."""
    items = tuple(value) if isinstance(value, tuple | list) else (value,)
    try:
        found = tuple(int(x) for x in items)
    except (TypeError, ValueError):
        found = ()
    if not 1 <= len(found) <= 3 or any(d < 1 for d in found):
        raise LaunchError(f"{name} must be one to three positive integers, got {value!r}")
    return (*found, 1, 1)[:3]
