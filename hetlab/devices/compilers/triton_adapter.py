"""Triton: compiles a kernel to PTX, and to AMD's code."""

from __future__ import annotations

from hetlab.devices.compilers import SUM_OF_SQUARES
from hetlab.devices.compilers.ptx_checks import ptx_version, stored_constant

__all__ = ["canary"]

NAME = "Triton"
MODULE = "triton"
DISTRIBUTIONS = ("triton",)
INSTALL = "pip install 'hetlab[triton]'"
NEEDED = "by lessons"
PLATFORMS = {"Linux": ("x86_64", "aarch64")}


def canary() -> dict:
    """Sum the squares below 100 in a kernel."""
    global tl  # Triton looks for it among the kernel's globals

    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    source = ASTSource(fn=triton.jit(squares), signature={"out": "*i32"}, constexprs={})
    ptx = triton.compile(source, target=GPUTarget("cuda", 80, 32)).asm["ptx"]
    return {
        "answer": stored_constant(ptx),
        "expected": SUM_OF_SQUARES,
        "ptx": ptx_version(ptx),
    }


def squares(out):
    total = 0
    for i in range(100):
        total += i * i
    tl.store(out, total)
