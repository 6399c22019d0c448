"""Tensor-core instructions: ``mma.sync`` and ``ldmatrix``, for all warps at once.

Fragment layouts are those of the PTX ISA, *Matrix fragments for mma*: with
``g = lane / 4`` and ``t = lane % 4``, a 32-bit register holds `e` neighbouring
elements of a row of A or of a column of B.  Products of 16-bit and tf32 numbers
are exact in single precision; their sum is rounded in single precision, in an
order that hardware does not specify either.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hetlab.vgpu.lanes import Lanes
from hetlab.vgpu.numerics import bf16_to_f32

__all__ = ["PER_WORD", "ldmatrix", "mma", "places"]

PER_WORD = {"f16": 2, "bf16": 2, "tf32": 1, "s8": 4, "u8": 4, "f64": 1}
"""Elements of A or B in one register."""

_G, _T = np.arange(32) // 4, np.arange(32) % 4


@lru_cache(maxsize=64)
def places(which: str, registers: int, e: int):
    """Row and column of each element: arrays ``[register, lane, element]``."""
    g, t = _G.reshape(1, 32, 1), _T.reshape(1, 32, 1)
    r, j = np.arange(registers).reshape(-1, 1, 1), np.arange(e).reshape(1, 1, -1)
    if which == "a":
        pair = g + 8 * (r % 2), e * t + j + 4 * e * (r // 2)
    elif which == "b":
        pair = e * t + j + 4 * e * r, g + 0 * (r + j)
    elif e == 2:  # accumulators in f16: two to a register
        pair = g + 8 * r, 2 * t + j + 0 * r
    else:
        pair = g + 8 * (r // 2) + 0 * j, 2 * t + r % 2 + 0 * j
    return tuple(np.broadcast_arrays(*pair))


def _gather(lanes: Lanes, words, which: str, shape, kind: str):
    """Fragments as matrices, one a warp."""
    e = PER_WORD[kind]
    stacked = np.stack([lanes.rows(np.ascontiguousarray(lanes.full(w))) for w in words], axis=1)
    code = {"f16": "f2", "bf16": "u2", "tf32": "u4", "s8": "i1", "u8": "u1", "f64": "f8"}[kind]
    values = stacked.view(code).reshape(len(stacked), len(words), 32, e)
    if kind == "bf16":
        values = bf16_to_f32(values)
    elif kind == "tf32":  # the tensor core reads the upper 19 bits
        values = (values & np.uint32(0xFFFFE000)).view(np.float32)
    target = {"f64": np.float64, "s8": np.int32, "u8": np.int32}.get(kind, np.float32)
    out = np.empty((len(stacked), *shape), target)
    rows, columns = places(which, len(words), e)
    out[:, rows, columns] = values
    return out


def _each(lanes: Lanes, rows):
    """One row a warp, handed to its threads."""
    if lanes.groups(32)[2] is None:
        return rows.reshape(-1)
    return rows[lanes.warp_row, lanes.lane.astype(np.int64)]


def mma(lanes: Lanes, shape, kinds, limits, a, b, c):
    """``D = A B + C``.

    Parameters
    ----------
    lanes : Lanes
    shape : tuple of int
        M, N, K.
    kinds : tuple of str
        PTX types of D, A, B, C.
    limits : bool
        Integers saturate.
    a, b, c : tuple
        The registers of the fragments.

    Returns
    -------
    tuple of numpy.ndarray
        The registers of D.
    """
    m, n, k = shape
    product = np.matmul(
        _gather(lanes, a, "a", (m, k), kinds[1]), _gather(lanes, b, "b", (k, n), kinds[2])
    )
    packed = kinds[0] == "f16"
    rows, columns = places("c", len(c), 2 if packed else 1)
    fragment = product[:, rows, columns]
    out = []
    for r, word in enumerate(c):
        start = lanes.rows(np.ascontiguousarray(lanes.full(word)))
        if packed:
            both = start.view(np.float16).reshape(*start.shape, 2).astype(np.float32)
            total = (both + fragment[:, r]).astype(np.float16)
            out.append(_each(lanes, np.ascontiguousarray(total).view(np.uint32)[..., 0]))
        elif limits:
            total = start.astype(np.int64) + fragment[:, r, :, 0]
            total = np.clip(total, -(2**31), 2**31 - 1).astype(start.dtype)
            out.append(_each(lanes, total))
        else:
            out.append(_each(lanes, start + fragment[:, r, :, 0].astype(start.dtype)))
    return tuple(out)


def ldmatrix(memory, site, addresses, offset: int, count: int, transposed: bool):
    """``ldmatrix``: `count` 8 x 8 matrices of 16-bit elements; lane `i` names row ``i % 8`` of
    matrix ``i / 8``."""
    lanes = addresses.lanes
    part = addresses.first_lanes(8 * count)
    if lanes.groups(32)[2] is not None or not memory.seen_shared(site, part, offset):
        return _careful_ldmatrix(memory, site, part, offset, count, transposed, lanes)
    key = ("ldmatrix", transposed)
    index = part.cache.get(key)
    if index is None:
        places = memory.places_shared(part).vector().reshape(-1, count, 8).swapaxes(0, 1)
        index = part.cache[key] = _fragments(places, transposed)
    elements = memory.shared_views["u2" if transposed else "u4"]
    start = offset >> (1 if transposed else 2)
    if start >= 0 <= part.lo:
        found = elements[start:].take(index)
    else:
        found = elements.take(index + start)
    return found.view(np.uint32).reshape(count, lanes.n)


def _fragments(places, transposed: bool):
    """Where the elements of fragments lie, from the bytes at which rows ``[matrix, warp, row]`` do.

    A lane's word is columns 2 t and 2 t + 1 of row g; of a transposed matrix, as two elements,
    column g of rows 2 t and 2 t + 1.
    """
    if transposed:
        pairs = (places >> 1)[..., 2 * _T[:, None] + np.arange(2)]
        return pairs + _G[:, None]
    return (places >> 2)[..., _G] + _T


def _careful_ldmatrix(memory, site, part, offset, count: int, transposed: bool, lanes: Lanes):
    """The same where an address may break a rule, or warps have fewer than 32 lanes."""
    rows = memory.rows_shared(site, part, offset)
    warps = part.lanes.groups(32)[0]
    matrices = rows.view(np.uint16).reshape(warps, count, 8, 8)
    if transposed:
        matrices = matrices.swapaxes(2, 3)
    fragments = np.ascontiguousarray(matrices).view(np.uint32).reshape(warps, count, 32)
    return tuple(_each(lanes, fragments[:, m]) for m in range(count))
