"""Formulas of this field as pure functions, each with its source.

What they give is *modelled*: it becomes interesting beside a measurement.
"""

from hetlab.models.ceilings import Roofline, bound_of, ridge_point, roofline
from hetlab.models.latency import busy_share, warps_needed
from hetlab.models.littles_law import in_flight, reached_rate
from hetlab.models.role_figures import modelled_devices, roles, workloads
from hetlab.models.roles import break_even, estimate
from hetlab.models.speedup import amdahl, amdahl_limit, gustafson, serial_fraction

__all__ = [
    "Roofline",
    "amdahl",
    "amdahl_limit",
    "bound_of",
    "break_even",
    "busy_share",
    "estimate",
    "gustafson",
    "in_flight",
    "modelled_devices",
    "reached_rate",
    "ridge_point",
    "roles",
    "roofline",
    "serial_fraction",
    "warps_needed",
    "workloads",
]
