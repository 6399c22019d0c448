"""A comparison: candidates timed in turn, and ratios that say when no difference was seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from hetlab.errors import HetlabError, InvalidValue, UnknownName
from hetlab.timing import record
from hetlab.timing.measurement import Measurement
from hetlab.timing.rate import percent
from hetlab.timing.stats import fewest, median, median_interval
from hetlab.units import ratio, seconds

__all__ = ["Comparison", "Ratio"]


@dataclass(frozen=True, repr=False)
class Ratio:
    """Duration of the baseline over that of a candidate: above 1 the candidate is faster.

    Attributes
    ----------
    name, baseline : str
        The two candidates.
    value : float
        Median over the rounds of (baseline's seconds / candidate's seconds).
    low, high : float
        Its interval; ``0`` and ``inf`` with too few rounds.
    confidence : float
        Of the interval.
    rounds : int
        How many pairs it rests on.
    label : str
        "measured" here, "recorded" elsewhere.
    """

    name: str
    baseline: str
    value: float
    low: float
    high: float
    confidence: float
    rounds: int
    label: str = "measured"

    @property
    def different(self) -> bool:
        """Whether the interval leaves out 1."""
        return not self.low <= 1 <= self.high

    @property
    def verdict(self) -> str:
        """The finding in words."""
        if not math.isfinite(self.high):
            need = fewest(self.confidence)
            return f"too few rounds to tell: {self.rounds}, at least {need} are needed"
        if not self.different:
            return f"no difference seen ({_range(self.low, self.high)})"
        if self.value >= 1:
            return f"{ratio(self.value)} faster ({_range(self.low, self.high)})"
        turned = 1 / self.value
        return f"{ratio(turned)} slower ({_range(1 / self.high, 1 / self.low)})"

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return (
            f"{self.name} against {self.baseline}: {self.verdict}, "
            f"{percent(self.confidence)} interval, {self.rounds} rounds"
        )


def _range(low: float, high: float) -> str:
    """Two ratios; as many digits as it takes to tell them apart from 1."""
    digits = 2
    while digits < 5 and any(x != 1 and round(x, digits) == 1 for x in (low, high)):
        digits += 1
    if digits > 2:
        return f"{low:.{digits}f}x to {high:.{digits}f}x"
    return f"{ratio(low)} to {ratio(high)}"


@dataclass(frozen=True, repr=False)
class Comparison:
    """Several candidates, timed in turn.

    Attributes
    ----------
    measurements : dict of str to Measurement
        By candidate; sample i of each was taken in round i.
    baseline : str
        What the others are compared with.
    agreement : str
        Whether the results were compared, and how.
    seed : int
        Of the order within the rounds.
    """

    measurements: dict[str, Measurement]
    baseline: str
    agreement: str
    seed: int

    def __post_init__(self) -> None:
        if self.baseline not in self.measurements:
            raise UnknownName("candidate", self.baseline, self.measurements)
        first = self.measurements[self.baseline]
        for name, other in self.measurements.items():
            why = first.machine.difference(other.machine)
            if not why and len(other.samples) != len(first.samples):
                why = "they do not hold the same number of rounds"
            if why:
                raise HetlabError(
                    f"{self.baseline} and {name} cannot be compared: {why}",
                    do="Time both with hetlab.compare on one machine.",
                )

    def __getitem__(self, name: str) -> Measurement:
        if name not in self.measurements:
            raise UnknownName("candidate", name, self.measurements)
        return self.measurements[name]

    def __iter__(self):
        return iter(self.measurements)

    def __len__(self) -> int:
        return len(self.measurements)

    @property
    def confidence(self) -> float:
        """Of each interval."""
        return self.measurements[self.baseline].confidence

    @property
    def rounds(self) -> int:
        """How often each candidate was timed."""
        return len(self.measurements[self.baseline].samples)

    @property
    def fastest(self) -> str:
        """The candidate with the smallest median (whether that means anything: see the ratios)."""
        return min(self.measurements, key=lambda name: self.measurements[name].median)

    @property
    def label(self) -> str:
        """ "measured" here, "recorded" elsewhere."""
        return self.measurements[self.baseline].label

    @property
    def machine(self):
        """Where."""
        return self.measurements[self.baseline].machine

    def speedup(self, name: str, over: str | None = None) -> Ratio:
        """How many times faster a candidate is.

        Parameters
        ----------
        name : str
            The candidate.
        over : str, optional
            What it is compared with; the baseline otherwise.

        Returns
        -------
        Ratio
            Median and interval of the ratios within the rounds (see `hetlab.timing.stats` for why
            that interval holds however the machine drifts).

        Raises
        ------
        UnknownName
            For a name that is not a candidate.
        """
        over = self.baseline if over is None else over
        ours, theirs = self[name].samples, self[over].samples
        # A duration of 0 (a clock that did not tick) counts as the smallest positive number:
        # it keeps its sign against the other and ties with another 0.
        tiny = math.ulp(0.0)
        logs = [math.log(max(b, tiny)) - math.log(max(a, tiny)) for a, b in zip(ours, theirs)]
        low, high = median_interval(logs, self.confidence)
        bounds = (math.exp(low), math.exp(high)) if math.isfinite(high) else (0.0, math.inf)
        value = math.exp(median(logs))
        return Ratio(name, over, value, *bounds, self.confidence, len(logs), self.label)

    @property
    def ratios(self) -> dict[str, Ratio]:
        """Every candidate but the baseline, against the baseline."""
        return {name: self.speedup(name) for name in self.measurements if name != self.baseline}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt it.  Drift and noise are left out: timing in turn takes care of them."""
        found = []
        for name, measured in self.measurements.items():
            doubts = [w for w in measured.warnings if w.startswith(("too short", "compiled"))]
            found += [f"{name}: {text}" for text in doubts]
        return tuple(found)

    def merge(self, other: Comparison) -> Comparison:
        """The rounds of both, of the same candidates on the same machine.

        Raises
        ------
        HetlabError
            When machines, versions, candidates or calls a sample differ.
        """
        if set(self) != set(other) or self.baseline != other.baseline:
            raise HetlabError(
                f"these comparisons cannot be merged: one holds {', '.join(self)} (baseline "
                f"{self.baseline}), the other {', '.join(other)} (baseline {other.baseline})",
                do="Keep them apart.",
            )
        both = {name: self[name].merge(other[name]) for name in self}
        return replace(self, measurements=both)

    def to_json(self) -> str:
        """Everything as JSON text, for `from_json`."""
        return record.dump("comparison", self.to_dict())

    def to_dict(self) -> dict:
        """Plain data: lists, dicts, strings and numbers."""
        inside = {name: m.to_dict() for name, m in self.measurements.items()}
        return {
            "measurements": inside,
            "baseline": self.baseline,
            "agreement": self.agreement,
            "seed": self.seed,
        }

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """Read what `to_json` wrote.  Raises InvalidValue for anything else."""
        data = record.load("comparison", text)
        names = ("measurements", "baseline", "agreement", "seed")
        inside, baseline, agreement, seed = record.fields("comparison", data, names)
        if not isinstance(inside, dict):
            raise InvalidValue("measurements", "a table of candidates", inside)
        read = {name: Measurement.from_dict(m) for name, m in inside.items()}
        return cls(read, baseline, agreement, seed)

    def __repr__(self) -> str:
        width = max(map(len, self.measurements))
        medians = {name: seconds(m.median) for name, m in self.measurements.items()}
        wide = max(map(len, medians.values()))
        verdicts = {name: r.verdict for name, r in self.ratios.items()} | {
            self.baseline: "the baseline"
        }
        lines = [
            f"{len(self)} candidates timed in turn, {self.rounds} rounds; time a call, {self.label}"
        ]
        lines += [
            f"  {name:<{width}}  {medians[name]:>{wide}}  {verdicts[name]}"
            for name in self.measurements
        ]
        lines += [
            f"  ratios: median over the rounds and its {percent(self.confidence)} interval; "
            "order drawn anew in each round",
            f"  results: {self.agreement}",
            f"  machine: {self.machine.line}",
        ]
        return "\n".join(lines + [f"  ! {text}" for text in self.warnings])
