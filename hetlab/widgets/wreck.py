"""A benchmark to wreck: two programs timed in four ways, and what each choice of samples says.

The question: how many times faster is a compiled loop than NumPy at adding up the absolute steps of
a series?  Its samples are taken once, here.  The switches only choose among them.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean, median

from hetlab.errors import optional
from hetlab.timing.clock import Clock, system_clock
from hetlab.timing.comparison import Ratio
from hetlab.timing.sampling import Subject, quiet
from hetlab.timing.stats import median_interval
from hetlab.units import ratio

__all__ = ["FEW", "ROUNDS", "SWITCHES", "WARM", "Conclusion", "Wreck", "measure_wreck", "set_aside"]

OLD, NEW = "NumPy", "compiled"
# Rounds that a careful report rests on, rounds before them, and rounds of a hasty report.
ROUNDS, WARM, FEW = 40, 5, 3
CONFIDENCE = 0.99
# The series stays in a cache near the core; walking over EVICT bytes pushes it out of the near
# caches (of a large shared one perhaps only in part).
LENGTH, EVICT = 32_000, 48_000_000

SWITCHES = {
    "no_warmup": "no warm-up: the first call counts",
    "dropped": "nobody uses the result (dead-code elimination)",
    "cold": "cold cache: other data come in between",
    "few": f"too few runs: {FEW} instead of {ROUNDS}",
}


@dataclass(frozen=True)
class Conclusion:
    """What one choice of samples says.

    Attributes
    ----------
    samples : dict of str to tuple of float
        Seconds, by program: the samples that were chosen.
    quick : float
        What a hasty report says: mean of the old program over mean of the new one.
    ratio : Ratio
        What the rounds allow: the median of the ratios and its interval.
    """

    samples: dict[str, tuple[float, ...]]
    quick: float
    ratio: Ratio

    @property
    def claim(self) -> str:
        """The hasty report in words."""
        turned = max(self.quick, 1 / self.quick)
        return f"{NEW} is {ratio(turned)} {'faster' if self.quick >= 1 else 'slower'}"


@dataclass(frozen=True, repr=False)
class Wreck:
    """All samples, in the order they were taken.

    Attributes
    ----------
    series : dict of (bool, bool) to dict of str to tuple of float
        Seconds, by (dropped, cold) and by program.  The first of each is a very first call, with
        compilation; there are ``WARM + ROUNDS`` of each.
    machine : str
        Where.
    label : str
        "measured".
    """

    series: Mapping[tuple[bool, bool], Mapping[str, tuple[float, ...]]]
    machine: str
    label: str = "measured"

    def conclude(
        self,
        *,
        no_warmup: bool = False,
        dropped: bool = False,
        cold: bool = False,
        few: bool = False,
        start: int = 0,
    ) -> Conclusion:
        """What the chosen samples say.

        Parameters
        ----------
        no_warmup, dropped, cold, few : bool
            The switches.
        start : int
            With ``few``: which rounds, from 0 to ``ROUNDS - FEW``.
        """
        begin = (0 if no_warmup else WARM) + (start if few else 0)
        count = FEW if few else ROUNDS
        chosen = {
            name: tuple(taken[begin : begin + count])
            for name, taken in self.series[dropped, cold].items()
        }
        old, new = chosen[OLD], chosen[NEW]
        # A clock that did not tick between two readings: count its nanosecond.
        logs = [math.log(max(a, 1e-9) / max(b, 1e-9)) for a, b in zip(old, new)]
        low, high = median_interval(logs, CONFIDENCE)
        ends = (math.exp(low), math.exp(high)) if math.isfinite(high) else (0.0, math.inf)
        found = Ratio(NEW, OLD, math.exp(median(logs)), *ends, CONFIDENCE, len(logs), self.label)
        return Conclusion(chosen, max(fmean(old), 1e-9) / max(fmean(new), 1e-9), found)

    def __repr__(self) -> str:
        lines = [f"Wreck a benchmark: {NEW} against {OLD}, {self.label}"]
        for name, switches in self.shown.items():
            found = self.conclude(**switches)
            lines.append(f"  {name:<14} report: {found.claim:<27} rounds: {found.ratio.verdict}")
        lines.append("  report: ratio of the means; rounds: median of the ratios, 99 % interval")
        return "\n".join([*lines, f"  machine: {self.machine}"])

    @property
    def shown(self) -> dict[str, dict[str, bool]]:
        """The choices that a picture without switches shows, by name."""
        short = ("no warm-up", "result unused", "cold cache", "too few runs")
        one = {name: {switch: True} for name, switch in zip(short, SWITCHES)}
        return {"careful": {}, **one, "all four": dict.fromkeys(SWITCHES, True)}

    @property
    def limits(self) -> tuple[float, float]:
        """Seconds: the fastest and the slowest sample of all."""
        every = [s for one in self.series.values() for taken in one.values() for s in taken]
        return max(min(every), 1e-9), max(every)

    @property
    def ratio_limits(self) -> tuple[float, float]:
        """The smallest and the largest ratio that any choice can say."""
        found = []
        for values in itertools.product((False, True), repeat=len(SWITCHES)):
            switches = dict(zip(SWITCHES, values))
            for start in range(ROUNDS - FEW + 1 if switches["few"] else 1):
                told = self.conclude(**switches, start=start)
                found += [told.quick, told.ratio.value]
                if math.isfinite(told.ratio.high):
                    found += [told.ratio.low, told.ratio.high]
        return min(1.0, *found), max(1.0, *found)


def set_aside(rounds: int) -> int:
    """The interval goes from the k-th smallest to the k-th largest ratio; 0: there is none."""
    low, _ = median_interval(range(1, rounds + 1), CONFIDENCE)
    return int(low) if math.isfinite(low) else 0


def measure_wreck(*, clock: Clock | None = None, seed: int = 2) -> Wreck:
    """Take all samples; some seconds, most of them compilation.

    Parameters
    ----------
    clock : Clock, optional
        Another clock, for tests.
    seed : int
        Of the series, and of the order within the rounds.

    Raises
    ------
    MissingLibrary
        Without NumPy or Numba.
    """
    optional("numba", "lab", "wreck a benchmark")
    import numpy as np

    from hetlab.timing import machine

    draw = np.random.default_rng(seed)
    prices = draw.integers(0, 1000, LENGTH)
    other = np.zeros(EVICT // 8)
    clock, order = clock or system_clock(), random.Random(seed)
    series = {}
    with quiet():
        for dropped, cold in itertools.product((False, True), repeat=2):
            between = (lambda: np.add(other, 1, out=other)) if cold else (lambda: None)
            pair = programs(dropped)
            subjects = [Subject(n, f, (prices,), None, None, clock) for n, f in pair.items()]
            series[dropped, cold] = take(subjects, between, order)
    return Wreck(series, machine().line)


def programs(dropped: bool) -> dict[str, Callable]:
    """NumPy, and a loop compiled anew, so that its first call compiles."""
    import numba
    import numpy as np

    def in_numpy(prices):
        return np.abs(np.diff(prices)).sum()

    def used(prices):
        total = 0
        for i in range(1, prices.size):
            total += abs(prices[i] - prices[i - 1])
        return total

    def unused(prices):
        total = 0
        for i in range(1, prices.size):
            total += abs(prices[i] - prices[i - 1])
        # No return: the compiler may see that nobody needs the total.

    return {OLD: in_numpy, NEW: numba.njit(unused if dropped else used)}


def take(subjects: list, between: Callable, order: random.Random) -> dict[str, tuple[float, ...]]:
    """Time the subjects in turn, one call a sample, in an order drawn anew in each round."""
    samples: dict[str, list[float]] = {s.name: [] for s in subjects}
    for _ in range(WARM + ROUNDS):
        for subject in order.sample(subjects, len(subjects)):
            between()
            samples[subject.name].append(subject.once(subject.inputs())[0])
    return {name: tuple(taken) for name, taken in samples.items()}
