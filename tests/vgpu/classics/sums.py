"""Classics on one-dimensional arrays: reduction, scan, histogram, bitonic sort."""

from __future__ import annotations

import numpy as np

from tests.vgpu.classics.kit import Classic, blocks_for

__all__ = ["ALL"]

REDUCE_BLOCK, SCAN_CHUNK, SORT_CHUNK = 128, 256, 512  # as the sources have them
REDUCE_BLOCKS = 32
"""At most so many blocks add in the seventh reduction."""


def _reduce(launch, variant, size, rng):
    values = rng.integers(-1000, 1000, size, dtype=np.int32)
    step = int(variant[0])
    name = f"reduce{step}" + (f"<{REDUCE_BLOCK}>" if step > 5 else "")
    each = REDUCE_BLOCK if step < 4 else 2 * REDUCE_BLOCK
    left = values
    while True:  # the partial sums are summed by the same kernel, until one is left
        blocks = blocks_for(len(left), each)
        if step == 7:
            blocks = min(blocks, REDUCE_BLOCKS)
        out = np.zeros(blocks, np.int32)
        launch(name, blocks, REDUCE_BLOCK, left, out, len(left))
        if blocks == 1:
            return out, values.sum(dtype=np.int32, keepdims=True)
        left = out


def _scan(launch, variant, size, rng):
    values = rng.integers(-1000, 1000, size, dtype=np.int32)
    names = {"Blelloch": "blelloch<false>", "Blelloch, free banks": "blelloch<true>"}
    name = names.get(variant, "hillis_steele")

    def scanned(data):
        blocks = blocks_for(len(data), SCAN_CHUNK)
        out, sums = np.zeros_like(data), np.zeros(blocks, np.int32)
        block = SCAN_CHUNK if name == "hillis_steele" else SCAN_CHUNK // 2
        launch(name, blocks, block, data, out, sums, len(data))
        if blocks > 1:
            launch("add_offsets", blocks, SCAN_CHUNK, out, scanned(sums), len(data))
        return out

    return scanned(values), np.cumsum(values, dtype=np.int32) - values


def _histogram(launch, variant, size, rng):
    data = rng.binomial(255, 0.4, size).astype(np.uint8)  # a hill, as pictures have it
    bins = np.zeros(256, np.uint32)
    launch(f"histogram_{variant}", min(16, blocks_for(size, 256)), 256, data, bins, size)
    return bins, np.bincount(data, minlength=256).astype(np.uint32)


def _bitonic(launch, variant, size, rng):
    values = rng.integers(-(2**31), 2**31, size, dtype=np.int32)
    n = 1 << max(size - 1, 1).bit_length()  # a power of two, filled up with the largest
    data = np.full(n, 2**31 - 1, np.int32)
    data[:size] = values
    pairs = blocks_for(n // 2, 256)
    run = 2
    if variant == "shared":
        launch("chunk", blocks_for(n, SORT_CHUNK), 256, data, n, 2, min(n, SORT_CHUNK))
        run = 2 * SORT_CHUNK
    while run <= n:
        distance = run // 2
        while distance and not (variant == "shared" and distance < SORT_CHUNK):
            launch("step", pairs, 256, data, n, distance, run)
            distance //= 2
        if distance:
            launch("chunk", blocks_for(n, SORT_CHUNK), 256, data, n, run, run)
        run *= 2
    return data[:size], np.sort(values)


ALL = (
    Classic(
        "reduce",
        (
            "1 modulo", "2 strided", "3 sequential", "4 add while loading", "5 last warp",
            "6 unrolled", "7 many a thread",
        ),
        (1, 127, 129, 1000, 20_000), 1 << 16, _reduce,
    ),
    Classic(
        "scan", ("Hillis-Steele", "Blelloch", "Blelloch, free banks"),
        (1, 255, 257, 1000), 1 << 14, _scan,
    ),
    Classic("histogram", ("global", "shared"), (1, 31, 1000, 5001), 1 << 16, _histogram),
    Classic("bitonic", ("global", "shared"), (1, 2, 33, 512, 700, 1025), 1 << 12, _bitonic),
)  # fmt: skip
