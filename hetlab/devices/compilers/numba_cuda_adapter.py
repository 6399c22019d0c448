"""numba-cuda: compiles a kernel to PTX, and runs it where there is an NVIDIA GPU."""

from __future__ import annotations

from hetlab.devices.compilers import SUM_OF_SQUARES
from hetlab.devices.compilers.ptx_checks import ptx_version, stored_constant
from hetlab.errors import one_line

__all__ = ["canary"]

NAME = "numba-cuda"
MODULE = "numba_cuda"
DISTRIBUTIONS = ("numba-cuda", "numba", "nvidia-nvvm", "nvidia-nvjitlink", "cuda-bindings")
INSTALL = "pip install 'hetlab[cuda]'"
NEEDED = "by lessons"
PLATFORMS = {"Linux": ("x86_64", "aarch64"), "Windows": ("x86_64",)}


def canary() -> dict:
    """Sum the squares below 100 in a kernel."""
    from numba import cuda, types

    def squares(out):
        total = 0
        for i in range(100):
            total += i * i
        out[0] = total

    ptx, _ = cuda.compile_ptx(squares, (types.int32[::1],), cc=(8, 0))
    told = {
        "answer": stored_constant(ptx),
        "expected": SUM_OF_SQUARES,
        "ptx": ptx_version(ptx),
    }
    if cuda.is_available():
        import numpy as np

        try:
            out = np.zeros(1, np.int32)
            cuda.jit(squares)[1, 1](out)
            told |= {"answer": int(out[0]), "ran_on": _name(cuda)}
        except Exception as error:  # a driver that is older than the compiler, most often
            told["gpu_error"] = one_line(error)
    return told


def _name(cuda) -> str:
    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)
