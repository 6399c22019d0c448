"""What is in this machine, what is not, and why.

The package itself can be called: ``hetlab.devices()`` lists the devices.  Names
load on first use, so that asking for the processor loads no other probe.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hetlab.devices.device import DeviceList

_OWNERS = {
    "Absent": "device",
    "Cache": "cpu",
    "Chip": "chips",
    "Compiler": "canary",
    "Cpu": "cpu",
    "Device": "device",
    "DeviceList": "device",
    "Diagnosis": "doctor",
    "NumaNode": "cpu",
    "Sources": "sources",
    "Untrusted": "trust",
    "try_compilers": "canary",
    "chip": "chips",
    "diagnose": "doctor",
    "find": "finding",
    "measure_disk": "disks",
    "this_cpu": "cpu",
    "trusted": "trust",
}

__all__ = sorted(_OWNERS)


class _Devices(ModuleType):
    """A package that answers when it is called, so that one name serves both uses."""

    def __call__(self, address: str | None = None, *, measure_disks: bool = False) -> DeviceList:
        """List the devices of this machine; see `hetlab.devices.find`."""
        from hetlab.devices.finding import find

        return find(address, measure_disks=measure_disks)

    def __getattr__(self, name: str):
        if name not in _OWNERS:
            raise AttributeError(f"module 'hetlab.devices' has no attribute {name!r}")
        value = getattr(importlib.import_module(f"hetlab.devices.{_OWNERS[name]}"), name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_OWNERS})


sys.modules[__name__].__class__ = _Devices
devices = sys.modules[__name__]
