"""Pictures of what the lower floors return: figures, live widgets, notebook displays."""

from __future__ import annotations

import importlib

_OWNERS = {
    "Shown": "showing",
    "distribution_figure": "draw_distribution",
    "machine_map": "device_map",
    "roofline_figure": "draw_roofline",
    "show_access": "showing_gpu",
    "show_banks": "showing_shared",
    "show_distribution": "showing",
    "show_lockstep": "showing_warps",
    "show_occupancy": "showing_warps",
    "schedule_figure": "draw_schedule",
    "show_roofline": "showing",
    "show_schedule": "showing_schedule",
    "show_sizes": "showing",
    "show_steps": "showing_shared",
    "show_streams": "streams",
    "show_time": "showing_timing",
    "show_warps": "showing_gpu",
    "wreck_benchmark": "showing_timing",
}

__all__ = sorted(_OWNERS)


def __getattr__(name: str):
    if name not in _OWNERS:
        raise AttributeError(f"module 'hetlab.widgets' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"hetlab.widgets.{_OWNERS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_OWNERS})
