"""Speed-up on n processors: Amdahl for a fixed problem, Gustafson for a fixed time.

Both speak of the *serial fraction*, but of different runs: Amdahl's is the share of the time on
**one** processor, Gustafson's the share of the time on **n**.

G. M. Amdahl, "Validity of the single processor approach ...", AFIPS Spring Joint Computer
Conference, 1967.  J. L. Gustafson, "Reevaluating Amdahl's law", Communications of the ACM 31(5),
1988.  A. H. Karp, H. P. Flatt, "Measuring parallel processor performance", Communications of
the ACM 33(5), 1990.
"""

from __future__ import annotations

import numpy as np

from hetlab.errors import InvalidValue
from hetlab.models.domain import number, plain

__all__ = ["amdahl", "amdahl_limit", "gustafson", "serial_fraction"]


def amdahl(serial, processors):
    """Speed-up of a fixed problem: ``1 / (s + (1 - s) / n)`` (Amdahl 1967).

    Parameters
    ----------
    serial : array_like
        Share of the time on one processor that cannot be divided, 0 to 1.
    processors : array_like
        How many, at least 1.

    Returns
    -------
    float or ndarray
        Time on one processor over time on n; no unit.

    Raises
    ------
    InvalidValue
        Outside these ranges.

    Examples
    --------
    >>> round(amdahl(0.05, 8), 4)
    5.9259
    """
    serial = number("serial", serial, least=0, most=1)
    processors = number("processors", processors, least=1)
    return plain(1 / (serial + (1 - serial) / processors))


def amdahl_limit(serial):
    """What `amdahl` tends to with ever more processors: ``1 / s``; infinite for s = 0.

    Parameters
    ----------
    serial : array_like
        Share of the time on one processor that cannot be divided, 0 to 1.

    Returns
    -------
    float or ndarray
        Speed-up; no unit.

    Examples
    --------
    >>> amdahl_limit(0.05)
    20.0
    """
    serial = number("serial", serial, least=0, most=1)
    with np.errstate(divide="ignore", over="ignore"):
        return plain(np.float64(1) / serial)


def gustafson(serial, processors):
    """Scaled speed-up, of a problem that grows with the machine: ``n - s (n - 1)``.

    Parameters
    ----------
    serial : array_like
        Share of the time **on n processors** that is spent serially, 0 to 1.
    processors : array_like
        How many, at least 1.

    Returns
    -------
    float or ndarray
        Time that one processor would need for the grown problem over the time of n; no unit.

    Raises
    ------
    InvalidValue
        Outside these ranges.

    Examples
    --------
    >>> round(gustafson(0.05, 8), 2)
    7.65
    """
    serial = number("serial", serial, least=0, most=1)
    processors = number("processors", processors, least=1)
    return plain(processors - serial * (processors - 1))


def serial_fraction(speedup, processors):
    """The serial fraction that explains a measured speed-up: ``(1/S - 1/n) / (1 - 1/n)``.

    The inverse of `amdahl` (Karp and Flatt 1990).  When it grows with n, overhead and not
    serial work is what holds the program back.  Below 0: faster than n-fold.

    Parameters
    ----------
    speedup : array_like
        Time on one processor over time on n, above 0.
    processors : array_like
        How many, above 1.

    Returns
    -------
    float or ndarray
        A share of the time on one processor; no unit.

    Examples
    --------
    >>> round(serial_fraction(amdahl(0.05, 8), 8), 6)
    0.05
    """
    speedup = number("speedup", speedup, least=0, open_=True)
    processors = number("processors", processors, least=1)
    if np.any(processors == 1):
        raise InvalidValue("processors", "above 1: one processor tells nothing", 1)
    return plain((1 / speedup - 1 / processors) / (1 - 1 / processors))
