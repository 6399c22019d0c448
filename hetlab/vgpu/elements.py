"""Reading and writing elements of memory at the addresses of many threads."""

from __future__ import annotations

import numpy as np

__all__ = ["ONES", "by_elements", "fetch", "mark", "put"]

ONES = {1: np.uint8(1), 2: np.uint16(0x0101), 4: np.uint32(0x01010101)}
ONES[8] = np.uint64(0x0101010101010101)
"""A word of a map of written bytes in which all are, by size."""


def _views(view, index, offset, shift, low_enough):
    """Move the offset from many indices into one slice, where that is possible."""
    if offset and isinstance(index, np.ndarray):
        if offset > 0 and low_enough:
            return view[offset >> shift :], index
        return view, index + (offset >> shift)
    return view, index


def _locate(site, view, a, base, offset):
    if a.step is None or a.step < 0:
        index = a.index(base, site.shift)
        return _views(view, index, offset, site.shift, a.lo >= base)
    return view, a.index(base, site.shift, offset)


def fetch(site, view, a, base, offset):
    """Elements as new arrays (or scalars); a tuple for vector accesses."""
    view, index = _locate(site, view, a, base, offset)
    if site.parts == 1:
        if isinstance(index, np.ndarray):
            return view.take(index)
        return view[index].copy() if isinstance(index, slice) else view[index]
    if isinstance(index, np.ndarray):
        return tuple(view.take(index + j) for j in range(site.parts))
    if isinstance(index, slice):
        s = index
        return tuple(view[s.start + j : s.stop + j : s.step].copy() for j in range(site.parts))
    return tuple(view[index + j] for j in range(site.parts))


def put(site, view, a, base, offset, values) -> None:
    view, index = _locate(site, view, a, base, offset)
    for j, v in enumerate(values):
        if isinstance(index, slice):
            view[index.start + j : index.stop + j : index.step] = v
        elif isinstance(index, np.ndarray):
            view[index + j if j else index] = v
        else:  # one address: the last thread's value stays
            view[index + j] = v[-1] if isinstance(v, np.ndarray) else v


def mark(site, written, a, base, offset) -> None:
    ones = ONES[site.elem]
    view = by_elements(written, site.elem)
    put(site, view, a, base, offset, (ones,) * site.parts)


def by_elements(written, size: int):
    """A map of bytes as one word for each element."""
    return written[: len(written) // size * size].view(f"u{size}")
