"""Classics of floating-point work: SGEMM, SpMV, N-body."""

from __future__ import annotations

import numpy as np

from tests.vgpu.classics.kit import Classic, blocks_for

__all__ = ["ALL"]


def _sgemm(launch, variant, size, rng):
    m, n, k = (size,) * 3 if size % 32 == 0 else (size, size + 9, 2 * size + 3)
    a, b = rng.random((m, k), dtype=np.float32), rng.random((k, n), dtype=np.float32)
    c = np.zeros((m, n), np.float32)
    tile = 64 if variant == "blocked" else 16
    launch(variant, (blocks_for(n, tile), blocks_for(m, tile)), (16, 16), a, b, c, m, n, k)
    # A sum of k products of values below 1, each step rounded by 2**-24: at most k/2**24 off.
    return c, a.astype(np.float64) @ b, 2.0**-24 * (k + 1)


def _spmv(launch, variant, size, rng):
    """Rows of 0 to 95 entries, a third of them empty in awkward sizes."""
    lengths = rng.integers(0, min(96, size + 1), size)
    if size % 32:
        lengths[rng.random(size) < 1 / 3] = 0
    start = np.zeros(size + 1, np.int32)
    np.cumsum(lengths, out=start[1:])
    column = np.concatenate(
        [np.sort(rng.choice(size, n, replace=False)) for n in lengths] or [[]]
    ).astype(np.int32)
    value, x = rng.random(len(column), dtype=np.float32), rng.random(size, dtype=np.float32)
    y = np.full(size, np.nan, np.float32)
    threads = size * (32 if variant == "vector" else 1)
    launch(variant, blocks_for(threads, 128), 128, start, column, value, x, y, size)
    want, products = np.zeros(size), value.astype(np.float64) * x[column]
    np.add.at(want, np.repeat(np.arange(size), lengths), products)
    return y, want, 1e-5


def _nbody(launch, variant, size, rng):
    body = rng.random((size, 4), dtype=np.float32)
    out = np.full((size, 4), np.nan, np.float32)
    launch(variant, blocks_for(size, 64), 64, body, out, size, 0.01)
    position, mass = body[:, :3].astype(np.float64), body[:, 3].astype(np.float64)
    away = position[None, :] - position[:, None]
    weight = mass / ((away**2).sum(axis=2) + np.float32(0.01)) ** 1.5
    want = np.zeros((size, 4))
    want[:, :3] = (weight[:, :, None] * away).sum(axis=1)
    return out, want, 2e-5


ALL = (
    Classic("sgemm", ("naive", "tiled", "blocked"), (1, 15, 17, 70), 128, _sgemm),
    Classic("spmv", ("scalar", "vector"), (1, 33, 301), 1024, _spmv),
    Classic("nbody", ("naive", "tiled"), (1, 63, 130), 512, _nbody),
)
