"""The peaks through compiled loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetlab.timing.clock import system_clock
from hetlab.timing.doubts import no_gain
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
    import numba

    before = numba.get_num_threads()
    counts = {"one": 1, "all": threads}
    runs: dict[str, tuple[int, Callable[[], float]]] = {}
    try:
        for precision, kind in [("fp64", np.float64), ("fp32", np.float32)]:
            step(f"compiling the {precision} arithmetic")
            for cores, number in counts.items():
                numba.set_num_threads(number)
                runs[f"{precision}_{cores}"] = number, _arithmetic(kind, number)
        n = array_bytes // 8
        step(f"3 arrays of {binary_bytes(n * 8)} for the bandwidth")
        arrays = [np.empty(n) for _ in range(3)]
        for cores, number in reversed(counts.items()):  # all threads touch the pages first
            numba.set_num_threads(number)
            runs[f"bandwidth_{cores}"] = number, _triad(arrays, number)
        # In turn: another program that runs for a moment then spoils a run of each, not all of one.
        samples: dict[str, list[float]] = {key: [] for key in runs}
        rounds = 0
        while rounds < RUNS or (threads > 1 and rounds < 3 * RUNS and no_gain(samples)):
            step(f"run {rounds + 1}")
            for key, (number, once) in runs.items():
                numba.set_num_threads(number)
                samples[key].append(once())
            rounds += 1
    finally:
        numba.set_num_threads(before)
    width, chains = shape()
    return {key: tuple(found) for key, found in samples.items()}, [
        f"triad: 3 arrays of {binary_bytes(n * 8)}, {TRIAD_BYTES} bytes an element counted; "
        "write-allocate traffic is not counted",
        f"arithmetic: {chains} chains of multiply-adds in {width}-bit registers, 2 FLOP each",
    ]


def _arithmetic(kind: type, threads: int) -> Callable[[], float]:
    """A function that runs the chains once and returns FLOP/s."""
    peak, clock = peak_kernel(), system_clock()
    out, m, k = np.ones(threads, kind), kind(0.5), kind(0.25)

    def seconds(turns: int) -> float:
        start = clock.now()
        peak(out, m, k, turns)
        return max((clock.now() - start) * clock.tick, 1e-9)

    turns = 1000
    seconds(turns)  # compiles
    # The best of three: one interrupted run must not pass for a long one.
    while (took := min(seconds(turns) for _ in range(3))) < RUN_SECONDS:
        turns = int(turns * min(10.0, 1.2 * RUN_SECONDS / took)) + 1
    work = flops_of(out.itemsize * 8, threads, turns)
    return lambda: work / seconds(turns)


def _triad(arrays: list[np.ndarray], threads: int) -> Callable[[], float]:
    """A function that runs the triad once and returns B/s."""
    triad, clock = triad_kernel(), system_clock()
    a, b, c = arrays

    def seconds(x, y, z) -> float:
        start = clock.now()
        triad(x, y, z, 3.0, threads)
        return max((clock.now() - start) * clock.tick, 1e-9)

    # A page belongs to the memory of the thread that touches it first.
    for x in (a, b, c):
        seconds(x, x, x)
        x.fill(1.0)
    seconds(a, b, c)
    return lambda: TRIAD_BYTES * a.size / seconds(a, b, c)
