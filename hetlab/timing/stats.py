"""Statistics of timings that assume no distribution.

Timings are skewed, have outliers and drift, so nothing here takes a mean or
supposes a bell curve.

*Interval of a median.*  For n independent samples the k-th smallest and the
k-th largest enclose the median with probability ``1 - 2 P(Bin(n, 1/2) < k)``,
whatever the distribution (W. R. Thompson, Annals of Mathematical Statistics 7,
1936; H. A. David and H. N. Nagaraja, *Order Statistics*, 3rd ed. 2003, section
7.1).

*Why that is exact for a comparison of a function with itself.*  ``compare``
draws the order of the candidates anew in each round.  If both are the same
program, a round's two durations would have come out alike with the names
swapped, so the sign of their log-ratio is a fair coin, independent of the
other rounds, however the machine drifts (randomisation test: R. A. Fisher,
*The Design of Experiments*, 1935; sign test: W. J. Conover, *Practical
Nonparametric Statistics*, 3rd ed. 1999, section 3.4).  The interval excludes a
ratio of 1 only when fewer than k signs are of one kind: with probability at
most ``1 - confidence``.  Ties only make that rarer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from hetlab.errors import InvalidValue

__all__ = [
    "drift",
    "fewest",
    "median",
    "median_interval",
    "quartile_spread",
    "two_modes",
]


def check_confidence(confidence: float) -> float:
    """Refuse a confidence that is not a probability strictly between 0 and 1."""
    if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise InvalidValue("confidence", "a number between 0 and 1, such as 0.99", confidence)
    return float(confidence)


def fewest(confidence: float) -> int:
    """Fewest samples whose smallest and largest enclose the median with this confidence.

    ``2 * 0.5**n <= 1 - confidence``; 8 for 99 %, 6 for 95 %.
    """
    n = 1
    while 2 * 0.5**n > 1 - check_confidence(confidence) + 1e-12:
        n += 1
    return n


def _rank(n: int, confidence: float) -> int:
    """Largest k with ``2 P(Bin(n, 1/2) < k) <= 1 - confidence``; 0 when there is none."""
    tail, k = 0, 0
    while k <= n // 2:
        tail += math.comb(n, k)
        # Python's integers divide without overflow even where 2**n is no float.
        if 2 * (tail / 2**n) > 1 - confidence + 1e-12:
            return k
        k += 1
    return k


def median_interval(samples: Sequence[float], confidence: float = 0.99) -> tuple[float, float]:
    """Distribution-free confidence interval of the median.

    Parameters
    ----------
    samples : sequence of float
        At least one; taken as independent.
    confidence : float
        Probability, strictly between 0 and 1, that the interval holds the median.

    Returns
    -------
    low, high : float
        ``(-inf, inf)`` when there are fewer than ``fewest(confidence)`` samples: no interval
        between samples can then claim that confidence.

    Notes
    -----
    Formula and sources: at the head of this module.
    """
    check_confidence(confidence)
    if not len(samples):
        raise InvalidValue("samples", "at least one number", list(samples))
    k = _rank(len(samples), confidence)
    if k == 0:
        return -math.inf, math.inf
    ordered = sorted(samples)
    return ordered[k - 1], ordered[-k]


def quartile_spread(samples: Sequence[float]) -> float:
    """Width of the middle half of the samples, as a fraction of their median."""
    ordered, n = sorted(samples), len(samples)
    middle = median(ordered)
    if n < 4 or middle == 0:
        return 0.0
    return (ordered[(3 * n) // 4] - ordered[n // 4]) / middle


def two_modes(samples: Sequence[float]) -> tuple[float, float, float] | None:
    """Find two clearly separate levels among the samples.

    The samples' logarithms are cut where the variance within the two parts is
    least (N. Otsu, IEEE Trans. SMC 9, 1979).  The parts count as two modes when Ashman's
    D (K. Ashman et al., Astronomical Journal 108, 1994) exceeds 5; it is 2.7 for the two
    halves of a normal distribution and 3.5 for those of a uniform one.  Each must also hold
    an eighth of the samples and their levels differ by 5 %.

    Returns
    -------
    (low, high, share) or None
        The two levels in the samples' unit and the share of samples at the higher one.
    """
    n = len(samples)
    if n < 16 or min(samples) <= 0:
        return None
    logs = sorted(math.log(s) for s in samples)
    sums, squares = [0.0], [0.0]
    for value in logs:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)

    def inner(i: int, j: int) -> float:
        return squares[j] - squares[i] - (sums[j] - sums[i]) ** 2 / (j - i)

    least = max(2, n // 8)
    cut = min(range(least, n - least + 1), key=lambda c: inner(0, c) + inner(c, n))
    low, high = sums[cut] / cut, (sums[n] - sums[cut]) / (n - cut)
    variance = max(inner(0, cut) / cut + inner(cut, n) / (n - cut), 0.0)
    apart = high - low
    if apart < math.log(1.05) or apart * math.sqrt(2) <= 5 * math.sqrt(variance):
        return None
    return math.exp(low), math.exp(high), (n - cut) / n


def drift(samples: Sequence[float]) -> float:
    """How the level moved from the first third of the samples to the last.

    Returns
    -------
    float
        Relative change of the median (0.1: the last third is 10 % slower), or 0.0 when the
        order of the samples and their size are not clearly related: Spearman's rank
        correlation times sqrt(n - 1) below 3.3 (one chance in a thousand), or a change below 5 %.
    """
    n = len(samples)
    if n < 12:
        return 0.0
    order = sorted(range(n), key=lambda i: (samples[i], i))
    rank = [0.0] * n
    start = 0
    while start < n:  # equal samples share their mean rank
        stop = start
        while stop < n and samples[order[stop]] == samples[order[start]]:
            stop += 1
        for i in order[start:stop]:
            rank[i] = (start + stop - 1) / 2
        start = stop
    centre = (n - 1) / 2
    top = sum((i - centre) * (r - centre) for i, r in enumerate(rank))
    below = math.sqrt(
        sum((i - centre) ** 2 for i in range(n)) * sum((r - centre) ** 2 for r in rank)
    )
    if below == 0 or abs(top / below) * math.sqrt(n - 1) < 3.3:
        return 0.0
    third = n // 3
    first, last = median(samples[:third]), median(samples[-third:])
    change = last / first - 1 if first > 0 else 0.0
    return change if abs(change) >= 0.05 else 0.0
