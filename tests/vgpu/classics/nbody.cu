// Accelerations of n bodies (x, y, z, mass) by gravity, softened, with G = 1.
// After L. Nyland, M. Harris, J. Prins, "Fast N-Body Simulation with CUDA", GPU Gems 3.

constexpr int BLOCK = 64;

__device__ void pull(float3& sum, float4 me, float4 other, float softening2)
{
    float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    float inverse = rsqrtf(x * x + y * y + z * z + softening2);
    float weight = other.w * inverse * inverse * inverse;
    sum.x += weight * x;
    sum.y += weight * y;
    sum.z += weight * z;
}

// Every body is read from global memory by every warp.
extern "C" __global__ void naive(const float4* body, float4* out, int n, float softening2)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float4 me = body[i];
    float3 sum = {0, 0, 0};
    for (int j = 0; j < n; ++j)
        pull(sum, me, body[j], softening2);
    out[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

// A block reads 64 bodies at a time into shared memory, each thread one.
extern "C" __global__ void tiled(const float4* body, float4* out, int n, float softening2)
{
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
    float3 sum = {0, 0, 0};
    for (int first = 0; first < n; first += BLOCK) {
        int j = first + threadIdx.x;
        tile[threadIdx.x] = j < n ? body[j] : make_float4(0, 0, 0, 0); // no mass, no pull
        __syncthreads();
        for (int k = 0; k < BLOCK; ++k)
            pull(sum, me, tile[k], softening2);
        __syncthreads();
    }
    if (i < n)
        out[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
