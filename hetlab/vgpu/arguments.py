"""Array arguments of a launch: their names, bounds and indices."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ArrayArg", "extent_of", "index_of"]


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
