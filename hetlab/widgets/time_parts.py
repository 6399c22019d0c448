"""Where the time of one measurement went, as plain data; and the same as text."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hetlab.errors import InvalidValue
from hetlab.timing import Measurement
from hetlab.units import seconds

__all__ = ["Part", "TimeParts", "time_parts"]


@dataclass(frozen=True)
class Part:
    """One piece of the time.

    Attributes
    ----------
    name : str
        Short, for a label.
    seconds : float
        How long.
    says : str
        What it is, as a sentence without its full stop.
    """

    name: str
    seconds: float
    says: str


@dataclass(frozen=True, repr=False)
class TimeParts:
    """One measurement taken apart.

    Attributes
    ----------
    name : str
        What was measured.
    parts : tuple of Part
        In the order of time; noise, which is spread over the runs, comes last.
    once : float
        Seconds that the first call took beyond a later one: what is paid once.
    each : float
        Seconds of a later call (the median).
    label : str
        "measured" here, "recorded" elsewhere.
    """

    name: str
    parts: tuple[Part, ...]
    once: float
    each: float
    label: str

    @property
    def total(self) -> float:
        """Seconds of all parts."""
        return sum(part.seconds for part in self.parts)

    @property
    def even(self) -> int:
        """Calls whose time together reaches what was paid once; 1 when nothing was."""
        return max(1, math.ceil(self.once / self.each)) if self.each > 0 else 1

    def program(self, calls: int) -> tuple[float, float]:
        """Seconds paid once, and seconds of the calls, in a program that makes ``calls`` of them.

        Modelled: ``once + calls * each``.
        """
        return self.once, calls * self.each

    def __repr__(self) -> str:
        wide = max(len(part.name) for part in self.parts)
        lines = [f"Where the time went: {self.name}, {seconds(self.total)} in all, {self.label}"]
        for part in self.parts:
            share = part.seconds / self.total if self.total else 0.0
            lines.append(
                f"  {part.name:<{wide}}  {seconds(part.seconds):>8}  {share:>4.0%}  {part.says}"
            )
        lines.append(f"  {self.advice}")
        return "\n".join(lines)

    @property
    def advice(self) -> str:
        """From how many calls on the cost of the first one is small."""
        if self.even < 2:
            return "The first call took hardly longer than a later one."
        return (
            f"In a program (modelled): what the first call cost beyond a later one, "
            f"{seconds(self.once)}, is as much as {self.even:,} calls take."
        )


def time_parts(m: Measurement) -> TimeParts:
    """Take one measurement apart.

    Parameters
    ----------
    m : Measurement
        From `hetlab.measure`.

    Returns
    -------
    TimeParts
        Compilation, the rest of the first call and the samples are measured.  Warm-up calls are
        counted, not timed one by one, so their time is calls times median.

    Raises
    ------
    InvalidValue
        For anything else.
    """
    if not isinstance(m, Measurement):
        raise InvalidValue(
            "measurement", "one Measurement", m, do="Make one with hetlab.measure(function, ...)."
        )
    n, loops, fastest = len(m.samples), m.calibration.loops, m.fastest
    compiling = min(m.compile, m.first_call)
    warm = max(0, m.calibration.warmup_calls - 1)
    runs = n * loops * fastest
    noise = max(0.0, sum(m.samples) * loops - runs)
    parts = [
        Part("compiling", compiling, "once, during the first call"),
        Part("first call", m.first_call - compiling, "the rest of the very first call"),
        Part("warm-up", warm * m.median, f"about: {warm:,} calls times the median"),
        Part("runs", runs, f"{n} samples of {loops:,} call{'s' * (loops > 1)} at the fastest pace"),
        Part("noise", noise, "what the samples took beyond the fastest pace"),
    ]
    kept = tuple(part for part in parts if part.seconds > 0) or tuple(parts[3:4])
    once = max(0.0, m.first_call - m.median)
    return TimeParts(m.name, kept, once, m.median, m.label)
