"""Numbers with their unit, as people of this field write them.

Prefixes are decimal (SI: k = 1e3), as in GB/s and GFLOP/s; sizes of memories
that are powers of two use the IEC prefixes (Ki = 1024).
"""

from __future__ import annotations

import math

__all__ = ["binary_bytes", "quantity", "ratio", "seconds"]

_SI = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")]
_SMALL = [(1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p")]
_IEC = [(2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"), (1, "")]


def _digits(value: float) -> str:
    """Three significant digits, without an exponent for the range that prefixes leave."""
    if value == 0:
        return "0"
    # Rounded first: 9.9999 has one digit before the point, 10.0 has two.
    value = float(f"{value:.3g}")
    if abs(value) >= 100:
        return f"{value:.0f}" if abs(value) < 1e6 else f"{value:.3g}"
    return f"{value:.{2 - math.floor(math.log10(abs(value)))}f}"


def quantity(value: float, unit: str) -> str:
    """Format a value with an SI prefix.

    Parameters
    ----------
    value : float
        In the plain unit: bytes per second, FLOP/s, joules, seconds.
    unit : str
        The plain unit's symbol.

    Returns
    -------
    str
        Three significant digits, prefix and unit; "unknown" for NaN.

    Examples
    --------
    >>> quantity(18.4e9, "B/s")
    '18.4 GB/s'
    """
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}infinite {unit}"
    size = abs(value)
    # Rounding to three digits may reach the next prefix: 999.6 -> 1.00 k.
    table = _SI if size >= 0.9995 or size == 0 else _SMALL
    for scale, prefix in table:
        if size >= scale * 0.9995:
            return f"{_digits(value / scale)} {prefix}{unit}"
    scale, prefix = (1.0, "") if size == 0 else table[-1]
    return f"{_digits(value / scale)} {prefix}{unit}"


def seconds(value: float) -> str:
    """Format a duration given in seconds: ``seconds(1.8e-3)`` is ``'1.80 ms'``."""
    return quantity(value, "s")


def binary_bytes(value: float) -> str:
    """Format a size in bytes with IEC prefixes: ``binary_bytes(32768)`` is ``'32 KiB'``."""
    for scale, prefix in _IEC:
        if abs(value) >= scale or scale == 1:
            number = value / scale
            text = f"{number:.0f}" if number == int(number) else f"{number:.1f}"
            return f"{text} {prefix}B"
    raise AssertionError("unreachable")


def ratio(value: float) -> str:
    """Format a ratio: ``ratio(3.4)`` is ``'3.4x'``, ``ratio(120)`` is ``'120x'``."""
    if not math.isfinite(value):
        return "unknown"
    return f"{value:.0f}x" if value >= 100 else f"{value:.1f}x" if value >= 10 else f"{value:.2f}x"
