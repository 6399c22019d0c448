"""``hetlab.raw_kernel``: CUDA C++ that launches like ``cupy.RawKernel``, GPU or not."""

from __future__ import annotations

import functools

import numpy as np

from hetlab.errors import InvalidValue, one_line
from hetlab.vgpu.device import Origin, device
from hetlab.vgpu.frontends import real_gpu
from hetlab.vgpu.frontends.nvrtc import compile_cuda_cpp, parameter_names, variable_names
from hetlab.vgpu.launch import ArrayArg, Kernel

__all__ = ["ConfiguredRawKernel", "RawKernel", "of_cupy", "raw_kernel"]


class RawKernel:
    """A CUDA C++ kernel on the virtual GPU, with the interface of ``cupy.RawKernel``.

    Parameters
    ----------
    code : str
        CUDA C++ source.
    name : str
        The kernel's name in it.
    options : tuple of str
        Options for NVRTC.

    Attributes
    ----------
    code, name, options
        As given.
    parameters : list of str
        Names of the kernel's parameters.
    """

    def __init__(self, code: str, name: str, options: tuple[str, ...] = ()) -> None:
        self.code, self.name, self.options = code, name, tuple(options)
        self.file = f"{name.split('<')[0].split('(')[0]}.cu"
        self.ptx, self.entry = compile_cuda_cpp(code, name, self.options, self.file)
        self.kernel = Kernel(self.ptx, self.entry)
        found = parameter_names(code, name)
        self.parameters = (
            found
            if len(found) == len(self.kernel.params)
            else [f"argument {i}" for i in range(len(self.kernel.params))]
        )

    def __repr__(self) -> str:
        return f"<CUDA C++ kernel {self.name}({', '.join(self.parameters)}) on the virtual GPU>"

    @property
    def origin(self) -> Origin:
        """Where the kernel came from, for its report."""
        lines = self.code.count("\n") + 1
        return Origin(
            self.name,
            "CUDA C++",
            self.ptx,
            self.entry,
            sources={self.file: self.code},
            home=(self.file, 1, lines),
            names=functools.partial(variable_names, self.ptx),
        )

    def __call__(self, grid, block, args, *, shared_mem: int = 0, stream=None) -> None:
        """Launch the kernel.

        Parameters
        ----------
        grid, block : tuple of int
            Blocks of the grid, threads a block.
        args : tuple
            NumPy arrays (changed in place), device arrays, and scalars with the type
            of their parameter, as in ``np.float32(2)``.
        shared_mem : int
            Bytes of dynamic shared memory a block.
        stream : ignored
            Launches run in the order of their calls.

        Raises
        ------
        InvalidValue
            When an argument does not fit its parameter.
        """
        params = self.kernel.params
        if not isinstance(args, (tuple, list)):
            raise InvalidValue("args", "a tuple of the kernel's arguments", args)
        if len(args) != len(params):
            wanted = ", ".join(self.parameters)
            raise InvalidValue("args", f"{len(params)} values ({wanted})", args, where=self.name)
        memory, held, values, arrays = device().memory, [], [], []
        try:
            for i, (value, param, name) in enumerate(zip(args, params, self.parameters)):
                array = _array(value, name)
                if array is None:
                    values.append(_scalar(value, param, name))
                    continue
                base, shape, strides, itemsize, nbytes = array
                if isinstance(value, np.ndarray):
                    base = memory.adopt(value, name)
                    held.append(base)
                    _mark_unwritten(memory, base, value)
                values.append(base)
                arrays.append(ArrayArg(i, name, base, nbytes, itemsize, shape, strides))
            device().launch(
                self.kernel,
                self.origin,
                grid,
                block,
                values,
                arrays=arrays,
                dynamic_shared=shared_mem,
            )
        finally:
            for base in held:
                memory.free(base)

    def __getitem__(self, dims) -> ConfiguredRawKernel:
        """``kernel[grid, block, shared_mem]``: a launch for ``hetlab.profile``."""
        dims = dims if isinstance(dims, tuple) else (dims,)
        if len(dims) not in (2, 3):
            raise InvalidValue("kernel[...]", "[grid, block] or [grid, block, shared_mem]", dims)
        return ConfiguredRawKernel(self, *dims)

    def without_optimisation(self) -> RawKernel:
        """The same kernel, compiled without optimisation."""
        return RawKernel(self.code, self.name, (*self.options, "--device-debug"))


class ConfiguredRawKernel:
    """A raw kernel with its grid, block and shared memory."""

    def __init__(self, kernel: RawKernel, grid, block, shared_mem: int = 0) -> None:
        self.kernel, self.grid, self.block, self.shared_mem = kernel, grid, block, shared_mem

    def __call__(self, *args) -> None:
        self.kernel(self.grid, self.block, args, shared_mem=self.shared_mem)

    def without_optimisation(self) -> ConfiguredRawKernel:
        """The same launch of the kernel compiled without optimisation."""
        plain = self.kernel.without_optimisation()
        return ConfiguredRawKernel(plain, self.grid, self.block, self.shared_mem)


def of_cupy(kernel):
    """A ``cupy.RawKernel`` as a launch of the virtual GPU, with CuPy's arrays lent to it."""
    ours = RawKernel(kernel.code, kernel.name, tuple(kernel.options))

    def launch(grid, block, args, *, shared_mem: int = 0, stream=None) -> None:
        hosts = [value.get() if hasattr(value, "get") else value for value in args]
        ours(grid, block, tuple(hosts), shared_mem=shared_mem)
        for value, host in zip(args, hosts):
            if value is not host:
                value.set(host)

    return launch


def _mark_unwritten(memory, base: int, array: np.ndarray) -> None:
    from hetlab.vgpu.uninitialised import written

    known = written(array)
    if known is not None and not known.all():
        memory.find(base).written = known


def _array(value, name: str):
    """Address, shape, strides, itemsize and size of an array argument; None for a scalar."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            raise InvalidValue(name, "an array of numbers", value.dtype)
        return 0, value.shape, value.strides, value.itemsize, value.nbytes
    described = getattr(value, "__cuda_array_interface__", None)
    if described is None:
        return None
    dtype, shape = np.dtype(described["typestr"]), tuple(described["shape"])
    strides = described.get("strides")
    if strides is None:
        strides = np.empty((0,) * len(shape), dtype).strides
        step, strides = dtype.itemsize, []
        for n in reversed(shape):
            strides.insert(0, step)
            step *= n
    nbytes = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    return described["data"][0], shape, tuple(strides), dtype.itemsize, nbytes


def _scalar(value, param, name: str):
    if isinstance(value, (bytes, np.void)):
        raw = bytes(value) if isinstance(value, bytes) else value.tobytes()
    elif isinstance(value, np.generic):
        raw = value.tobytes()
    elif isinstance(value, bool):
        raw = np.int8(value).tobytes()
    elif isinstance(value, int):
        # CuPy passes eight bytes, of which a shorter parameter sees the low ones.
        bits = 8 * param.size
        if not -(1 << (bits - 1)) <= value < 1 << bits:
            raise InvalidValue(name, f"an integer of {param.size} bytes", value)
        raw = (value & ((1 << bits) - 1)).to_bytes(param.size, "little")
    elif isinstance(value, (float, complex)):
        raw = np.dtype(type(value)).type(value).tobytes()
    else:
        raise InvalidValue(name, "an array or a number", value)
    if len(raw) != param.size:
        right = {2: "np.float16(...)", 4: "np.float32(...) or np.int32(...)"}.get(param.size, "")
        raise InvalidValue(
            name,
            f"{param.size} bytes long, as the kernel declares it",
            value,
            do=f"Give the scalar its type: {right}." if right else "",
        )
    return raw


def raw_kernel(source: str, name: str, options: tuple[str, ...] = ()):
    """A CUDA C++ kernel: on this machine's GPU with CuPy, else on the virtual GPU.

    Parameters
    ----------
    source : str
        CUDA C++ source.
    name : str
        Name of the ``__global__`` function to launch.
    options : tuple of str
        Options for NVRTC, as in ``("--use_fast_math",)``.

    Returns
    -------
    cupy.RawKernel or RawKernel
        Both launch as ``kernel(grid, block, args, shared_mem=...)``.

    Raises
    ------
    CompileError
        When the source does not compile, with the lines.

    Examples
    --------
    >>> add = hetlab.raw_kernel(source, "add")
    >>> add((4,), (256,), (a, b, c, np.int32(c.size)))
    """
    if real_gpu() is None:
        try:
            import cupy
        except Exception as cause:  # CuPy raises what it likes when its libraries are missing
            import warnings

            text = f"This machine has a GPU, but CuPy does not import ({one_line(cause)})"
            warnings.warn(f"{text}: the kernel runs on the virtual GPU.", stacklevel=2)
        else:
            compile_cuda_cpp(source, name, tuple(options))  # our error text, before CuPy's
            return cupy.RawKernel(source, name, tuple(options))
    return RawKernel(source, name, tuple(options))
