"""Checks of lesson 01, meet your machine.

Every specification is slow and clear: it tries all possibilities, or follows the definition.  Wrong
answers and unseen inputs stay with the author.
"""

from hetlab.grading import close


def whole(rng, low, high):
    """A whole number of Python's own kind."""
    return int(rng.integers(low, high))


NEARLY = close(ulps=0, rtol=1e-9, atol=1e-12)
