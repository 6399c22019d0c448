"""CUDA C++ on this machine's GPU: CuPy's kernel, launched with NumPy's arrays or CuPy's."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.frontends.raw_kernel import ConfiguredRawKernel, RawKernel, of_cupy

__all__ = ["CupyKernel"]


class CupyKernel:
    """A ``cupy.RawKernel`` that takes NumPy arrays too, as the kernels of the virtual GPU do.

    A NumPy array is copied to the GPU before the launch and back after it; that is convenient and
    slow.  CuPy's arrays stay where they are.

    Attributes
    ----------
    kernel : cupy.RawKernel
    code, name, options
        As given to :func:`hetlab.raw_kernel`.
    """

    def __init__(self, kernel, code: str, name: str, options: tuple[str, ...]) -> None:
        self.kernel, self.code, self.name, self.options = kernel, code, name, options

    def __repr__(self) -> str:
        return f"<CUDA C++ kernel {self.name} on this machine's GPU>"

    def __getattr__(self, attribute: str):
        if attribute == "kernel":  # not there yet: no recursion while it is copied or unpickled
            raise AttributeError(attribute)
        return getattr(self.kernel, attribute)

    def __call__(self, grid, block, args, *, shared_mem: int = 0, stream=None) -> None:
        """Launch the kernel; the arguments are those of ``RawKernel.__call__``."""
        import cupy

        there = tuple(cupy.asarray(v) if isinstance(v, np.ndarray) else v for v in args)
        self.kernel(tuple(grid), tuple(block), there, shared_mem=shared_mem)
        for host, array in zip(args, there):
            if isinstance(host, np.ndarray) and host.flags.writeable:
                host[...] = array.get()

    def __getitem__(self, dims) -> ConfiguredRawKernel:
        """``kernel[grid, block]`` or ``kernel[grid, block, shared_mem]``."""
        return RawKernel.__getitem__(self, dims)

    def on_virtual_gpu(self):
        """The same kernel on the virtual GPU, for ``hetlab.profile``."""
        return of_cupy(self)
