"""Random kernels of which it is known what they must do.

``programs`` computes: virtual GPU, Numba on the CPU and NumPy must agree.
``races`` shares memory: brute force says which accesses race.
"""
