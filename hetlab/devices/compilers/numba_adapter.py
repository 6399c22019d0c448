"""Numba: compiles a loop for this processor and runs it."""

from __future__ import annotations

from hetlab.devices.compilers import SUM_OF_SQUARES

__all__ = ["canary"]

NAME = "Numba"
MODULE = "numba"
DISTRIBUTIONS = ("numba", "llvmlite", "numpy")
INSTALL = "pip install 'hetlab[lab]'"
NEEDED = "always"
PLATFORMS = {
    "Linux": ("x86_64", "aarch64"),
    "Windows": ("x86_64",),
    "Darwin": ("x86_64", "aarch64"),
}


def canary() -> dict:
    """Sum the squares below 100 in compiled code."""
    import numba

    @numba.njit
    def squares(n):
        total = 0
        for i in range(n):
            total += i * i
        return total

    return {"answer": int(squares(100)), "expected": SUM_OF_SQUARES, "ran_on": "this processor"}
