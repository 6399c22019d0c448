"""The peaks where Numba is missing: what NumPy and its BLAS reach.

These are lower bounds.  NumPy cannot fuse ``b + s * c``, so the triad takes two passes that
together move 40 bytes an element; matrix multiplication comes near the arithmetic peak only with
a good BLAS, and its number of threads is its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetlab.timing.clock import system_clock
from hetlab.units import binary_bytes

__all__ = ["run"]

RUNS = 9
SIDE = 1024


def run(threads: int, array_bytes: int, step: Callable[[str], None]):
    """As `hetlab.timing.ceilings_numba.run`; "one thread" of the arithmetic stays out."""
    now, tick = system_clock().now, system_clock().tick
    samples: dict[str, tuple[float, ...]] = {}
    for precision, kind in [("fp64", np.float64), ("fp32", np.float32)]:
        step(f"{precision} matrix multiplication")
        x = np.full((SIDE, SIDE), 0.5, kind)
        out = np.empty_like(x)
        runs = []
        for _ in range(RUNS):
            start = now()
            np.matmul(x, x, out=out)
            runs.append(2 * SIDE**3 / max((now() - start) * tick, 1e-9))
        samples[f"{precision}_all"] = tuple(runs[1:])
    step("memory bandwidth")
    n = array_bytes // 8
    a, b, c = (np.ones(n) for _ in range(3))
    runs = []
    for _ in range(RUNS):
        start = now()
        np.multiply(c, 3.0, out=a)
        np.add(a, b, out=a)
        runs.append(40 * n / max((now() - start) * tick, 1e-9))
    samples["bandwidth_one"] = tuple(runs[1:])
    if threads == 1:
        samples["bandwidth_all"] = samples["bandwidth_one"]
    return samples, [
        "Numba is not installed, so these are lower bounds and not peaks: pip install numba",
        f"bandwidth: two NumPy passes over 3 arrays of {binary_bytes(n * 8)}, 40 bytes an element "
        "counted; NumPy runs them on one thread",
        f"arithmetic: matrix multiplication of {SIDE} x {SIDE} by BLAS, on as many threads as it "
        "takes",
    ]
