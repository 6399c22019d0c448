// Transpose of a matrix of rows x cols floats, one thread an element.
// After G. Ruetsch and P. Micikevicius, "Optimizing Matrix Transpose in CUDA", NVIDIA 2009.

constexpr int TILE = 32;

// What a perfect transpose would cost: reads and writes in rows.
extern "C" __global__ void copy(const float* in, float* out, int rows, int cols)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < cols && y < rows)
        out[y * cols + x] = in[y * cols + x];
}

// Reads rows, writes columns: each lane of a warp stores to a row of its own.
extern "C" __global__ void naive(const float* in, float* out, int rows, int cols)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < cols && y < rows)
        out[x * rows + y] = in[y * cols + x];
}

// Turns a tile in shared memory, so that reads and writes both go along rows.
// Without padding a column of the tile lies in one bank; one more word a row spreads it.
template <int PADDING>
__global__ void tiled(const float* in, float* out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + PADDING];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < cols && y < rows)
        tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < rows && y < cols)
        out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
