"""What the checks of lesson 07 share."""

import numpy as np

import hetlab

hetlab.use_virtual_gpu()


def whole(rng, n, low=1, high=10):
    """Whole numbers as float32: their sums are exact in every order."""
    return rng.integers(low, high, n).astype(np.float32)


def blocks(n, size):
    """Blocks of `size` that cover n elements."""
    return -(-n // size)
