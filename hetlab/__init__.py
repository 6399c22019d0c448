"""hetlab: a place to learn heterogeneous computing by doing it.

The names below are what a notebook uses.  They are loaded on first use, so
that ``import hetlab`` is quick and needs no optional library.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

# public name -> the module that owns it
_OWNERS: dict[str, str] = {
    "empty": "hetlab.vgpu.uninitialised",
    "profile": "hetlab.vgpu.profile",
    "raw_kernel": "hetlab.vgpu.frontends.raw_kernel",
    "sanitize": "hetlab.vgpu.profile",
    "use_virtual_gpu": "hetlab.vgpu.frontends.switch",
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
