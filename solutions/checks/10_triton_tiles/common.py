"""What the checks of lesson 10 share: launches in programs, and when two results agree."""

import hetlab
from hetlab.grading import close

# Wrong kernels run beside the learner's.
hetlab.use_virtual_gpu()

FLOAT32 = close(rtol=1e-5, atol=1e-5)
#: Sums and exponentials of a row.
ROWS = close(rtol=1e-4, atol=1e-4)


def tiles(n, block, **constants):
    """Grid and constants of a launch whose tiles cover n elements."""
    return {"grid": (-(-n // block),), "constants": {"BLOCK": block, **constants}}


def rows_of(x, block):
    """Grid and constants of a launch with one program for each row."""
    return {"grid": (x.shape[0],), "constants": {"BLOCK": block}}


def padded(rng, rows, columns, stride, draw=None):
    """A matrix whose rows begin `stride` elements apart, with large numbers in between."""
    import numpy as np

    x = np.full((rows, stride), 99, np.float32)
    x[:, :columns] = rng.normal(size=(rows, columns)) if draw is None else draw((rows, columns))
    return x


def row_sectors(rows, columns):
    """Sectors of all rows of float32, each beginning anywhere."""
    return rows * (-(-4 * columns // 32) + 1)
