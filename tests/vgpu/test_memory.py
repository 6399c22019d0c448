"""Device memory: real bounds, written bytes, host arrays without a copy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.vgpu.launch import ArrayArg, Kernel
from hetlab.vgpu.memory import DeviceMemoryError, Memory

from .ptxkit import cuda, nvrtc_ptx, ptx_of, run_cuda, run_ptx


def test_allocations_are_aligned_far_apart_and_forgotten_when_freed():
    memory = Memory()
    a, b = memory.alloc(100, name="a"), memory.alloc(1)
    assert a % 256 == b % 256 == 0 and abs(a - b) > 1 << 30
    assert memory.find(a).name == "a" and memory.find(a + 5000) is memory.find(a)
    memory.free(a)
    assert memory.find(a) is None and memory.was_freed(a + 4)
    assert memory.alloc(100) not in (a, b)
    with pytest.raises(DeviceMemoryError, match="has been freed"):
        memory.read(a, 4)


def test_copies_outside_an_allocation_are_refused():
    memory = Memory()
    a = memory.alloc(16, name="a")
    for addr, size in ((a, 17), (a + 12, 5), (a - 1, 1), (a, -1), (5, 1)):
        with pytest.raises(DeviceMemoryError):
            memory.bytes(addr, size)
    with pytest.raises(DeviceMemoryError, match="out of device memory"):
        Memory(capacity=100).alloc(101)


def test_writing_marks_bytes_and_copies_carry_the_marks():
    memory = Memory()
    a, b = memory.alloc(8), memory.alloc(8)
    memory.write(a + 2, b"xyz")
    assert memory.written(a, 8).tolist() == [False] * 2 + [True] * 3 + [False] * 3
    memory.copy(b, a, 8)
    assert memory.written(b, 8).tolist() == memory.written(a, 8).tolist()
    memory.write(a, bytes(8))
    assert memory.find(a).written is None


@given(st.integers(1, 5), st.integers(1, 5), st.sampled_from([1, -1, 2, -2]), st.booleans())
def test_host_arrays_of_any_strides_are_seen_in_place(rows, columns, step, swap):
    host = np.arange(4 * rows * 4 * columns, dtype="i4").reshape(4 * rows, 4 * columns)
    view = host[1 : 1 + 2 * rows : abs(step), ::step]
    view = view.T if swap else view
    memory = Memory()
    address = memory.adopt(view)
    for index in np.ndindex(view.shape):
        at = address + sum(i * s for i, s in zip(index, view.strides))
        assert memory.read(at, 4).view("i4")[0] == view[index]
    memory.bytes(address, 4).view("i4")[0] = -7
    assert view.flat[0] == -7


KERNEL = cuda("int i = threadIdx.x; b[i] = a[i + n];")


def test_a_view_has_its_own_bounds():
    whole = np.arange(64, dtype="f4")
    for shift, kinds in ((0, []), (1, ["out-of-bounds"]), (-1, ["out-of-bounds"])):
        run = run_cuda(KERNEL, 1, 10, [whole[10:20], np.zeros(10, "f4"), shift])
        assert [h.kind for h in run.hazards] == kinds
        if kinds:
            assert run.hazards[0].array == "a"
            assert run.hazards[0].index == (10 if shift > 0 else -1)


def test_device_memory_that_nobody_wrote_is_an_uninitialised_read():
    memory = Memory()
    a, b = memory.alloc(128, name="a", itemsize=4), memory.alloc(128, name="b", itemsize=4)
    memory.write(a, np.zeros(30, "f4"))
    kernel = Kernel(nvrtc_ptx(KERNEL))
    run = kernel.run(1, 32, [a, b, 0], memory=memory)
    (hazard,) = run.hazards
    assert (hazard.kind, hazard.array, hazard.index, hazard.count) == (
        "uninitialised-read",
        "a",
        30,
        2,
    )
    assert memory.find(b).written is None
    assert kernel.run(1, 32, [b, a, 0], memory=memory).ok


def test_stores_to_read_only_memory_and_to_freed_memory_are_hazards():
    memory = Memory()
    host = np.zeros(32, "f4")
    host.flags.writeable = False
    a, b = memory.alloc(128, initialised=True), memory.adopt(host, "b")
    kernel = Kernel(nvrtc_ptx(KERNEL))
    assert [h.kind for h in kernel.run(1, 32, [a, b, 0], memory=memory).hazards] == [
        "read-only-write"
    ]
    assert not host.any()
    memory.free(b)
    run = kernel.run(1, 32, [a, b, 0], memory=memory)
    assert [h.kind for h in run.hazards] == ["out-of-bounds"]
    assert "freed" in run.hazards[0].message


def test_indices_of_strided_arrays_count_as_in_python():
    host = np.zeros((4, 6), "f4")
    memory = Memory()
    view = host[:, ::2]
    address = memory.adopt(view, "v")
    arg = ArrayArg(0, "v", address, view.nbytes, 4, view.shape, view.strides)
    kernel = Kernel(nvrtc_ptx(cuda("a[n] = 1;", "float* a, int n")))
    for offset, index in ((4 * 6, (4, 0)), (6 + 8, None)):
        run = kernel.run(1, 1, [address, offset], memory=memory, arrays=[arg])
        assert [h.index for h in run.hazards] == ([index] if index else [])


def test_module_variables_live_as_long_as_the_memory():
    source = "__device__ int total; __constant__ int step[2] = {3, 4};\n" + cuda(
        "total += step[n]; o[0] = total;", "int* o, int n"
    )
    memory, o = Memory(), np.zeros(1, "i4")
    for want in (4, 8):
        run_cuda(source, 1, 1, [o, 1], memory=memory)
        assert o[0] == want
    run_cuda(source, 1, 1, [o, 0])
    assert o[0] == 3


def test_structs_by_value_and_local_arrays():
    source = "struct P { float x; int y[3]; };\n" + cuda(
        "int l[8]; for (int j = 0; j < 8; j++) l[j] = j * p.y[j % 3];"
        "o[threadIdx.x] = l[threadIdx.x & 7] + p.y[n] + (int)p.x;",
        "int* o, P p, int n",
    )
    o = np.zeros(16, "i4")
    raw = np.array([2.5], "f4").tobytes() + np.array([10, 20, 30], "i4").tobytes()
    run = run_cuda(source, 1, 16, [o, raw, 2])
    y = np.array([10, 20, 30])
    j = np.arange(16) & 7
    np.testing.assert_array_equal(o, j * y[j % 3] + 30 + 2)
    assert run.ok


def test_shared_addresses_wrap_in_32_bits():
    body = """ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;
    mov.u32 %r9, s; add.u32 %r2, %r2, %r9;
    st.shared.u32 [%r2], %r1; bar.sync 0; sub.u32 %r3, 0, %r2; ld.shared.u32 %r4, [%r3+252];
    cvt.u64.u32 %rd2, %r2; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r4;"""
    o = np.zeros(64, "i4")
    run = run_ptx(ptx_of(body, head=".shared .align 4 .b8 s[256];"), 1, 64, [o])
    np.testing.assert_array_equal(o, np.arange(64)[::-1])
    assert [h.kind for h in run.hazards] == []


def test_a_struct_with_a_hole_is_copied_without_complaint():
    source = "struct Item { char tag; int n; };\n" + cuda(
        "__shared__ Item s[32]; int t = threadIdx.x; s[t].tag = 'a'; s[t].n = t; __syncthreads();"
        "o[t] = s[31 - t];",
        "Item* o",
    )
    o = np.zeros((32, 2), "i4")
    assert run_cuda(source, 1, 32, [o]).ok
    np.testing.assert_array_equal(o[:, 1], np.arange(32)[::-1])


def test_reports_on_vectors_name_the_element_that_is_meant():
    body = """__shared__ float4 s[64]; float* f = (float*)s; int t = threadIdx.x;
    f[4 * t] = f[4 * t + 1] = f[4 * t + 3] = t; __syncthreads();
    float4 v = s[t]; o[t] = v.x + v.y + v.z + v.w; __syncthreads();
    if (t == 5) f[4 * 40 + 3] = 1;
    float4 w = s[t]; o[t] += w.x + w.y + w.w;"""
    found = run_cuda(cuda(body, "float* o"), 1, 64, [np.zeros(64, np.float32)]).hazards
    assert {(h.kind, h.index) for h in found} == {("uninitialised-read", 2), ("race", 163)}
