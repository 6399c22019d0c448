"""Reads of memory that nobody has written, in CUDA C++."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.uninitialised import empty

from .entry import fault, flat, ints, ramp, zeros

UNWRITTEN = "uninitialised-read"


fault(
    UNWRITTEN,
    "warp_sums",
    lambda i, t: i == t.x >= 2,
    args=lambda: (ramp(64), zeros(1)),
    code="""
__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    return v;
}
__global__ void partial_sums_of_warps_that_do_not_exist(const float *a, float *out) {
    __shared__ float warp_sums[32];
    int t = threadIdx.x;
    float v = warp_sum(a[t]);
    if (t % 32 == 0) warp_sums[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = warp_sums[t];  // !fault  // !fix v = t < blockDim.x / 32 ? warp_sums[t] : 0;
        v = warp_sum(v);
        if (t == 0) *out = v;
    }
}""",
)

fault(
    UNWRITTEN,
    "cache",
    lambda i, t: i == t.x + 1 and t.x % 8 == 7,
    block=64,
    shared=65 * 4,
    args=lambda: (ramp(64), zeros(64)),
    code="""
extern __shared__ float cache[];
__global__ void every_eighth_is_left_out(const float *a, float *out) {
    int t = threadIdx.x;
    if (t % 8) cache[t] = a[t];  // !fix cache[t] = a[t]; if (t == 0) cache[64] = 0;
    if (t == 0) cache[0] = a[0];
    __syncthreads();
    out[t] = cache[t + 1];  // !fault
}""",
)

fault(
    UNWRITTEN,
    "body",
    lambda i, t: i == 3 * (63 - t.x) + 2,
    args=lambda: (ramp(64), zeros(64)),
    code="""
struct Body { float x, y, mass; };
__global__ void mass_never_set(const float *a, float *out) {
    __shared__ Body body[64];
    int t = threadIdx.x;
    body[t].x = a[t];
    body[t].y = -a[t];  // !fix body[t].y = -a[t]; body[t].mass = 1;
    __syncthreads();
    out[t] = body[63 - t].mass;  // !fault
}""",
)

fault(
    UNWRITTEN,
    "rows",
    lambda i, t: i[1] >= 33,
    block=8,
    args=lambda: (padded_rows(), zeros(8)),
    code="""
__global__ void sum_runs_into_the_padding(const float *rows, float *sums) {
    int r = threadIdx.x;
    float sum = 0;
    for (int c = 0; c < 40; c++)  // !fix for (int c = 0; c < 33; c++)
        sum += rows[r * 40 + c];  // !fault
    sums[r] = sum;
}""",
)


def padded_rows():
    rows = empty((8, 40), np.float32)
    rows[:, :33] = 1
    return rows


fault(
    UNWRITTEN,
    "links",
    lambda i, t: i == 5,
    block=8,
    args=lambda: (links_with_a_hole(), ints(*range(8)), zeros(8, np.int32)),
    code="""
__global__ void follow_a_link_that_was_never_set(const int *links, const int *start, int *out) {
    int next = start[threadIdx.x];
    if (next != 9)  // !fix if (next != 5)
        next = links[next];  // !fault
    out[threadIdx.x] = next;
}""",
)


def links_with_a_hole():
    links = empty(8, np.int32)
    links[[0, 1, 2, 3, 4, 6, 7]] = 2
    return links


fault(
    UNWRITTEN,
    "hits",
    0,
    block=32,
    args=lambda: (ramp(32), empty(1, np.uint32)),
    mended={"args": lambda: (ramp(32), zeros(1, np.uint32))},
    code="""
__global__ void counter_never_cleared(const float *a, unsigned *hits) {
    if (a[threadIdx.x] > 7.5f) atomicAdd(hits, 1u);  // !fault
}""",
)

fault(
    UNWRITTEN,
    "tile",
    lambda i, t: flat(i, 17) == 17 * t.x + t.y and t.x >= 12,
    block=(16, 16),
    args=lambda: (ramp((12, 16)), zeros((16, 16))),
    code="""
__global__ void tile_at_the_lower_edge(const float *a, float *t) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    if (y < 12) tile[y][x] = a[y * 16 + x];
    __syncthreads();
    if (x < 16)  // !fix if (x < 12)
        t[y * 16 + x] = tile[x][y];  // !fault
}""",
)
