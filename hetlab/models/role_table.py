"""Several workloads on several devices: who is best at what, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from hetlab.errors import UnknownName
from hetlab.models.roles import Estimate, ModelledDevice, Workload, estimate
from hetlab.units import quantity

__all__ = ["RoleTable"]


@dataclass(frozen=True, repr=False)
class RoleTable:
    """Several workloads on several devices.

    Attributes
    ----------
    workloads : tuple of Workload
    devices : tuple of ModelledDevice
    sizes : mapping of str to int
        n by workload.
    data : str
        Where the data lie.
    of : str
        "time", or "energy": time x design power.
    """

    workloads: tuple[Workload, ...]
    devices: tuple[ModelledDevice, ...]
    sizes: Mapping[str, int]
    data: str
    of: str = "time"

    def row(self, workload: str) -> dict[str, Estimate | None]:
        """One workload on each device."""
        by_name = {w.name: w for w in self.workloads}
        if workload not in by_name:
            raise UnknownName("workload", workload, by_name)
        n = self.sizes[workload]
        return {d.name: estimate(by_name[workload], n, d, self.data) for d in self.devices}

    def amounts(self, workload: str) -> dict[str, tuple[float, float, float] | None]:
        """Seconds or joules on each device: value, low, high; None where there is no number."""
        watts = {d.name: d.power.value if d.power else None for d in self.devices}
        found: dict[str, tuple[float, float, float] | None] = {}
        for name, e in self.row(workload).items():
            each = 1.0 if self.of == "time" else watts[name]
            usable = e is not None and each is not None
            found[name] = (e.seconds * each, e.low * each, e.high * each) if usable else None
        return found

    def best(self, workload: str) -> list[str]:
        """The device with the smallest amount; several at a tie."""
        able = {name: a[0] for name, a in self.amounts(workload).items() if a}
        least = min(able.values(), default=0.0)
        return [name for name, value in able.items() if math.isclose(value, least, rel_tol=1e-9)]

    def winners(self, workload: str) -> list[str]:
        """The best device first, then those that the ranges of the numbers do not rule out."""
        able = {name: a for name, a in self.amounts(workload).items() if a}
        order = sorted(able, key=lambda name: able[name][0])
        return [n for n in order if n == order[0] or able[n][1] <= able[order[0]][2]]

    def verdict(self, workload: str) -> str:
        """Who is best, and with "?" who may be within the ranges: ``"FPGA, GPU?"``."""
        best = self.best(workload)
        open_ = [f"{name}?" for name in self.winners(workload) if name not in best]
        return ", ".join([" = ".join(best), *open_])

    def cells(self, workload: str) -> dict[str, str]:
        """The amounts as texts; the reason in a word where there is none."""
        unit = "s" if self.of == "time" else "J"
        row = self.row(workload)
        return {
            name: quantity(a[0], unit) if a else "unknown" if row[name] else "cannot"
            for name, a in self.amounts(workload).items()
        }

    @property
    def title(self) -> str:
        """What the table holds."""
        where = "the data lie in each device's own memory"
        if self.data == "host":
            where = "the data lie in main memory and go back there"
        return f"Modelled {self.of}; {where}"

    @property
    def legend(self) -> str:
        """How to read the last column."""
        word = "fastest" if self.of == "time" else "least; design power x time, an upper bound"
        return f"* {word}. With ?: may be first within the ranges of the assumed numbers."

    def __repr__(self) -> str:
        wide = max(len(w.name) for w in self.workloads)
        head = "".join(f"{d.name:>13}" for d in self.devices)
        lines = [self.title, f"{'':{wide}}{head}   best"]
        for w in self.workloads:
            best = self.best(w.name)
            texts = [f"*{t}" if n in best else t for n, t in self.cells(w.name).items()]
            line = f"{w.name:<{wide}}{''.join(f'{t:>13}' for t in texts)}"
            lines.append(f"{line}   {self.verdict(w.name)}")
        return "\n".join([*lines, self.legend])
