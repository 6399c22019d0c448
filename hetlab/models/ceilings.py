"""The roofline: a kernel's performance is capped by arithmetic or by memory traffic.

S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for
multicore architectures", Communications of the ACM 52(4), 2009:

    attainable FLOP/s = min(peak FLOP/s, bandwidth x operational intensity)

Intensity is FLOP per byte that crosses the memory interface *counted by the bandwidth*: bytes from
main memory for a main-memory roof, bytes from the second cache for that cache's roof.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetlab.errors import InvalidValue
from hetlab.models.domain import number, plain
from hetlab.units import quantity

__all__ = ["Roofline", "bound_of", "ridge_point", "roofline"]


def roofline(intensity, peak, bandwidth):
    """Attainable performance of a kernel.

    Parameters
    ----------
    intensity : array_like
        FLOP per byte, at least 0.
    peak : array_like
        FLOP/s, above 0.
    bandwidth : array_like
        B/s, above 0.

    Returns
    -------
    float or ndarray
        FLOP/s.

    Examples
    --------
    >>> roofline(0.25, peak=100e9, bandwidth=20e9)
    5000000000.0
    """
    intensity = number("intensity", intensity, least=0)
    peak = number("peak", peak, least=0, open_=True)
    bandwidth = number("bandwidth", bandwidth, least=0, open_=True)
    return plain(np.minimum(peak, bandwidth * intensity))


def ridge_point(peak, bandwidth):
    """The intensity at which a kernel stops being bound by memory.

    Parameters
    ----------
    peak : array_like
        FLOP/s, above 0.
    bandwidth : array_like
        B/s, above 0.

    Returns
    -------
    float or ndarray
        FLOP per byte.

    Examples
    --------
    >>> ridge_point(100e9, 20e9)
    5.0
    """
    peak = number("peak", peak, least=0, open_=True)
    return plain(peak / number("bandwidth", bandwidth, least=0, open_=True))


def bound_of(intensity: float, peak: float, bandwidth: float) -> str:
    """What binds a kernel: "memory" below the ridge point, else "compute".

    Parameters
    ----------
    intensity : float
        FLOP per byte, at least 0.
    peak : float
        FLOP/s, above 0.
    bandwidth : float
        B/s, above 0.
    """
    intensity = float(number("intensity", intensity, least=0))
    return "memory" if intensity < ridge_point(peak, bandwidth) else "compute"


@dataclass(frozen=True, repr=False)
class Roofline:
    """A processor's roof with several ceilings.

    Attributes
    ----------
    bandwidths : dict of str to float
        Slopes in B/s by name: {"main memory": 20e9}.
    peaks : dict of str to float
        Flat ceilings in FLOP/s by name: {"fp64, all cores": 100e9, "fp64, one core": 13e9}.

    Examples
    --------
    >>> roof = Roofline({"DRAM": 20e9}, {"fp64": 100e9})
    >>> roof.attainable(0.25), roof.binding(0.25), roof.ridge()
    (5000000000.0, 'DRAM', 5.0)
    """

    bandwidths: dict[str, float]
    peaks: dict[str, float]

    def __post_init__(self) -> None:
        for name, table in [("bandwidths", self.bandwidths), ("peaks", self.peaks)]:
            if not isinstance(table, dict) or not table:
                raise InvalidValue(name, "a dict of one or more ceilings by name", table)
            for key, value in table.items():
                number(f"{name}[{key!r}]", value, least=0, open_=True)

    def _chosen(self, peak: str | None, bandwidth: str | None) -> tuple[str, str]:
        from hetlab.errors import UnknownName

        for kind, name, table in [
            ("peak", peak, self.peaks),
            ("bandwidth", bandwidth, self.bandwidths),
        ]:
            if name is not None and name not in table:
                raise UnknownName(kind, name, table)
        return (
            peak or max(self.peaks, key=self.peaks.get),
            bandwidth or max(self.bandwidths, key=self.bandwidths.get),
        )

    def attainable(self, intensity, peak: str | None = None, bandwidth: str | None = None):
        """FLOP/s under the named ceilings (the highest of each kind unless named).

        Parameters
        ----------
        intensity : array_like
            FLOP per byte, at least 0.
        peak, bandwidth : str, optional
            Names of ceilings.  UnknownName lists the known ones.
        """
        peak, bandwidth = self._chosen(peak, bandwidth)
        return roofline(intensity, self.peaks[peak], self.bandwidths[bandwidth])

    def binding(
        self, intensity: float, peak: str | None = None, bandwidth: str | None = None
    ) -> str:
        """The name of the ceiling that binds at this intensity (FLOP per byte)."""
        peak, bandwidth = self._chosen(peak, bandwidth)
        bound = bound_of(intensity, self.peaks[peak], self.bandwidths[bandwidth])
        return bandwidth if bound == "memory" else peak

    def ridge(self, peak: str | None = None, bandwidth: str | None = None) -> float:
        """The ridge point of two ceilings in FLOP per byte."""
        peak, bandwidth = self._chosen(peak, bandwidth)
        return ridge_point(self.peaks[peak], self.bandwidths[bandwidth])

    def __repr__(self) -> str:
        width = max(map(len, [*self.bandwidths, *self.peaks]))
        lines = ["Roofline (modelled from these ceilings)"]
        lines += [f"  {n:<{width}}  {quantity(v, 'B/s')}" for n, v in self.bandwidths.items()]
        lines += [f"  {n:<{width}}  {quantity(v, 'FLOP/s')}" for n, v in self.peaks.items()]
        return "\n".join([*lines, f"  {'ridge point':<{width}}  {self.ridge():.3g} FLOP/B"])
