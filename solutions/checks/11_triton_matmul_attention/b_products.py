"""A tiled product for any size, and one whose sums keep too few digits."""

import numpy as np
import triton
import triton.language as tl

from hetlab.grading import Clean, Correct, Task, Within, Wrong, unseen

from .common import HALF, half, product_case, product_sectors

# ---------------------------------------------------------------------------------- matmul


### BEGIN PUBLIC SPEC
def matmul_spec(a, b, c, M, N, K):
    c[:] = a.astype(np.float64) @ b.astype(np.float64)


### END PUBLIC SPEC
def matmul_cases(rng):
    for m, n, k in ((64, 64, 64), (32, 32, 80), (33, 50, 32), (70, 45, 37), (1, 1, 1)):
        a, b = half(rng, m, k), half(rng, k, n)
        yield product_case(f"{m} x {n}, sums of {k}", a, b, (32, 32, 32))


matmul = Task(
    "matmul",
    title="Multiply matrices of any size",
    criteria=[
        Correct(matmul_spec, matmul_cases, points=2, agree=HALF, changes=(2,)),
        Clean(2),
        Within("global_load_sectors", product_sectors, points=1, times=1.1),
    ],
    hints=(
        "Which of the three edges does your mask know? Rows of A end at M, columns of B at N, and "
        "both have an edge at K.",
        "The offsets along k change in each step: so does their mask. In the place of masked "
        "elements a sum needs zeros.",
        "x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), "
        "other=0.0) with k = first + tl.arange(0, BK); the same for b with k and n; the store "
        "knows M and N.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def matmul_unmasked(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :])
        y = tl.load(b + k[:, None] * N + n[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))


@triton.jit
def matmul_no_tail(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=m[:, None] < M, other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
        total = tl.dot(x, y, total)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def matmul_swapped(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
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
def matmul_whole_steps(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(K // BK):
        k = step * BK + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=m[:, None] < M, other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
        total = tl.dot(x, y, total)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16), mask=inside)


matmul.wrong += [
    Wrong(
        "no masks",
        matmul_unmasked,
        says="The last tiles stick out over all three edges. Every load and the store need a mask.",
    ),
    Wrong(
        "no mask along k",
        matmul_no_tail,
        says="The masks know the rows and the columns, but not the end of the sums: the last step "
        "reads the beginning of the next row of A, or beyond the array.",
        fails="hazard",
    ),
    Wrong(
        "the axes of the grid swapped",
        matmul_swapped,
        says="tl.program_id(0) counts the tiles down the rows of C here, tl.program_id(1) the ones "
        "across.",
    ),
    Wrong(
        "only whole steps",
        matmul_whole_steps,
        says="K // BK leaves out the last, shorter step of the sums. Round up, and mask it.",
    ),
]


def more_products(rng):
    yield product_case("another", half(rng, 50, 90), half(rng, 90, 39), (32, 32, 32), public=False)


unseen(matmul, more_products)
### END HIDDEN


# --------------------------------------------------------------------------------- long_sums


### BEGIN PUBLIC SPEC
def long_sums_spec(a, b, c, M, N, K):
    c[:] = a.astype(np.float64) @ b.astype(np.float64)


### END PUBLIC SPEC
def long_sums_cases(rng):
    for k, what in ((32, "mixed"), (4096, "mixed"), (4096, "all positive"), (4096, "ones")):
        a, b = half(rng, 16, k), half(rng, k, 16)
        if what == "all positive":
            a, b = np.abs(a), np.abs(b)
        if what == "ones":
            a, b = np.ones_like(a), np.ones_like(b)
        yield product_case(f"sums of {k}, {what}", a, b, (16, 16, 64))


long_sums = Task(
    "long_sums",
    title="Repair: sums that stop growing",
    criteria=[
        Correct(long_sums_spec, long_sums_cases, points=2, agree=HALF, changes=(2,)),
        Clean(),
    ],
    hints=(
        "Launch the draft with ones only. Which number do the sums reach, and what is "
        "np.float16(2048) + np.float16(1)?",
        "Where in the draft is a long sum kept in a type with few digits?",
        "Let total be float32, pass it to tl.dot as its third argument, and convert once, at the "
        "store.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def long_sums_draft(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float16)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        inside = (m[:, None] < M) & (k[None, :] < K)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=inside, other=0.0)
        inside = (k[:, None] < K) & (n[None, :] < N)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=inside, other=0.0)
        total += tl.dot(x, y).to(tl.float16)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * N + n[None, :], total, mask=inside)


@triton.jit
def long_sums_in_dot(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float16)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        inside = (m[:, None] < M) & (k[None, :] < K)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=inside, other=0.0)
        inside = (k[:, None] < K) & (n[None, :] < N)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=inside, other=0.0)
        total = tl.dot(x, y, total, out_dtype=tl.float16)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * N + n[None, :], total, mask=inside)


long_sums.wrong += [
    Wrong(
        "the draft as it was",
        long_sums_draft,
        says="Each step's product is exact enough, but the sum of all steps is kept in float16, "
        "which has 11 binary digits: small terms no longer change it.",
    ),
    Wrong(
        "float16 inside tl.dot",
        long_sums_in_dot,
        says="Passing the sum to tl.dot is right, but out_dtype=tl.float16 still keeps it in "
        "float16. Let it be float32, and convert at the store.",
    ),
]


def more_long_sums(rng):
    a, b = np.abs(half(rng, 16, 3000)), np.abs(half(rng, 3000, 16))
    yield product_case("another", a, b, (16, 16, 64), public=False)


unseen(long_sums, more_long_sums)
### END HIDDEN

TASKS = [matmul, long_sums]
