"""TVM's CUDA libraries on the virtual GPU: right values, counters, hazards, many at a time."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetlab
from hetlab.vgpu.canary import CanaryError, canary

tvm = pytest.importorskip("tvm")

from tests.vgpu import tvmkit as kit  # noqa: E402

CUDA = {"kind": "cuda", "arch": "sm_80"}


@pytest.fixture(autouse=True, scope="module")
def _virtual():
    assert hetlab.use_virtual_gpu().virtual


def run(name, mod, target):
    _, shapes, out_shape = kit.OPERATORS[name]
    given_, out = kit.inputs(shapes), np.full(out_shape, np.nan, np.float32)
    library = tvm.compile(mod, target=target)
    if target == "llvm":
        library["main"](*given_, out)
        report = None
    else:
        report = hetlab.profile(library["main"], *given_, out)
    np.testing.assert_allclose(out, kit.reference(name, *given_), rtol=2e-5, atol=2e-5)
    return report


@pytest.mark.parametrize("name", kit.OPERATORS)
def test_an_operator_is_right_on_llvm_and_runs_natively(name):
    """TVM's own code for the CPU, called with NumPy arrays."""
    run(name, kit.OPERATORS[name][0](), "llvm")


def test_arrays_that_numpy_aligns_to_16_bytes_do_not_crash_vector_code():
    """TVM's vector code takes 64; with plain TVM this call ends the process."""
    row = kit.te.placeholder((64, 64), name="A")
    sch = kit.s_tir.Schedule(kit.module(row, kit.te.compute((64, 64), lambda i, j: row[i, j] * 2)))
    (block,) = sch.get_child_blocks(sch.get_sblock("root"))
    sch.vectorize(sch.split(sch.get_loops(block)[1], [None, 16])[1])
    library = tvm.compile(sch.mod, target="llvm")
    for shift in (0, 4, 16, 32):
        raw = [np.zeros(64 * 64 * 4 + 128, np.uint8) for _ in range(2)]
        a, b = (
            x[(shift - x.ctypes.data) % 64 :][: 64 * 64 * 4].view("f4").reshape(64, 64) for x in raw
        )
        a[...] = kit.inputs([(64, 64)])[0]
        a.flags.writeable = False
        library["main"](a, b)
        assert np.array_equal(b, 2 * a)


@pytest.mark.parametrize("schedule", [kit.by_hand, kit.by_dlight])
@pytest.mark.parametrize("name", kit.OPERATORS)
def test_an_operator_is_right_on_the_virtual_gpu(name, schedule):
    """Awkward sizes, by hand and by dlight: NumPy's float64 within float32, and no hazard."""
    report = run(name, schedule(kit.OPERATORS[name][0]()), CUDA)
    assert report.ok, report.hazards
    kernels = {"softmax": 4, "layer_norm": 3}.get(name, 1) if schedule is kit.by_hand else 1
    assert (len(report) if isinstance(report, list) else 1) == kernels


def test_a_matmul_scheduled_for_the_cpu_is_right():
    """Packed, unrolled, vectorised and parallel: what can stand beside NumPy's."""
    a, b = kit.inputs([(128, 128), (128, 128)])
    c = np.zeros((128, 128), np.float32)
    tvm.compile(kit.packed_matmul(128), target="llvm")["main"](a, b, c)
    np.testing.assert_allclose(c, a.astype(float) @ b, atol=1e-5)


def test_a_tiled_matmul_moves_a_sixteenth_of_the_bytes():
    """Each element of A and B is fetched once a row or column of blocks: n³/16 in place of n³."""
    a, b = kit.inputs([(64, 64), (64, 64)])
    c = np.zeros((64, 64), np.float32)
    tiled = hetlab.profile(tvm.compile(kit.tiled_matmul(64), target="cuda")["main"], a, b, c)
    assert np.allclose(c, a.astype(float) @ b, atol=1e-5)
    assert tiled.ok
    # 4 x 4 blocks read 4 tiles of each operand; a tile of 16 x 16 floats is 32 sectors.
    assert tiled.counters["global_load_sectors"] == 4 * 4 * 4 * 2 * 32
    assert tiled.counters["global_store_sectors"] == 64 * 64 * 4 // 32
    assert tiled.counters["shared_load_requests"] > 0
    assert tiled.language == "TVM"


@given(st.integers(1, 70), st.integers(1, 70))
@settings(max_examples=5, deadline=None)
def test_one_library_serves_every_shape(n, m):
    """A function with a symbolic number of rows, its workspace sized by the host."""
    rows = test_one_library_serves_every_shape
    if not hasattr(rows, "library"):
        rows.library = tvm.compile(kit.by_hand(kit.softmax(kit.te.var("n"), 70)), target="cuda")
    (a,) = kit.inputs([(n, 70)], seed=m)
    out = np.zeros_like(a)
    report = hetlab.sanitize(rows.library["main"], a, out)
    np.testing.assert_allclose(out, kit.reference("softmax", a), atol=1e-6)
    assert report.ok, report.hazards


@pytest.mark.parametrize(
    "dtype, out, tolerance", [("float16", "float16", 3e-2), ("int8", "int32", 0)]
)
def test_short_types(dtype, out, tolerance):
    """fp16 within its precision, int8 with sums in int32 exactly."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-9, 9, (24, 24)).astype(dtype) for _ in range(2))
    if dtype == "float16":
        a, b = a / 16, b / 16
    c = np.zeros((24, 24), out)
    mod = kit.by_hand(kit.matmul(24, 24, 24, dtype, out))
    tvm.compile(mod, target="cuda")["main"](a, b, c)
    exact = a.astype(float) @ b.astype(float)
    assert np.abs(c - exact).max() <= tolerance * max(1, np.abs(exact).max())


def test_libraries_that_are_alive_together_do_not_disturb_one_another():
    """TVM calls every kernel main_kernel; each library has its own."""
    small, large = (
        tvm.compile(kit.by_hand(kit.row_sums(5, n)), target="nvidia/nvidia-a100") for n in (7, 9)
    )
    for library, n in ((small, 7), (large, 9), (small, 7)):
        (a,) = kit.inputs([(5, n)], seed=n)
        out = np.zeros(5, np.float32)
        library["main"](a, out)
        np.testing.assert_allclose(out, a.sum(1), rtol=1e-5)


def test_tensors_of_tvm_work_on_both_sides():
    """``tvm.runtime.tensor(x, tvm.cuda())``, tensors on the CPU and NumPy arrays, mixed."""
    library = tvm.compile(kit.by_hand(kit.matmul(8, 8, 8)), target="cuda")
    a, b = kit.inputs([(8, 8), (8, 8)])
    device = tvm.cuda(0)
    assert device.exist and device.compute_version == "8.0"
    on_device = [tvm.runtime.tensor(x, device) for x in (a, b, np.zeros_like(a))]
    library.mod["main"](*on_device)
    np.testing.assert_allclose(on_device[2].numpy(), a @ b, rtol=1e-5, atol=1e-6)
    out = tvm.runtime.tensor(np.zeros_like(a))
    library(a, on_device[1], out)
    np.testing.assert_allclose(out.numpy(), a @ b, rtol=1e-5, atol=1e-6)
    assert "__global__" in library.mod.imports[0].inspect_source()
    assert library.mod.imports[0].kind == "cuda"


def test_a_hazard_names_the_array_and_the_generated_line():
    """A kernel written by hand in TVM's script reads one past the end of A."""
    from tvm.script import tirx as T

    @T.prim_func(s_tir=True)
    def shift(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for t in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("B"):
                i = T.axis.spatial(64, t)
                B[i] = A[i + 1]

    library = tvm.compile(tvm.IRModule({"main": shift}), target="cuda")
    report = hetlab.sanitize(library["main"], *kit.inputs([(64,), (64,)]))
    (hazard,) = report.hazards
    assert (hazard.kind, hazard.array, hazard.index) == ("out-of-bounds", "A", 64)
    ((file, line),) = hazard.lines
    assert file == "shift_kernel.cu" or file == "main_kernel.cu"
    assert "A_ptr[" in next(x.text for x in report.source() if x.number == line)


def test_what_a_kernel_did_not_write_is_found_in_the_next_one():
    """The first kernel fills half of its workspace; the second one reads all of it."""
    from tvm.script import tirx as T

    @T.prim_func(s_tir=True)
    def half(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        W = T.sblock_alloc_buffer((64,), "float32")
        for t in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("W"):
                i = T.axis.spatial(32, t)
                W[i] = A[i]
        for t in T.thread_binding(64, thread="threadIdx.x"):
            with T.sblock("B"):
                i = T.axis.spatial(64, t)
                B[i] = W[i]

    library = tvm.compile(tvm.IRModule({"main": half}), target="cuda")
    report = hetlab.sanitize(library["main"], *kit.inputs([(64,), (64,)]))
    assert [(h.kind, h.array) for h in report.hazards] == [("uninitialised-read", "W")]


def test_a_search_by_the_estimate_is_deterministic_and_prefers_the_larger_tile():
    """Without a GPU and without a clock: the same schedule wins each time."""

    def cost(tile):
        library = tvm.compile(kit.tiled_matmul(64, tile), target="cuda")
        arrays = [*kit.inputs([(64, 64), (64, 64)]), np.zeros((64, 64), np.float32)]
        return hetlab.profile(library["main"], *arrays).counters["global_load_sectors"]

    costs = {tile: cost(tile) for tile in (8, 16)}
    assert min(costs, key=costs.get) == 16
    assert cost(8) == costs[8]


def test_the_canary_sings_and_refuses_with_versions(monkeypatch):
    """A wrong answer from TVM stops grading, with TVM's version in the sentence."""
    canary.cache_clear()
    assert canary("tvm")
    from hetlab.vgpu.frontends import tvm_canary

    operator = tvm_canary.canary_operator()
    monkeypatch.setattr(tvm_canary, "canary_operator", lambda: lambda a, b: operator(a, b[::1]))
    canary.cache_clear()
    assert canary("tvm")
    monkeypatch.setattr(tvm_canary, "canary_operator", lambda: lambda a, b: operator(a + 1, b))
    canary.cache_clear()
    with pytest.raises(CanaryError, match=r"result is wrong.*apache-tvm 0\."):
        canary("tvm")
    canary.cache_clear()


def script(text):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


BODY = """
    import numpy as np
    from tests.vgpu import tvmkit as kit
    lib = tvm.compile(kit.by_hand(kit.row_sums(5, 7)), target="cuda")
    a, out = np.ones((5, 7), "float32"), np.zeros(5, "float32")
    {call}
    print(int(out.sum()))
"""


def test_the_order_of_imports_does_not_matter():
    """TVM first works too, and hetlab does not load TVM itself."""
    code = "import tvm, hetlab\nhetlab.use_virtual_gpu()\n" + textwrap.dedent(
        BODY.format(call='lib["main"](a, out)')
    )
    assert script(code)[-1] == "35"
    told = script("import sys, hetlab; hetlab.use_virtual_gpu(); print('tvm' in sys.modules)")
    assert told == ["False"]


def test_beside_a_real_gpu_only_the_profile_is_virtual():
    """Where CUDA is real, ``profile`` builds the function again, with its workspace on the host."""
    code = """
    import hetlab
    from hetlab.vgpu import frontends
    from hetlab.vgpu.frontends import switch
    frontends.real_gpu = switch.real_gpu = lambda: None
    import tvm, tvm_ffi
    host = tvm_ffi.get_global_func("device_api.cpu")
    tvm_ffi.register_global_func("device_api.cuda", lambda: host(), override=True)
    hetlab.use_virtual_gpu()
    import numpy as np
    from tests.vgpu import tvmkit as kit
    lib = tvm.compile(kit.by_hand(kit.softmax(5, 7)), target={"kind": "cuda", "arch": "sm_80"})
    a, out = np.ones((5, 7), "float32"), np.zeros((5, 7), "float32")
    report = hetlab.profile(lib["main"], a, out)
    print(len(report), report.ok, round(float(out.sum()), 3), lib["main"].virtual)
    """
    assert script(code) == ["4", "True", "5.0", "False"]
