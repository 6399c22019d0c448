"""Small problems solved step by step faster; the steps of each must agree before they are timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["Ladder", "ladders"]


@dataclass(frozen=True)
class Ladder:
    """One problem.

    Attributes
    ----------
    title : str
        The problem, with its size.
    steps : dict of str to callable
        From the plainest to the fastest; the first is the baseline.
    inputs : tuple
        Arguments of every step.
    """

    title: str
    steps: dict[str, Callable]
    inputs: tuple


def ladders() -> Iterator[Ladder]:
    """The problems, one after the other.  Without Numba their compiled steps are left out."""
    import numpy as np

    rng = np.random.default_rng(1)
    x, y = rng.random(100_000), rng.random(100_000)
    wide, high = rng.random(2**22), rng.random(2**22)
    a, b = rng.random((192, 192)), rng.random((192, 192))
    compiled = _compiled()

    def norm_python(x):
        return sum(v * v for v in x.tolist())

    yield Ladder(
        "sum of squares of 100,000 numbers",
        {"Python": norm_python, "NumPy": lambda x: float(np.sum(x * x)), **compiled["norm"]},
        (x,),
    )
    yield Ladder(
        "a x + y on 100,000 numbers, which the caches hold",
        {"NumPy": lambda a, x, y: a * x + y, **compiled["axpy"]},
        (2.0, x, y),
    )
    yield Ladder(
        "a x + y on 4,194,304 numbers, from main memory",
        {"NumPy": lambda a, x, y: a * x + y, **compiled["axpy"]},
        (2.0, wide, high),
    )
    yield Ladder(
        "matrix product, 192 x 192", {**compiled["matmul"], "NumPy (BLAS)": np.matmul}, (a, b)
    )


def _compiled() -> dict[str, dict[str, Callable]]:
    try:
        import numba
    except ImportError:
        return {"norm": {}, "axpy": {}, "matmul": {}}
    import numpy as np

    @numba.njit
    def norm(x):
        total = 0.0
        for v in x:
            total += v * v
        return total

    @numba.njit(fastmath=True)
    def norm_fast(x):
        total = 0.0
        for v in x:
            total += v * v
        return total

    @numba.njit
    def axpy(a, x, y):
        out = np.empty_like(x)
        for i in range(x.size):
            out[i] = a * x[i] + y[i]
        return out

    @numba.njit(parallel=True)
    def axpy_parallel(a, x, y):
        out = np.empty_like(x)
        for i in numba.prange(x.size):
            out[i] = a * x[i] + y[i]
        return out

    @numba.njit
    def columns_inside(a, b):
        out = np.zeros((a.shape[0], b.shape[1]))
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                for k in range(a.shape[1]):
                    out[i, j] += a[i, k] * b[k, j]
        return out

    @numba.njit
    def rows_inside(a, b):
        out = np.zeros((a.shape[0], b.shape[1]))
        for i in range(a.shape[0]):
            for k in range(a.shape[1]):
                for j in range(b.shape[1]):
                    out[i, j] += a[i, k] * b[k, j]
        return out

    return {
        "norm": {"Numba": norm, "Numba, sums in any order": norm_fast},
        "axpy": {"Numba": axpy, "Numba, all threads": axpy_parallel},
        "matmul": {"Numba, order ijk": columns_inside, "Numba, order ikj": rows_inside},
    }
