"""Faults of many kinds in unusual shapes: far blocks, three dimensions, layouts, aliases."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32, int32

from .entry import fault, ramp, zeros

OOB, RACE, UNWRITTEN = "out-of-bounds", "race", "uninitialised-read"
WEIGHTS = np.array([1, 4, 6, 4, 1], np.float32)


@fault(OOB, "a", 99_999, grid=400, block=256, args=lambda: (ramp(99_999), zeros(100_000)))
def only_the_last_thread_of_many(a, out):
    i = cuda.grid(1)
    if i < out.size:  # !fix if i < a.size:
        out[i] = a[i]  # !fault


@fault(
    RACE, "cell", lambda i, a, b: i == 0 and {a.b, b.b} == {0, 399}, grid=400, block=64,
    args=lambda: (zeros(2), zeros(400)),
)  # fmt: skip
def first_and_last_block_share_a_cell(cell, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0 and b == 0:
        cell[0] = 1  # !fault
    if t == 5 and b == 399:
        out[b] = cell[0]  # !fault  # !fix out[b] = cell[1]


@fault(OOB, "volume", lambda i, t: i[0] == 7 and t.z == 3, grid=(2, 2, 2), block=(4, 4, 4),
       args=lambda: (zeros((7, 7, 7)), 2.0))  # fmt: skip
def third_dimension_without_guard(volume, value):
    x, y, z = cuda.grid(3)
    if x < volume.shape[2] and y < volume.shape[1]:  # !fix if max(x, y, z) < 7:
        volume[z, y, x] = value  # !fault


@fault(OOB, "f", lambda i, t: i[1] == 6, block=(8, 4),
       args=lambda: (np.asfortranarray(ramp((4, 6))), zeros((4, 8))))  # fmt: skip
def column_past_a_fortran_array(f, out):
    c, r = cuda.threadIdx.x, cuda.threadIdx.y
    if c <= 6:  # !fix if c < 6:
        out[r, c] = f[r, c]  # !fault


@fault(OOB, "z", 16, block=32, args=lambda: (ramp(16, np.complex64), zeros(32)))
def complex_number_past_the_end(z, out):
    i = cuda.threadIdx.x
    if i <= z.size:  # !fix if i < z.size:
        out[i] = z[i].real + z[i].imag  # !fault


point = np.dtype([("x", np.float32), ("id", np.int32)])


@fault(OOB, "points", 12, block=16, args=lambda: (np.zeros(12, point), zeros(16)))
def field_of_a_record_past_the_end(points, out):
    i = cuda.threadIdx.x
    if i < 13:  # !fix if i < 12:
        points[i].id = i  # !fault
        out[i] = i


def one_array_twice():
    d = cuda.to_device(ramp(65))
    return d, d


@fault(RACE, None, lambda i, a, b: abs(a.x - b.x) == 1, args=one_array_twice,
       mended={"args": lambda: (ramp(65), zeros(65))})  # fmt: skip
def one_array_for_both_arguments(src, dst):
    i = cuda.threadIdx.x
    dst[i] = src[i + 1]  # !fault


@fault(OOB, "dyn", lambda i, t: i in (t.x, 63 - t.x) and i >= 48,
       shared=48 * 4, mended={"shared": 64 * 4},
       args=lambda: (ramp(64), zeros(64)))  # fmt: skip
def dynamic_array_shorter_than_the_block(a, out):
    dyn = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    dyn[t] = a[t]  # !fault
    cuda.syncthreads()
    out[t] = dyn[63 - t]  # !fault


@fault(OOB, "w", 5, args=lambda: (ramp(70), zeros(64), 6))
def constant_array_read_past_its_end(a, out, taps):
    w = cuda.const.array_like(WEIGHTS)
    i = cuda.threadIdx.x
    total = float32(0)
    for k in range(taps):  # !fix for k in range(w.size):
        total += w[k] * a[i + k]  # !fault
    out[i] = total


@fault("deadlock", None, block=64, also=("race",), args=lambda: (zeros(1, np.int32), zeros(1)))
def polling_loop_that_the_compiler_empties(flag, out):
    t = cuda.threadIdx.x
    # !fix if t == 32: cuda.atomic.exch(flag, 0, int32(1))
    if t == 0:
        while flag[0] == 0:  # !fault  # !fix while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        out[0] = int32(1)


fault(
    "race",
    "flags",
    lambda i, a, b: i in (a.x, a.x // 4),
    args=lambda: (zeros(64, np.int32),),
    code="""
__global__ void a_byte_against_its_word(int *out) {
    __shared__ unsigned char flags[64];
    int t = threadIdx.x;
    flags[t] = t;  // !fault
    // !fix __syncthreads();
    out[t] = ((int *)flags)[(t + 4) / 4 % 16];  // !fault
}""",
)

fault(
    OOB,
    "tile",
    -1,
    args=lambda: (ramp(64), zeros(64)),
    code="""
__global__ void before_the_start_of_a_tile(const float *a, float *out) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = a[t];
    __syncthreads();
    int left = t - 1;  // !fix int left = t > 0 ? t - 1 : 0;
    out[t] = tile[left];  // !fault
}""",
)

fault(
    UNWRITTEN,
    "quads",
    lambda i, t: i == 4 * (15 - t.x) + 3,
    block=16,
    args=lambda: (ramp(64), zeros(16)),
    code="""
__global__ void last_lane_of_a_vector(const float *a, float *out) {
    __shared__ float4 quads[16];
    int t = threadIdx.x;
    quads[t].x = a[t];
    quads[t].y = a[t + 16];
    quads[t].z = a[t + 32];  // !fix quads[t].z = a[t + 32]; quads[t].w = 0;
    __syncthreads();
    out[t] = quads[15 - t].w;  // !fault
}""",
)

fault(
    RACE,
    "counter",
    0,
    also=("race",),
    args=lambda: (zeros(2, np.uint32),),
    code="""
__global__ void narrow_atomic_wide_store(unsigned *counter) {
    if (threadIdx.x == 0)
        *(unsigned long long *)counter = 0;  // !fault
    // !fix __syncthreads();
    atomicAdd(counter, 1u);  // !fault
}""",
)

fault(
    RACE,
    "cells",
    lambda i, a, b: a.x != b.x,
    args=lambda: (ramp(64), zeros(64)),
    code="""
__device__ __noinline__ float take(const float *from, int i) {
    return from[i];  // !fault
}
__global__ void through_a_generic_pointer(const float *a, float *out) {
    __shared__ float cells[64];
    int t = threadIdx.x;
    cells[t] = take(a, t);  // !fault
    // !fix __syncthreads();
    out[t] = take(cells, 63 - t);
}""",
)
