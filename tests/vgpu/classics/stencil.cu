// One step of heat on a grid of rows x cols floats: the mean of four neighbours is taken in by a
// part; the edge stays.  After P. Micikevicius, "3D Finite Difference Computation on GPUs Using
// CUDA", GPGPU-2 2009, in two dimensions.

constexpr int W = 32, H = 8;

__device__ float step(float here, float north, float south, float west, float east, float part)
{
    return here + part * (north + south + west + east - 4 * here);
}

// Five reads a point.
extern "C" __global__ void naive(const float* in, float* out, int rows, int cols, float part)
{
    int x = blockIdx.x * W + threadIdx.x, y = blockIdx.y * H + threadIdx.y;
    if (x >= cols || y >= rows)
        return;
    int i = y * cols + x;
    if (x == 0 || y == 0 || x == cols - 1 || y == rows - 1)
        out[i] = in[i];
    else
        out[i] = step(in[i], in[i - cols], in[i + cols], in[i - 1], in[i + 1], part);
}

// A tile with a halo of one in shared memory: one read a point, and the halo.
extern "C" __global__ void tiled(const float* in, float* out, int rows, int cols, float part)
{
    __shared__ float tile[H + 2][W + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * W + threadIdx.x, y = blockIdx.y * H + threadIdx.y;
    int i = y * cols + x;
    bool here = x < cols && y < rows;
    if (here) {
        tile[ty][tx] = in[i];
        if (ty == 1 && y > 0)
            tile[0][tx] = in[i - cols];
        if (ty == H && y + 1 < rows)
            tile[H + 1][tx] = in[i + cols];
        if (tx == 1 && x > 0)
            tile[ty][0] = in[i - 1];
        if (tx == W && x + 1 < cols)
            tile[ty][W + 1] = in[i + 1];
    }
    __syncthreads();
    if (!here)
        return;
    if (x == 0 || y == 0 || x == cols - 1 || y == rows - 1)
        out[i] = tile[ty][tx];
    else
        out[i] = step(tile[ty][tx], tile[ty - 1][tx], tile[ty + 1][tx], tile[ty][tx - 1],
                      tile[ty][tx + 1], part);
}
