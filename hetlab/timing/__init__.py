"""Measure, compare, and know the machine's peaks: a number never travels without unit,
spread and machine.

Names load on first use; the arithmetic here needs no library beyond Python.
"""

from __future__ import annotations

import importlib

_OWNERS = {
    "Calibration": "measurement",
    "Clock": "clock",
    "Comparison": "comparison",
    "Energy": "energy",
    "EnergyMeter": "energy",
    "Machine": "stamp",
    "Measurement": "measurement",
    "Peaks": "ceilings",
    "Rate": "rate",
    "Ratio": "comparison",
    "Reveal": "revealing",
    "compare": "comparing",
    "device_clock": "device_clock",
    "machine": "stamp",
    "measure": "measuring",
    "peaks": "ceilings",
    "reveal": "revealing",
}

__all__ = sorted(_OWNERS)


def __getattr__(name: str):
    if name not in _OWNERS:
        raise AttributeError(f"module 'hetlab.timing' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"hetlab.timing.{_OWNERS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_OWNERS})
