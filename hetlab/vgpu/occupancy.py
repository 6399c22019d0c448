"""Occupancy: how many blocks of a kernel live on one multiprocessor at a time.

Four resources are shared out among the resident blocks, and the scarcest one
decides: slots for blocks, slots for warps, registers, and shared memory.

Sources: the limits per compute capability are those of NVIDIA's CUDA C++
Programming Guide, "Technical Specifications per Compute Capability"; the rules
of allocation are those of the calculator that NVIDIA ships as
``cuda_occupancy.h``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hetlab.errors import InvalidValue, UnknownName

__all__ = ["LIMITS", "Limits", "Occupancy", "limits", "occupancy"]

WARP = 32
KIB = 1024


@dataclass(frozen=True)
class Limits:
    """What one multiprocessor of a compute capability can hold.

    Shared memory is in bytes; ``reserved`` is what the runtime takes of it for
    each block.
    """

    blocks: int
    warps: int
    shared: int
    shared_per_block: int
    shared_granularity: int = 128
    reserved: int = KIB
    registers: int = 65536
    registers_per_thread: int = 255
    register_granularity: int = 256  # a warp
    partitions: int = 4
    threads_per_block: int = 1024


LIMITS: dict[str, Limits] = {
    "7.0": Limits(32, 64, 96 * KIB, 96 * KIB, shared_granularity=256, reserved=0),
    "7.5": Limits(16, 32, 64 * KIB, 64 * KIB, shared_granularity=256, reserved=0),
    "8.0": Limits(32, 64, 164 * KIB, 163 * KIB),
    "8.6": Limits(16, 48, 100 * KIB, 99 * KIB),
    "8.9": Limits(24, 48, 100 * KIB, 99 * KIB),
    "9.0": Limits(32, 64, 228 * KIB, 227 * KIB),
    "12.0": Limits(24, 48, 100 * KIB, 99 * KIB),
    "12.1": Limits(24, 48, 100 * KIB, 99 * KIB),
}


def limits(capability: str | tuple[int, int]) -> Limits:
    """Limits of a compute capability, given as ``"8.0"`` or ``(8, 0)``.

    Raises
    ------
    UnknownName
        When the table has no such compute capability.
    """
    name = capability if isinstance(capability, str) else ".".join(map(str, capability))
    try:
        return LIMITS[name]
    except KeyError:
        raise UnknownName("compute capability", name, LIMITS) from None


@dataclass(frozen=True)
class Occupancy:
    """The answer of :func:`occupancy`, with the reason.

    Attributes
    ----------
    blocks : int
        Blocks resident on one multiprocessor; 0 means that the kernel cannot be
        launched.
    warps, max_warps : int
        Warps resident, and the most that fit.
    percent : float
        100 times ``warps / max_warps``.
    by : dict of str to int
        How many blocks each resource alone would allow.
    limiters : tuple of str
        The resources that allow no more than ``blocks``.
    """

    threads: int
    registers: int
    shared: int
    capability: str
    blocks: int
    warps: int
    max_warps: int
    by: dict[str, int] = field(hash=False)

    @property
    def percent(self) -> float:
        return 100 * self.warps / self.max_warps

    @property
    def limiters(self) -> tuple[str, ...]:
        return tuple(name for name, blocks in self.by.items() if blocks == self.blocks)

    def __str__(self) -> str:
        if not self.blocks:
            return (
                f"occupancy 0 %: no block of {self.threads} threads fits on a multiprocessor "
                f"of compute capability {self.capability}: {' and '.join(self.limiters)}"
            )
        reason = (
            "all warps are resident"
            if self.warps == self.max_warps
            else f"limited by {' and '.join(self.limiters)}"
        )
        return (
            f"occupancy {self.percent:.0f} %: {self.blocks} "
            f"block{'s' if self.blocks > 1 else ''} of {self.threads} threads, "
            f"{self.warps} of {self.max_warps} warps ({reason}; "
            f"compute capability {self.capability}, modelled)"
        )

    __repr__ = __str__

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return {
            "label": "modelled",
            "capability": self.capability,
            "blocks": self.blocks,
            "warps": self.warps,
            "max_warps": self.max_warps,
            "percent": self.percent,
            "by": dict(self.by),
            "limiters": list(self.limiters),
        }


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def occupancy(
    threads: int,
    registers: int = 0,
    shared: int = 0,
    capability: str | tuple[int, int] = "8.0",
) -> Occupancy:
    """Blocks and warps resident on one multiprocessor, by NVIDIA's published rules.

    Parameters
    ----------
    threads : int
        Threads a block.
    registers : int
        Registers a thread; 0 leaves this resource out.
    shared : int
        Static and dynamic shared memory a block, in bytes.
    capability : str or (int, int)
        Compute capability of the device.

    Returns
    -------
    Occupancy

    Raises
    ------
    InvalidValue
        When ``threads`` is not positive or another number is negative.
    """
    if not isinstance(threads, int) or threads < 1:
        raise InvalidValue("threads", "a positive integer", threads)
    if registers < 0:
        raise InvalidValue("registers", "0 or more", registers)
    if shared < 0:
        raise InvalidValue("shared", "0 or more bytes", shared)
    has = limits(capability)
    name = capability if isinstance(capability, str) else ".".join(map(str, capability))
    warps = -(-threads // WARP)
    by = {
        "block slots": has.blocks,
        "warp slots": has.warps // warps if threads <= has.threads_per_block else 0,
    }
    if registers:
        # A warp's registers come from one of the four partitions, so that what
        # is left over in one partition cannot serve a warp of another.
        per_warp = _up(registers * WARP, has.register_granularity)
        resident = has.registers // has.partitions // per_warp * has.partitions
        by["registers"] = resident // warps if registers <= has.registers_per_thread else 0
    if shared:
        fits = shared <= has.shared_per_block
        each = _up(shared + has.reserved, has.shared_granularity)
        by["shared memory"] = has.shared // each if fits else 0
    blocks = min(by.values())
    return Occupancy(threads, registers, shared, name, blocks, blocks * warps, has.warps, by)
