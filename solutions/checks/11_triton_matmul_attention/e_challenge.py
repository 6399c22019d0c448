"""The challenge: a product of one's own with few sectors and few bank conflicts."""

import numpy as np
import triton
import triton.language as tl

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, unseen

from .common import HALF, half


### BEGIN PUBLIC SPEC
def product_spec(a, b):
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)


### END PUBLIC SPEC
def product_cases(rng):
    for m, n, k in ((128, 128, 128), (128, 192, 64), (100, 75, 50)):
        yield Case(f"{m} x {n}, sums of {k}", half(rng, m, k), half(rng, k, n))


def bands_of_64(case):
    """Load sectors with tiles of 64 x 64: every row of a band begins anywhere."""
    (m, k), n = case.inputs[0].shape, case.inputs[1].shape[1]
    down, across = -(-m // 64), -(-n // 64)
    per_row_of_a = k // 16 + 2 * -(-k // 32)
    per_row_of_b = 64 // 16 + 1
    return across * m * per_row_of_a + down * k * across * per_row_of_b


def tensor_instructions(case):
    """32 times the mma that whole tiles of 64 x 64 x 32 need, of 16 x 8 x 16 multiply-adds each."""
    (m, k), n = case.inputs[0].shape, case.inputs[1].shape[1]
    up = lambda v, by: -(-v // by) * by  # noqa: E731
    return 32 * up(m, 64) * up(n, 64) * up(k, 32) // (16 * 8 * 16)


product = Task(
    "product",
    title="Challenge: a product with few sectors and few instructions",
    criteria=[
        Correct(product_spec, product_cases, points=1, agree=HALF),
        Clean(),
        Within("global_load_sectors", bands_of_64, points=1, times=1.3),
        Within("instructions", tensor_instructions, points=1, times=1),
    ],
    hints=(
        "Larger tiles of C load less: each band is shared by more elements. What does a tile of "
        "64 x 64 save against 16 x 16?",
        "The instructions of a step that are not mma, such as addresses and masks, are shared by "
        "more mma when the tile is large. Four warps are enough for 64 x 64.",
        "Take your matmul of task 3 with BM = BN = 64 and BK = 32, launched by a function that "
        "makes the output.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def one_tile(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        inside = (m[:, None] < M) & (k[None, :] < K)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=inside, other=0.0)
        inside = (k[:, None] < K) & (n[None, :] < N)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=inside, other=0.0)
        total = tl.dot(x, y, total)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def one_row(a, b, c, M, N, K, BN: tl.constexpr):
    m, n = tl.program_id(0), tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BN,), tl.float32)
    for k in range(K):
        y = tl.load(b + k * N + n, mask=n < N, other=0.0)
        total += tl.load(a + m * K + k).to(tl.float32) * y
    tl.store(c + m * N + n, total.to(tl.float16), mask=n < N)


def small_tiles(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = np.zeros((m, n), np.float16)
    grid = -(-m // 16), -(-n // 16)
    one_tile[grid](a, b, c, m, n, k, BM=16, BN=16, BK=16, num_warps=1)
    return c


def without_dot(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = np.zeros((m, n), np.float16)
    one_row[m, -(-n // 64)](a, b, c, m, n, k, BN=64)
    return c


product.wrong += [
    Wrong(
        "tiles of 16 x 16",
        small_tiles,
        says="Right, but small tiles load every band often: four times as often as tiles of "
        "64 x 64.",
        fails="traffic",
    ),
    Wrong(
        "rows without tl.dot",
        without_dot,
        says="One row at a time uses no tensor cores, and loads all of b for every row.",
        fails="traffic",
    ),
]
unseen(
    product,
    lambda rng: [Case("another", half(rng, 90, 130), half(rng, 130, 70), public=False)],
)
### END HIDDEN

TASKS = [product]
