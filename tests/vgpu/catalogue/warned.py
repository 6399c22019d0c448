"""What is legal and seldom meant: a wrapped negative index, one value stored by many warps."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32

from .entry import fault, ramp, zeros

WRAPPED, SAME = "wrapped-index", "same-value-store"


@fault(WRAPPED, "a", lambda i, t: i in (-1, 63) and t.x == 0, args=lambda: (ramp(64), zeros(64)))
def left_neighbour_wraps_around(a, out):
    i = cuda.grid(1)
    out[i] = a[i] - a[i - 1]  # !fault  # !fix out[i] = a[i] - a[max(i - 1, 0)]


@fault(WRAPPED, "v", lambda i, t: i in (-1, 65) and t.x == 0, args=lambda: (ramp(64), zeros(66)))
def store_wraps_around(u, v):
    i = cuda.grid(1)
    v[i - 1] = u[i]  # !fault  # !fix v[i + 1] = u[i]


@fault(
    WRAPPED, "m", lambda i, t: t.y == 0, block=(8, 8), args=lambda: (ramp((8, 8)), zeros((8, 8)))
)
def row_above_wraps_around(m, out):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    out[y, x] = m[y - 1, x]  # !fault  # !fix out[y, x] = m[max(y - 1, 0), x]


@fault(SAME, "found", 0, args=lambda: (ramp(64), zeros(1, np.int32)))
def many_warps_say_the_same(a, found):
    if a[cuda.grid(1)] > 20:
        found[0] = 1  # !fault  # !fix cuda.atomic.max(found, 0, 1)


@fault(SAME, "scale", 0, args=lambda: (ramp(64), zeros(64)))
def every_thread_stores_the_same_scale(a, out):
    scale = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    # !fix if t == 0:
    scale[0] = a[7]  # !fault  # !fix     scale[0] = a[7]
    cuda.syncthreads()
    out[t] = a[t] * scale[0]
