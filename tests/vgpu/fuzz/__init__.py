"""Random kernels whose results are known three ways: virtual GPU, Numba on the CPU, NumPy."""
