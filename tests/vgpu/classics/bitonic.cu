// Bitonic sort of 2^p ints, ascending: K. Batcher, "Sorting Networks and Their Applications",
// AFIPS 1968.  A thread compares one pair.

constexpr int CHUNK = 512; // values that a block of 256 threads sorts in shared memory

__device__ void in_order(int* data, int low, int high, bool ascending)
{
    int a = data[low], b = data[high];
    if ((a > b) == ascending) {
        data[low] = b;
        data[high] = a;
    }
}

// The lower place of pair t when partners are `distance` apart.
__device__ int lower(int t, int distance)
{
    return 2 * t - (t & (distance - 1));
}

// One step of the network in global memory.
extern "C" __global__ void step(int* data, int n, int distance, int run)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int low = lower(t, distance);
    if (low + distance < n)
        in_order(data, low, low + distance, (low & run) == 0);
}

// All steps that stay inside a chunk: runs of length first, 2 first, ... up to last.
extern "C" __global__ void chunk(int* data, int n, int first, int last)
{
    __shared__ int part[CHUNK];
    int t = threadIdx.x, base = blockIdx.x * CHUNK;
    for (int i = t; i < CHUNK && base + i < n; i += blockDim.x)
        part[i] = data[base + i];
    for (int run = first; run <= last; run *= 2)
        for (int distance = min(run, CHUNK) / 2; distance > 0; distance /= 2) {
            __syncthreads();
            int low = lower(t, distance);
            if (base + low + distance < n)
                in_order(part, low, low + distance, ((base + low) & run) == 0);
        }
    __syncthreads();
    for (int i = t; i < CHUNK && base + i < n; i += blockDim.x)
        data[base + i] = part[i];
}
