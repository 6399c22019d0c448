"""Checks of lesson 06: distances."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, close, unseen

from .common import blocks, floats


### BEGIN PUBLIC SPEC
def distances_spec(a, b, out):
    out[...] = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)


### END PUBLIC SPEC
def distances_case(rng, n, m, d, **more):
    a, b, out = floats(rng, n, d), floats(rng, m, d) + 2, np.zeros((n, m), np.float32)
    grid = blocks(m, 16), blocks(n, 16)
    label = f"{n} and {m} points with {d} coordinates"
    return Case(label, a, b.astype(np.float32), out, grid=grid, block=(16, 16), **more)


def distances_bytes(case):
    """Every block reads its rows of a and its rows of b once."""
    (n, d), m = case.inputs[0].shape, case.inputs[1].shape[0]
    return 4 * (n * d * blocks(m, 16) + m * d * blocks(n, 16))


def distances_conflicts(case):
    """One for each store request into the two tiles: a warp stores two rows of 16 words."""
    (n, d), m = case.inputs[0].shape, case.inputs[1].shape[0]
    return blocks(n, 16) * blocks(m, 16) * blocks(d, 16) * 8 * 2


POINTS = (16, 16, 16), (1, 1, 1), (2, 3, 1), (16, 16, 3), (17, 5, 20), (40, 33, 18)

distances = Task(
    "distances",
    title="Compute all distances between two sets of points",
    criteria=[
        Correct(
            distances_spec,
            lambda rng: (distances_case(rng, *shape) for shape in POINTS),
            points=2,
            changes=(2,),
            agree=close(rtol=1e-4),
        ),
        Clean(points=1),
        Within(
            "global_load_bytes",
            distances_bytes,
            what="bytes asked for by global loads",
            times=1.01,
        ),
        Within("shared_bank_conflicts", distances_conflicts, what="bank conflicts"),
    ],
    hints=(
        "It is a matrix product in disguise: instead of multiplying, subtract and square. Which "
        "rows of a and which rows of b does a block of 16 x 16 results need?",
        "Load both tiles along the rows of a and of b, so that neighbours in x load neighbours in "
        "memory; store 0 where a point or a coordinate does not exist. In the inner loop thread "
        "(tx, ty) reads row ty of one tile and row tx of the other. Neighbouring lanes then walk "
        "down a column: give that tile rows of 17.",
        "part_a[ty, tx] = a[row, first + tx] and part_b[ty, tx] = b[16 * blockIdx.x + ty, first + "
        "tx], each or 0. Barrier. For k in range(16): d = part_a[ty, k] - part_b[tx, k], total += "
        "d * d. Barrier. After the loop, store if the pair exists.",
    ),
)
### BEGIN HIDDEN
from numba import cuda, float32  # noqa: E402


@cuda.jit
def distances_without_tiles(a, b, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            d = a[i, k] - b[j, k]
            total += d * d
        out[i, j] = total


@cuda.jit
def distances_with_conflicts(a, b, out):
    part_a = cuda.shared.array((16, 16), float32)
    part_b = cuda.shared.array((16, 16), float32)
    j, i = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    other = 16 * cuda.blockIdx.x + ty
    total = float32(0)
    for first in range(0, a.shape[1], 16):
        there = first + tx < a.shape[1]
        part_a[ty, tx] = a[i, first + tx] if there and i < a.shape[0] else float32(0)
        part_b[ty, tx] = b[other, first + tx] if there and other < b.shape[0] else float32(0)
        cuda.syncthreads()
        for k in range(16):
            d = part_a[ty, k] - part_b[tx, k]
            total += d * d
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def distances_one_barrier(a, b, out):
    part_a = cuda.shared.array((16, 17), float32)
    part_b = cuda.shared.array((16, 17), float32)
    j, i = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    other = 16 * cuda.blockIdx.x + ty
    total = float32(0)
    for first in range(0, a.shape[1], 16):
        there = first + tx < a.shape[1]
        part_a[ty, tx] = a[i, first + tx] if there and i < a.shape[0] else float32(0)
        part_b[ty, tx] = b[other, first + tx] if there and other < b.shape[0] else float32(0)
        cuda.syncthreads()
        for k in range(16):
            d = part_a[ty, k] - part_b[tx, k]
            total += d * d
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


@cuda.jit
def products_instead(a, b, out):
    part_a = cuda.shared.array((16, 17), float32)
    part_b = cuda.shared.array((16, 17), float32)
    j, i = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    other = 16 * cuda.blockIdx.x + ty
    total = float32(0)
    for first in range(0, a.shape[1], 16):
        there = first + tx < a.shape[1]
        part_a[ty, tx] = a[i, first + tx] if there and i < a.shape[0] else float32(0)
        part_b[ty, tx] = b[other, first + tx] if there and other < b.shape[0] else float32(0)
        cuda.syncthreads()
        for k in range(16):
            total += part_a[ty, k] * part_b[tx, k]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


distances.wrong += [
    Wrong(
        "every thread reads its own rows",
        distances_without_tiles,
        says="Right, and each row is read again for every pair. Load tiles once a block.",
        fails="traffic",
    ),
    Wrong(
        "a column of a tile without padding",
        distances_with_conflicts,
        says="part_b[tx, k] walks down a column: with rows of 16 words the lanes meet in a few "
        "banks. Rows of 17 spread them.",
        fails="traffic",
    ),
    Wrong(
        "one barrier in the loop",
        distances_one_barrier,
        says="The next step overwrites the tiles while slow warps still read them.",
        fails="hazard",
    ),
    Wrong(
        "products instead of squared differences",
        products_instead,
        says="That is the matrix product of a and b transposed: subtract, then square.",
    ),
]
unseen(distances, lambda rng: [distances_case(rng, 23, 50, 37, public=False)])
### END HIDDEN
