"""What the checks of lesson 07 share."""

import itertools

import numpy as np


### BEGIN HIDDEN
def unseen(task, cases, criterion=0):
    """Add inputs that feedback never shows."""
    judged = task.criteria[criterion]
    known = judged.cases
    judged.cases = lambda rng: itertools.chain(known(rng), cases(rng))


### END HIDDEN
def whole(rng, n, low=1, high=10):
    """Whole numbers as float32: their sums are exact in every order."""
    return rng.integers(low, high, n).astype(np.float32)


def blocks(n, size):
    """Blocks of `size` that cover n elements."""
    return -(-n // size)
