"""What the checks of lesson 06 share: inputs, and the least traffic by arithmetic."""

import numpy as np

import hetlab
from hetlab.grading import Case

hetlab.use_virtual_gpu()

SECTOR = 32


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


def matrix_case(rng, rows, columns, **more):
    """A matrix, and room for it turned; one block of 32 x 32 threads for each tile."""
    a, out = floats(rng, rows, columns), np.zeros((columns, rows), np.float32)
    grid = blocks(columns, 32), blocks(rows, 32)
    return Case(f"{rows} x {columns}", a, out, grid=grid, block=(32, 32), **more)


def matrix_sectors(case):
    """A matrix read, and the other written, by requests of 32 neighbours in a row."""
    return sum(row_sectors(matrix) for matrix in case.inputs)


MATRICES = (32, 32), (1, 1), (1, 5), (3, 2), (33, 32), (31, 65), (40, 70)
