"""A measurement: all its samples, and everything needed to judge them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace

from hetlab.errors import HetlabError, InvalidValue
from hetlab.timing import record
from hetlab.timing.rate import Rate, percent, span
from hetlab.timing.stamp import Machine, machine
from hetlab.timing.stats import (
    drift,
    fewest,
    median,
    median_interval,
    quartile_spread,
    two_modes,
)
from hetlab.units import seconds

__all__ = ["Calibration", "Measurement"]


@dataclass(frozen=True)
class Calibration:
    """How samples were taken.

    Attributes
    ----------
    loops : int
        Calls a sample.
    warmup_calls : int
        Calls made before the first sample, the first call included.
    clock : str
        Name of the clock.
    resolution : float
        Seconds: the clock's smallest step.
    fresh_inputs : bool
        Whether a setup made new inputs for each call.
    compiled_late : float
        Seconds of just-in-time compilation that fell into the samples.
    """

    loops: int
    warmup_calls: int
    clock: str
    resolution: float
    fresh_inputs: bool = False
    compiled_late: float = 0.0


@dataclass(frozen=True, repr=False)
class Measurement:
    """Durations of one function's calls.

    Attributes
    ----------
    name : str
        What was measured.
    samples : tuple of float
        Seconds a call, one entry a sample, in the order they were taken.
    confidence : float
        Of the interval of the median.
    first_call : float
        Seconds of the very first call, which is not among the samples.
    compile : float
        Seconds of it that Numba spent compiling (0 when nothing was compiled).
    calibration : Calibration
        Calls a sample, warm-up, clock.
    machine : Machine
        Where.
    taken : str
        When: ISO 8601, UTC.
    unit : str
        Always "s": seconds a call.
    """

    name: str
    samples: tuple[float, ...]
    confidence: float
    first_call: float
    compile: float
    calibration: Calibration
    machine: Machine
    taken: str
    unit: str = "s"

    def __post_init__(self) -> None:
        if not self.samples or not all(
            isinstance(s, (int, float)) and math.isfinite(s) and s >= 0 for s in self.samples
        ):
            raise InvalidValue("samples", "one or more durations in seconds", self.samples)

    @property
    def median(self) -> float:
        """Seconds: half of the samples were faster, half slower."""
        return float(median(self.samples))

    @property
    def interval(self) -> tuple[float, float]:
        """Seconds: confidence interval of the median, by order statistics.

        It supposes independent samples.  Drift makes it too narrow (a warning says so);
        to tell two programs apart use `compare`, which does not suppose that.
        """
        return median_interval(self.samples, self.confidence)

    @property
    def fastest(self) -> float:
        """Seconds: the smallest sample."""
        return min(self.samples)

    @property
    def label(self) -> str:
        """ "measured" when taken on this machine, "recorded" when taken elsewhere."""
        here = machine().fingerprint == self.machine.fingerprint
        return "measured" if here else "recorded"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the samples, each a sentence; empty when none was found."""
        found = []
        cal, n = self.calibration, len(self.samples)
        length = self.median * cal.loops
        if length < 100 * cal.resolution:
            found.append(
                f"too short for the clock: a sample lasts {seconds(length)} and the clock steps "
                f"by {seconds(cal.resolution)}; give the function more work, or pass loops="
            )
        if n < fewest(self.confidence):
            found.append(
                f"too few samples: {n}, and an interval at {percent(self.confidence)} needs "
                f"{fewest(self.confidence)}"
            )
        modes = two_modes(self.samples)
        moved = drift(self.samples)
        if modes:
            low, high, share = modes
            found.append(
                f"two levels: {seconds(low)} and {seconds(high)} ({share:.0%} of the samples); "
                "look for a cache that fits or not, two kinds of core, or another program"
            )
        if moved > 0:
            found.append(
                f"slowing down: the last third is {moved:.0%} slower than the first; the processor "
                "may be throttled by heat, or another program started"
            )
        elif moved < 0:
            found.append(
                f"still warming up: the last third is {-moved:.0%} faster than the first; "
                "pass a longer warmup="
            )
        spread = quartile_spread(self.samples)
        if spread > 0.15 and not modes and not moved:
            found.append(
                f"noisy: the middle half of the samples spreads over {spread:.0%} of the median; "
                "close other programs, or take more samples"
            )
        if cal.compiled_late > 0:
            found.append(
                f"compiled while timed: {seconds(cal.compiled_late)} of compilation fell into the "
                "samples; do the inputs change their type?"
            )
        return tuple(found)

    def rate(self, amount: float, unit: str) -> Rate:
        """Work a second, from the work of one call.

        Parameters
        ----------
        amount : float
            Bytes, floating-point operations or elements that one call handles.
        unit : str
            Unit of the result: "B/s", "FLOP/s".

        Returns
        -------
        Rate
            With the interval of the median turned over.
        """
        if not isinstance(amount, (int, float)) or not amount > 0:
            raise InvalidValue("amount", "a positive number of units of work", amount)
        if self.median == 0:
            raise InvalidValue("median", "longer than the clock's step", self.median)
        low, high = self.interval
        return Rate(
            amount / self.median,
            amount / high if math.isfinite(high) else -math.inf,
            amount / low if low > 0 else math.inf,
            unit,
            f"{percent(self.confidence)} interval",
            self.label,
        )

    def merge(self, other: Measurement) -> Measurement:
        """One measurement with the samples of both, of the same thing on the same machine.

        Raises
        ------
        HetlabError
            When machines, versions, names or calls a sample differ.
        """
        why = self.machine.difference(other.machine)
        if self.name != other.name:
            why = f"they measure different things: {self.name!r} and {other.name!r}"
        elif not why and self.calibration.loops != other.calibration.loops:
            why = (
                f"their samples hold different numbers of calls: {self.calibration.loops} and "
                f"{other.calibration.loops}"
            )
        if why:
            raise HetlabError(
                f"these measurements cannot be merged: {why}",
                do="Keep them apart, or take both again here.",
            )
        return replace(self, samples=self.samples + other.samples)

    def to_json(self) -> str:
        """Everything as JSON text, for `from_json`."""
        return record.dump("measurement", self.to_dict())

    def to_dict(self) -> dict:
        """Plain data: lists, dicts, strings and numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, text: str) -> Measurement:
        """Read what `to_json` wrote.  Raises InvalidValue for anything else."""
        return cls.from_dict(record.load("measurement", text))

    @classmethod
    def from_dict(cls, data: dict) -> Measurement:
        """Read what `to_dict` gave.  Raises InvalidValue for anything else."""
        names = ("name", "samples", "confidence", "first_call", "compile", "calibration")
        values = record.fields("measurement", data, (*names, "machine", "taken"))
        name, samples, confidence, first, compiled, calibration, stamp, taken = values
        try:
            how = Calibration(**calibration)
            taken_samples = tuple(samples)
        except TypeError as error:
            raise InvalidValue("the JSON of a measurement", "complete", data) from error
        where = Machine.from_dict(stamp)
        return cls(name, taken_samples, confidence, first, compiled, how, where, taken)

    def __repr__(self) -> str:
        n, loops = len(self.samples), self.calibration.loops
        low, high = self.interval
        interval = (
            f"{span(low, high, 's')}, {percent(self.confidence)} interval"
            if math.isfinite(high)
            else "no interval"
        )
        lines = [
            f"{self.name}: {seconds(self.median)} a call ({interval}), {self.label}",
            f"  samples     {n} of {loops} call{'s' * (loops > 1)} each; "
            f"fastest {seconds(self.fastest)}, slowest {seconds(max(self.samples))}",
            f"  first call  {seconds(self.first_call)}"
            + (f", of it {seconds(self.compile)} compiling" if self.compile else "")
            + " (kept apart)",
            f"  machine     {self.machine.line}",
        ]
        if self.label == "recorded":
            lines.append(f"  taken       {self.taken}")
        return "\n".join(lines + [f"  ! {text}" for text in self.warnings])
