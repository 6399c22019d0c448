"""Out of bounds, in CUDA C++: pointers, structs, vectors, overflow, dynamic shared memory."""

from __future__ import annotations

import numpy as np

from .entry import fault, flat, ints, ramp, zeros

OOB = "out-of-bounds"

fault(
    OOB,
    "a",
    -1,
    args=lambda: (ramp(64), zeros(64)),
    code="""
__global__ void left_neighbour(const float *a, float *out) {
    int i = threadIdx.x;
    out[i] = a[i] - a[i - 1];  // !fault  // !fix out[i] = i > 0 ? a[i] - a[i - 1] : a[i];
}""",
)

fault(
    OOB,
    "samples",
    4294967295,
    args=lambda: (ramp(64), zeros(64)),
    code="""
__global__ void unsigned_left_neighbour(const float *samples, float *out) {
    unsigned i = threadIdx.x;
    out[i] = samples[i - 1];  // !fault  // !fix out[i] = samples[i > 0 ? i - 1 : 0];
}""",
)

fault(
    OOB,
    "field",
    lambda i, t: abs(i) == 1 << 31 and t.x == 2,
    block=4,
    args=lambda: (np.int32(1 << 30), ramp(64), zeros(4)),
    code="""
__global__ void index_overflows_an_int(int pitch, const float *field, float *out) {
    int row = threadIdx.x;
    if (row != 1 && row != 3)
        out[row] = field[row * pitch];  // !fault  // !fix out[row] = field[row * pitch % 64 & 63];
}""",
)

particle = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")])

fault(
    OOB,
    "p",
    10,
    grid=2,
    block=8,
    args=lambda: (np.zeros(10, particle), np.int32(10)),
    code="""
struct Particle { float x, y, z; };
__global__ void one_particle_too_many(Particle *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n) return;  // !fix if (i >= n) return;
    p[i].z += 9.81f;  // !fault
}""",
)

fault(
    OOB,
    "a",
    lambda i, t: 60 <= i < 64 and t.x == 15,
    block=16,
    args=lambda: (ramp(62), zeros(64), np.int32(62)),
    code="""
__global__ void last_vector_is_not_whole(const float *a, float *out, int n) {
    int i = threadIdx.x;
    if (4 * i < n) {  // !fix if (4 * i + 3 < n) {
        float4 v = reinterpret_cast<const float4 *>(a)[i];  // !fault
        out[i] = v.x + v.y + v.z + v.w;
    }
}""",
)

fault(
    OOB,
    "text",
    16,
    block=1,
    args=lambda: (np.full(16, 65, np.int8), np.int32(16), zeros(1, np.int32)),
    code="""
__global__ void text_without_an_end(const char *text, int capacity, int *length) {
    int n = 0;
    while (text[n]) n++;  // !fault  // !fix while (n < capacity && text[n]) n++;
    *length = n;
}""",
)

fault(
    OOB,
    "image",
    lambda i, t: i == t.y * 40 + t.x >= 320,
    block=(8, 40),
    args=lambda: (zeros(320), np.int32(8), np.int32(40)),
    code="""
__global__ void rows_as_long_as_columns(float *image, int width, int height) {
    int x = threadIdx.x, y = threadIdx.y;
    image[y * height + x] = 1.0f;  // !fault  // !fix image[y * width + x] = 1.0f;
}""",
)

fault(
    OOB,
    "buffer",
    lambda i, t: i in (t.x, t.x ^ 1) and i >= 32,
    shared=32 * 4,
    mended={"shared": 64 * 4},
    args=lambda: (ramp(64), zeros(64)),
    code="""
extern __shared__ float buffer[];
__global__ void launched_with_too_little_shared_memory(const float *a, float *out) {
    int t = threadIdx.x;
    buffer[t] = a[t];  // !fault
    __syncthreads();
    out[t] = buffer[t ^ 1];  // !fault
}""",
)

fault(
    OOB,
    "out",
    lambda i, t: i >= 64,
    args=lambda: (ramp(64), zeros(64)),
    code="""
__global__ void bit_reversal_of_one_bit_too_many(const float *a, float *out) {
    unsigned i = threadIdx.x;
    unsigned j = __brev(i) >> 25;  // !fix unsigned j = __brev(i) >> 26;
    out[j] = a[i];  // !fault
}""",
)

fault(
    OOB,
    "weights",
    lambda i, t: i in (5, 6),
    also=("uninitialised-read",),
    args=lambda: (ramp(70), zeros(64), np.int32(3)),
    code="""
__constant__ float weights[5];
__global__ void filter_wider_than_its_weights(const float *a, float *out, int radius) {
    int i = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 2 * radius + 1; k++)  // !fix for (int k = 0; k < 5; k++)
        sum += weights[k] * a[i + k];  // !fault
    out[i] = sum;
}""",
)

fault(
    OOB,
    "kept",
    lambda i, t: i >= 16,
    args=lambda: (ramp(64), zeros(16), zeros(1, np.int32)),
    code="""
__global__ void compaction_without_capacity(const float *a, float *kept, int *count) {
    float v = a[threadIdx.x];
    if (v > 20.0f) {
        int k = atomicAdd(count, 1);
        if (k >= 0)  // !fix if (k < 16)
            kept[k] = v;  // !fault
    }
}""",
)

fault(
    OOB,
    "grid",
    lambda i, t: tuple(i) == (-1, t.x),
    block=(16, 4),
    args=lambda: (ramp((4, 16)), zeros((4, 16))),
    code="""
__device__ float above(const float *grid, int x, int y) {
    return grid[(y - 1) * 16 + x];  // !fault  // !fix return grid[(y > 0 ? y - 1 : 0) * 16 + x];
}
__global__ void row_above_the_first(const float *grid, float *out) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * 16 + x] = above(grid, x, y);
}""",
)

fault(
    OOB,
    "tile",
    lambda i, t: flat(i, 16) - 16 * t.y in (t.x, 15 - t.x) and t.y == 16,
    block=(16, 17),
    also=("race",),
    args=lambda: (ramp((17, 16)), zeros((17, 16))),
    code="""
__global__ void block_taller_than_its_tile(const float *a, float *out) {
    __shared__ float tile[16][16];  // !fix __shared__ float tile[17][16];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = a[y * 16 + x];  // !fault
    __syncthreads();
    out[y * 16 + x] = tile[y][15 - x];  // !fault
}""",
)

fault(
    OOB,
    "counts",
    8,
    block=32,
    args=lambda: (ints(*range(32)), zeros(8, np.int32)),
    code="""
__global__ void atomic_past_the_end(const int *key, int *counts) {
    int k = key[threadIdx.x];
    if (k <= 8)  // !fix if (k < 8)
        atomicAdd(&counts[k], 1);  // !fault
}""",
)

fault(
    OOB,
    "words",
    lambda i, t: i == 16 + t.x,
    block=8,
    args=lambda: (np.zeros(64, np.uint8), np.zeros(16, np.uint16)),
    code="""
__global__ void bytes_counted_as_words(const unsigned char *bytes, unsigned short *words) {
    int i = threadIdx.x + blockDim.x * 2;  // !fix int i = threadIdx.x + blockDim.x;
    words[i] = bytes[2 * i] | bytes[2 * i + 1] << 8;  // !fault
}""",
)
