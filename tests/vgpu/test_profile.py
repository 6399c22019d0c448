"""``hetlab.profile`` and ``hetlab.sanitize`` on Numba kernels: counters, hazards, names, lines."""

# ruff: noqa: E402

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import hetlab
from hetlab.errors import InvalidValue

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
hetlab.use_virtual_gpu()
warnings.filterwarnings("ignore", message="Grid size|Host array")

from numba import cuda, float32

from hetlab.vgpu.canary import EXPECTED, CanaryError, canary


def line_of(kernel, text: str) -> int:
    """The number of the line of a kernel's source that holds ``text``."""
    lines, first = inspect.getsourcelines(kernel.py_func)
    (found,) = [i for i, line in enumerate(lines) if text in line]
    return first + found


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


def arrays(n):
    rng = np.random.default_rng(0)
    return rng.random(n, dtype=np.float32), rng.random(n, dtype=np.float32), np.zeros(n, np.float32)


def test_the_counters_of_a_vector_add_are_exact_and_the_arrays_hold_the_result():
    a, b, c = arrays(4096)
    report = hetlab.profile(add[16, 256], a, b, c)
    assert report.ok and np.array_equal(c, a + b)
    counters = report.counters
    assert counters["global_load_requests"] == 256 and counters["global_load_sectors"] == 1024
    assert counters["global_store_requests"] == 128 and counters["global_store_sectors"] == 512
    assert counters["atomics"] == counters["barriers"] == 0
    assert counters["thread_instructions"] <= 32 * counters["instructions"]


def test_counters_belong_to_the_learners_lines():
    a, b, c = arrays(4096)
    report = hetlab.profile(add[16, 256], a, b, c)
    at = (__file__, line_of(add, "c[i] = a[i] + b[i]"))
    assert report.lines[at]["global_load_sectors"] == 1024
    assert report.lines[at]["global_store_requests"] == 128
    assert "c[i] = a[i] + b[i]" in repr(report)


def test_device_arrays_profile_like_host_arrays():
    a, b, c = arrays(1000)
    there = cuda.to_device(c)
    report = hetlab.profile(add[4, 256], cuda.to_device(a), cuda.to_device(b), there)
    assert report.ok and np.array_equal(there.copy_to_host(), a + b)


def test_a_missing_guard_names_thread_index_and_line():
    # mojo-gpu-puzzles issue 92: 4 elements, 8 threads.
    @cuda.jit
    def unguarded(out, values):
        i = cuda.grid(1)
        out[i] = values[i] + 10

    report = hetlab.sanitize(unguarded[1, 8], np.zeros(4, np.float32), np.ones(4, np.float32))
    assert not report.ok
    assert {h.kind for h in report.hazards} == {"out-of-bounds"}
    assert {h.array for h in report.hazards} == {"out", "values"}
    first = report.hazards[0]
    assert first.index == 4 and first.threads[0]["thread"] == [4, 0, 0]
    assert first.lines[0] == (__file__, line_of(unguarded, "values[i] + 10"))


def test_a_view_ends_where_the_view_ends():
    base = np.ones(100, np.float32)
    c = np.zeros(20, np.float32)
    a = base[10:20]
    report = hetlab.sanitize(add[1, 32], a, base[:20], c)
    assert [(h.kind, h.array, h.index) for h in report.hazards] == [("out-of-bounds", "a", 10)]


def test_a_missing_barrier_is_a_race_with_both_lines_and_the_arrays_name():
    # GPU-Puzzles issue 14.
    @cuda.jit
    def turn(a, out):
        tile = cuda.shared.array(128, float32)
        t = cuda.threadIdx.x
        tile[t] = a[t]
        out[t] = tile[127 - t]

    report = hetlab.sanitize(turn[1, 128], np.ones(128, np.float32), np.zeros(128, np.float32))
    races = [h for h in report.hazards if h.kind == "race"]
    assert races and races[0].array == "tile"
    lines = set(races[0].lines)
    assert lines == {
        (__file__, line_of(turn, "tile[t] = a[t]")),
        (__file__, line_of(turn, "out[t] = tile")),
    }
    assert len(races[0].threads) == 2
    assert "tile" in repr(report) and "_cudapy" not in repr(report)


def test_a_warp_synchronous_tail_is_a_hazard_and_clean_with_syncwarp():
    # numba issue 6127.
    def reduction(sync):
        @cuda.jit
        def reduce(a, out):
            tile = cuda.shared.array(32, float32)
            t = cuda.threadIdx.x
            tile[t] = a[t]
            cuda.syncthreads()
            if t < 16:
                tile[t] += tile[t + 16]
                if sync:
                    cuda.syncwarp(0xFFFF)
                tile[t % 8] += tile[t % 8 + 8] if t < 8 else 0
            cuda.syncthreads()
            if t == 0:
                out[0] = tile[0]

        return reduce

    args = np.ones(32, np.float32), np.zeros(1, np.float32)
    wrong = hetlab.sanitize(reduction(False)[1, 32], *args)
    assert any(h.kind == "race" and h.array == "tile" for h in wrong.hazards)


def test_a_read_of_shared_memory_that_nobody_wrote():
    # GPU-Puzzles issue 26.
    @cuda.jit
    def ragged(a, out):
        tile = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        if t < a.size:
            tile[t] = a[t]
        cuda.syncthreads()
        out[t] = tile[63 - t]

    report = hetlab.sanitize(ragged[1, 64], np.ones(60, np.float32), np.zeros(64, np.float32))
    assert {(h.kind, h.array) for h in report.hazards} == {("uninitialised-read", "tile")}


def test_arrays_without_a_value_are_known():
    c = np.zeros(64, np.float32)
    report = hetlab.sanitize(add[1, 64], hetlab.empty(64, np.float32), np.ones(64, np.float32), c)
    assert {(h.kind, h.array) for h in report.hazards} == {("uninitialised-read", "a")}
    there = cuda.device_array(64, np.float32)
    report = hetlab.sanitize(add[1, 64], there, np.ones(64, np.float32), c)
    assert {(h.kind, h.array) for h in report.hazards} == {("uninitialised-read", "a")}
    filled = hetlab.empty(64, np.float32)
    filled[:] = 1
    assert hetlab.sanitize(add[1, 64], filled, filled.copy(), hetlab.empty(64, np.float32)).ok


def test_continue_before_a_barrier_is_reported_and_ends():
    # numba issue 9770: hangs a GPU and passes Numba's simulator.
    @cuda.jit
    def skip(a):
        tile = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        for k in range(4):
            if t % 2 == k % 2:
                continue
            tile[t] = a[t]
            cuda.syncthreads()
            a[t] = tile[t] + k

    report = hetlab.sanitize(skip[1, 64], np.ones(64, np.float32))
    assert any(h.kind in ("divergent-barrier", "deadlock") for h in report.hazards)


def test_a_sample_of_blocks_is_exact_for_equal_blocks_and_says_so():
    n = 1 << 18
    a, b, c = arrays(n)
    report = hetlab.profile(add[n // 256, 256], a, b, c, sample=0.02)
    raw = report.trace.raw
    assert report.sampled and raw.blocks == n // 256 and 0 < raw.blocks_run <= 0.05 * raw.blocks
    assert report.counters["global_load_sectors"] == raw.blocks_run * 64
    assert "sample of" in repr(report)


def test_a_function_that_launches_several_kernels_gives_several_reports():
    def twice(a, b, c):
        add[4, 64](a, b, c)
        add[4, 64](a, c, c)

    a, b, c = arrays(256)
    both = hetlab.profile(twice, a, b, c)
    assert len(both) == 2 and both.ok
    assert both.counters["global_store_requests"] == 16


def test_thorough_compiles_without_optimisation_and_agrees():
    a, b, c = arrays(256)
    quick, slow = hetlab.profile(add[1, 256], a, b, c), None
    slow = hetlab.sanitize(add[1, 256], a, b, c, thorough=True)
    assert quick.ok and slow.ok and np.array_equal(c, a + b)
    assert slow.trace.origin.ptx.count("\n") > 1.5 * quick.trace.origin.ptx.count("\n")


def test_what_is_no_launch_is_refused_with_the_way_to_write_it():
    with pytest.raises(InvalidValue, match=r"hetlab\.profile\(kernel\[grid, block\]"):
        hetlab.profile(42)
    with pytest.raises(InvalidValue, match="something that launches"):
        hetlab.profile(len, [1])
    with pytest.raises(InvalidValue, match="sample must be a fraction"):
        hetlab.profile(add[1, 32], *arrays(32), sample=2)
    with pytest.raises(ValueError, match=r"launch|configur"):
        hetlab.profile(add, *arrays(32))


def test_the_canary_sings_and_a_wrong_answer_silences_it(monkeypatch):
    assert canary("numba") and canary("cuda c++")
    monkeypatch.setitem(EXPECTED, "global_load_sectors", 9)
    canary.cache_clear()
    with pytest.raises(CanaryError, match=r"global_load_sectors 8, not 9.*numba-cuda \d"):
        canary("numba")
    canary.cache_clear()


def test_the_lanes_of_the_first_warp_are_filmed():
    @cuda.jit
    def halves(a):
        t = cuda.threadIdx.x
        if t < 8:
            for k in range(50):
                a[t] += k * a[t]
        a[t] += 1

    report = hetlab.profile(halves[2, 64], np.ones(64, np.float32))
    masks = {mask for _, mask in report.trace.raw.timeline}
    assert masks == {0xFFFFFFFF, 0xFF}
    places = {place for place, mask in report.trace.raw.timeline if mask == 0xFF and place[1]}
    assert places <= {
        (__file__, line_of(halves, "for k in")),
        (__file__, line_of(halves, "k * a[t]")),
    }
    assert "active lanes of the first warp" in report._repr_html_()
