"""The virtual GPU, which executes the compilers' PTX on any machine."""

from __future__ import annotations

import importlib.util

from hetlab.devices.device import Absent, Device
from hetlab.devices.sources import BROKEN, Sources
from hetlab.errors import one_line

__all__ = ["virtual_gpu"]

_PARTS = "hetlab.vgpu"  # on the same floor: asked for by name, never imported from here
# Module that connects a compiler -> the language as people call it.
_LANGUAGES = {"numba_cuda": "Numba", "nvrtc": "CUDA C++", "triton": "Triton", "tvm": "TVM"}


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
    able = [name for part, name in _LANGUAGES.items() if _has(part)]
    says = "executes compiled kernels and counts what the hardware would do"
    if able:
        says += f"; takes {', '.join(able)}"
    facts = {"status": "present", "languages": able}
    return Device("virtual gpu", "hetlab virtual GPU", says, facts)


def _has(part: str) -> bool:
    try:
        return importlib.util.find_spec(f"{_PARTS}.frontends.{part}") is not None
    except ModuleNotFoundError:
        return False
