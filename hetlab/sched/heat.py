"""How a device warms up and slows down: one body, one resistance, exact between two events.

    C dT/dt = P - (T - ambient) / R       so       T(t) = T_end + (T_0 - T_end) exp(-t / (R C))

with T_end = ambient + R P: the lumped model that HotSpot starts from (W. Huang and others,
"HotSpot: a compact thermal modeling methodology", IEEE Transactions on VLSI Systems 14(5), 2006),
with a single node.  Throttling has two thresholds, as firmware has it, so that it does not flutter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hetlab.errors import InvalidValue

__all__ = ["Heat"]


@dataclass(frozen=True)
class Heat:
    """Thermal figures of a device.

    Attributes
    ----------
    resistance : float
        Kelvin above ambient for each watt, once it no longer changes.
    seconds : float
        Time constant R C: after it, 63 % of a change has happened.
    limit : float
        Degrees Celsius at which the device slows down.
    recover : float
        Degrees Celsius at which it is fast again; below ``limit``.
    slowed : float
        Its speed then, as a share of full speed, above 0.
    slowed_watts : float
        Its power then, as a share of the full one.
    ambient : float
        Degrees Celsius around it, and its temperature at the start.
    """

    resistance: float
    seconds: float
    limit: float
    recover: float
    slowed: float = 0.5
    slowed_watts: float = 0.5
    ambient: float = 25.0

    def __post_init__(self) -> None:
        for name in ("resistance", "seconds"):
            if not 0 < getattr(self, name) < math.inf:
                raise InvalidValue(name, "above 0", getattr(self, name), where="heat")
        if not self.ambient <= self.recover < self.limit:
            rule = "at least ambient and below limit"
            raise InvalidValue("recover", rule, self.recover, where="heat")
        for name in ("slowed", "slowed_watts"):
            if not 0 < getattr(self, name) <= 1:
                raise InvalidValue(name, "above 0 and at most 1", getattr(self, name), where="heat")

    def end(self, watts: float) -> float:
        """Degrees Celsius that a power leads to in the end."""
        return self.ambient + self.resistance * watts

    def after(self, degrees: float, watts: float, seconds: float) -> float:
        """Degrees Celsius after some time at a constant power."""
        end = self.end(watts)
        return end + (degrees - end) * math.exp(-seconds / self.seconds)

    def reaches(self, degrees: float, watts: float, target: float) -> float:
        """Seconds until a temperature is reached at a constant power; inf when it never is."""
        end = self.end(watts)
        if degrees == target:
            return 0.0
        share = (target - end) / (degrees - end) if degrees != end else 0.0
        return -self.seconds * math.log(share) if 0 < share < 1 else math.inf
