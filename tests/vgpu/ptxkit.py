"""Compile and run kernels for the tests of the engine, without any front end."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from hetlab.vgpu.launch import ArrayArg, Kernel
from hetlab.vgpu.memory import Memory

__all__ = ["cuda", "numba_ptx", "nvrtc_ptx", "ptx_of", "run_cuda", "run_ptx"]


@cache
def nvrtc_ptx(source: str, *options: str) -> str:
    """CUDA C++ to PTX with the real NVRTC."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], [])
    flags = ["--gpu-architecture=compute_80", "-lineinfo", *_includes(), *options]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(flags), [f.encode() for f in flags])
    if int(error):
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = bytes(size)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise AssertionError(log.decode())
    _, size = nvrtc.nvrtcGetPTXSize(program)
    text = bytes(size)
    nvrtc.nvrtcGetPTX(program, text)
    return text.decode().rstrip("\0")


def _includes() -> list[str]:
    import pathlib

    import nvidia

    roots = [pathlib.Path(p) / "cu13" / "include" for p in nvidia.__path__]
    return [f"-I{r}{tail}" for r in roots if r.exists() for tail in ("", "/cccl")]


def numba_ptx(function, signature) -> str:
    """A Numba kernel to PTX with the real NVVM."""
    cuda = pytest.importorskip("numba.cuda")
    text, _ = cuda.compile_ptx(function, signature, cc=(8, 0), lineinfo=True)
    return text


def _arguments(memory: Memory, values, names, numba: bool):
    params, arrays = [], []
    for k, value in enumerate(values):
        if not isinstance(value, np.ndarray):
            params.append(value)
            continue
        name = names[k] if k < len(names) else f"arg{k}"
        address = memory.adopt(value, name)
        at = len(params) + (4 if numba else 0)
        arrays.append(
            ArrayArg(at, name, address, value.nbytes, value.itemsize, value.shape, value.strides)
        )
        if numba:
            head = [0, 0, value.size, value.itemsize]
            params += [*head, address, *value.shape, *value.strides]
        else:
            params.append(address)
    return params, arrays


def run_ptx(text, grid, block, values, *, names="abcdefgh", numba=False, entry=None, **options):
    """Run PTX on host arrays and numbers."""
    memory = options.pop("memory", None) or Memory()
    params, arrays = _arguments(memory, values, names, numba)
    return Kernel(text, entry).run(grid, block, params, memory=memory, arrays=arrays, **options)


def run_cuda(source, grid, block, values, *, options=(), **more):
    """Compile CUDA C++ and run its only kernel."""
    return run_ptx(nvrtc_ptx(source, *options), grid, block, values, **more)


def cuda(body: str, params: str = "float* a, float* b, int n") -> str:
    """A kernel ``k`` around a body."""
    return f'extern "C" __global__ void k({params}) {{ {body} }}'


def ptx_of(body: str, params: str = ".param .u64 a", regs: str = "", head: str = "") -> str:
    """A hand-written kernel ``k`` around instructions."""
    return (
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        f"{head}\n.visible .entry k({params})\n{{\n"
        ".reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<60>;\n.reg .f32 %f<60>;\n"
        f".reg .b64 %rd<60>;\n.reg .f64 %fd<60>;\n{regs}\n{body}\nret;\n}}\n"
    )
