"""Transposes and reductions, for a profiler on a real GPU and for the virtual one."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32

N = 256


@cuda.jit
def naive(a, out):
    x, y = cuda.grid(2)
    out[x, y] = a[y, x]


@cuda.jit
def tiled(a, out):
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    tile[y, x] = a[row + y, column + x]
    cuda.syncthreads()
    out[column + y, row + x] = tile[x, y]


@cuda.jit
def padded(a, out):
    tile = cuda.shared.array((32, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    tile[y, x] = a[row + y, column + x]
    cuda.syncthreads()
    out[column + y, row + x] = tile[x, y]


@cuda.jit
def interleaved(a, out):
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    part[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < 256:
        if t * 2 * step < 256:
            part[t * 2 * step] += part[t * 2 * step + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def sequential(a, out):
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    part[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


def launches():
    """(name, configured kernel, arguments) of each rung."""
    matrix = np.arange(N * N, dtype=np.float32).reshape(N, N)
    for kernel in (naive, tiled, padded):
        shape = ((N // 32, N // 32), (32, 32))
        yield kernel.py_func.__name__, kernel[shape], (matrix, np.zeros_like(matrix))
    for kernel in (interleaved, sequential):
        out = np.zeros(N, np.float32)
        yield kernel.py_func.__name__, kernel[N, 256], (matrix.reshape(-1), out)


def counted() -> dict[str, dict[str, int]]:
    """The virtual GPU's counters of each rung."""
    import hetlab

    hetlab.use_virtual_gpu()
    return {name: hetlab.profile(launch, *args).counters for name, launch, args in launches()}


if __name__ == "__main__":
    for _, launch, args in launches():
        launch(*args)
    cuda.synchronize()
