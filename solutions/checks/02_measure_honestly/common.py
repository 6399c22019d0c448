"""Checks of lesson 02, measure honestly.

No check reads a clock: all durations are seeded data, or those of a machine made of numbers.  The
specifications say what is asked by counting, slowly; the answers are written otherwise.  Wrong
answers and unseen inputs stay with the author.
"""


def durations(rng, n, level=100.0, tail=0.05):
    """Samples as machines give them: a floor, and a tail on the slow side."""
    return level * (1 + tail * rng.exponential(size=n))


def below(values, x):
    return sum(1 for v in values if v < x)


def kth_smallest(values, k):
    """The k-th smallest: fewer than k values lie below it, and k or more do not lie above."""
    return next(
        float(x) for x in values if below(values, x) < k <= len(values) - below(-values, -x)
    )
