"""Who is fastest at which size: what the live picture, the figure and the text all show."""

from __future__ import annotations

from dataclasses import dataclass

from hetlab.errors import InvalidValue, UnknownName
from hetlab.models.role_figures import modelled_devices, workloads
from hetlab.models.roles import DATA, Workload, break_even, estimate
from hetlab.units import seconds

__all__ = ["Sizes", "sizes_of"]

_POINTS = 61  # sizes of the grid; the live picture has one stop for each


@dataclass(frozen=True, repr=False)
class Sizes:
    """Modelled times of one workload over its size.

    Attributes
    ----------
    workload : Workload
    data : str
        Where the data lie at first: "host" or "device".
    grid : tuple of int
        Sizes.
    times : dict
        times[place][device] lists seconds over the grid; a device that cannot is left out.
    meets : dict
        meets[place][device] is the size from which on it is faster than the CPU, or None.
    """

    workload: Workload
    data: str
    grid: tuple[int, ...]
    times: dict[str, dict[str, list[float]]]
    meets: dict[str, dict[str, int | None]]

    def verdict(self, device: str, data: str | None = None) -> str:
        """From which size on a device is faster than the CPU, in words."""
        if device == "CPU":
            return "CPU"
        meets = self.meets[data or self.data][device]
        if meets is None:
            return f"{device}: at no size faster than the CPU"
        return f"{device}: faster than the CPU from n = {meets:,} on"

    @property
    def title(self) -> str:
        """The workload in a sentence."""
        return f"{self.workload.says} (modelled)"

    def where(self, data: str | None = None) -> str:
        """Where the data lie, in words."""
        place = data or self.data
        return "data in main memory" if place == "host" else "data in each device's own memory"

    def __repr__(self) -> str:
        times = self.times[self.data]
        lines = [f"{self.title}; {self.where()}"]
        lines.append(f"{'n':>15}" + "".join(f"{name:>10}" for name in times))
        for i in range(0, len(self.grid), 10):
            row = "".join(f"{seconds(t[i]):>10}" for t in times.values())
            lines.append(f"{self.grid[i]:>15,}{row}")
        lines += [self.verdict(name) for name in times if name != "CPU"]
        return "\n".join(lines)


def sizes_of(workload: str = "matrix product", data: str = "host", bits: int = 16) -> Sizes:
    """Times of a workload on the five modelled devices, from n = 1 to ten times its usual size.

    Raises
    ------
    UnknownName, InvalidValue
        For another workload, place or width.
    """
    known, devices = workloads(bits), modelled_devices()
    if workload not in known:
        raise UnknownName("workload", workload, known)
    if data not in DATA:
        raise InvalidValue("data", '"device" or "host"', data)
    job = known[workload]
    most = 10 * job.typical
    grid = sorted({round(most ** (i / (_POINTS - 1))) for i in range(_POINTS)})
    able = [d for d in devices.values() if job.kind in d.rates]
    times = {
        p: {d.name: [estimate(job, n, d, p).seconds for n in grid] for d in able} for p in DATA
    }
    meets = {
        p: {d.name: break_even(job, d, devices["CPU"], p, most=most) for d in able} for p in DATA
    }
    return Sizes(job, data, tuple(grid), times, meets)
