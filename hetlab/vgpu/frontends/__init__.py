"""One adapter a language: each turns a framework's launch into one of the virtual GPU.

Only these files know numba-cuda, NVRTC and their like by name, so that a new
release of one of them breaks one file.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from hetlab.errors import InvalidValue

__all__ = ["advice", "on_virtual_gpu", "real_gpu", "unoptimised"]


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
        if int(status) or not count:
            return "the NVIDIA driver finds no GPU"
        _, version = driver.cuDriverGetVersion()
    except Exception:  # no driver: the bindings raise a kind of their own, by release
        return "no NVIDIA driver is installed"
    return _too_old(version // 1000)


def _too_old(driver: int) -> str | None:
    """Why the driver would refuse what the installed compiler makes; None when it would not.

    A driver runs code of older CUDA releases and of its own major release (CUDA
    Compatibility, "minor version compatibility"), and no newer one.
    """
    try:
        from cuda.bindings import nvrtc

        _, compiler, _ = nvrtc.nvrtcVersion()
    except Exception:  # no compiler, nothing to refuse
        return None
    if compiler <= driver:
        return None
    return (
        f"the NVIDIA driver knows CUDA {driver} and the installed compiler makes code for CUDA "
        f"{compiler}: update the driver, or pip install 'numba-cuda[cu{driver}]'"
    )


def _kind(launch) -> str:
    """The framework that a launch belongs to: the first part of its type's module."""
    return type(launch).__module__.partition(".")[0]


def on_virtual_gpu(launch: Callable) -> Callable:
    """The same launch, on the virtual GPU also where there is a real one."""
    if hasattr(launch, "on_virtual_gpu"):
        return launch.on_virtual_gpu()
    if _kind(launch) == "cupy":
        from hetlab.vgpu.frontends.raw_kernel import of_cupy

        return of_cupy(launch)
    if real_gpu() is None:
        if _kind(launch) == "numba":
            from hetlab.vgpu.frontends.numba_direct import direct

            return direct(launch)
        return launch
    from hetlab.vgpu.frontends.switch import use_virtual_gpu

    use_virtual_gpu()
    return launch


def advice(launch: Callable) -> str:
    """What to do when a launch ran nothing on the virtual GPU."""
    if _kind(launch) == "tvm_ffi" or type(launch).__name__ == "NativeFunction":
        return (
            "This TVM function runs on the CPU: bind the loops of its schedule to blocks and "
            "threads, and compile it with tvm.compile(mod, target='cuda')."
        )
    return "Call hetlab.use_virtual_gpu() first, and pass kernel[grid, block]."


def unoptimised(launch: Callable) -> Callable:
    """The same launch of a kernel that is compiled without optimisation."""
    if _kind(launch) == "numba":
        from hetlab.vgpu.frontends.numba_direct import without_optimisation

        return without_optimisation(launch)
    if hasattr(launch, "without_optimisation"):
        return launch.without_optimisation()
    raise InvalidValue("launch", "a configured kernel, as in kernel[grid, block]", launch)
