// c = a b in row-major order, a of m x k and b of k x n floats.
// Tiles after the CUDA C++ Programming Guide, "Shared Memory"; registers after V. Volkov and
// J. Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", SC 2008.

constexpr int T = 16;

// Every operand of every multiplication comes from global memory.
extern "C" __global__ void naive(const float* a, const float* b, float* c, int m, int n, int k)
{
    int col = blockIdx.x * T + threadIdx.x, row = blockIdx.y * T + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k; ++p)
        sum += a[row * k + p] * b[p * n + col];
    c[row * n + col] = sum;
}

// Tiles of 16 x 16 in shared memory: each loaded value serves 16 threads.
extern "C" __global__ void tiled(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float left[T][T], right[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * T + tx, row = blockIdx.y * T + ty;
    float sum = 0;
    for (int p = 0; p < k; p += T) {
        left[ty][tx] = row < m && p + tx < k ? a[row * k + p + tx] : 0;
        right[ty][tx] = p + ty < k && col < n ? b[(p + ty) * n + col] : 0;
        __syncthreads();
        for (int q = 0; q < T; ++q)
            sum += left[ty][q] * right[q][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}

// 16 x 16 threads make 64 x 64 results, each 4 x 4 of them in registers, 16 apart:
// eight values from shared memory feed sixteen multiplications.
extern "C" __global__ void blocked(const float* a, const float* b, float* c, int m, int n, int k)
{
    constexpr int R = 4;
    __shared__ float left[T * R][T], right[T][T * R + T]; // a warp stores to two rows: T banks apart
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * T * R + tx, row = blockIdx.y * T * R + ty;
    float sum[R][R] = {};
    for (int p = 0; p < k; p += T) {
        for (int r = 0; r < R; ++r) {
            int y = row + r * T, x = col + r * T;
            left[ty + r * T][tx] = y < m && p + tx < k ? a[y * k + p + tx] : 0;
            right[ty][tx + r * T] = p + ty < k && x < n ? b[(p + ty) * n + x] : 0;
        }
        __syncthreads();
        for (int q = 0; q < T; ++q) {
            float x[R], y[R];
            for (int r = 0; r < R; ++r) {
                y[r] = left[ty + r * T][q];
                x[r] = right[q][tx + r * T];
            }
            for (int i = 0; i < R; ++i)
                for (int j = 0; j < R; ++j)
                    sum[i][j] += y[i] * x[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < R; ++i)
        for (int j = 0; j < R; ++j)
            if (row + i * T < m && col + j * T < n)
                c[(row + i * T) * n + col + j * T] = sum[i][j];
}
