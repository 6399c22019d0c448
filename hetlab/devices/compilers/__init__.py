"""The compilers a lesson may use, each known to one adapter module only.

An adapter has the names ``NAME``, ``MODULE`` (what is imported), ``DISTRIBUTIONS``
(whose versions matter), ``INSTALL`` (a command), ``NEEDED`` ("always", "by lessons"
that use it, or "never"), ``PLATFORMS`` and a function ``canary``.
"""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = ["ADAPTERS", "SUM_OF_SQUARES", "adapter", "runs_on"]

# In the order in which the course meets them.
ADAPTERS = ("numba", "numba_cuda", "nvrtc", "triton", "tvm", "cupy")

# The known answer: 0² + 1² + ... + 99² = 99 · 100 · 199 / 6.
SUM_OF_SQUARES = 328350


def adapter(key: str) -> ModuleType:
    """The adapter module of a compiler; loads no compiler."""
    from hetlab.errors import UnknownName

    if key not in ADAPTERS:
        raise UnknownName("compiler", key, ADAPTERS)
    return importlib.import_module(f"hetlab.devices.compilers.{key}_adapter")


def runs_on(module: ModuleType, system: str, machine: str) -> bool:
    """Whether wheels of this compiler exist for a system and a processor."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine.lower(), machine.lower())
    return machine in module.PLATFORMS.get(system, ())
