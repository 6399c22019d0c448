"""When the figures of a peak are to be doubted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["no_gain", "unsteady"]


def unsteady(samples: Mapping[str, Sequence[float]]) -> list[str]:
    """Keys whose median run is below 80 % of the best one."""
    from hetlab.timing.stats import median

    return [key for key, runs in samples.items() if runs and median(runs) < 0.8 * max(runs)]


def no_gain(samples: Mapping[str, Sequence[float]]) -> list[str]:
    """Kinds of arithmetic in which all threads are hardly faster than one.

    Arithmetic in registers shares nothing between cores, so another program had a core.  (Two
    hardware threads of one core do share it; there it is the truth.)
    """
    found = []
    for kind in ("fp64", "fp32"):
        one, every = samples.get(f"{kind}_one"), samples.get(f"{kind}_all")
        if one and every and max(every) < 1.2 * max(one):
            found.append(kind)
    return found
