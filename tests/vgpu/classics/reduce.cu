// The sum of n ints: each block leaves one partial sum.
// The seven steps of M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA 2007,
// in blocks of 128 threads; the last warp is ordered by __syncwarp, which Volta and later need.

constexpr int BLOCK = 128;

// 1: interleaved addressing; the remainder splits every warp.
extern "C" __global__ void reduce1(const int* in, int* out, int n)
{
    __shared__ int part[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

// 2: the working threads stand together, but their addresses collide in the banks.
extern "C" __global__ void reduce2(const int* in, int* out, int n)
{
    __shared__ int part[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        int at = 2 * s * t;
        if (at < blockDim.x)
            part[at] += part[at + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

// 3: sequential addressing; neighbours read neighbours.
extern "C" __global__ void reduce3(const int* in, int* out, int n)
{
    __shared__ int part[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

__device__ int pair(const int* in, int i, int n)
{
    return (i < n ? in[i] : 0) + (i + BLOCK < n ? in[i + BLOCK] : 0);
}

// 4: the first addition happens while loading, so half as many blocks do.
extern "C" __global__ void reduce4(const int* in, int* out, int n)
{
    __shared__ int part[BLOCK];
    int t = threadIdx.x;
    part[t] = pair(in, blockIdx.x * 2 * BLOCK + t, n);
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

// The last 64 values, by one warp.  A lane reads before the warp meets and stores after it.
__device__ void last_warp(volatile int* part, int t)
{
    int sum = part[t];
    sum += part[t + 32];
    for (int s = 16; s > 0; s /= 2) {
        __syncwarp();
        part[t] = sum;
        __syncwarp();
        sum += part[t + s];
    }
    __syncwarp();
    part[t] = sum;
}

// 5: one warp needs no barrier of the block.
extern "C" __global__ void reduce5(const int* in, int* out, int n)
{
    __shared__ int part[BLOCK];
    int t = threadIdx.x;
    part[t] = pair(in, blockIdx.x * 2 * BLOCK + t, n);
    __syncthreads();
    for (int s = blockDim.x / 2; s > 32; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t < 32)
        last_warp(part, t);
    if (t == 0)
        out[blockIdx.x] = part[0];
}

template <int SIZE>
__device__ void tree(int* part, int t)
{
    if (SIZE >= 512) {
        if (t < 256)
            part[t] += part[t + 256];
        __syncthreads();
    }
    if (SIZE >= 256) {
        if (t < 128)
            part[t] += part[t + 128];
        __syncthreads();
    }
    if (SIZE >= 128) {
        if (t < 64)
            part[t] += part[t + 64];
        __syncthreads();
    }
    if (t < 32)
        last_warp(part, t);
}

// 6: the size of the block is known to the compiler, so nothing is left of the loop.
template <int SIZE>
__global__ void reduce6(const int* in, int* out, int n)
{
    __shared__ int part[SIZE];
    int t = threadIdx.x;
    part[t] = pair(in, blockIdx.x * 2 * SIZE + t, n);
    __syncthreads();
    tree<SIZE>(part, t);
    if (t == 0)
        out[blockIdx.x] = part[0];
}

// 7: few blocks; each thread adds many values before the tree begins.
template <int SIZE>
__global__ void reduce7(const int* in, int* out, int n)
{
    __shared__ int part[SIZE];
    int t = threadIdx.x, sum = 0;
    for (int i = blockIdx.x * 2 * SIZE + t; i < n; i += gridDim.x * 2 * SIZE)
        sum += pair(in, i, n);
    part[t] = sum;
    __syncthreads();
    tree<SIZE>(part, t);
    if (t == 0)
        out[blockIdx.x] = part[0];
}
