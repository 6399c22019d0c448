// y = A x for a sparse matrix in compressed rows (CSR).
// After N. Bell and M. Garland, "Efficient Sparse Matrix-Vector Multiplication on CUDA",
// NVIDIA 2008.

// A thread a row: neighbours read places that are a row apart.
extern "C" __global__ void scalar(
    const int* start, const int* column, const float* value, const float* x, float* y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = start[row]; i < start[row + 1]; ++i)
        sum += value[i] * x[column[i]];
    y[row] = sum;
}

// A warp a row: its lanes read neighbours, then add up by shuffles.
extern "C" __global__ void vector(
    const int* start, const int* column, const float* value, const float* x, float* y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = start[row] + lane; i < start[row + 1]; i += 32)
        sum += value[i] * x[column[i]];
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, s);
    if (lane == 0)
        y[row] = sum;
}
