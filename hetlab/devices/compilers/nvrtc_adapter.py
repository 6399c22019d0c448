"""NVRTC, the compiler of CUDA C++: compiles a kernel to PTX."""

from __future__ import annotations

from hetlab.devices.compilers import SUM_OF_SQUARES
from hetlab.devices.compilers.ptx_checks import ptx_version, stored_constant

__all__ = ["canary"]

NAME = "NVRTC (CUDA C++)"
MODULE = "cuda.bindings.nvrtc"
DISTRIBUTIONS = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12", "cuda-bindings")
INSTALL = "pip install 'hetlab[cuda]'"
NEEDED = "by lessons"
PLATFORMS = {"Linux": ("x86_64", "aarch64"), "Windows": ("x86_64",)}

_SOURCE = b"""
extern "C" __global__ void squares(int* out) {
    int total = 0;
    for (int i = 0; i < 100; ++i) total += i * i;
    out[0] = total;
}
"""


def canary() -> dict:
    """Sum the squares below 100 in a kernel."""
    from cuda.bindings import nvrtc

    program = _ask(nvrtc.nvrtcCreateProgram(_SOURCE, b"canary.cu", 0, [], []))
    options = [b"--gpu-architecture=compute_80"]
    _ask(nvrtc.nvrtcCompileProgram(program, len(options), options))
    text = bytes(_ask(nvrtc.nvrtcGetPTXSize(program)))
    _ask(nvrtc.nvrtcGetPTX(program, text))
    ptx = text.decode(errors="replace")
    return {
        "answer": stored_constant(ptx),
        "expected": SUM_OF_SQUARES,
        "ptx": ptx_version(ptx),
    }


def _ask(result):
    status, *values = result
    if int(status):
        raise RuntimeError(f"NVRTC answered {status.name}")
    return values[0] if values else None
