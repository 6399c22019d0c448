"""Data of which every figure is known: no clock is read."""

import random

from hetlab.timing import Calibration, Comparison, Measurement, Peaks, Rate, machine

TAKEN = "2026-01-01T00:00:00+00:00"


def measurement(name="numba", level=1e-3, seed=1, n=60, spread=0.02, outliers=0):
    draw = random.Random(seed)
    samples = [level * (1 + spread * abs(draw.gauss(0, 1))) for _ in range(n)]
    for i in range(outliers):
        samples[i * 7 % n] = level * 4
    how = Calibration(1, 10, "hand", 1e-9)
    return Measurement(name, tuple(samples), 0.99, 0.4, 0.39, how, machine(), TAKEN)


def comparison():
    rows = [("numpy", 1.4e-3), ("numba", 1.0e-3), ("numba, parallel", 0.6e-3), ("再测", 1.4e-3)]
    inside = {
        name: measurement(name, level, seed, outliers=2 * (seed == 2))
        for seed, (name, level) in enumerate(rows)
    }
    return Comparison(inside, "numpy", "they agree within rounding", 7)


def peaks():
    samples = {
        "bandwidth_one": (20e9, 19e9, 18e9),
        "bandwidth_all": (40e9, 39e9, 38e9),
        "fp64_one": (50e9, 50e9, 49e9),
        "fp64_all": (200e9, 190e9, 180e9),
        "fp32_one": (100e9, 100e9, 99e9),
        "fp32_all": (400e9, 390e9, 380e9),
    }
    return Peaks(samples, 4, "Numba", ("a note <b>",), machine(), TAKEN)


def points():
    return {
        "saxpy, one thread": (1 / 12, Rate(1.5e9, 1.4e9, 1.6e9, "FLOP/s", "99 % interval")),
        "saxpy, parallel": (1 / 12, 3.1e9),
        "stencil": (0.5, 9e9),
        "matmul, naive": (0.25, 2e9),
        "matmul, blocked": (8.0, 60e9),
        "matmul, BLAS": (42.7, 170e9),
    }
