"""Formulas of this field as pure functions, each with its source.

What they give is *modelled*: it becomes interesting beside a measurement.
"""

from hetlab.models.ceilings import Roofline, bound_of, ridge_point, roofline
from hetlab.models.speedup import amdahl, amdahl_limit, gustafson, serial_fraction

__all__ = [
    "Roofline",
    "amdahl",
    "amdahl_limit",
    "bound_of",
    "gustafson",
    "ridge_point",
    "roofline",
    "serial_fraction",
]
