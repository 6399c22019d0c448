"""The peaks through compiled loops."""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np

from hetlab.timing.clock import system_clock
from hetlab.timing.kernels import TRIAD_BYTES, flops_of, peak_kernel, shape, triad_kernel
from hetlab.units import binary_bytes

__all__ = ["run"]

RUNS = 15
# Seconds that one run of the arithmetic should last: the clock and the start of the threads
# then cost less than a thousandth.
RUN_SECONDS = 0.03


def run(threads: int, array_bytes: int, step: Callable[[str], None]):
    """Measure everything.

    Parameters
    ----------
    threads : int
        What "all" means.
    array_bytes : int
        Size of each of the triad's arrays.
    step : callable
        Told what comes next.

    Returns
    -------
    samples : dict of str to tuple of float
        B/s and FLOP/s.
    notes : list of str
    """
    counts = {"one": 1, "all": threads}
    before = numba.get_num_threads()
    samples: dict[str, tuple[float, ...]] = {}
    step("compiling")
    try:
        for precision, kind in [("fp64", np.float64), ("fp32", np.float32)]:
            for cores, number in counts.items():
                step(f"{precision} arithmetic, {number} thread{'s' * (number > 1)}")
                numba.set_num_threads(number)
                samples[f"{precision}_{cores}"] = _arithmetic(kind, number)
        n = array_bytes // 8
        arrays = [np.empty(n) for _ in range(3)]
        for cores, number in reversed(counts.items()):
            step(f"memory bandwidth, {number} thread{'s' * (number > 1)}")
            numba.set_num_threads(number)
            samples[f"bandwidth_{cores}"] = _triad(arrays, number)
    finally:
        numba.set_num_threads(before)
    width, chains = shape()
    return samples, [
        f"triad: 3 arrays of {binary_bytes(n * 8)}, {TRIAD_BYTES} bytes an element counted; "
        "write-allocate traffic is not counted",
        f"arithmetic: {chains} chains of multiply-adds in {width}-bit registers, 2 FLOP each",
    ]


def _arithmetic(kind: type, threads: int) -> tuple[float, ...]:
    peak, now = peak_kernel(), system_clock().now
    out, m, k = np.ones(threads, kind), kind(0.5), kind(0.25)
    turns = 1000

    def once() -> float:
        start = now()
        peak(out, m, k, turns)
        return (now() - start) * system_clock().tick

    once()  # compiles
    while (took := once()) < RUN_SECONDS:
        turns = int(turns * min(10.0, 1.2 * RUN_SECONDS / max(took, 1e-6))) + 1
    work = flops_of(out.itemsize * 8, threads, turns)
    return tuple(work / once() for _ in range(RUNS))


def _triad(arrays: list[np.ndarray], threads: int) -> tuple[float, ...]:
    triad, now = triad_kernel(), system_clock().now
    a, b, c = arrays

    def once(x, y, z) -> float:
        start = now()
        triad(x, y, z, 3.0, threads)
        return (now() - start) * system_clock().tick

    # The first run of each touches its pages with the threads that will use them.
    for x in (a, b, c):
        once(x, x, x)
        x.fill(1.0)
    once(a, b, c)
    return tuple(TRIAD_BYTES * a.size / once(a, b, c) for _ in range(RUNS))
