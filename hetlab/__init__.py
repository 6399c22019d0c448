"""hetlab: a place to learn heterogeneous computing by doing it.

The names below are what a notebook uses.  They are loaded on first use, so
that ``import hetlab`` is quick and needs no optional library.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

# public name -> the module that owns it
_OWNERS: dict[str, str] = {
    "Comparison": "hetlab.timing",
    "Measurement": "hetlab.timing",
    "StreamTimeline": "hetlab.models.streams",
    "amdahl": "hetlab.models",
    "array_module": "hetlab.devices.arrays",
    "assembly": "hetlab.vgpu.assembly",
    "break_even": "hetlab.models",
    "busy_share": "hetlab.models",
    "check": "hetlab.tracks.check",
    "compare": "hetlab.timing",
    "cuda_ptx": "hetlab.vgpu.frontends.nvrtc",
    "devices": "hetlab.devices",
    "empty": "hetlab.vgpu.uninitialised",
    "gustafson": "hetlab.models",
    "hint": "hetlab.tracks.check",
    "leaderboard": "hetlab.tracks.leaderboard",
    "load_ipython_extension": "hetlab.magics",
    "machine": "hetlab.timing",
    "measure": "hetlab.timing",
    "memory_sharing": "hetlab.devices.sharing",
    "modelled_devices": "hetlab.models",
    "peaks": "hetlab.timing",
    "profile": "hetlab.vgpu.profile",
    "progress": "hetlab.tracks.progress",
    "raw_kernel": "hetlab.vgpu.frontends.raw_kernel",
    "reveal": "hetlab.timing",
    "roles": "hetlab.models",
    "sanitize": "hetlab.vgpu.profile",
    "show_access": "hetlab.widgets",
    "show_banks": "hetlab.widgets",
    "show_distribution": "hetlab.widgets",
    "show_lockstep": "hetlab.widgets",
    "show_occupancy": "hetlab.widgets",
    "show_roofline": "hetlab.widgets",
    "show_schedule": "hetlab.widgets",
    "show_sizes": "hetlab.widgets",
    "show_steps": "hetlab.widgets",
    "show_streams": "hetlab.widgets",
    "show_time": "hetlab.widgets",
    "show_warps": "hetlab.widgets",
    "side_by_side": "hetlab.widgets.side_by_side",
    "sources": "hetlab.vgpu.frontends.tvm_sources",
    "this_cpu": "hetlab.devices",
    "use_virtual_gpu": "hetlab.vgpu.frontends.switch",
    "vector_code": "hetlab.devices.simd",
    "warps_needed": "hetlab.models",
    "without_simd": "hetlab.devices.simd",
    "workloads": "hetlab.models",
    "wreck_benchmark": "hetlab.widgets",
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
