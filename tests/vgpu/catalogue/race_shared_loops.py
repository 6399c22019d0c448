"""Races in shared memory inside loops, in the dialect of Numba: one barrier too few a turn."""

from __future__ import annotations

from numba import cuda, float32, int32

from .entry import fault, ints, ramp, zeros

RACE = "race"


@fault(RACE, "buf", lambda i, a, b: a.x != b.x, block=128, args=lambda: (ramp(128), zeros(1)))
def tree_sum_with_the_barrier_outside_the_loop(a, out):
    buf = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    buf[t] = a[t]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            buf[t] += buf[t + step]  # !fault
        # !fix cuda.syncthreads()
        step //= 2
    cuda.syncthreads()
    if t == 0:
        out[0] = buf[0]


@fault(RACE, "buf", lambda i, a, b: i == 0 and a.x == 0 and b.x >= 1,
       args=lambda: (ramp(64), zeros(64)))  # fmt: skip
def everybody_reads_the_sum_too_early(a, out):
    buf = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    buf[t] = a[t]
    step = 32
    while step > 0:
        cuda.syncthreads()
        if t < step:
            buf[t] += buf[t + step]  # !fault
        step //= 2
    # !fix cuda.syncthreads()
    out[t] = a[t] / buf[0]  # !fault


@fault(
    RACE,
    "acc",
    lambda i, a, b: a.warp == b.warp and a.lane != b.lane,
    args=lambda: (ramp(64), zeros(1)),
)
def warp_synchronous_tail(x, out):
    acc = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    acc[t] = x[t]
    cuda.syncthreads()
    if t < 32:
        step = 32
        while step > 0:
            if t < step:
                acc[t] += acc[t + step]  # !fault
            # !fix cuda.syncwarp()
            step //= 2
    if t == 0:
        out[0] = acc[0]


@fault(RACE, "tb", lambda i, a, b: (a.x, a.y) != (b.x, b.y), block=(8, 8),
       args=lambda: (ramp((8, 32)), ramp((32, 8)), zeros((8, 8))))  # fmt: skip
def product_overwrites_tiles_in_use(a, b, c):
    ta = cuda.shared.array((8, 8), float32)
    tb = cuda.shared.array((8, 8), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for m in range(a.shape[1] // 8):
        ta[y, x] = a[y, 8 * m + x]  # !also
        tb[y, x] = b[8 * m + y, x]  # !fault
        cuda.syncthreads()
        for k in range(8):
            total += ta[y, k] * tb[k, x]  # !fault
        # !fix cuda.syncthreads()
    c[y, x] = total


@fault(RACE, "s", lambda i, a, b: abs(a.x - b.x) in (1, 2, 4, 8, 16, 32),
       args=lambda: (ramp(64), zeros(64)))  # fmt: skip
def scan_in_place(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    d = 1
    while d < 64:
        v = s[t - d] if t >= d else float32(0)  # !fault
        # !fix cuda.syncthreads()
        s[t] += v  # !fault
        cuda.syncthreads()
        d *= 2
    out[t] = s[t]


@fault(RACE, "s", lambda i, a, b: a.x != b.x, args=lambda: (ramp(64), zeros(64)))
def scan_with_two_buffers_and_no_barrier(a, out):
    s = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    cur = 0
    s[0, t] = a[t]
    cuda.syncthreads()
    d = 1
    while d < 64:
        if t >= d:
            s[1 - cur, t] = s[cur, t] + s[cur, t - d]  # !fault
        else:
            s[1 - cur, t] = s[cur, t]  # !fault
        cur = 1 - cur
        d *= 2
        # !fix cuda.syncthreads()
    cuda.syncthreads()
    out[t] = s[cur, t]


@fault(RACE, "total", lambda i, a, b: i == 0 and 0 in (a.x, b.x),
       args=lambda: (ramp((4, 64)), zeros((4, 64))))  # fmt: skip
def one_cell_for_every_row(m, out):
    total = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    for r in range(m.shape[0]):
        if t == 0:
            total[0] = m[r, 0]  # !fault
        cuda.syncthreads()
        out[r, t] = m[r, t] / total[0]  # !fault
        # !fix cuda.syncthreads()


@fault(RACE, "keys", lambda i, a, b: a.x != b.x, args=lambda: (ints(*range(128, 0, -1)),))
def bitonic_sort_without_barrier(values):
    keys = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    keys[t] = values[t]
    keys[t + 64] = values[t + 64]
    cuda.syncthreads()
    size = 2
    while size <= 128:
        step = size // 2
        while step > 0:
            i = 2 * t - (t & (step - 1))
            if (keys[i] > keys[i + step]) == ((i & size) == 0):  # !fault
                keys[i], keys[i + step] = keys[i + step], keys[i]  # !fault
            step //= 2
            # !fix cuda.syncthreads()
        size *= 2
    cuda.syncthreads()
    values[t] = keys[t]
    values[t + 64] = keys[t + 64]


@fault(RACE, "stage", lambda i, a, b: a.x != b.x, args=lambda: (ramp(4 * 64), zeros(4 * 64)))
def next_tile_loaded_into_the_current_buffer(a, out):
    stage = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    stage[0, t] = a[t]
    for k in range(4):
        cuda.syncthreads()
        if k < 3:
            spare = k % 2  # !fix spare = (k + 1) % 2
            stage[spare, t] = a[64 * (k + 1) + t]  # !fault
        out[64 * k + t] = stage[k % 2, 63 - t]  # !fault


@fault(RACE, "row", lambda i, a, b: abs(a.x - b.x) == 1, args=lambda: (ramp(64), 3))
def heat_steps_with_one_barrier(u, steps):
    row = cuda.shared.array(66, float32)
    t = cuda.threadIdx.x
    row[t + 1] = u[t]
    if t < 2:
        row[65 * t] = 0
    for _ in range(steps):
        cuda.syncthreads()
        new = (row[t] + row[t + 2]) / 2  # !fault
        # !fix cuda.syncthreads()
        row[t + 1] = new  # !fault
    u[t] = row[t + 1]
