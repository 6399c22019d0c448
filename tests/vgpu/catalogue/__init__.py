"""Faulty GPU kernels with their corrected twins, and correct ones that look faulty."""

from __future__ import annotations

from . import (  # noqa: F401  each module adds its entries
    clean_kernels,
    clean_kernels_cpp,
    clean_patterns,
    deadlock,
    divergent_barrier,
    divergent_barrier_cpp,
    misaligned,
    out_of_bounds,
    out_of_bounds_cpp,
    race_global,
    race_global_cpp,
    race_shared,
    race_shared_cpp,
    race_shared_loops,
    shapes,
    uninitialised,
    uninitialised_cpp,
    warned,
)
from .entry import CLEAN, FAULTY, Entry

__all__ = ["CLEAN", "FAULTY", "Entry"]
