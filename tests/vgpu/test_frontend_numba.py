"""Programs for ``numba.cuda``, as people write them, run unmodified without a GPU."""

# ruff: noqa: E402

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import hetlab
import hetlab.errors

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
hetlab.use_virtual_gpu()

from numba import cuda, float32, float64, guvectorize, int32, vectorize
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

from hetlab.vgpu.device import HazardWarning


@pytest.fixture(autouse=True)
def quiet():
    from numba.cuda.core import config

    before = config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY
    config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = 0
    yield
    config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY = before


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


def data(n, seed=0):
    return np.random.default_rng(seed).random(n, dtype=np.float32)


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 1000, 65_537])
def test_vector_add_on_numpy_arrays(n):
    a, b, c = data(n), data(n, 1), np.zeros(n, np.float32)
    add[-(-n // 128) or 1, 128](a, b, c)
    assert np.array_equal(c, a + b)


def test_vector_add_on_device_arrays_and_streams():
    a, b = data(1000), data(1000, 1)
    stream = cuda.stream()
    left, right = cuda.to_device(a, stream), cuda.to_device(b, stream=stream)
    out = cuda.device_array_like(left)
    with stream.auto_synchronize():
        add[8, 128, stream](left, right, out)
        host = out.copy_to_host(stream=stream)
    assert np.array_equal(host, a + b)
    into = np.zeros(1000, np.float32)
    out[10:20].copy_to_host(into[:10])
    assert np.array_equal(into[:10], (a + b)[10:20])


def test_mapped_pinned_and_managed_arrays():
    for make in (cuda.mapped_array, cuda.managed_array, cuda.pinned_array):
        a, b, c = (make(300, dtype=np.float32) for _ in range(3))
        a[:], b[:], c[:] = data(300), data(300, 1), 0
        add[3, 128](a, b, c)
        cuda.synchronize()
        assert np.array_equal(c, a + b), make
    host = data(300)
    with cuda.pinned(host):
        add[3, 128](host, host.copy(), c)
    with cuda.mapped(host) as mapped:
        add[3, 128](mapped, mapped, c)
    assert np.array_equal(c, host + host)


def test_events_measure_something_and_a_context_knows_its_memory():
    start, end = cuda.event(), cuda.event()
    start.record()
    add[1, 32](data(32), data(32), np.zeros(32, np.float32))
    end.record()
    end.synchronize()
    assert start.elapsed_time(end) > 0
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total


def test_shared_memory_static_and_dynamic():
    @cuda.jit
    def turn(a, out):
        tile = cuda.shared.array(64, float32)
        other = cuda.shared.array(0, float32)
        t = cuda.threadIdx.x
        tile[t] = a[cuda.grid(1)]
        other[t] = a[cuda.grid(1)]
        cuda.syncthreads()
        out[cuda.grid(1)] = tile[63 - t] + other[t]

    a, out = data(256), np.zeros(256, np.float32)
    turn[4, 64, 0, 64 * 4](a, out)
    assert np.array_equal(out, a.reshape(4, 64)[:, ::-1].ravel() + a)


def test_local_and_constant_arrays_and_device_functions():
    table = np.array([1, 10, 100, 1000], np.float64)

    @cuda.jit(device=True)
    def pick(values, k):
        return values[k % 4]

    @cuda.jit
    def poly(x, out):
        coefficients = cuda.const.array_like(table)
        powers = cuda.local.array(4, float64)
        i = cuda.grid(1)
        if i < x.size:
            for k in range(4):
                powers[k] = x[i] ** k
            total = 0.0
            for k in range(4):
                total += pick(powers, k + int(x[i])) * coefficients[k]
            out[i] = total

    x, out = np.arange(40, dtype=np.float64), np.zeros(40)
    poly[2, 32](x, out)
    expected = [sum(v ** ((k + int(v)) % 4) * table[k] for k in range(4)) for v in x]
    assert np.allclose(out, expected)


def test_atomics_in_global_and_shared_memory():
    @cuda.jit
    def histogram(values, bins, largest):
        part = cuda.shared.array(16, int32)
        if cuda.threadIdx.x < 16:
            part[cuda.threadIdx.x] = 0
        cuda.syncthreads()
        i = cuda.grid(1)
        if i < values.size:
            cuda.atomic.add(part, values[i], 1)
            cuda.atomic.max(largest, 0, values[i])
        cuda.syncthreads()
        if cuda.threadIdx.x < 16:
            cuda.atomic.add(bins, cuda.threadIdx.x, part[cuda.threadIdx.x])

    values = np.random.default_rng(0).integers(0, 15, 1000).astype(np.int32)
    bins, largest = np.zeros(16, np.int32), np.zeros(1, np.int32)
    histogram[8, 128](values, bins, largest)
    assert np.array_equal(bins, np.bincount(values, minlength=16)) and largest[0] == values.max()


def test_reduce_forall_and_2d_grids():
    total = cuda.reduce(lambda a, b: a + b)
    values = np.arange(1000, dtype=np.float64)
    assert total(values) == values.sum()
    assert total(values, init=5) == values.sum() + 5

    c = np.zeros(500, np.float32)
    add.forall(500)(data(500), data(500, 1), c)
    assert np.array_equal(c, data(500) + data(500, 1))

    @cuda.jit
    def outer(x, y, m):
        i, j = cuda.grid(2)
        if i < m.shape[0] and j < m.shape[1]:
            m[i, j] = x[i] * y[j]

    x, y, m = data(20), data(33), np.zeros((20, 33), np.float32)
    outer[(2, 3), (16, 16)](x, y, m)
    assert np.array_equal(m, np.outer(x, y))


def test_vectorize_and_guvectorize():
    @vectorize([float64(float64, float64)], target="cuda")
    def hypot(x, y):
        return math.sqrt(x * x + y * y)

    x, y = np.random.default_rng(0).random((2, 333))
    assert np.allclose(hypot(x, y), np.hypot(x, y), rtol=1e-15)

    @guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)",
                 target="cuda")  # fmt: skip
    def matmul(a, b, c):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                total = 0.0
                for k in range(a.shape[1]):
                    total += a[i, k] * b[k, j]
                c[i, j] = total

    a, b = np.random.default_rng(1).random((5, 3, 4)), np.random.default_rng(2).random((5, 4, 2))
    assert np.allclose(matmul(a, b), a @ b)


def test_random_states_give_the_same_numbers_every_time():
    @cuda.jit
    def draw(states, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = xoroshiro128p_uniform_float32(states, i)

    drawn = []
    for _ in range(2):
        states = create_xoroshiro128p_states(256, seed=7)
        out = np.zeros(256, np.float32)
        draw[2, 128](states, out)
        drawn.append(out)
    assert np.array_equal(*drawn)
    assert out.min() >= 0 and out.max() < 1 and 0.4 < out.mean() < 0.6


def test_shuffles_and_votes_of_a_warp():
    # numba issue 8433: shfl_down_sync is missing in Numba's simulator.
    @cuda.jit
    def warp_sum(a, out, votes):
        value = a[cuda.threadIdx.x]
        step = 16
        while step > 0:
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
            step //= 2
        votes[cuda.threadIdx.x] = cuda.ballot_sync(0xFFFFFFFF, cuda.laneid % 2 == 0)
        if cuda.threadIdx.x == 0:
            out[0] = value

    out, votes = np.zeros(1, np.int32), np.zeros(32, np.uint32)
    warp_sum[1, 32](np.arange(32, dtype=np.int32), out, votes)
    assert out[0] == 496 and (votes == 0x55555555).all()


def test_a_grid_barrier_is_right_over_several_blocks():
    # numba issue 8719: in the simulator it silently does nothing.
    @cuda.jit
    def wave(steps):
        i, grid = cuda.grid(1), cuda.cg.this_grid()
        for row in range(1, steps.shape[0]):
            opposite = steps.shape[1] - i - 1
            steps[row, i] = steps[row - 1, opposite] + 1
            grid.sync()

    steps = np.zeros((6, 128), np.int32)
    wave[4, 32](steps)
    assert (steps == np.arange(6)[:, None]).all()


def test_print_in_a_kernel_comes_out(capsys):
    @cuda.jit
    def hello(n):
        if cuda.grid(1) < n:
            print("thread", cuda.grid(1))

    hello[1, 32](2)
    cuda.synchronize()
    assert sorted(capsys.readouterr().out.split("\n"))[-2:] == ["thread 0", "thread 1"]


def test_views_in_and_out_hints_and_records():
    a, b = data(100), data(100, 1)
    c = np.zeros(200, np.float32)
    add[2, 64](a, b, c[50:150])
    assert np.array_equal(c[50:150], a + b) and not c[:50].any() and not c[150:].any()

    @cuda.jit
    def spoil(x, y):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = 7
            y[i] = 8

    x, y = np.zeros(10, np.float32), np.zeros(10, np.float32)
    spoil[1, 32](cuda.In(x), cuda.Out(y))
    assert not x.any() and (y == 8).all()

    record = np.zeros(4, np.dtype([("k", np.int32), ("v", np.float64)], align=True))

    @cuda.jit
    def fill(r):
        i = cuda.grid(1)
        if i < r.size:
            r[i].k = i
            r[i].v = i / 2

    fill[1, 32](record)
    assert record["k"].tolist() == [0, 1, 2, 3] and record["v"].tolist() == [0, 0.5, 1, 1.5]


def test_arguments_that_overlap_are_copied_as_on_a_gpu():
    @cuda.jit
    def turn(a, b):
        i = cuda.grid(1)
        b[i] = -1  # a is a copy of its own: this does not reach it
        cuda.syncthreads()
        value = a[8 - i]
        cuda.syncthreads()
        b[i] = value

    x = np.arange(10, dtype=np.float32)
    turn[1, 9](x[:9], x[1:])
    assert x.tolist() == [0, 8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_an_access_out_of_bounds_warns_in_a_plain_launch():
    # mojo-gpu-puzzles issue 92: 4 elements, 8 threads, no guard.
    @cuda.jit
    def unguarded(a, out):
        i = cuda.grid(1)
        out[i] = a[i] + 1

    a, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    with pytest.warns(HazardWarning, match=r"unguarded: .*(out|a)") as told:
        unguarded[1, 8](a, out)
    assert told[0].filename.endswith("test_frontend_numba.py")
    assert (out == 2).all()


def test_a_local_array_of_variable_size_is_refused_with_the_line():
    # numba issue 3265.
    @cuda.jit
    def variable(n, out):
        scratch = cuda.local.array(n, float32)
        out[0] = scratch[0]

    with pytest.raises(Exception) as caught:
        variable[1, 1](5, np.zeros(1, np.float32))
    (note,) = caught.value.__notes__
    _, first = inspect.getsourcelines(variable.py_func)
    assert note.startswith(f"line {first + 2}: ") and "must be a constant, and 'n'" in note


def test_a_shape_computed_in_the_call_is_refused_with_a_way_on():
    side = 8

    @cuda.jit
    def padded(out):
        tile = cuda.shared.array((side, side + 1), float32)
        out[0] = tile[0, 0]

    with pytest.raises(Exception) as caught:
        padded[1, 1](np.zeros(1, np.float32))
    (note,) = caught.value.__notes__
    assert "may not be computed there, as 'side + 1' is" in note


def test_an_unknown_name_is_shown_with_its_line():
    @cuda.jit
    def typo(out):
        out[0] = cuda.grid(1) + undefined_name  # noqa: F821

    with pytest.raises(Exception) as caught:
        typo[1, 1](np.zeros(1, np.float32))
    assert "'undefined_name' is not defined" in caught.value.__notes__[0]


def test_a_non_contiguous_host_array_is_refused_as_numba_does():
    with pytest.raises(ValueError, match="non-contiguous"):
        add[1, 32](data(64)[::2], data(32), np.zeros(32, np.float32))


def test_a_launch_that_no_gpu_accepts_is_refused_as_cuda_does_but_in_words():
    # Numba's simulator lets all three pass silently.
    from cuda.core._utils.cuda_utils import CUDAError

    args = data(32), data(32), np.zeros(32, np.float32)
    with pytest.raises(CUDAError, match=r"at most 1024 threads.*CUDA_ERROR_INVALID_VALUE"):
        add[1, 2048](*args)
    with pytest.raises(CUDAError, match="bytes of shared memory"):
        add[1, 32, 0, 400 * 1024](*args)

    @cuda.jit(launch_bounds=64)
    def narrow(a):
        a[cuda.threadIdx.x] = 1

    with pytest.raises(hetlab.errors.HetlabError, match="at most 64 threads a block"):
        narrow[1, 128](np.zeros(128, np.float32))
    narrow[1, 64](np.zeros(64, np.float32))
