"""How long a launch would take on a chip, as bounds: modelled, never measured.

Each bound is the time that one resource alone needs for what was counted, were
it busy without a pause.  The longest bound says what to look at first.  A real
launch takes longer than the longest bound, because nothing is ever busy without
a pause, and because starting a kernel costs some microseconds that are left out.

Sources: chips as in ``devices/chips.toml``.  A multiprocessor has four schedulers,
each issuing one warp instruction a cycle, and serves one wavefront of shared
memory a cycle (CUDA C++ Programming Guide; Nsight Compute, Memory Tables).
Dependent arithmetic issues every 4 cycles and a load from global memory takes
290 cycles (Abdelkhalik et al. 2022, microbenchmarks of the A100).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from hetlab.devices.chips import Chip, chip
from hetlab.errors import InvalidValue
from hetlab.units import quantity, seconds
from hetlab.vgpu.occupancy import occupancy

__all__ = ["Estimate", "estimate", "nvidia"]

SECTOR = 32
SCHEDULERS = 4
DEPENDENT_ISSUE = 4  # cycles
GLOBAL_LATENCY = 290  # cycles

TENSOR_RATES = {"8.0": 2048, "9.0": 4096}
"""Dense FP16 operations a cycle of one multiprocessor's tensor cores, by compute capability
(NVIDIA's white papers of the A100, 2020, and the H100, 2022)."""


def nvidia(name: str | Chip) -> Chip:
    """A chip that PTX runs on, by its name in ``chips.toml``.

    Raises
    ------
    UnknownName
        With the close names, when there is none.
    InvalidValue
        When it does not run PTX.
    """
    found = chip(name)
    if found.vendor != "NVIDIA" or found.kind != "gpu":
        raise InvalidValue("chip", "a GPU that runs PTX, such as A100 or H100", found.name)
    return found


@dataclass(frozen=True)
class Estimate:
    """Bounds on the time of one launch, in seconds.

    Attributes
    ----------
    chip : str
    bounds : dict of str to float
        Seconds that each resource alone needs.
    seconds : float
        The longest bound.
    limiter : str
        Its name.
    """

    chip: str
    bounds: dict[str, float]
    percent: float
    label: str = "modelled"

    @property
    def limiter(self) -> str:
        return max(self.bounds, key=self.bounds.__getitem__)

    @property
    def seconds(self) -> float:
        return self.bounds[self.limiter]

    def __str__(self) -> str:
        wide = max(map(len, self.bounds))
        rows = [
            f"  {name:<{wide}}  {seconds(value):>9}{'  <- longest' if name == self.limiter else ''}"
            for name, value in sorted(self.bounds.items(), key=lambda item: -item[1])
        ]
        head = (
            f"estimate for {self.chip}: at least {seconds(self.seconds)} by {self.limiter} "
            f"(modelled, not measured; no cache reuse, launch overhead left out)"
        )
        return "\n".join([head, *rows])

    __repr__ = __str__

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return {
            "label": self.label,
            "chip": self.chip,
            "seconds": self.seconds,
            "limiter": self.limiter,
            "bounds": dict(self.bounds),
            "occupancy_percent": self.percent,
        }


def estimate(
    counters: Mapping[str, float],
    blocks: int,
    threads: int,
    on: str | Chip = "A100",
    *,
    registers: int = 0,
    shared: int = 0,
) -> Estimate:
    """Bounds on the time of a launch from its counters.

    Parameters
    ----------
    counters : mapping
        The names of ``Launch.counters``; missing ones count as 0.
    blocks, threads : int
        Blocks of the grid, threads a block.
    on : str or Chip
        Which chip.
    registers, shared : int
        Registers a thread and bytes of shared memory a block, for the occupancy.

    Returns
    -------
    Estimate
        Bounds named ``memory`` (every counted sector comes from or goes to device
        memory), ``issue`` (warp instructions), ``arithmetic`` (floating-point
        operations outside tensor cores, at the FP32 peak), ``tensor cores`` (at their FP16
        rate, where it is known), ``shared memory`` (wavefronts) and
        ``latency`` (one warp's instructions one after the other, for each wave of
        blocks).

    Raises
    ------
    UnknownName
        When the chip is not known.
    InvalidValue
        When it does not run PTX, or no block of this kernel fits on it.
    """
    on = nvidia(on)
    resident = occupancy(threads, registers, shared, on.capability)
    if not resident.blocks:
        raise InvalidValue(
            "the block", f"small enough for one multiprocessor of {on.name}", str(resident)
        )

    def count(*names: str) -> float:
        return sum(counters.get(name, 0) for name in names)

    sectors = count("global_load_sectors", "global_store_sectors", "global_atomic_sectors")
    wavefronts = count("shared_load_wavefronts", "shared_store_wavefronts")
    used = max(min(on.units, blocks), 1)
    warps = max(blocks * math.ceil(threads / 32), 1)
    waves = math.ceil(blocks / (resident.blocks * on.units))
    serial = count("instructions") / warps * DEPENDENT_ISSUE
    serial += GLOBAL_LATENCY if count("global_load_requests") else 0
    bounds = {
        "memory": sectors * SECTOR / on.bandwidth,
        "issue": count("instructions") / (used * SCHEDULERS * on.clock),
        "shared memory": wavefronts / (used * on.clock),
        "latency": waves * serial / on.clock,
    }
    tensor = count("flops_tensor")
    if count("flops") > tensor:
        bounds["arithmetic"] = (count("flops") - tensor) / (on.peak_fp32 * used / on.units)
    rate = TENSOR_RATES.get(on.capability)
    if tensor and rate:
        bounds["tensor cores"] = tensor / (used * rate * on.clock)
    return Estimate(
        f"{on.name} ({quantity(on.bandwidth, 'B/s')}, {quantity(on.peak_fp32, 'FLOP/s')} FP32)",
        bounds,
        resident.percent,
    )
