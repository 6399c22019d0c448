// Steps until z = z^2 + c leaves the circle of radius 2, for a picture of width x height points.
// Points of one warp that leave at different steps wait for the slowest of them.

extern "C" __global__ void mandelbrot(
    int* steps, int width, int height, float left, float bottom, float pixel, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    float cx = left + pixel * px, cy = bottom + pixel * py, x = 0, y = 0;
    int n = 0;
    while (n < limit && x * x + y * y <= 4) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        ++n;
    }
    steps[py * width + px] = n;
}
