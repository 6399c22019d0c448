// Exclusive prefix sum: each block scans CHUNK values and leaves their total in sums.
// After M. Harris, S. Sengupta, J. Owens, "Parallel Prefix Sum (Scan) with CUDA", GPU Gems 3.

constexpr int CHUNK = 256;

// Hillis and Steele: every step adds to nearly every value; two buffers take turns.
extern "C" __global__ void hillis_steele(const int* in, int* out, int* sums, int n)
{
    __shared__ int buffer[2][CHUNK];
    int t = threadIdx.x, i = blockIdx.x * CHUNK + t;
    int mine = i < n ? in[i] : 0;
    int now = 0;
    buffer[now][t] = mine;
    __syncthreads();
    for (int s = 1; s < CHUNK; s *= 2) {
        int value = buffer[now][t];
        if (t >= s)
            value += buffer[now][t - s];
        now = 1 - now;
        buffer[now][t] = value;
        __syncthreads();
    }
    if (i < n)
        out[i] = buffer[now][t] - mine;
    if (t == CHUNK - 1)
        sums[blockIdx.x] = buffer[now][t];
}

// Where value i lies: with free banks, one more word after every 32.
template <bool FREE>
__device__ int place(int i)
{
    return FREE ? i + i / 32 : i;
}

// Blelloch: a tree of sums up, a tree of offsets down; about two additions a value.
template <bool FREE>
__global__ void blelloch(const int* in, int* out, int* sums, int n)
{
    __shared__ int tree[CHUNK + (FREE ? CHUNK / 32 : 0)];
    int t = threadIdx.x, i = blockIdx.x * CHUNK + t, half = CHUNK / 2;
    tree[place<FREE>(t)] = i < n ? in[i] : 0;
    tree[place<FREE>(t + half)] = i + half < n ? in[i + half] : 0;
    int s = 1;
    for (int d = half; d > 0; d /= 2) {
        __syncthreads();
        if (t < d)
            tree[place<FREE>(s * (2 * t + 2) - 1)] += tree[place<FREE>(s * (2 * t + 1) - 1)];
        s *= 2;
    }
    if (t == 0) { // the thread that wrote the root in the last step
        sums[blockIdx.x] = tree[place<FREE>(CHUNK - 1)];
        tree[place<FREE>(CHUNK - 1)] = 0;
    }
    for (int d = 1; d < CHUNK; d *= 2) {
        s /= 2;
        __syncthreads();
        if (t < d) {
            int left = place<FREE>(s * (2 * t + 1) - 1), right = place<FREE>(s * (2 * t + 2) - 1);
            int value = tree[left];
            tree[left] = tree[right];
            tree[right] += value;
        }
    }
    __syncthreads();
    if (i < n)
        out[i] = tree[place<FREE>(t)];
    if (i + half < n)
        out[i + half] = tree[place<FREE>(t + half)];
}

// The second level: every chunk is moved by the total of those before it.
extern "C" __global__ void add_offsets(int* out, const int* offsets, int n)
{
    int i = blockIdx.x * CHUNK + threadIdx.x;
    if (i < n)
        out[i] += offsets[blockIdx.x];
}
