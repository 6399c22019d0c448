"""What the checks of lesson 09 share: kernels in CUDA C++ that are compiled when first launched."""

import numpy as np

import hetlab
from hetlab.grading import Case

hetlab.use_virtual_gpu()

BLOCK = 128


class Cpp:
    """A kernel of the virtual GPU from CUDA C++."""

    def __init__(self, source, name):
        self.source, self.name, self.kernel = source, name, None

    def __getitem__(self, shape):
        if self.kernel is None:
            from hetlab.vgpu.frontends.raw_kernel import RawKernel

            self.kernel = RawKernel(self.source, self.name)
        return self.kernel[shape]


def cpp(name, parameters, body):
    """A kernel from its name, its parameters and its body."""
    source = f'extern "C" __global__ void {name}({parameters})\n{{\n{body}\n}}\n'
    return Cpp(source, name)


def on_line(label, *inputs, threads, most=10**6, **more):
    """A launch in blocks of 128, with a thread for each of so many elements."""
    grid = min(max(-(-threads // BLOCK), 1), most)
    return Case(label, *inputs, grid=grid, block=BLOCK, **more)


def floats(rng, n):
    return rng.random(n, dtype=np.float32) - np.float32(0.5)
