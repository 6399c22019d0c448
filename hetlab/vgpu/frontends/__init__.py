"""One adapter a language: each turns a framework's launch into one of the virtual GPU.

Only these files know numba-cuda, NVRTC and their like by name, so that a new
release of one of them breaks one file.
"""

from __future__ import annotations

import functools

__all__ = ["real_gpu"]


@functools.cache
def real_gpu() -> str | None:
    """Why there is no NVIDIA GPU to launch on, or None when there is one."""
    try:
        from cuda.bindings import driver
    except ImportError:
        return "CUDA's Python bindings are not installed"
    try:
        (status,) = driver.cuInit(0)
        if int(status):
            return f"the NVIDIA driver does not start ({status.name})"
        status, count = driver.cuDeviceGetCount()
    except Exception:  # no driver: the bindings raise a kind of their own, by release
        return "no NVIDIA driver is installed"
    return None if not int(status) and count else "the NVIDIA driver finds no GPU"
