"""A machine as it was measured: speeds, starts and links from samples, outliers or not.

A device's time is ``start + work / speed``, a link's ``latency + bytes / bandwidth``.  Both are
fitted with the median of the slopes of all pairs of samples (P. K. Sen, "Estimates of the
regression coefficient based on Kendall's tau", Journal of the American Statistical Association 63,
1968), which stays right while fewer than 29 % of the samples are wild.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from hetlab.errors import InvalidValue
from hetlab.sched.machine import Machine

__all__ = ["Line", "calibrated", "fit"]

# All pairs of so many samples are a million slopes; more samples are thinned out.
_MOST = 1500


@dataclass(frozen=True)
class Line:
    """``seconds = start + amount * pace``.

    Attributes
    ----------
    start : float
        Seconds at amount 0, at least 0.
    pace : float
        Seconds for each unit, at least 0.
    off : float
        Median distance of the samples from the line, as a share of the line.
    """

    start: float
    pace: float
    off: float

    def __call__(self, amount: float) -> float:
        """Seconds for an amount."""
        return self.start + amount * self.pace


def fit(samples: Iterable[tuple[float, float]], *, name: str = "samples") -> Line:
    """The line through samples of (amount, seconds), whatever a few of them say.

    Parameters
    ----------
    samples : iterable of pairs
        At least one; with equal amounts only, the whole time counts as pace.

    Raises
    ------
    InvalidValue
        For no samples, or negative or infinite ones.
    """
    points = np.array(list(samples), float)
    good = points.ndim == 2 and points.shape[1:] == (2,) and np.isfinite(points).all()
    if not good or (points < 0).any():
        raise InvalidValue(name, "pairs of an amount and seconds, at least 0", points.tolist()[:3])
    if len(points) > _MOST:
        points = points[:: math.ceil(len(points) / _MOST)]
    amount, seconds = points[:, 0], points[:, 1]
    first, second = np.triu_indices(len(points), 1)
    apart = amount[first] != amount[second]
    if not apart.any():
        middle, at = float(np.median(seconds)), float(amount[0])
        start, pace = (0.0, middle / at) if at else (middle, 0.0)
    else:
        first, second = first[apart], second[apart]
        slopes = (seconds[second] - seconds[first]) / (amount[second] - amount[first])
        pace = max(0.0, float(np.median(slopes)))
        start = max(0.0, float(np.median(seconds - amount * pace)))
    line = start + amount * pace
    off = float(np.median(np.abs(seconds - line) / np.maximum(line, 1e-300)))
    return Line(start, pace, off)


def calibrated(
    machine: Machine,
    work: Mapping[str, Mapping[str, Iterable[tuple[float, float]]]] = {},
    links: Mapping[tuple[str, str], Iterable[tuple[float, float]]] = {},
) -> Machine:
    """The same machine with what was measured in place of what was assumed.

    Parameters
    ----------
    machine : Machine
    work : mapping of device to kind of work to samples
        Samples are (units of work, seconds).
    links : mapping of (memory, memory) to samples
        Samples are (bytes, seconds).

    Returns
    -------
    Machine
        A device has one ``start``: the median over its kinds of work.
    """
    devices = []
    for device in machine.devices:
        lines = {
            kind: fit(samples, name=f"samples of {kind!r} on {device.name}")
            for kind, samples in work.get(device.name, {}).items()
        }
        for kind, line in lines.items():
            if line.pace == 0:
                rule = "longer for more work, so that there is a speed"
                raise InvalidValue(f"times of {kind!r} on {device.name}", rule, line)
        if lines:
            speeds = {**device.speeds, **{kind: 1 / line.pace for kind, line in lines.items()}}
            start = statistics.median(line.start for line in lines.values())
            device = replace(device, speeds=speeds, start=start)
        devices.append(device)
    wires = []
    for link in machine.links:
        samples = links.get((link.a, link.b), links.get((link.b, link.a)))
        if samples is not None:
            line = fit(samples, name=f"samples of the link {link.a} to {link.b}")
            width = 1 / line.pace if line.pace else math.inf
            link = replace(link, bandwidth=width, latency=line.start)
        wires.append(link)
    return machine.replace(devices=devices, links=wires)
