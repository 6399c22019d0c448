"""How much memory traffic a warp's request makes: sectors and wavefronts.

Global memory is moved in sectors of 32 bytes; a request of a warp costs as many
as it touches.  Shared memory has 32 banks of 4 bytes; a request takes as many
wavefronts as the busiest bank has different words to give, 8-byte accesses being
served by half-warps and 16-byte ones by quarter-warps (CUDA C++ Programming
Guide, compute capability 5 and up; Nsight Compute's ``l1tex__t_sectors`` and
``l1tex__data_pipe_lsu_wavefronts_mem_shared``).

Lanes of a warp that update one address atomically are served one after the other
(CUDA C++ Programming Guide, SIMT architecture): the busiest address sets the turns.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hetlab.vgpu.lanes import Addresses

__all__ = ["SECTOR", "least_wavefronts", "sectors", "turns", "wavefronts"]

SECTOR = 32
"""Bytes of a sector."""


def sectors(a: Addresses, offset: int, size: int) -> int:
    """Sectors that the warps of one instruction touch, summed over its warps.

    `size` is the bytes of one thread's access, `offset` is added to all addresses.
    """
    lanes = a.lanes
    if a.step is not None and (lanes.slots is None or a.step == 0):
        return lanes.warps * _regular((a.first + offset) % SECTOR, a.step, size)
    key = ("sectors", offset % SECTOR, size)
    found = a.cache.get(key)
    if found is None:
        rows = lanes.rows(a.ad) + (offset % SECTOR)
        found = a.cache[key] = _distinct(rows >> 5)
        if a.low % size or offset % size:  # a misaligned access may straddle two sectors
            both = np.concatenate([rows >> 5, (rows + (size - 1)) >> 5], axis=1)
            found = a.cache[key] = _distinct(both)
    return found


@lru_cache(maxsize=4096)
def _regular(start: int, step: int, size: int) -> int:
    """One warp of 32 lanes at a constant distance; 32 steps are whole sectors, so all are alike."""
    touched = set()
    for lane in range(32 if step else 1):
        at = start + step * lane
        touched.update(range(at // SECTOR, (at + size - 1) // SECTOR + 1))
    return len(touched)


def _distinct(rows) -> int:
    """Different values in each row, summed over the rows."""
    if not (rows[:, 1:] >= rows[:, :-1]).all():
        rows = np.sort(rows, axis=1)
    return len(rows) + int(np.count_nonzero(rows[:, 1:] != rows[:, :-1]))


def _width(size: int) -> int:
    """Lanes that one pass over the banks serves."""
    return 32 if size <= 4 else 128 // size


def wavefronts(a: Addresses, offset: int, size: int) -> int:
    """Shared-memory wavefronts of one instruction, summed over its warps.

    The same for every multiple of 4 in `offset`: it only turns the banks.
    """
    lanes, width = a.lanes, _width(size)
    groups = lanes.groups(width)[0]
    if a.step == 0:
        return groups
    offset %= 4
    key = ("wavefronts", offset, size)
    found = a.cache.get(key)
    if found is None:
        one = a.one() if lanes.shape.blocks > 1 else None
        if one is not None:  # every block alike
            found = a.cache[key] = lanes.shape.blocks * wavefronts(one, offset, size)
            return found
        rows = lanes.rows(a.ad, width)
        relative = rows - rows[:, :1]
        same = size >= 4 or not (a.low & 3 and (rows[:, 0] & 3).any())
        if same and (relative == relative[0]).all():
            found = groups * _pattern(relative[0].tobytes(), width, offset, size)
        elif rows.size <= _REMEMBERED:
            start = int(rows[0, 0]) & ~3
            found = _pattern((rows - start).tobytes(), width, offset, size)
        else:
            found = int(_busiest(rows + offset, size).sum())
        a.cache[key] = found
    return found


_REMEMBERED = 1024  # addresses of a pattern that is worth remembering: those of a block


@lru_cache(maxsize=4096)
def _pattern(relative: bytes, width: int, offset: int, size: int) -> int:
    rows = np.frombuffer(relative, np.int64).reshape(-1, width) + offset
    return int(_busiest(rows, size).sum())


def _busiest(rows, size: int):
    """For each row the largest number of different words in one bank."""
    words = rows >> 2
    if size > 4:
        words = (words[:, :, None] + np.arange(size // 4)).reshape(len(words), -1)
    words = np.sort(words, axis=1)
    new = np.empty(words.shape, np.bool_)
    new[:, 0] = True
    np.not_equal(words[:, 1:], words[:, :-1], out=new[:, 1:])
    bank = (words & 31) + np.arange(len(words))[:, None] * 32
    load = np.bincount(bank[new], minlength=len(words) * 32)
    return load.reshape(len(words), 32).max(axis=1)


def least_wavefronts(a: Addresses, size: int) -> int:
    """Wavefronts without any bank conflict: one a pass."""
    return a.lanes.groups(_width(size))[0]


def turns(a: Addresses) -> int:
    """Turns that the atomic updates of one instruction take, summed over its warps.

    For each warp the largest number of its lanes that meet at one address: 1 when all
    addresses differ, 32 when all lanes update the same.
    """
    lanes = a.lanes
    if a.step == 0:
        return lanes.n
    if a.step is not None:
        return lanes.warps
    order = np.lexsort((a.ad, lanes.warp_row))
    row, ad = lanes.warp_row[order], a.ad[order]
    new = np.ones(len(order), np.bool_)
    np.not_equal(row[1:], row[:-1], out=new[1:])
    new[1:] |= ad[1:] != ad[:-1]
    start = np.flatnonzero(new)
    meet = np.diff(np.append(start, len(order)))
    most = np.zeros(lanes.warps, np.int64)
    np.maximum.at(most, row[start], meet)
    return int(most.sum())
