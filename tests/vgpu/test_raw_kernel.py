"""CUDA C++ launches like CuPy's raw kernels, on NumPy arrays."""

from __future__ import annotations

import numpy as np
import pytest

import hetlab
from hetlab.errors import InvalidValue
from hetlab.vgpu.frontends import raw_kernel as module

pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC is not installed")

SAXPY = """\
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""

REVERSE = """\
__global__ void reverse(float* data)
{
    extern __shared__ float turn[];
    turn[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = turn[blockDim.x - 1 - threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def saxpy():
    return hetlab.raw_kernel(SAXPY, "saxpy")


@pytest.mark.parametrize("n", [1, 32, 1000])
def test_saxpy_changes_numpy_arrays_in_place(saxpy, n):
    x, y = np.random.default_rng(0).random((2, n), dtype=np.float32)
    expected = np.float32(2) * x + y
    saxpy((-(-n // 256),), (256,), (np.float32(2), x, y, np.int32(n)))
    assert np.allclose(y, expected, rtol=1e-6)


def test_device_arrays_of_numba_are_accepted(saxpy):
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    hetlab.use_virtual_gpu()
    from numba import cuda

    x, y = np.ones(64, np.float32), np.ones(64, np.float32)
    there = cuda.to_device(y)
    saxpy((1,), (64,), (np.float32(3), cuda.to_device(x), there, np.int32(64)))
    assert (there.copy_to_host() == 4).all()


def test_dynamic_shared_memory():
    data = np.arange(100, dtype=np.float32)
    hetlab.raw_kernel(REVERSE, "reverse")((1,), (100,), (data,), shared_mem=400)
    assert np.array_equal(data, np.arange(100, dtype=np.float32)[::-1])


def test_profile_takes_cupys_form_and_the_configured_form(saxpy):
    n = 1024
    x, y = np.ones(n, np.float32), np.ones(n, np.float32)
    args = (np.float32(2), x, y, np.int32(n))
    one = hetlab.profile(saxpy, (4,), (256,), args)
    two = hetlab.profile(saxpy[4, 256], *args)
    for report in (one, two):
        assert report.ok, report
        assert report.counters["global_load_requests"] == 64
        assert report.counters["global_load_sectors"] == 256
        assert report.counters["global_store_sectors"] == 128
        assert report.lines[("saxpy.cu", 5)]["global_store_requests"] == 32, report.lines
    assert "y[i] = a * x[i] + y[i];" in repr(one)
    assert (y == 5).all()


def test_a_hazard_names_the_parameter_and_the_line_of_the_source():
    source = SAXPY.replace("if (i < n)", "if (i <= n)")
    x, y = np.ones(100, np.float32), np.ones(100, np.float32)
    report = hetlab.sanitize(
        hetlab.raw_kernel(source, "saxpy")[1, 128], np.float32(2), x, y, np.int32(100)
    )
    assert not report.ok
    kinds = {(h.kind, h.array, h.index) for h in report.hazards}
    assert ("out-of-bounds", "x", 100) in kinds and ("out-of-bounds", "y", 100) in kinds
    assert {line[1] for h in report.hazards for line in h.lines} == {5}


def test_a_race_in_shared_memory_names_the_variable():
    source = REVERSE.replace("    __syncthreads();\n", "")
    report = hetlab.sanitize(
        hetlab.raw_kernel(source, "reverse")[1, 128, 512], np.zeros(128, np.float32)
    )
    assert [h.kind for h in report.hazards].count("race") == len(report.hazards) > 0
    assert report.hazards[0].array == "turn"
    assert {line[1] for h in report.hazards for line in h.lines} == {4, 5}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((2.0, "x", "y", np.int32(4)), "a must be 4 bytes long"),
        ((np.float64(2), "x", "y", np.int32(4)), r"np\.float32"),
        ((np.float32(2), "x", "y", 2**40), "n must be an integer of 4 bytes"),
        ((np.float32(2), "x", "y"), r"args must be 4 values \(a, x, y, n\)"),
        ((np.float32(2), None, "y", 4), "x must be an array or a number"),
    ],
)
def test_an_argument_that_does_not_fit_is_named(saxpy, args, says):
    arrays = {"x": np.ones(4, np.float32), "y": np.ones(4, np.float32)}
    args = tuple(arrays.get(a, a) if isinstance(a, str) else a for a in args)
    with pytest.raises(InvalidValue, match=says):
        saxpy((1,), (4,), args)


def test_a_plain_integer_fits_an_int_parameter(saxpy):
    y = np.ones(4, np.float32)
    saxpy((1,), (4,), (np.float32(2), np.ones(4, np.float32), y, 4))
    assert (y == 3).all()


def test_a_broken_cupy_is_one_sentence_and_the_virtual_gpu_goes_on(monkeypatch, tmp_path):
    # A GPU machine whose CuPy does not import (or is missing) is not left without a kernel.
    (tmp_path / "cupy.py").write_text("raise RuntimeError('libcudart.so.99 not found')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module, "real_gpu", lambda: None)
    with pytest.warns(UserWarning, match=r"CuPy does not import .*libcudart"):
        kernel = hetlab.raw_kernel(SAXPY, "saxpy")
    y = np.ones(4, np.float32)
    kernel((1,), (4,), (np.float32(2), np.ones(4, np.float32), y, np.int32(4)))
    assert (y == 3).all()


# What CuPy's raw kernel looks like from outside; its GPU is a dictionary of copies.
PRETENDED = """
import numpy
launched = []
class ndarray:
    def __init__(self, host): self.there = host.copy()
    def get(self): return self.there
def asarray(host): return ndarray(host)
class RawKernel:
    def __init__(self, code, name, options=()):
        self.code, self.name, self.options = code, name, options
        self.max_threads_per_block = 1024
    def __call__(self, grid, block, args, *, shared_mem=0):
        launched.append((grid, block, shared_mem))
        for value in args:
            if isinstance(value, ndarray): value.there += 1
"""


@pytest.fixture
def cupys_kernel(monkeypatch, tmp_path):
    import sys

    (tmp_path / "cupy.py").write_text(PRETENDED)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module, "real_gpu", lambda: None)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    yield hetlab.raw_kernel(SAXPY, "saxpy")
    sys.modules.pop("cupy", None)


def test_where_a_gpu_is_the_kernel_is_cupys(cupys_kernel):
    assert type(cupys_kernel.kernel).__module__ == "cupy" and cupys_kernel.name == "saxpy"
    assert cupys_kernel.max_threads_per_block == 1024
    y = np.ones(8, np.float32)
    args = (np.float32(2), np.ones(8, np.float32), y, np.int32(8))
    for report in (
        hetlab.profile(cupys_kernel, (1,), (8,), args),
        hetlab.profile(cupys_kernel[1, 8], *args),
    ):
        assert report.ok and report.counters["global_load_requests"] == 2
    assert (y == 5).all()
    import cupy

    assert cupy.launched == []


def test_on_a_gpu_numpy_arrays_travel_there_and_back(cupys_kernel):
    """The pretended GPU adds 1 to all it is given."""
    import cupy

    x, y = np.zeros(8, np.float32), np.zeros(8, np.float32)
    x.setflags(write=False)
    cupys_kernel((1,), (8,), (np.float32(2), x, y, np.int32(8)))
    cupys_kernel[1, (8, 1), 64](np.float32(2), x, y, np.int32(8))
    assert (y == 2).all() and not x.any()
    assert cupy.launched == [((1,), (8,), 0), ((1,), (8, 1), 64)]


def test_the_stub_of_an_exercise_says_that_it_is_not_started_when_it_is_launched():
    kernel = hetlab.raw_kernel('void f()\n{\n    #error "saxpy is not started"\n}', "saxpy")
    assert repr(kernel) == "<saxpy is not started>"
    for launch in (kernel[1, 32], kernel):
        with pytest.raises(NotImplementedError, match="saxpy is not started"):
            launch((1,), (32,), ())


@pytest.mark.parametrize(("c_type", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_a_fused_multiply_add_keeps_the_sign_of_zero(c_type, dtype):
    source = (
        f"__global__ void f(const {c_type}* a, const {c_type}* b, const {c_type}* c, {c_type}* r)"
        "{ int i = threadIdx.x; r[i] = fma(a[i], b[i], c[i]); }"
    )
    values = np.array([0.0, -0.0, 1.0, -1.0, 2.0], dtype)
    a, b, c = (x.ravel().copy() for x in np.meshgrid(values, values, values))
    r = np.ones_like(a)
    hetlab.raw_kernel(source, "f")((1,), (a.size,), (a, b, c, r))
    expected = a * b + c  # exact for these values
    assert np.array_equal(r, expected) and np.array_equal(np.signbit(r), np.signbit(expected))
