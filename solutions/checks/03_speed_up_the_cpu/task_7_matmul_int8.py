"""Checks of lesson 03: matmul int8."""

import numpy as np

from hetlab.grading import Case, Correct, Faster, Task, Wrong, exact, unseen

from .common import compiled


### BEGIN PUBLIC SPEC
def matmul_int8_spec(a, b):
    return a.astype(np.int32) @ b.astype(np.int32)


### END PUBLIC SPEC
def bytes_of(rng, *shape):
    return rng.integers(-128, 128, shape).astype(np.int8)


def matmul_cases(rng):
    for n, m, p in (
        *((1, 1, 1), (2, 2, 2), (2, 3, 2), (3, 2, 5), (1, 9, 1), (0, 3, 2), (2, 0, 3), (3, 2, 0)),
        *((33, 17, 9), (70, 2, 3), (2, 3, 70), (64, 64, 64), (65, 65, 65)),
    ):
        yield Case(f"({n}, {m}) @ ({m}, {p})", bytes_of(rng, n, m), bytes_of(rng, m, p))


matmul_int8 = Task(
    "matmul_int8",
    title="Multiply matrices tile by tile",
    criteria=[
        Correct(matmul_int8_spec, matmul_cases, points=2, agree=exact()),
        Faster(
            than=matmul_int8_spec,
            inputs=lambda rng: (bytes_of(rng, 256, 256), bytes_of(rng, 256, 256)),
            bands={3: 2},
            against="NumPy's integer matmul",
        ),
    ],
    hints=(
        "Walk along rows in the inner loop. Which of the matrices is walked down its columns, and "
        "what turns columns into rows?",
        "Store b transposed: np.ascontiguousarray(b.T). Then each element of c is a sum over two "
        "rows, and a 2 x 2 tile of c needs four rows for four sums. Convert to np.int32 before "
        "you multiply.",
        "Cover the even part of c with tiles (n - n % 2 rows, p - p % 2 columns), then the last "
        "row and the last column with single sums. A helper that computes one sum keeps it short.",
    ),
)
### BEGIN HIDDEN


def sums_of_int8(a, b):
    out = np.zeros((a.shape[0], b.shape[1]), np.int8)
    for k in range(a.shape[1]):
        out += a[:, k, None] * b[None, k]
    return out.astype(np.int32)


def products_of_int8(a, b):
    out = np.zeros((a.shape[0], b.shape[1]), np.int32)
    for k in range(a.shape[1]):
        out += a[:, k, None] * b[None, k]
    return out


def ragged_edge_dropped(a, b):
    out = np.zeros((a.shape[0], b.shape[1]), np.int32)
    n, p = a.shape[0] // 2 * 2, b.shape[1] // 2 * 2
    out[:n, :p] = matmul_int8_spec(a[:n], b[:, :p])
    return out


def transposed_twice(a, b):
    square = a.shape[1] == b.shape[1]
    return matmul_int8_spec(a, np.ascontiguousarray(b.T) if square else b)


def columns(a, b):
    n, m, p = a.shape[0], a.shape[1], b.shape[1]
    out = np.zeros((n, p), np.int32)
    for i in range(n):
        for j in range(p):
            total = np.int32(0)
            for k in range(m):
                total += np.int32(a[i, k]) * np.int32(b[k, j])
            out[i, j] = total
    return out


matmul_int8.wrong += [
    Wrong(
        "the sum overflows",
        sums_of_int8,
        says="An int8 holds -128 to 127, and so did your sum. Sum in np.int32.",
    ),
    Wrong(
        "the product overflows",
        products_of_int8,
        says="int8 times int8 is an int8 again. Convert both to np.int32 before you multiply.",
    ),
    Wrong(
        "the tiles drop the ragged edge",
        ragged_edge_dropped,
        says="The last row or column does not fill a tile, and nobody computed it.",
    ),
    Wrong(
        "b is taken as transposed already",
        transposed_twice,
        says="c[i, j] sums a[i, k] * b[k, j]; you used b[j, k].",
    ),
    Wrong(
        "b is walked down its columns",
        lambda a, b: compiled(columns)(a, b),
        says="The values are right, and the inner loop takes one element of each cache line of b.",
        fails="speed",
    ),
]
unseen(
    matmul_int8,
    lambda rng: [Case("more", bytes_of(rng, 51, 130), bytes_of(rng, 130, 47), public=False)],
)
### END HIDDEN
