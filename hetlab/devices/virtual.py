"""The virtual GPU, which executes the compilers' PTX on any machine."""

from __future__ import annotations

import importlib.util

from hetlab.devices.device import Absent, Device
from hetlab.devices.sources import BROKEN, Sources
from hetlab.errors import one_line

__all__ = ["virtual_gpu"]

_PARTS = "hetlab.vgpu"  # on the same floor: asked for by name, never imported from here


def virtual_gpu(sources: Sources) -> Device | Absent:
    """Whether `hetlab.vgpu` is here and loads."""
    try:
        missing = importlib.util.find_spec(_PARTS) is None
        if not missing:
            sources.importer(_PARTS)
    except BROKEN as error:
        why = f"It is installed but does not load: {one_line(error)}."
        return Absent("virtual gpu", "Virtual GPU", why, "Please report this with these lines.")
    if missing:
        why = "It is not built yet in this version of hetlab."
        return Absent("virtual gpu", "Virtual GPU", why, "Update hetlab when it is released.")
    says = "executes PTX of Numba, CUDA C++, Triton and TVM, and counts what the hardware would do"
    return Device("virtual gpu", "hetlab virtual GPU", says, {"status": "present"})
