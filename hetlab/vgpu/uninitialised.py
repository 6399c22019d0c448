"""``hetlab.empty``: a host array of which the sanitiser knows what nobody has written.

NumPy cannot tell an array that was never written from data.  Here the array is
filled with numbers that nobody would write, and the numbers are remembered: what
still equals them when a kernel starts has not been written.
"""

from __future__ import annotations

import threading
import weakref

import numpy as np

__all__ = ["empty", "written"]

_GROUP = 8  # bytes that are judged together when elements are shorter

_marks: dict[int, tuple[weakref.ref, np.ndarray]] = {}
_lock = threading.Lock()
_random = np.random.default_rng(0x5EED)


def empty(shape, dtype=float) -> np.ndarray:
    """A new array without a value; a kernel that reads an element of it is reported.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : data type
        As for :func:`numpy.empty`.

    Returns
    -------
    numpy.ndarray
        An ordinary array of arbitrary numbers.  What the host or a kernel writes into
        it counts as written from then on.
    """
    array = np.empty(shape, dtype)
    if array.dtype.hasobject or not array.size:
        return array
    # No program writes a bool other than 0 and 1, so for these one byte is proof enough.
    least = 2 if array.dtype.kind == "b" else 0
    array.reshape(-1).view(np.uint8)[:] = _random.integers(least, 256, array.nbytes, np.uint8)
    key = id(array)
    with _lock:
        _marks[key] = (weakref.ref(array, lambda _: _marks.pop(key, None)), array.copy())
    return array


def written(array: np.ndarray) -> np.ndarray | None:
    """Which bytes of an array have been written, one bool a byte; None when all are.

    Only an array that :func:`empty` made, or a contiguous view of one, can have
    bytes that nobody wrote.
    """
    owner, known = array, _marks.get(id(array))
    while known is None and isinstance(owner.base, np.ndarray):
        owner = owner.base
        known = _marks.get(id(owner))
    if known is None or known[0]() is not owner:
        return None
    first = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    if not array.flags.c_contiguous or first < 0 or first + array.nbytes > owner.nbytes:
        return None
    before = known[1].reshape(-1).view(np.uint8)
    after = owner.reshape(-1).view(np.uint8)
    group = owner.itemsize if owner.itemsize >= 4 else 1 if owner.dtype.kind == "b" else _GROUP
    # One equal byte may be chance; a whole group of equal ones is not.
    same = before == after
    whole = len(same) // group * group
    same[:whole] = same[:whole].reshape(-1, group).all(axis=1).repeat(group)
    same[whole:] = len(same) > whole and bool(same[whole:].all())
    return ~same[first : first + array.nbytes]
