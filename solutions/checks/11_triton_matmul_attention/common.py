"""What the checks of lesson 11 share: grids of tiles, and when two products agree."""

import numpy as np

import hetlab
from hetlab.grading import close

# Wrong kernels run beside the learner's.
hetlab.use_virtual_gpu()

#: float16 factors, sums in float32, rounded to float16 at the end.
HALF = close(rtol=2e-3, atol=2e-3)
FLOAT32 = close(rtol=2e-4, atol=2e-4)


def half(rng, *shape):
    return rng.normal(size=shape).astype(np.float16)


def ceil_div(a, b):
    return -(-a // b)


def product_case(label, a, b, tile, **more):
    """A launch with one program for each tile of C; the tile's size as constants."""
    from hetlab.grading import Case

    (m, k), n = a.shape, b.shape[1]
    tall, wide, deep = tile
    c = np.zeros((m, n), np.float16)
    shape = {
        "grid": (ceil_div(m, tall), ceil_div(n, wide)),
        "constants": {"BM": tall, "BN": wide, "BK": deep},
    }
    return Case(label, a, b, c, m, n, k, **shape, **more)


def product_sectors(case):
    """Load sectors of a tiled product of float16: each tile takes its bands of A and of B.

    Rows that begin anywhere are loaded element by element, so there each may cost a sector.
    """
    _, _, _, m, n, k = case.inputs
    tall, wide, deep = (case.constants[name] for name in ("BM", "BN", "BK"))
    steps, tiles = ceil_div(k, deep), ceil_div(m, tall) * ceil_div(n, wide)
    elements = tiles * steps * deep * (tall + wide)
    return elements // 16 if n % 16 == k % 16 == 0 else elements
