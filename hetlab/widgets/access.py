"""Which sectors of global memory the 32 lanes of one request touch: as data, and as text.

The counts are the virtual GPU's own: `hetlab.vgpu.traffic` counts the same addresses here and in a
kernel's launch.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from hetlab.errors import InvalidValue

__all__ = ["ORDERS", "SIZES", "STRIDES", "Access", "count_sectors", "sector_table"]

WARP, SECTOR = 32, 32
SIZES = (1, 2, 4, 8, 16)
STRIDES, OFFSETS = range(33), range(32)
# Which element, in steps of the stride, each lane takes; None: this lane takes part in nothing.
ORDERS: dict[str, tuple[int | None, ...]] = {
    "in order": tuple(range(32)),
    "reversed": tuple(range(31, -1, -1)),
    "shuffled": tuple(13 * lane % 32 for lane in range(32)),
    "every second lane": tuple(None if lane % 2 else lane for lane in range(32)),
}


@dataclass(frozen=True, repr=False)
class Access:
    """One request of a warp: each lane asks for one element.

    Attributes
    ----------
    stride : int
        Elements from one lane to the next, 0 to 32.
    offset : int
        Elements from a 32-byte boundary to the first element, 0 to 31.
    size : int
        Bytes of an element: 1, 2, 4, 8 or 16.
    order : str
        A key of `ORDERS`.
    """

    stride: int = 1
    offset: int = 0
    size: int = 4
    order: str = "in order"

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("stride", self.stride, STRIDES),
            ("offset", self.offset, OFFSETS),
        ):
            if not isinstance(value, int) or value not in allowed:
                raise InvalidValue(name, f"a whole number from 0 to {allowed[-1]}", value)
        if self.size not in SIZES:
            raise InvalidValue("size", "1, 2, 4, 8 or 16 bytes", self.size)
        if self.order not in ORDERS:
            raise InvalidValue("order", " or ".join(map(repr, ORDERS)), self.order)

    @property
    def addresses(self) -> tuple[int | None, ...]:
        """The byte address of each lane; None for a lane that asks for nothing."""
        return tuple(
            None if at is None else (self.offset + at * self.stride) * self.size
            for at in ORDERS[self.order]
        )

    @property
    def sectors(self) -> int:
        """Sectors that the request moves: counted by the virtual GPU's own code."""
        return count_sectors(self.addresses, self.size)

    @property
    def asked(self) -> int:
        """Different bytes that the lanes ask for."""
        return len({a for a in self.addresses if a is not None}) * self.size

    @property
    def least(self) -> int:
        """Sectors that as many bytes need at least."""
        return -(-self.asked // SECTOR)

    @property
    def verdict(self) -> str:
        """What the request costs, as a sentence."""
        sectors, moved = self.sectors, self.sectors * SECTOR
        share = f"{100 * self.asked / moved:.3g} % of what is moved is used"
        best = "as few as can be" if sectors == self.least else f"{self.least} would be enough"
        plural = "" if sectors == 1 else "s"
        return (
            f"{sectors} sector{plural}, {best}: {self.asked} B asked for, {moved} B moved, {share}."
        )

    def __repr__(self) -> str:
        return (
            f"One request of a warp: elements of {self.size} B, stride {self.stride}, "
            f"offset {self.offset}, lanes {self.order}\n  {self.verdict} (counted)"
        )


def count_sectors(addresses, size: int) -> int:
    """Sectors of 32 bytes that one request of a warp moves.

    Parameters
    ----------
    addresses : sequence of int or None
        The byte address of each of up to 32 lanes; None for a lane that asks for nothing.
    size : int
        Bytes each lane asks for.

    Returns
    -------
    int
        As the virtual GPU counts it (`hetlab.vgpu.traffic.sectors`).
    """
    import numpy as np

    from hetlab.vgpu.lanes import Addresses, Lanes, batch_shape
    from hetlab.vgpu.traffic import sectors

    active = [lane for lane, address in enumerate(addresses) if address is not None]
    if not active or len(addresses) > WARP:
        raise InvalidValue("addresses", "those of 1 to 32 lanes", len(addresses))
    shape = batch_shape((WARP, 1, 1), 1)
    lanes = Lanes(shape, None if len(active) == WARP else np.array(active, np.int64))
    wanted = np.array([addresses[lane] for lane in active], np.int64)
    return sectors(Addresses(lanes, wanted), 0, size)


@functools.cache
def sector_table() -> dict[str, dict[str, list[list[int]]]]:
    """``[order][size][stride][place]``: sectors for every choice of the live picture.

    ``place`` is the offset within a sector, in elements: further offsets only repeat these.
    """
    return {
        order: {
            str(size): [
                [Access(stride, place, size, order).sectors for place in range(SECTOR // size)]
                for stride in STRIDES
            ]
            for size in SIZES
        }
        for order in ORDERS
    }
