"""The virtual GPU: real PTX, run on a CPU while every memory access is watched."""

from __future__ import annotations

import importlib

# public name -> the module that owns it
_OWNERS = {
    "Launch": "hetlab.vgpu.report",
    "Launches": "hetlab.vgpu.report",
    "assembly": "hetlab.vgpu.assembly",
    "empty": "hetlab.vgpu.uninitialised",
    "raw_kernel": "hetlab.vgpu.frontends.raw_kernel",
    "sanitize": "hetlab.vgpu.profile",
    "use_virtual_gpu": "hetlab.vgpu.frontends.switch",
}

__all__ = sorted(_OWNERS)


def __getattr__(name: str):
    owner = _OWNERS.get(name)
    if owner is None:
        raise AttributeError(f"module 'hetlab.vgpu' has no attribute {name!r}")
    return getattr(importlib.import_module(owner), name)
