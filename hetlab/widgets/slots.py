"""The occupancy calculator's data: every answer of each resource, from `hetlab.vgpu.occupancy`.

The resources do not know of each other: each alone allows so many blocks, and the least of them
decides.  So a table for each of the three inputs holds all answers, and a widget that has no
Python behind it (an exported page) still gives exactly what `hetlab.vgpu.occupancy` gives.
"""

from __future__ import annotations

from dataclasses import dataclass

from hetlab.errors import InvalidValue
from hetlab.vgpu.occupancy import KIB, LIMITS, WARP, Occupancy, limits, occupancy

__all__ = ["CHIPS", "Slots", "curve", "slots_of", "tables"]

CHIPS = {
    "7.0": "V100",
    "7.5": "T4",
    "8.0": "A100",
    "8.6": "RTX 30",
    "8.9": "RTX 40, L4",
    "9.0": "H100, H200",
    "12.0": "RTX 50",
    "12.1": "GB10",
}
"""A well-known chip of each compute capability (CUDA C++ Programming Guide)."""

INPUTS = ("threads", "registers", "shared")


@dataclass(frozen=True, repr=False)
class Slots:
    """Where the calculator starts."""

    threads: int
    registers: int
    shared: int
    capability: str

    @property
    def occupancy(self) -> Occupancy:
        """The answer for these numbers."""
        return occupancy(self.threads, self.registers, self.shared, self.capability)

    def __repr__(self) -> str:
        found = self.occupancy
        lines = [
            f"{self.threads} threads a block, {self.registers} registers a thread, "
            f"{self.shared:,} B of shared memory a block:",
            f"  {found}",
        ]
        wide = max(map(len, found.by))
        for name, blocks in found.by.items():
            mark = "  <- limits" if name in found.limiters else ""
            lines.append(
                f"  {name:<{wide}} alone would allow {blocks} block{'s' * (blocks != 1)}{mark}"
            )
        return "\n".join(lines)


def slots_of(threads: int, registers: int, shared: int, capability: str) -> Slots:
    """Check the numbers, as the sliders can hold them.

    Raises
    ------
    InvalidValue
        Outside what a block may have.
    UnknownName
        For a compute capability that is not in the table.
    """
    has = limits(capability)
    if not 1 <= threads <= has.threads_per_block:
        raise InvalidValue("threads", f"1 to {has.threads_per_block}", threads)
    if not 1 <= registers <= has.registers_per_thread:
        raise InvalidValue("registers", f"1 to {has.registers_per_thread}", registers)
    if not 0 <= shared <= has.shared_per_block:
        raise InvalidValue("shared", f"0 to {has.shared_per_block} bytes", shared)
    return Slots(threads, registers, shared, capability)


def tables() -> dict[str, dict]:
    """For each compute capability what each input alone allows.

    Returns
    -------
    dict
        ``warps`` and ``block slots``; ``registers``: warps that r registers a thread leave room
        for, from r = 1; ``shared memory``: blocks that k KiB a block leave room for, from k = 0.
    """
    found = {}
    for name, has in LIMITS.items():
        room = [
            occupancy(WARP, r, 0, name).by["registers"]
            for r in range(1, has.registers_per_thread + 1)
        ]
        kib = range(1, has.shared_per_block // KIB + 1)
        blocks = [has.blocks] + [occupancy(WARP, 0, k * KIB, name).by["shared memory"] for k in kib]
        found[name] = {
            "chip": CHIPS.get(name, ""),
            "warps": has.warps,
            "blocks": has.blocks,
            "registers": room,
            "shared": blocks,
        }
    return found


def curve(slots: Slots, vary: str) -> list[tuple[int, float]]:
    """Percent of occupancy when one input varies and the others stay.

    Parameters
    ----------
    slots : Slots
    vary : {"threads", "registers", "shared"}
        Shared memory in steps of 1 KiB.

    Returns
    -------
    list of (int, float)
    """
    if vary not in INPUTS:
        raise InvalidValue("vary", " or ".join(INPUTS), vary)
    has = limits(slots.capability)
    values = {
        "threads": range(WARP, has.threads_per_block + 1, WARP),
        "registers": range(1, has.registers_per_thread + 1),
        "shared": range(0, has.shared_per_block + 1, KIB),
    }[vary]
    now = {name: getattr(slots, name) for name in INPUTS}
    return [(v, occupancy(**{**now, vary: v}, capability=slots.capability).percent) for v in values]
