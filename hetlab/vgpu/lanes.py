"""Sets of threads, and the addresses they compute.

A batch of blocks numbers its threads in *slots*: block after block, each padded
to whole warps, so that ``slot >> 5`` is the warp and ``slot & 31`` the lane.
`Lanes` is a set of slots in ascending order; registers of threads that run
together are arrays of that length, or scalars where all threads agree.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

__all__ = ["Addresses", "BatchShape", "Lanes", "batch_shape"]

u4, i8 = np.uint32, np.int64


class BatchShape:
    """What depends only on the block's shape and the number of blocks in a batch.

    Attributes
    ----------
    threads : int
        Threads a block.
    padded : int
        Slots a block: `threads` rounded up to whole warps.
    blocks, size : int
        Blocks, and slots in all.
    whole : Lanes
        All threads.
    exists : numpy.ndarray of bool
        Whether a slot has a thread.
    position : numpy.ndarray or None
        The place of each slot among all threads; None when every slot has one.
    """

    def __init__(self, block: tuple[int, int, int], blocks: int) -> None:
        x, y, z = block
        self.block, self.blocks = block, blocks
        self.threads = x * y * z
        self.padded = -(-self.threads // 32) * 32
        self.size = self.padded * blocks
        slot = np.arange(self.size, dtype=i8)
        self.cta = slot // self.padded
        self.tid = slot - self.cta * self.padded
        t = self.tid
        self.tid_xyz = (
            (t % x).astype(u4),
            (t // x % y).astype(u4) if y > 1 else u4(0),
            (t // (x * y)).astype(u4) if z > 1 else u4(0),
        )
        self.lane = (slot & 31).astype(u4)
        self.exists = t < self.threads
        slots = None if self.threads == self.padded else np.flatnonzero(self.exists)
        self.whole = Lanes(self, slots)
        self.position = None if slots is None else np.cumsum(self.exists) - 1

    def place(self, slot: int, first_block: int, grid) -> dict:
        """Block and thread indices of a slot, as in the learner's kernel."""
        x, y, _ = self.block
        block, t = divmod(int(slot), self.padded)
        return {"block": unravel(first_block + block, grid), "thread": unravel(t, (x, y, 1))}


def unravel(n: int, dims) -> list[int]:
    """``[x, y, z]`` of a linear index, x fastest."""
    return [int(n % dims[0]), int(n // dims[0] % dims[1]), int(n // (dims[0] * dims[1]))]


@lru_cache(maxsize=64)
def batch_shape(block: tuple[int, int, int], blocks: int) -> BatchShape:
    """A cached `BatchShape`; its arrays are never changed."""
    return BatchShape(block, blocks)


class Lanes:
    """A set of threads of a batch.

    Parameters
    ----------
    shape : BatchShape
    slots : numpy.ndarray or None
        Ascending; None for every slot of the batch.
    index : numpy.ndarray or None
        Where these threads stand in the arrays of the set they were taken from.
    """

    def __init__(self, shape: BatchShape, slots, index=None) -> None:
        self.shape, self.slots, self.index = shape, slots, index
        self.n = shape.size if slots is None else len(slots)
        self._rows: dict = {}
        self.memo: dict = {}

    def take(self, v):
        """The values of these threads, from the array of the set they were taken from."""
        return v.take(self.index) if isinstance(v, np.ndarray) and self.index is not None else v

    def put(self, new, old, n: int):
        """An array of the parent's length: `new` in these threads, `old` in the others."""
        if self.index is None:
            return new
        out = np.array(old) if isinstance(old, np.ndarray) else np.full(n, old)
        if out.dtype != new.dtype:
            out = out.view(new.dtype)
        out[self.index] = new
        return out

    def of_slots(self, values):
        """Pick from an array over all slots."""
        if self.slots is None or not isinstance(values, np.ndarray):
            return values
        return values[self.slots]

    def narrow(self, p):
        """The threads where `p` holds: this set if all, None if none."""
        if not isinstance(p, np.ndarray):
            return self if p else None
        count = np.count_nonzero(p)
        if count == self.n:
            return self if self.index is None else Lanes(self.shape, self.slots)
        if not count:
            return None
        index = np.flatnonzero(p)
        return Lanes(self.shape, index if self.slots is None else self.slots[index], index)

    def full(self, v):
        """`v` as an array, one element a thread."""
        return v if isinstance(v, np.ndarray) else np.full(self.n, v)

    @cached_property
    def all_slots(self):
        return np.arange(self.n, dtype=i8) if self.slots is None else self.slots

    @cached_property
    def cta(self):
        """Block of each thread, counted in the batch."""
        return self.of_slots(self.shape.cta)

    @cached_property
    def warps(self) -> int:
        """Warps with at least one of these threads."""
        return self.groups(32)[0]

    def groups(self, width: int):
        """``(count, first, flat)``: groups of `width` lanes that have threads.

        `first` indexes each group's first thread; `flat` is each thread's place in a matrix of
        one row a group, or None when all rows are full.
        """
        found = self._rows.get(width)
        if found is None:
            if self.slots is None:
                count = self.n // width
                found = (count, slice(0, self.n, width), None)
            else:
                group = self.slots // width
                new = np.empty(self.n, np.bool_)
                new[:1] = True
                np.not_equal(group[1:], group[:-1], out=new[1:])
                first = np.flatnonzero(new)
                if len(first) * width == self.n:
                    found = (len(first), first, None)
                else:
                    row = np.cumsum(new) - 1
                    found = (len(first), first, row * width + (self.slots % width))
            self._rows[width] = found
        return found

    def rows(self, values, width: int = 32):
        """A matrix, one row a group of `width` lanes; idle lanes repeat the group's first."""
        count, first, flat = self.groups(width)
        if flat is None:
            return values.reshape(count, width)
        out = np.repeat(values[first], width)
        out[flat] = values
        return out.reshape(count, width)

    @cached_property
    def one(self) -> Lanes | None:
        """These threads of the first block, where they are the same ones in every block."""
        shape = self.shape
        if shape.blocks == 1:
            return self
        single = batch_shape(shape.block, 1)
        if self.n == shape.whole.n:
            return single.whole
        n, rest = divmod(self.n, shape.blocks)
        if rest:
            return None
        table = self.slots.reshape(shape.blocks, n)
        starts = np.arange(shape.blocks)[:, None] * shape.padded
        return Lanes(single, table[0]) if (table == table[:1] + starts).all() else None

    @cached_property
    def active(self):
        """Which lanes of each warp are in the set, as 32-bit masks (``uint32``, one a warp)."""
        count, _, flat = self.groups(32)
        if flat is None:
            return np.full(count, 0xFFFFFFFF, u4)
        bits = np.zeros((count, 32), np.bool_)
        bits.reshape(-1)[flat] = True
        return np.packbits(bits, axis=1, bitorder="little").view(u4).reshape(-1)

    @cached_property
    def warp_row(self):
        """For each thread the row of its warp in `rows`."""
        _, _, flat = self.groups(32)
        return (np.arange(self.n) if flat is None else flat) >> 5

    @cached_property
    def lane(self):
        return self.of_slots(self.shape.lane)


class Addresses:
    """The addresses of one memory instruction, and what is known about them.

    Attributes
    ----------
    ad : numpy.ndarray or numpy.int64
        Byte addresses; a scalar when all threads agree.
    lo, hi : int
        Smallest and largest.
    low : int
        The bits below 16 that any address has set (alignment).
    step : int or None
        The distance between neighbours when it is the same everywhere (0 for a scalar).
    serial : hashable or None
        The number of a set of addresses that is kept (`repeats`).
    """

    __slots__ = ("ad", "cache", "hi", "lanes", "lo", "low", "serial", "step")

    def __init__(self, lanes: Lanes, v) -> None:
        self.lanes, self.cache, self.serial = lanes, {}, None
        # A 32-bit address is signed here: with the instruction's constant it wraps to its place.
        signed = v.view(f"i{v.dtype.itemsize}")
        if not isinstance(v, np.ndarray):
            self.lo = self.hi = int(signed)
            self.ad = i8(self.lo)
            self.low, self.step = self.lo & 15, 0
            return
        ad = signed.astype(i8, copy=False)
        self.ad, self.step = ad, None
        n = len(ad)
        first, last = int(ad[0]), int(ad[-1])
        if n > 1:
            step = int(ad[1]) - first
            if last - first == step * (n - 1) and ((ad[1:] - ad[:-1]) == step).all():
                self.step = step
        else:
            self.step = 0
        if self.step is None:
            self.lo, self.hi = int(np.minimum.reduce(ad)), int(np.maximum.reduce(ad))
            self.low = int(np.bitwise_or.reduce(ad)) & 15
        else:
            self.lo, self.hi = min(first, last), max(first, last)
            self.low = (first | (self.step if n > 1 else 0)) & 15

    @property
    def first(self) -> int:
        return self.lo if self.step is None or self.step >= 0 else self.hi

    def vector(self):
        """One address a thread."""
        return self.lanes.full(self.ad)

    def index(self, base: int, shift: int, offset: int = 0):
        """Elements of ``1 << shift`` bytes from `base`: an int, a slice or an index array.

        `offset` is added to every address, in bytes.
        """
        start = (self.first + offset - base) >> shift
        if self.step == 0:
            return start
        if self.step is not None and self.step > 0:
            step = self.step >> shift
            return slice(start, start + step * (self.lanes.n - 1) + 1, step)
        key = (base, shift)
        found = self.cache.get(key)
        if found is None:
            found = self.cache[key] = (self.ad - base) >> shift
        return found + (offset >> shift) if offset else found

    def one(self) -> Addresses | None:
        """The addresses of the first block, where every block has the same ones; else None."""
        found = self.cache.get("one", self)
        if found is self:
            found = self.cache["one"] = self._one()
        return found

    def _one(self) -> Addresses | None:
        lanes = self.lanes.one
        if lanes is None or lanes is self.lanes:
            return lanes and Addresses(lanes, self.ad)
        if self.step is not None:
            return Addresses(lanes, i8(self.lo)) if self.step == 0 else None
        table = self.ad.reshape(-1, lanes.n)
        return Addresses(lanes, table[0]) if (table[1:] == table[0]).all() else None

    def first_lanes(self, count: int) -> Addresses:
        """The addresses of each warp's first lanes; those of kept addresses are kept, too."""
        if count >= 32:
            return self
        key = ("first", count)
        found = self.cache.get(key)
        if found is None:
            found = self.cache[key] = self.narrow(self.lanes.lane < count)
            if self.serial is not None and found is not self:
                found.serial = (self.serial, count)
        return found

    def narrow(self, keep) -> Addresses | None:
        """The addresses of the threads where `keep` holds."""
        lanes = self.lanes.narrow(keep)
        if lanes is None:
            return None
        return self if lanes is self.lanes else Addresses(lanes, lanes.take(self.ad))
