"""CuPy: adds two numbers on an NVIDIA GPU; without one there is nothing it could do."""

from __future__ import annotations

__all__ = ["canary"]

NAME = "CuPy"
MODULE = "cupy"
DISTRIBUTIONS = ("cupy-cuda13x", "cupy-cuda12x", "cupy-cuda11x", "cupy")
INSTALL = "pip install 'hetlab[gpu]', on a machine with an NVIDIA GPU"
NEEDED = "never"
PLATFORMS = {"Linux": ("x86_64", "aarch64"), "Windows": ("x86_64",)}


def canary() -> dict:
    """Add two numbers on the GPU."""
    import cupy

    ask = cupy.cuda.runtime.getDeviceCount
    try:
        count = ask()
    except Exception:  # CUDARuntimeError: no driver, or one without a device
        count = 0
    if not count:
        return {"idle": "It is installed, but no NVIDIA GPU answers; the lessons run without it."}
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return {"answer": int(cupy.asarray([2]) + 3), "expected": 5, "ran_on": name}
