"""What the lanes of a warp do together: shuffle, vote, match, reduce."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hetlab.vgpu.lanes import Lanes

__all__ = ["Warp"]

u4 = np.uint32
_LANE = np.arange(32)
_REDUCE = {
    "add": (np.add, 0, 0),
    "min": (np.minimum, 2**31 - 1, 2**32 - 1),
    "max": (np.maximum, -(2**31), 0),
    "and": (np.bitwise_and, -1, 2**32 - 1),
    "or": (np.bitwise_or, 0, 0),
    "xor": (np.bitwise_xor, 0, 0),
}


@lru_cache(maxsize=1024)
def _source(mode: str, b: int, c: int):
    """For each lane the lane it reads, and whether that one is in its segment (PTX ISA, shfl)."""
    lane, segment, clamp = _LANE, c >> 8 & 31, c & 31
    b &= 31
    top = (lane & segment) | (clamp & ~segment & 31)
    if mode == "up":
        j = lane - b
        valid = j >= top
    elif mode == "down":
        j = lane + b
        valid = j <= top
    elif mode == "bfly":
        j = lane ^ b
        valid = j <= top
    else:
        j = (lane & segment) | (b & ~segment & 31)
        valid = j <= top
    return np.where(valid, j, lane), valid


def _common(values):
    """One scalar for values that are all equal, so that branches on them stay uniform."""
    return values[0] if len(values) and (values == values[0]).all() else None


class Warp:
    """The warp-wide instructions, for all warps of a set of threads."""

    def shfl(self, lanes: Lanes, mode: str, line: int, a, b, c, mask):
        """``(value, valid)`` of ``shfl.sync``."""
        uniform = not (isinstance(b, np.ndarray) or isinstance(c, np.ndarray))
        count, _, flat = lanes.groups(32)
        if uniform and flat is None:
            j, valid = _source(mode, int(b), int(c))
            p = np.bool_(True) if valid.all() else np.tile(valid, count)
            if not isinstance(a, np.ndarray):
                return a, p
            return a.reshape(count, 32)[:, j].reshape(-1), p
        lane, row = lanes.lane.astype(np.int64), lanes.warp_row
        if uniform:
            j, valid = (x[lane] for x in _source(mode, int(b), int(c)))
        else:
            j, valid = self._sources(lane, mode, lanes.full(b), lanes.full(c))
        here = (lanes.active[row] >> j.astype(u4)) & u4(1) != 0
        source = np.where(here, j, lane)  # an idle lane has nothing to give
        return lanes.rows(lanes.full(a))[row, source], valid

    @staticmethod
    def _sources(lane, mode, b, c):
        segment, clamp = (c >> 8 & 31).astype(np.int64), (c & 31).astype(np.int64)
        b = (b & 31).astype(np.int64)
        top = (lane & segment) | (clamp & ~segment)
        j = {
            "up": lane - b,
            "down": lane + b,
            "bfly": lane ^ b,
            "idx": (lane & segment) | (b & ~segment),
        }[mode]
        valid = j >= top if mode == "up" else j <= top
        return np.where(valid, j, lane), valid

    @staticmethod
    def bits(lanes: Lanes, p):
        """The predicate as one 32-bit mask a warp; idle lanes give 0."""
        if not isinstance(p, np.ndarray):
            return lanes.active if p else np.zeros(lanes.groups(32)[0], u4)
        count, _, flat = lanes.groups(32)
        if flat is None:
            rows = p.reshape(count, 32)
        else:
            rows = np.zeros((count, 32), np.bool_)
            rows.reshape(-1)[flat] = p
        return np.packbits(rows, axis=1, bitorder="little").view(u4).reshape(-1)

    @staticmethod
    def _each(lanes: Lanes, values):
        """One value a warp, handed to its threads."""
        one = _common(values)
        return values[lanes.warp_row] if one is None else one

    def _members(self, lanes: Lanes, mask):
        """The mask of each warp, as its first thread has it."""
        if not isinstance(mask, np.ndarray):
            return lanes.active & mask
        return mask[lanes.groups(32)[1]] & lanes.active

    def vote(self, lanes: Lanes, op: str, p, mask):
        """``vote.sync``: ``all``, ``any``, ``uni`` or ``ballot``."""
        members = self._members(lanes, mask)
        bits = self.bits(lanes, p) & members
        if op == "ballot":
            return self._each(lanes, bits)
        if op == "any":
            return self._each(lanes, bits != 0)
        if op == "all":
            return self._each(lanes, bits == members)
        return self._each(lanes, (bits == members) | (bits == 0))

    def match(self, lanes: Lanes, everyone: bool, a, mask):
        """``(mask of lanes with the same value, predicate)`` of ``match.sync``."""
        members = self._members(lanes, mask)
        rows = lanes.rows(np.ascontiguousarray(lanes.full(a)))
        lane, row = lanes.lane.astype(np.int64), lanes.warp_row
        equal = rows[:, :, None] == rows[:, None, :]
        packed = np.packbits(equal, axis=2, bitorder="little").view(u4)[..., 0]
        same = packed[row, lane] & members[row]
        if not everyone:
            return same, np.bool_(True)
        p = same == members[row]
        return np.where(p, same, u4(0)), p

    def redux(self, lanes: Lanes, op: str, a, mask):
        """``redux.sync``: one value for the members of each warp."""
        ufunc, signed, unsigned = _REDUCE[op]
        a = lanes.full(a)
        neutral = a.dtype.type(signed if a.dtype.kind == "i" else unsigned)
        count, _, flat = lanes.groups(32)
        if flat is None:
            rows = a.reshape(count, 32)
        else:
            rows = np.full((count, 32), neutral)
            rows.reshape(-1)[flat] = a
        return self._each(lanes, ufunc.reduce(rows, axis=1, dtype=a.dtype))

    def activemask(self, lanes: Lanes):
        """Which lanes of the own warp run this instruction."""
        return self._each(lanes, lanes.active)
