"""What the checks of lesson 06 share: unseen inputs, and the least traffic by arithmetic."""

import itertools

import numpy as np

SECTOR = 32


### BEGIN HIDDEN
def unseen(task, cases, criterion=0):
    """Add inputs that feedback never shows."""
    judged = task.criteria[criterion]
    known = judged.cases
    judged.cases = lambda rng: itertools.chain(known(rng), cases(rng))


### END HIDDEN
def floats(rng, *shape):
    """Values between 0.5 and 1.5: no sum of them cancels."""
    return rng.random(shape, dtype=np.float32) + np.float32(0.5)


def whole_sectors(array):
    """Sectors that hold an array, from end to end."""
    return -(-array.nbytes // SECTOR)


def row_sectors(array, width=32):
    """Sectors that a matrix touches when each request holds at most `width` elements of a row.

    Arrays begin at a multiple of 32 bytes.
    """
    rows, columns = array.shape
    total = 0
    for row in range(rows):
        for first in range(0, columns, width):
            begin = array.itemsize * (row * columns + first)
            end = array.itemsize * (row * columns + min(first + width, columns))
            total += (end - 1) // SECTOR - begin // SECTOR + 1
    return total


def blocks(n, size):
    """Blocks of `size` that cover n elements."""
    return -(-n // size)


def no_conflict(case):
    """The budget of bank conflicts."""
    return 0
