"""What a picture of measurements shows, as plain data; and the same as text."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hetlab.errors import InvalidValue
from hetlab.timing import Comparison, Measurement
from hetlab.timing.rate import percent, span
from hetlab.units import seconds

__all__ = ["Spread", "spread_of"]

_BARS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, repr=False)
class Spread:
    """Measurements side by side.

    Attributes
    ----------
    measurements : tuple of Measurement
        Rows of the picture.
    notes : tuple of str
        Verdicts and warnings to print below.
    """

    measurements: tuple[Measurement, ...]
    notes: tuple[str, ...]

    @property
    def whole(self) -> tuple[float, float]:
        """Seconds: from the fastest to the slowest sample of all."""
        every = [s for m in self.measurements for s in m.samples]
        return _padded(min(every), max(every))

    @property
    def focus(self) -> tuple[float, float]:
        """Seconds: the same without rare slow samples.

        A row ends three times the width of its middle half above the upper quartile (and never
        before its interval does), if its samples do not end before.
        """
        ends = []
        for m in self.measurements:
            ordered, n = sorted(m.samples), len(m.samples)
            low, high = ordered[n // 4], ordered[(3 * n) // 4]
            fence = high + 3 * (high - low) if n >= 4 else ordered[-1]
            upper = m.interval[1]
            ends.append(min(ordered[-1], max(fence, upper if math.isfinite(upper) else fence)))
        return _padded(min(m.fastest for m in self.measurements), max(ends))

    @property
    def logarithmic(self) -> bool:
        """Whether one linear axis would squeeze a row into nothing."""
        medians = [m.median for m in self.measurements]
        return min(m.fastest for m in self.measurements) > 0 and max(medians) > 8 * min(medians)

    def bins(self, m: Measurement, limits: tuple[float, float], number: int = 30) -> list[int]:
        """Samples a bin between the limits, in equal steps of the axis."""
        scale = math.log if self.logarithmic else float
        left, right = (scale(x) for x in limits)
        counts = [0] * number
        for s in m.samples:
            if limits[0] <= s <= limits[1]:
                at = (scale(s) - left) / (right - left)
                counts[min(number - 1, int(at * number))] += 1
        return counts

    def __repr__(self) -> str:
        limits = self.focus
        width = max(len(m.name) for m in self.measurements)
        ends = f"{seconds(limits[0])} to {seconds(limits[1])}"
        scale = ", logarithmic" if self.logarithmic else ""
        lines = [f"Samples from {ends}{scale}; time a call"]
        for m in self.measurements:
            counts = self.bins(m, limits)
            top = max(counts)
            bars = "".join(_BARS[-(-c * 8 // top)] if top else " " for c in counts)
            beyond = sum(s > limits[1] for s in m.samples)
            tail = f", {beyond} beyond" if beyond else ""
            inside = span(*m.interval, "s")
            lines.append(
                f"  {m.name:<{width}} |{bars}| {seconds(m.median)} "
                f"({inside}, {percent(m.confidence)}), {m.label}{tail}"
            )
        return "\n".join(lines + [f"  {note}" for note in self.notes])


def _padded(low: float, high: float) -> tuple[float, float]:
    pad = 0.04 * (high - low) or 0.05 * high or 1e-9
    return (max(low - pad, low / 2), high + pad)


def spread_of(what: object) -> Spread:
    """Collect what a picture of measurements shows.

    Parameters
    ----------
    what : Measurement, Comparison, or a list or tuple of Measurements
        Rows from top to bottom.

    Raises
    ------
    InvalidValue
        For anything else, or nothing.
    """
    if isinstance(what, Comparison):
        verdicts = [f"{r.name}: {r.verdict}" for r in what.ratios.values()]
        return Spread(tuple(what.measurements.values()), (*verdicts, *what.warnings))
    rows = (what,) if isinstance(what, Measurement) else what
    if (
        not isinstance(rows, (list, tuple))
        or not rows
        or not all(isinstance(m, Measurement) for m in rows)
    ):
        raise InvalidValue("measurements", "a Measurement, a Comparison, or a list of them", what)
    notes = [f"{m.name}: {text}" if len(rows) > 1 else text for m in rows for text in m.warnings]
    return Spread(tuple(rows), tuple(notes))
