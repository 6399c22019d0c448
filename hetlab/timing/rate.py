"""A number with its unit, spread and label."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hetlab.units import quantity

__all__ = ["Rate", "percent", "span"]


def span(low: float, high: float, unit: str) -> str:
    """Two ends of an interval with one unit: ``'1.82 to 1.87 ms'``."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "no interval"
    first, last = quantity(low, unit), quantity(high, unit)
    number, _, symbol = first.partition(" ")
    return f"{number} to {last}" if symbol == last.partition(" ")[2] else f"{first} to {last}"


def percent(share: float) -> str:
    """A probability as people write it: ``'99 %'``, ``'99.9 %'``."""
    return f"{100 * share:.6g} %"


@dataclass(frozen=True, repr=False)
class Rate:
    """Work a second, with the interval it was found in.

    Attributes
    ----------
    value : float
        In ``unit``.
    low, high : float
        The interval's ends in ``unit``.
    unit : str
        The plain unit: "B/s", "FLOP/s".
    spread : str
        What the interval is: "99 % interval of the median", "median to best of 12".
    label : str
        "measured" (here) or "recorded" (elsewhere).
    method : str
        How it was obtained, when that matters.
    """

    value: float
    low: float
    high: float
    unit: str
    spread: str
    label: str = "measured"
    method: str = ""

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        inside = span(self.low, self.high, self.unit)
        return f"{quantity(self.value, self.unit)} ({inside}, {self.spread}), {self.label}"
