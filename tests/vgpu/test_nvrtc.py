"""CUDA C++ compiles without a GPU, and its errors name the learner's lines."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import hetlab
from hetlab.errors import MissingLibrary, UnknownName
from hetlab.vgpu.frontends.nvrtc import (
    CompileError,
    compile_cuda_cpp,
    demangle_variable,
    parameter_names,
)

pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC is not installed")

SAXPY = """\
__global__ void saxpy(float a, const float* __restrict__ x, float *y,
                      int n /* how many, in all */)
{
    __shared__ float tile[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x % 32] = x[i];
    __syncthreads();
    if (i < n) y[i] = a * tile[31 - threadIdx.x % 32] + y[i];
}
"""


def test_compiling_leaves_the_space_between_printed_words_alone(capsys):
    """NVRTC writes its empty log, one NUL, into a buffer that is nobody else's."""
    compile_cuda_cpp('extern "C" __global__ void silent(int* a) { a[0] = 1; }', "silent")
    assert bytes([32]) + b"x" == b"\x20x"


def test_a_kernel_compiles_with_lines_and_without_extern_c():
    ptx, entry = compile_cuda_cpp(SAXPY, "saxpy")
    assert f".entry {entry}(" in ptx and ".loc" in ptx and ".target sm_80" in ptx


def test_a_template_is_named_by_its_instance():
    source = "template<typename T> __global__ void scale(T* x, T f) { x[threadIdx.x] *= f; }"
    ptx, entry = compile_cuda_cpp(source, "scale<float>")
    assert f".entry {entry}(" in ptx and "f32" in ptx


def test_cuda_headers_are_found():
    source = (
        "#include <cuda_fp16.h>\n__global__ void half_of(__half* x) { x[0] = __float2half(1); }"
    )
    assert compile_cuda_cpp(source, "half_of")[0]


def test_an_error_names_the_line_and_shows_it():
    with pytest.raises(CompileError) as caught:
        compile_cuda_cpp(SAXPY.replace("int i =", "int j ="), "saxpy")
    assert caught.value.messages[0][0] == 6
    assert 'line 6: identifier "i" is undefined' in str(caught.value)
    assert "tile[threadIdx.x % 32] = x[i];" in str(caught.value)


def test_a_missing_semicolon_is_one_plain_text():
    with pytest.raises(CompileError, match=r"line \d+: expected a"):
        compile_cuda_cpp(SAXPY.replace("__syncthreads();", "__syncthreads()"), "saxpy")


def test_an_unknown_kernel_lists_the_close_ones():
    with pytest.raises(UnknownName, match="Did you mean 'saxpy'"):
        compile_cuda_cpp(SAXPY, "saxpi")


def test_a_missing_nvrtc_is_a_sentence_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)
    with pytest.raises(MissingLibrary, match=r"pip install 'hetlab\[cuda\]'"):
        compile_cuda_cpp(SAXPY + "// not cached", "saxpy")


@pytest.mark.parametrize(
    ("source", "kernel", "names"),
    [
        (SAXPY, "saxpy", ["a", "x", "y", "n"]),
        ("__global__ void f() {}", "f", []),
        ("__global__ void f(void) {}", "f", []),
        ("template<class T>\n__global__ void g(T* __restrict__ in, T out[]) {}", "g<int>",
         ["in", "out"]),
        ("__device__ int h(int no); extern \"C\" __global__ void __launch_bounds__(256)\n"
         "h2(unsigned long long n, dim3 d) {}", "h2", ["n", "d"]),
    ],
)  # fmt: skip
def test_parameter_names_are_read_from_the_source(source, kernel, names):
    assert parameter_names(source, kernel) == names


def test_shared_variables_get_their_own_name():
    ptx, _ = compile_cuda_cpp(SAXPY, "saxpy")
    symbol = next(word.split("[")[0] for word in ptx.split() if "tile[" in word)
    assert symbol != "tile" and demangle_variable(symbol) == "tile"
    assert demangle_variable("_ZZ1fE1s") == "s"
    assert demangle_variable("_ZZ4scanPfS_E4temp_0") == "temp"
    assert demangle_variable("buffer") == "buffer"


def test_headers_of_what_is_built_in_may_be_included():
    """Programs written for nvcc include them; NVRTC has the functions but not the files."""
    source = """
    #include <cstdio>
    #include <cmath>
    #include <assert.h>
    extern "C" __global__ void root(float *x) {
        assert(x[0] > 0);
        x[threadIdx.x] = sqrtf(x[threadIdx.x]);
        if (threadIdx.x == 0) printf("first %g\\n", x[0]);
    }"""
    x = np.array([4, 9], np.float32)
    hetlab.raw_kernel(source, "root")((1,), (2,), (x,))
    assert x.tolist() == [2, 3]


def test_one_source_for_several_compute_capabilities_and_a_refusal_in_words():
    """Newer instructions appear where the chip has them; an old chip is refused with the list."""
    from hetlab.errors import InvalidValue

    source = """
    #include <cuda_bf16.h>
    extern "C" __global__ void square(__nv_bfloat16 *x) { *x = __hmul(*x, *x); }
    """
    old, new = hetlab.cuda_ptx(source, "7.5"), hetlab.cuda_ptx(source, "9.0")
    assert ".target sm_75" in old and "mul.bf16" not in old
    assert ".target sm_90" in new and "mul.bf16" in new
    with pytest.raises(InvalidValue, match=r"knows \(7\.5, 8\.0, .*got '5\.2'\. Older GPUs"):
        hetlab.cuda_ptx(source, "5.2")
