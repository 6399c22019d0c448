"""`reveal`: a learner's prediction beside the measurement.

A prediction is for thinking, never for points: the text is kind and says how far and which way.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

from hetlab.errors import InvalidValue
from hetlab.timing.comparison import Ratio
from hetlab.timing.measurement import Measurement
from hetlab.timing.rate import Rate

__all__ = ["Reveal", "reveal"]

_PREFIX = {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1.0}
_PREFIX |= {"m": 1e-3, "µ": 1e-6, "μ": 1e-6, "u": 1e-6, "n": 1e-9, "p": 1e-12}


@dataclass(frozen=True, repr=False)
class Reveal:
    """A prediction and what was found.

    Attributes
    ----------
    guess : float or None
        The prediction in ``unit``; None when there is none yet.
    actual : float
        What was found, in ``unit``.
    low, high : float or None
        Its interval in ``unit``, when it has one.
    unit : str
        Of all four.
    label : str
        "measured", "recorded", or "" for a plain number.
    says : str
        A sentence about the two.
    """

    guess: float | None
    actual: float
    low: float | None
    high: float | None
    unit: str
    label: str
    says: str

    @property
    def ratio(self) -> float:
        """Prediction over finding; NaN without a prediction or with a finding of 0."""
        if self.guess is None or self.actual == 0:
            return math.nan
        return self.guess / self.actual

    @property
    def found(self) -> str:
        """The finding as text."""
        text = _show(self.actual, self.unit)
        if self.low is not None and self.high is not None:
            text += f"  ({_number(self.low)} to {_show(self.high, self.unit)})"
        return text

    def __repr__(self) -> str:
        guess = "none yet" if self.guess is None else _show(self.guess, self.unit)
        return (
            f"your prediction  {guess}\n{self.label or 'the answer':<15}  {self.found}\n{self.says}"
        )


def reveal(guess: object, actual: object, unit: str = "") -> Reveal:
    """Put a learner's prediction beside the measurement.  Nothing is scored.

    Parameters
    ----------
    guess : float or None
        The prediction in ``unit``.  None, or something that is no number, is answered with a
        sentence, so that a notebook with blank predictions still runs.
    actual : float, Measurement, Rate or Ratio
        What was found.  A Measurement counts with its median, and its interval is shown.
    unit : str
        Of ``guess``, and of ``actual`` when that is a plain number: "ms", "GB/s", "x".

    Returns
    -------
    Reveal
        Its text is the answer.

    Raises
    ------
    InvalidValue
        When ``actual`` is no finding, or ``unit`` is not one of its kind.

    Examples
    --------
    >>> reveal(None, 4.0, "ms")
    your prediction  none yet
    the answer       4.00 ms
    No prediction yet: write a number of ms and run the cell again.
    """
    value, low, high, label = _finding(actual, unit)
    if guess is None:
        of = f" of {unit}" if unit else ""
        says = f"No prediction yet: write a number{of} and run the cell again."
        return Reveal(None, value, low, high, unit, label, says)
    number = _as_number(guess)
    if number is None:
        text = repr(guess)
        text = text if len(text) <= 40 else text[:37] + "..."
        says = f"Your prediction {text} is not a number; write one"
        says += f" in {unit}, without quotes." if unit else ", without quotes."
        return Reveal(None, value, low, high, unit, label, says)
    return Reveal(number, value, low, high, unit, label, _sentence(number, value, low, high))


def _as_number(guess: object) -> float | None:
    if isinstance(guess, bool) or not isinstance(guess, numbers.Real):
        return None
    return float(guess) if math.isfinite(guess) else None


def _finding(actual: object, unit: str) -> tuple[float, float | None, float | None, str]:
    if isinstance(actual, Measurement):
        scale, (low, high) = _scale(unit, "s"), actual.interval
        return actual.median / scale, *_ends(low / scale, high / scale), actual.label
    if isinstance(actual, Rate):
        scale = _scale(unit, actual.unit)
        return actual.value / scale, *_ends(actual.low / scale, actual.high / scale), actual.label
    if isinstance(actual, Ratio):
        if unit not in {"x", "", "times"}:
            raise InvalidValue("unit", '"x" for a ratio', unit)
        return actual.value, *_ends(actual.low, actual.high), actual.label
    number = _as_number(actual)
    if number is None:
        raise InvalidValue(
            "actual",
            "a finite number, a Measurement, a Rate or a Ratio",
            actual,
            do='Of a comparison take one ratio: comparison.speedup("name").',
        )
    return number, None, None, ""


def _ends(low: float, high: float) -> tuple[float | None, float | None]:
    return (low, high) if math.isfinite(low) and math.isfinite(high) else (None, None)


def _scale(unit: str, base: str) -> float:
    prefix = unit[: -len(base)] if unit.endswith(base) else None
    if prefix not in _PREFIX:
        raise InvalidValue("unit", f"{base!r} with an SI prefix, such as {_example(base)!r}", unit)
    return _PREFIX[prefix]


def _example(base: str) -> str:
    return "ms" if base == "s" else f"G{base}"


def _sentence(guess: float, actual: float, low: float | None, high: float | None) -> str:
    if low is not None and high is not None and low <= guess <= high:
        return "Exactly right: your prediction lies inside the measured interval."
    if guess <= 0 or actual <= 0:
        return "A factor needs two positive numbers; compare the two as they stand."
    if abs(guess / actual - 1) < 5e-4:
        return "Exactly right, to the digits shown."
    way = "too high" if guess > actual else "too low"
    factor = max(guess / actual, actual / guess)
    if factor < 1.25:
        return f"Very close: {abs(guess / actual - 1) * 100:.1f} % {way}."
    times = f"{factor:.1f}" if factor < 10 else f"{factor:.0f}"
    if factor < 2.05:
        return f"Close: {times} times {way}."
    if factor < 10.5:
        return f"{times} times {way}, within a power of ten. What did your estimate leave out?"
    return f"{times} times {way}. A surprise like this is where learning starts: find its cause."


def _number(value: float) -> str:
    size = abs(value)
    if value == 0:
        return "0"
    if not 1e-3 <= size < 1e6:
        return f"{value:.3g}"
    digits = max(0, 2 - math.floor(math.log10(size)))
    return f"{value:.{digits}f}"


def _show(value: float, unit: str) -> str:
    if unit in {"", "x"}:
        return _number(value) + unit
    return f"{_number(value)} {unit}"
