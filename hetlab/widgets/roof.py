"""What a roofline picture shows, as plain data; and the same as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from hetlab.errors import InvalidValue
from hetlab.models import Roofline
from hetlab.timing import Peaks, Rate
from hetlab.units import quantity

__all__ = ["Point", "Roof", "roof_of"]


@dataclass(frozen=True)
class Point:
    """One kernel on the roofline.

    Attributes
    ----------
    name : str
        The kernel.
    intensity : float
        FLOP per byte.
    flops : float
        FLOP/s it reached.
    low, high : float or None
        Interval of ``flops``.
    label : str
        "measured", "recorded", or "" for a plain number.
    """

    name: str
    intensity: float
    flops: float
    low: float | None = None
    high: float | None = None
    label: str = ""


@dataclass(frozen=True, repr=False)
class Roof:
    """Ceilings and points.

    Attributes
    ----------
    roofline : Roofline
        The ceilings; the first of each kind is the roof itself.
    points : tuple of Point
        Kernels.
    title : str
        Whose roof this is.
    source : str
        "measured", "recorded" or "modelled": where the ceilings come from.
    """

    roofline: Roofline
    points: tuple[Point, ...]
    title: str
    source: str

    @property
    def bandwidth(self) -> tuple[str, float]:
        """Name and B/s of the roof's slope."""
        return next(iter(self.roofline.bandwidths.items()))

    @property
    def peak(self) -> tuple[str, float]:
        """Name and FLOP/s of the roof's flat part."""
        return next(iter(self.roofline.peaks.items()))

    @property
    def ridge(self) -> float:
        """FLOP per byte where they meet."""
        return self.peak[1] / self.bandwidth[1]

    def limits(self) -> tuple[float, float, float, float]:
        """Left, right (FLOP/B), bottom and top (FLOP/s) of the picture: whole powers of ten."""
        inside = [self.ridge / 30, self.ridge * 10, *(p.intensity for p in self.points)]
        left, right = _decades(min(inside) * 0.999, max(inside) * 1.2)
        speeds = [p.flops for p in self.points]
        tops = list(self.roofline.peaks.values())
        slopes = self.roofline.bandwidths.values()
        bottom = min([left * min(slopes), *(s * 0.7 for s in speeds)])
        return left, right, *_decades(max(bottom, max(tops) * 1e-6), max(tops + speeds) * 1.5)

    def standing(self, point: Point) -> str:
        """How near a point is to its roof and what binds it, in words."""
        bound = min(self.peak[1], self.bandwidth[1] * point.intensity)
        share = f"{point.flops / bound:.0%} of the {quantity(bound, 'FLOP/s')} attainable"
        if point.flops > 1.05 * bound:
            return f"{share}: above this roof, so its data came from a cache or the count is off"
        name = self.bandwidth[0] if point.intensity < self.ridge else self.peak[0]
        return f"{share}; bound by {name}"

    def __repr__(self) -> str:
        width = max(map(len, [*self.roofline.bandwidths, *self.roofline.peaks, "ridge point"]))
        lines = [f"Roofline of {self.title}, ceilings {self.source}"]
        for unit, table in [("B/s", self.roofline.bandwidths), ("FLOP/s", self.roofline.peaks)]:
            lines += [f"  {name:<{width}}  {quantity(v, unit)}" for name, v in table.items()]
        lines.append(f"  {'ridge point':<{width}}  {self.ridge:.3g} FLOP/B")
        for point in self.points:
            at = f"{point.intensity:.3g} FLOP/B, {quantity(point.flops, 'FLOP/s')}"
            at += f" ({point.label})" if point.label else ""
            lines.append(f"  * {point.name}: {at}, {self.standing(point)}")
        return "\n".join(lines)


def roof_of(peaks: Peaks | Roofline, points: Mapping = {}, precision: str = "fp64") -> Roof:
    """Collect what a roofline picture shows.

    Parameters
    ----------
    peaks : Peaks or Roofline
        The ceilings.
    points : dict
        Name -> (FLOP per byte, FLOP/s); the second a number or a Rate.
    precision : str
        "fp64" or "fp32": which arithmetic ceilings of Peaks to show.

    Raises
    ------
    InvalidValue
        For other types, or points that cannot lie on a logarithmic scale.
    """
    if isinstance(peaks, Roofline):
        title, source, roofline = "the given ceilings", "modelled", _ordered(peaks)
    elif isinstance(peaks, Peaks):
        title, source, roofline = peaks.machine.cpu, peaks.label, _ceilings(peaks, precision)
        if peaks.method != "Numba":
            source += f" with {peaks.method} (lower bounds)"
    else:
        raise InvalidValue(
            "peaks", "a Peaks or a Roofline", peaks, do="hetlab.peaks() measures this machine's."
        )
    if not isinstance(points, Mapping):
        raise InvalidValue("points", 'a dict such as {"saxpy": (0.083, 2.1e9)}', points)
    return Roof(roofline, tuple(_point(str(n), v) for n, v in points.items()), title, source)


def _ordered(roofline: Roofline) -> Roofline:
    """The highest of each kind first."""

    def falling(table):
        return dict(sorted(table.items(), key=lambda item: -item[1]))

    return Roofline(falling(roofline.bandwidths), falling(roofline.peaks))


def _ceilings(peaks: Peaks, precision: str) -> Roofline:
    found: dict[str, dict[str, float]] = {"bandwidth": {}, precision: {}}
    names = {"bandwidth": "memory", precision: precision}
    peaks.flops(precision)  # refuses an unknown precision
    one = peaks.threads == 1
    for key, table in found.items():
        for cores, text in [("all", f"{peaks.threads} threads"), ("one", "one thread")]:
            rate = peaks.rate(f"{key}_{cores}")
            if rate is not None and not (one and cores == "all"):
                table[f"{names[key]}, {text}"] = rate.value
    return _ordered(Roofline(found["bandwidth"], found[precision]))


def _point(name: str, value: object) -> Point:
    rule = "two positive numbers: FLOP per byte, and FLOP/s (a number or a Rate)"
    try:
        intensity, speed = value
    except (TypeError, ValueError):
        raise InvalidValue(f"points[{name!r}]", rule, value) from None
    low = high = None
    label = ""
    if isinstance(speed, Rate):
        if speed.unit != "FLOP/s":
            raise InvalidValue(f"points[{name!r}]", "a rate in FLOP/s", speed.unit)
        if math.isfinite(speed.low) and math.isfinite(speed.high):
            low, high = speed.low, speed.high
        label = speed.label
    try:
        pair = float(intensity), float(speed)
    except (TypeError, ValueError):
        raise InvalidValue(f"points[{name!r}]", rule, value) from None
    if not all(math.isfinite(x) and x > 0 for x in pair):
        raise InvalidValue(f"points[{name!r}]", rule, value)
    return Point(name, *pair, low, high, label)


def _decades(low: float, high: float) -> tuple[float, float]:
    return 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
