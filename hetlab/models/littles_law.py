"""Little's law: what must be on its way so that a memory, or any pipeline, is never idle.

    in flight = rate x latency

Source: J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", Operations Research 9(3),
1961; for GPUs: V. Volkov, "Understanding Latency Hiding on GPUs", PhD thesis, Berkeley, 2016.

Left out: a memory that is nearly busy answers later, so a real chip needs more in flight than this.
"""

from __future__ import annotations

import numpy as np

from hetlab.models.domain import number, plain

__all__ = ["in_flight", "reached_rate"]


def in_flight(rate, latency):
    """What must be on its way at any moment to keep up a rate: ``rate * latency``.

    Parameters
    ----------
    rate : array_like
        Of what arrives: B/s, requests/s, 0 or more.
    latency : array_like
        Seconds from asking to arriving, 0 or more.

    Returns
    -------
    float or ndarray
        Bytes, or requests: the unit of ``rate`` without its "a second".

    Raises
    ------
    InvalidValue
        For negative numbers.

    Examples
    --------
    >>> in_flight(1e9, 200e-9)
    200.0
    """
    return plain(number("rate", rate, least=0) * number("latency", latency, least=0))


def reached_rate(flying, latency, peak):
    """The rate that so much on its way can keep up: ``min(peak, flying / latency)``.

    Parameters
    ----------
    flying : array_like
        What is on its way at any moment: bytes, 0 or more.
    latency : array_like
        Seconds, above 0.
    peak : array_like
        The most that the memory can do: B/s, 0 or more.

    Returns
    -------
    float or ndarray
        B/s: modelled, an upper bound.

    Raises
    ------
    InvalidValue
        Outside these ranges.
    """
    flying = number("flying", flying, least=0)
    latency = number("latency", latency, least=0, open_=True)
    return plain(np.minimum(number("peak", peak, least=0), flying / latency))
