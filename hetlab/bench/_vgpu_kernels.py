"""The kernels of ``hetlab bench vgpu``, each in two spellings.

The spellings differ in names, order of arguments and style, so that a result cannot
come from knowing one program.  Only the workers import this file: ``cuda`` must be a
global for Numba's simulator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import cuda, float32

__all__ = ["CASES", "Case", "loops"]


@dataclass(frozen=True)
class Case:
    """A kernel with its launch, its arguments, and a check of its result."""

    kernel: object
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: tuple
    check: Callable[[], bool]


def _rng():
    return np.random.default_rng(1)


def vector_add(spelling: int, n: int = 65_536) -> Case:
    """c = a + b in blocks of 256."""
    x, y = _rng().random((2, n), dtype=np.float32)
    z = np.zeros(n, np.float32)

    if spelling == 0:

        @cuda.jit
        def add(a, b, c):
            i = cuda.grid(1)
            if i < c.size:
                c[i] = a[i] + b[i]

        kernel, args = add, (x, y, z)
    else:

        @cuda.jit
        def total(count, result, left, right):
            at = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
            if at < count:
                result[at] = left[at] + right[at]

        kernel, args = total, (n, z, x, y)
    return Case(kernel, (-(-n // 256),), (256,), args, lambda: np.array_equal(z, x + y))


def block_reduction(spelling: int, n: int = 65_536) -> Case:
    """The sum of each block of 256, by halving in shared memory."""
    values = _rng().random(n, dtype=np.float32)
    sums = np.zeros(n // 256, np.float32)

    if spelling == 0:

        @cuda.jit
        def reduce(data, out):
            tile = cuda.shared.array(256, float32)
            t = cuda.threadIdx.x
            i = cuda.grid(1)
            tile[t] = data[i] if i < data.size else 0
            cuda.syncthreads()
            step = 128
            while step > 0:
                if t < step:
                    tile[t] += tile[t + step]
                cuda.syncthreads()
                step //= 2
            if t == 0:
                out[cuda.blockIdx.x] = tile[0]

        kernel, args = reduce, (values, sums)
    else:

        @cuda.jit
        def fold(partial, source):
            buffer = cuda.shared.array(256, float32)
            lane = cuda.threadIdx.x
            buffer[lane] = source[cuda.blockIdx.x * 256 + lane]
            width = 128
            while width >= 1:
                cuda.syncthreads()
                if lane < width:
                    buffer[lane] = buffer[lane] + buffer[lane + width]
                width = width >> 1
            if lane == 0:
                partial[cuda.blockIdx.x] = buffer[0]

        kernel, args = fold, (sums, values)

    def check() -> bool:
        return np.allclose(sums, values.reshape(-1, 256).sum(axis=1), rtol=1e-5)

    return Case(kernel, (n // 256,), (256,), args, check)


def tiled_matmul(spelling: int, n: int = 64) -> Case:
    """c = a @ b in 16 x 16 tiles of shared memory."""
    x, y = _rng().random((2, n, n), dtype=np.float32)
    z = np.zeros((n, n), np.float32)

    if spelling == 0:

        @cuda.jit
        def matmul(a, b, c):
            left = cuda.shared.array((16, 16), float32)
            right = cuda.shared.array((16, 16), float32)
            col, row = cuda.grid(2)
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            total = float32(0)
            for k in range(0, a.shape[1], 16):
                left[ty, tx] = a[row, k + tx]
                right[ty, tx] = b[k + ty, col]
                cuda.syncthreads()
                for j in range(16):
                    total += left[ty, j] * right[j, tx]
                cuda.syncthreads()
            c[row, col] = total

        kernel, args = matmul, (x, y, z)
    else:

        @cuda.jit
        def product(out, size, second, first):
            mine = cuda.shared.array((16, 16), float32)
            theirs = cuda.shared.array((16, 16), float32)
            i, j = cuda.threadIdx.y, cuda.threadIdx.x
            down = cuda.blockIdx.y * 16 + i
            across = cuda.blockIdx.x * 16 + j
            acc = float32(0)
            for step in range(size // 16):
                mine[i, j] = first[down, step * 16 + j]
                theirs[i, j] = second[step * 16 + i, across]
                cuda.syncthreads()
                for q in range(16):
                    acc += mine[i, q] * theirs[q, j]
                cuda.syncthreads()
            out[down, across] = acc

        kernel, args = product, (z, n, y, x)

    grid = (n // 16, n // 16)
    return Case(kernel, grid, (16, 16), args, lambda: np.allclose(z, x @ y, rtol=1e-4))


def loops(name: str, n: int):
    """The same work as loops for ``numba.njit``: a function without arguments, and its check."""
    from numba import njit, prange

    if name == "vector add":
        x, y = _rng().random((2, n), dtype=np.float32)
        z = np.zeros(n, np.float32)

        @njit(parallel=True)
        def add(a, b, c):
            for i in prange(c.size):
                c[i] = a[i] + b[i]

        return lambda: add(x, y, z), lambda: np.array_equal(z, x + y)
    if name == "block reduction":
        values, sums = _rng().random(n, dtype=np.float32), np.zeros(n // 256, np.float32)

        @njit(parallel=True)
        def reduce(data, out):
            for block in prange(out.size):
                total = np.float32(0)
                for i in range(block * 256, block * 256 + 256):
                    total += data[i]
                out[block] = total

        def right() -> bool:
            return np.allclose(sums, values.reshape(-1, 256).sum(axis=1), rtol=1e-5)

        return lambda: reduce(values, sums), right
    if name != "tiled matmul":
        raise KeyError(name)
    x, y = _rng().random((2, n, n), dtype=np.float32)
    z = np.zeros((n, n), np.float32)

    @njit(parallel=True)
    def matmul(a, b, c):
        for i in prange(c.shape[0]):
            for j in range(c.shape[1]):
                total = np.float32(0)
                for k in range(a.shape[1]):
                    total += a[i, k] * b[k, j]
                c[i, j] = total

    return lambda: matmul(x, y, z), lambda: np.allclose(z, x @ y, rtol=1e-4)


CASES = {"vector add": vector_add, "block reduction": block_reduction, "tiled matmul": tiled_matmul}
