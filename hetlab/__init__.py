"""hetlab: a place to learn heterogeneous computing by doing it.

The names below are what a notebook uses.  They are loaded on first use, so
that ``import hetlab`` is quick and needs no optional library.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

# public name -> the module that owns it
_OWNERS: dict[str, str] = {
    "check": "hetlab.tracks.check",
    "hint": "hetlab.tracks.check",
    "load_ipython_extension": "hetlab.magics",
    "progress": "hetlab.tracks.progress",
    "Comparison": "hetlab.timing",
    "Measurement": "hetlab.timing",
    "compare": "hetlab.timing",
    "machine": "hetlab.timing",
    "measure": "hetlab.timing",
    "peaks": "hetlab.timing",
    "reveal": "hetlab.timing",
    "show_distribution": "hetlab.widgets",
    "show_roofline": "hetlab.widgets",
    "show_time": "hetlab.widgets",
    "wreck_benchmark": "hetlab.widgets",
    "amdahl": "hetlab.models",
    "this_cpu": "hetlab.devices",
    "vector_code": "hetlab.devices.simd",
    "without_simd": "hetlab.devices.simd",
}

__all__ = sorted(_OWNERS)


def __getattr__(name: str):
    owner = _OWNERS.get(name)
    if owner is None:
        raise AttributeError(f"module 'hetlab' has no attribute {name!r}")
    value = getattr(importlib.import_module(owner), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_OWNERS})
