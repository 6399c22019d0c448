"""Misaligned accesses: CUDA C++ through a cast pointer."""

from __future__ import annotations

import numpy as np

from .entry import fault, ramp, zeros

BAD = "misaligned"

fault(
    BAD,
    "a",
    lambda i, t: i == 1 + 4 * t.x,
    block=8,
    args=lambda: (ramp(40), zeros(32)),
    code="""
__global__ void vector_from_the_second_element(const float *a, float *out) {
    int i = 4 * threadIdx.x;
    const float *from = a + i + 1;  // !fix const float *from = a + i + 4;
    float4 v = *reinterpret_cast<const float4 *>(from);  // !fault
    out[threadIdx.x] = v.x * v.y + v.z * v.w;
}""",
)

fault(
    BAD,
    "packet",
    lambda i, t: i == 5 * t.x + 1 and i % 4,
    block=8,
    args=lambda: (ramp(40, np.uint8), zeros(8, np.int32)),
    code="""
__global__ void number_inside_a_packet(const unsigned char *packet, int *value) {
    const unsigned char *p = packet + 5 * threadIdx.x + 1;
    int v = *(const int *)p;  // !fault  // !fix int v = p[0] | p[1] << 8 | p[2] << 16 | p[3] << 24;
    value[threadIdx.x] = v;
}""",
)

fault(
    BAD,
    "pool",
    lambda i, t: t.x % 1 == 0,
    block=5,
    shared=5 * 12 + 4,
    args=lambda: (ramp(5, np.float64), np.int32(5)),
    code="""
extern __shared__ char pool[];
__global__ void doubles_after_an_odd_number_of_floats(double *a, int n) {
    float *f = (float *)pool;
    int bytes = 4 * n;  // !fix int bytes = (4 * n + 7) / 8 * 8;
    double *d = (double *)(pool + bytes);
    int t = threadIdx.x;
    f[t] = (float)a[t];
    d[t] = a[t];  // !fault
    __syncthreads();
    a[t] = d[n - 1 - t] + f[t];  // !fault
}""",
)

fault(
    BAD,
    "a",
    lambda i, t: i == 2 * t.x,
    block=16,
    args=lambda: (ramp(41)[1:], zeros(16)),
    mended={"args": lambda: (ramp(41)[2:], zeros(16))},
    code="""
__global__ void pairs_of_an_odd_slice(const float *a, float *out) {
    float2 v = ((const float2 *)a)[threadIdx.x];  // !fault
    out[threadIdx.x] = v.x * v.y;
}""",
)

fault(
    BAD,
    "counters",
    1,
    block=32,
    args=lambda: (zeros(8, np.uint32),),
    code="""
__global__ void wide_counter_among_narrow_ones(unsigned *counters) {
    unsigned *c = counters + 1;  // !fix unsigned *c = counters + 2;
    atomicAdd((unsigned long long *)c, 1ull);  // !fault
}""",
)

fault(
    BAD,
    "out",
    lambda i, t: i == 16 * t.y + t.x and i % 4,
    block=(16, 2),
    also=("race",),
    args=lambda: (zeros(36, np.uint32), ramp(32, np.uint32)),
    code="""
__global__ void vectors_one_element_apart(unsigned *out, const unsigned *a) {
    int i = threadIdx.y * 16 + threadIdx.x;
    unsigned v = a[i];
    if (i < 33)  // !fix if (i % 4 == 0)
        *(uint4 *)(out + i) = make_uint4(v, v, v, v);  // !fault
}""",
)

fault(
    BAD,
    "halves",
    lambda i, t: i == 2 * t.x + 1,
    block=8,
    args=lambda: (ramp(20, np.uint16), zeros(8, np.uint32)),
    code="""
__global__ void two_shorts_at_once(const unsigned short *halves, unsigned *out) {
    int i = 2 * threadIdx.x + 1;  // !fix int i = 2 * threadIdx.x;
    out[threadIdx.x] = *(const unsigned *)(halves + i);  // !fault
}""",
)

fault(
    BAD,
    "tile",
    lambda i, t: i == t.x and i % 2,
    block=16,
    args=lambda: (ramp(18), zeros(16)),
    code="""
__global__ void double_word_in_a_tile_of_floats(const float *a, float *out) {
    __shared__ __align__(16) float tile[20];
    int t = threadIdx.x;
    tile[t] = a[t];
    if (t < 2) tile[t + 16] = a[t + 16];
    __syncthreads();
    float2 v = *(float2 *)&tile[t];  // !fault  // !fix float2 v = *(float2 *)&tile[t & ~1];
    out[t] = v.x + v.y;
}""",
)

fault(
    BAD,
    "raw",
    lambda i, t: i == 12 * t.x,
    block=6,
    args=lambda: (np.zeros(96, np.uint8), zeros(6, np.float64)),
    code="""
struct Sample { int id; float lo, hi; };
__global__ void double_read_from_a_struct_of_twelve_bytes(const unsigned char *raw, double *out) {
    const Sample *s = (const Sample *)raw + threadIdx.x;
    out[threadIdx.x] = *(const double *)s;  // !fault  // !fix out[threadIdx.x] = s->lo + s->hi;
}""",
)
