"""The clock, its resolution, and how many calls make one sample.

A clock ticks in steps.  A call much shorter than a step cannot be timed alone,
so calls are repeated in an inner loop until one sample is far above the step.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from hetlab.errors import InvalidValue

__all__ = ["Clock", "calibrate", "system_clock"]

# A sample of a thousand steps is off by a thousandth at most; the second bound also drowns
# the cost of reading the clock (some tens of nanoseconds).
STEPS_A_SAMPLE = 1000
SHORTEST_SAMPLE = 1e-3


@dataclass(frozen=True)
class Clock:
    """A source of time.

    Attributes
    ----------
    name : str
        What it is.
    now : callable
        Seconds as a float, or an integer of ticks.
    tick : float
        Seconds of one unit of ``now``.
    resolution : float
        Seconds: the smallest step seen.
    """

    name: str
    now: Callable[[], float]
    tick: float
    resolution: float


_known: list[Clock] = []


def system_clock() -> Clock:
    """The finest clock of Python, with its resolution measured once: the smallest step seen."""
    if not _known:
        now = time.perf_counter_ns
        smallest = None
        end = now() + 10_000_000
        while (start := now()) < end:
            while (step := now() - start) == 0:
                pass
            smallest = step if smallest is None else min(smallest, step)
        _known.append(Clock("time.perf_counter_ns", now, 1e-9, (smallest or 1) * 1e-9))
    return _known[0]


def sample_goal(clock: Clock) -> float:
    """Seconds that one sample should last at least."""
    return max(STEPS_A_SAMPLE * clock.resolution, SHORTEST_SAMPLE)


def calibrate(sample: Callable[[int], float], clock: Clock, limit: int = 2**30) -> tuple[int, int]:
    """Find how many calls one sample needs; the calls made meanwhile warm the machine up.

    Parameters
    ----------
    sample : callable
        Takes a number of calls, makes them, returns the seconds they took.
    clock : Clock
        The clock that ``sample`` reads.
    limit : int
        Most calls a sample may hold.

    Returns
    -------
    loops, calls : int
        Calls a sample (a power of two), and calls made to find out.
    """
    goal, loops, calls = sample_goal(clock), 1, 0
    while True:
        took = sample(loops)
        calls += loops
        if took >= goal or loops >= limit:
            # The first samples are slow: believe the second of the same size.
            again = sample(loops)
            calls += loops
            if again >= 0.7 * goal or loops >= limit:
                return loops, calls
            took = again
        # Straight to the size that should do, but by a factor of 64 at most: the first
        # samples are slow, and a guess from them must not overshoot.
        grow = min(64.0, goal / took) if took > 0 else 64.0
        target = loops * max(grow, 1.001)
        while loops < target and loops < limit:
            loops *= 2


def count(name: str, value: object, least: int) -> int:
    """Check a whole number that must not be below ``least``."""
    import operator

    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        raise InvalidValue(name, f"a whole number of at least {least}", value)
    return number
