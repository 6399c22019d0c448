"""Classics on two-dimensional grids: transpose, stencil, Mandelbrot."""

from __future__ import annotations

import numpy as np

from tests.vgpu.classics.kit import Classic, blocks_for

__all__ = ["ALL"]


def _transpose(launch, variant, size, rng):
    # Awkward sizes are not square, so that a mix-up of rows and columns shows.
    rows, cols = size, size if size % 32 == 0 else size + 5
    a = rng.random((rows, cols), dtype=np.float32)
    out = np.zeros((rows, cols) if variant == "copy" else (cols, rows), np.float32)
    names = {"unpadded": "tiled<0>", "padded": "tiled<1>"}
    name = names.get(variant, variant)
    launch(name, (blocks_for(cols, 32), blocks_for(rows, 32)), (32, 32), a, out, rows, cols)
    return out, a if variant == "copy" else a.T


def _stencil(launch, variant, size, rng):
    rows, cols = size, size if size % 32 == 0 else 2 * size + 3
    a = rng.random((rows, cols), dtype=np.float32)
    out = np.zeros_like(a)
    grid = blocks_for(cols, 32), blocks_for(rows, 8)
    launch(variant, grid, (32, 8), a, out, rows, cols, 0.125)
    want = a.astype(np.float64)
    around = want[:-2, 1:-1] + want[2:, 1:-1] + want[1:-1, :-2] + want[1:-1, 2:]
    want[1:-1, 1:-1] += 0.125 * (around - 4 * want[1:-1, 1:-1])
    return out, want, 1e-6


def _mandelbrot(launch, variant, size, rng):
    # A warp is 32 x 1 points in blocks of 32 x 8, and 8 x 4 points in blocks of 8 x 32.
    block = {"rows of 32": (32, 8), "squares of 8 x 4": (8, 32)}[variant]
    width, height, limit = size, size if size % 32 == 0 else size // 2 + 1, 64
    steps = np.full((height, width), -1, np.int32)
    grid = blocks_for(width, block[0]), blocks_for(height, block[1])
    left, bottom, pixel = np.float32(-2), np.float32(-1.25), np.float32(2.5 / width)
    launch("mandelbrot", grid, block, steps, width, height, left, bottom, pixel, limit)
    # The same float32 operations: the kernel is compiled without fused multiply-adds.
    cx = (left + pixel * np.arange(width, dtype=np.float32))[None, :]
    cy = (bottom + pixel * np.arange(height, dtype=np.float32))[:, None]
    x, y = np.zeros((2, height, width), np.float32)
    want, inside = np.zeros((height, width), np.int32), np.ones((height, width), bool)
    for _ in range(limit):
        inside &= x * x + y * y <= 4
        want += inside
        x, y = (
            np.where(inside, x * x - y * y + cx, x),
            np.where(inside, np.float32(2) * x * y + cy, y),
        )
    return steps, want


ALL = (
    Classic(
        "transpose", ("copy", "naive", "unpadded", "padded"), (1, 31, 33, 100), 256, _transpose
    ),
    Classic("stencil", ("naive", "tiled"), (1, 2, 7, 9, 33, 70), 256, _stencil),
    Classic(
        "mandelbrot", ("rows of 32", "squares of 8 x 4"), (1, 33, 70), 128, _mandelbrot,
        options=("--fmad=false",),
    ),
)  # fmt: skip
