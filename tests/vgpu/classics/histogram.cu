// How often each of 256 byte values occurs.
// After NVIDIA's CUDA sample "histogram" and N. Sakharnykh, "GPU Pro Tip: Fast Histograms
// Using Shared Atomics on Maxwell", NVIDIA 2015.

constexpr int BINS = 256;

// Every value goes to global memory as an atomic of its own.
extern "C" __global__ void histogram_global(const unsigned char* data, unsigned* bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[data[i]], 1u);
}

// Each block counts in shared memory and adds its 256 counts once.
extern "C" __global__ void histogram_shared(const unsigned char* data, unsigned* bins, int n)
{
    __shared__ unsigned mine[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        atomicAdd(&bins[b], mine[b]);
}
