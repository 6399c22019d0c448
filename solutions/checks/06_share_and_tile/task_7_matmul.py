"""Checks of lesson 06: matmul."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, close, unseen

from .common import blocks, floats


### BEGIN PUBLIC SPEC
def matmul_spec(a, b, c):
    c[...] = a @ b


### END PUBLIC SPEC
def matmul_case(rng, n, m, p, **more):
    a, b, c = floats(rng, n, m), floats(rng, m, p), np.zeros((n, p), np.float32)
    grid = blocks(p, 16), blocks(n, 16)
    return Case(f"({n}, {m}) @ ({m}, {p})", a, b, c, grid=grid, block=(16, 16), **more)


def matmul_bytes(case):
    """Every block reads its rows of a and its columns of b once."""
    (n, m), p = case.inputs[0].shape, case.inputs[1].shape[1]
    return 4 * (n * m * blocks(p, 16) + m * p * blocks(n, 16))


PRODUCTS = (16, 16, 16), (32, 48, 16), (1, 1, 1), (16, 5, 16), (5, 16, 7), (20, 33, 18)

matmul = Task(
    "matmul",
    title="Repair: a tiled product that needs multiples of 16",
    criteria=[
        Correct(
            matmul_spec,
            lambda rng: (matmul_case(rng, *shape) for shape in PRODUCTS),
            points=2,
            changes=(2,),
            agree=close(rtol=1e-4),
        ),
        Clean(points=1),
        Within(
            "global_load_bytes", matmul_bytes, what="bytes asked for by global loads", times=1.01
        ),
    ],
    hints=(
        "Sanitize it with shapes (5, 3) and (3, 7). Who stored the elements of the tiles that are "
        "read there?",
        "At the ragged edge the tile has places without an element. They are read in the inner "
        "loop. Which value there leaves every sum as it is?",
        "Store 0 in the tile where a or b has no element: `part_a[ty, tx] = a[...] if it exists "
        "else 0`. Keep both barriers outside of every condition.",
    ),
)
### BEGIN HIDDEN
from numba import cuda, float32  # noqa: E402


@cuda.jit
def unwritten_edges(a, b, c):
    part_a = cuda.shared.array((16, 16), float32)
    part_b = cuda.shared.array((16, 16), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for first in range(0, a.shape[1], 16):
        if row < a.shape[0] and first + tx < a.shape[1]:
            part_a[ty, tx] = a[row, first + tx]
        if first + ty < b.shape[0] and col < b.shape[1]:
            part_b[ty, tx] = b[first + ty, col]
        cuda.syncthreads()
        for k in range(16):
            total += part_a[ty, k] * part_b[k, tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


@cuda.jit
def product_without_tiles(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


@cuda.jit
def outsiders_leave(a, b, c):
    part_a = cuda.shared.array((16, 16), float32)
    part_b = cuda.shared.array((16, 16), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if row >= c.shape[0] or col >= c.shape[1]:
        return
    total = float32(0)
    for first in range(0, a.shape[1], 16):
        part_a[ty, tx] = a[row, first + tx] if first + tx < a.shape[1] else float32(0)
        part_b[ty, tx] = b[first + ty, col] if first + ty < b.shape[0] else float32(0)
        cuda.syncthreads()
        for k in range(16):
            total += part_a[ty, k] * part_b[k, tx]
        cuda.syncthreads()
    c[row, col] = total


@cuda.jit
def last_step_left_out(a, b, c):
    part_a = cuda.shared.array((16, 16), float32)
    part_b = cuda.shared.array((16, 16), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for step in range(a.shape[1] // 16):
        first = 16 * step
        part_a[ty, tx] = a[row, first + tx] if row < a.shape[0] else float32(0)
        part_b[ty, tx] = b[first + ty, col] if col < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(16):
            total += part_a[ty, k] * part_b[k, tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


matmul.wrong += [
    Wrong(
        "the edges of the tiles stay unwritten",
        unwritten_edges,
        says="The guards keep the loads inside the matrices, and leave places of the tiles as they "
        "were. The inner loop reads them all the same.",
    ),
    Wrong(
        "no tiles at all",
        product_without_tiles,
        says="Right, and every thread asks global memory for everything it needs. Keep the tiles.",
        fails="traffic",
    ),
    Wrong(
        "threads outside of c leave",
        outsiders_leave,
        says="They are needed: they load elements that others use, and the barrier waits for them.",
    ),
    Wrong(
        "the last step is left out",
        last_step_left_out,
        says="When 16 does not divide the inner side, one more step is needed for the rest.",
    ),
]
unseen(matmul, lambda rng: [matmul_case(rng, 33, 20, 47, public=False)])
### END HIDDEN
