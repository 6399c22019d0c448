"""TVM's errors in words a learner understands: arguments, loops, schedules, old names."""

import numpy as np
import pytest

import hetlab
from hetlab.errors import HetlabError, InvalidValue
from hetlab.grading.worker import _explain
from hetlab.vgpu.frontends.tvm_loops import UnboundLoops, host_stages

tvm = pytest.importorskip("tvm")

from tvm import s_tir, te  # noqa: E402

from tests.vgpu import tvmkit as kit  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def _virtual():
    hetlab.use_virtual_gpu()


def test_a_schedule_without_threads_is_refused_with_what_to_bind():
    """TVM compiles it silently for the host, where on a real GPU it would crash."""
    with pytest.raises(UnboundLoops) as told:
        tvm.compile(kit.matmul(8, 8, 8), target="cuda")
    text = str(told.value)
    assert "stage C of main runs in no thread of a GPU" in text
    assert "none of its loops i, j and k is bound" in text
    assert "i (8) and j (8) do not depend on each other" in text
    assert "k adds up: leave it inside a thread" in text


def test_the_advice_about_unbound_loops_works_as_it_stands():
    """The lines that the error prints, pasted, give a library that is right."""
    sch = s_tir.Schedule(kit.matmul(9, 5, 7))
    with pytest.raises(UnboundLoops) as told:
        tvm.compile(sch.mod, target="cuda")
    code = str(told.value).partition("For example: ")[2].rstrip(".")
    exec(code.replace("; ", "\n"), {"sch": sch})
    a, b = kit.inputs([(9, 7), (7, 5)])
    c = np.zeros((9, 5), np.float32)
    tvm.compile(sch.mod, target="cuda")["main"](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5, atol=1e-6)


def test_one_stage_left_on_the_host_is_found():
    """softmax with only its last stage bound: the others are named."""
    sch = s_tir.Schedule(kit.softmax(4, 8))
    i, j = sch.get_loops("O")
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "threadIdx.x")
    assert [stage.name for stage in host_stages(sch.mod["main"])] == ["top", "E", "total"]
    with pytest.raises(UnboundLoops, match=r"stage top of main.*nor does E or total"):
        tvm.compile(sch.mod, target="cuda")


def test_a_copy_into_shared_memory_outside_of_the_kernel_is_told_apart():
    """It has to move into the kernel first; binding it where it stands would not help."""
    sch = s_tir.Schedule(kit.by_hand(kit.matmul(8, 8, 8)))
    sch.cache_read("C", 0, "shared")
    with pytest.raises(UnboundLoops, match=r"fills shared memory.*compute_at\('A_shared', loop\)"):
        tvm.compile(sch.mod, target="cuda")


@pytest.mark.parametrize(
    "spoil, words",
    [
        (lambda a, b, c: (a.astype("f8"), b, c), "A must be of type float32, got float64"),
        (lambda a, b, c: (a[:3], b, c), r"A.shape\[0\] must be 8, got shape \(3, 8\)"),
        (lambda a, b, c: (a[0], b, c), "A must be of 2 dimensions, got shape"),
        (lambda a, b, c: (a, b), "the arguments must be 3 values, got 2"),
        (lambda a, b, c: (a, b.T, c), "argument 1 of main must be contiguous in memory"),
        (lambda a, b, c: (a, None, c), "B must be an array or a tensor, got None"),
    ],
)
def test_a_wrong_argument_is_named_with_what_was_got(spoil, words):
    """Type, shape, number and layout, before anything runs."""
    library = tvm.compile(kit.by_hand(kit.matmul(8, 8, 8)), target="cuda")
    arrays = [*kit.inputs([(8, 8), (8, 8)]), np.zeros((8, 8), np.float32)]
    with pytest.raises(InvalidValue, match=words):
        library["main"](*spoil(*arrays))


def test_a_refused_schedule_is_one_paragraph_before_the_program():
    """TVM's label s_tir.SBlock#0 becomes the block's name, and the reason is said."""
    sch = s_tir.Schedule(kit.matmul(8, 8, 8))
    with pytest.raises(s_tir.ScheduleError) as told:
        sch.parallel(sch.get_loops("C")[2])
    first = str(told.value).split("\n\n")[0]
    assert first.startswith("sch.parallel: ") and "block C" in first and "#0" not in first
    assert "The loop adds up" in first
    with pytest.raises(s_tir.ScheduleError, match="The blocks are: C"):
        sch.get_sblock("D")
    (shown,) = told.value._render_traceback_()
    assert "\n" not in shown
    seen = _explain(told.value)  # what a verdict says
    assert seen["message"] == told.value.in_words()
    assert seen["place"][2] == 'sch.parallel(sch.get_loops("C")[2])', "not a frame of TVM's own C++"


@pytest.mark.parametrize(
    "code, words",
    [
        ("te.create_schedule", r"tvm\.s_tir\.Schedule\(mod\)"),
        ("tvm.nd.array", "tvm.runtime.tensor"),
        ("s_tir.Schedule(mod).get_block('C')", "get_sblock"),
        ("tvm.lower", "hetlab.sources"),
    ],
)
def test_a_name_from_an_older_tutorial_says_what_it_is_now(code, words):
    """The AttributeError tells the new way."""
    names = {"te": te, "tvm": tvm, "s_tir": s_tir, "mod": kit.matmul(4, 4, 4)}
    with pytest.raises(AttributeError, match=words):
        eval(code, names)


def test_an_import_from_an_older_tutorial_says_what_it_is_now():
    """``from tvm import tir`` is an ImportError with the new name; probing still works."""
    with pytest.raises(ImportError, match=r"tvm\.tirx"):
        from tvm import tir  # noqa: F401
    assert not hasattr(tvm, "relay")


def test_a_profile_of_the_cpus_function_says_what_to_do():
    """Nothing ran on the virtual GPU: bind, and compile for CUDA."""
    library = tvm.compile(kit.row_sums(3, 4), target="llvm")
    with pytest.raises(InvalidValue, match="runs on the CPU"):
        hetlab.profile(library["main"], *kit.inputs([(3, 4), (3,)]))


class TestTheMatmulOfAShownListing:
    """128 x 128, with three faults: 127 of 128 terms, an old schedule API, loops made parallel."""

    def test_its_schedule_api_is_gone(self):
        """The error says what takes its place."""
        a = te.placeholder((128, 128), name="A")
        c = te.compute((128, 128), lambda i, j: a[i, j] * 2, name="C")
        with pytest.raises(AttributeError, match=r"te\.create_schedule is gone.*Schedule\(mod\)"):
            te.create_schedule(c.op)

    def test_parallel_loops_are_no_gpu_threads(self):
        """The error says what parallel means, and what a GPU needs."""
        sch = s_tir.Schedule(kit.matmul(128, 128, 128))
        sch.parallel(sch.get_loops("C")[0])
        with pytest.raises(HetlabError, match=r"parallel, which means threads of a CPU; CUDA runs"):
            tvm.compile(sch.mod, target="cuda")

    def test_a_sum_over_127_terms_is_told_before_anything_runs(self):
        """``hetlab.sources`` says that a column of A and a row of B are never read."""
        found = hetlab.sources(kit.matmul(128, 128, 128, terms=127))
        assert "A[0:128, 0:127] of shape (128, 128)" in " ".join(found.notes)
        assert not hetlab.sources(kit.matmul(128, 128, 128)).notes

    def test_repaired_it_runs_on_the_cpu_and_the_virtual_gpu(self):
        """The same product on both, and the fault's size when a term is missing."""
        a, b = kit.inputs([(128, 128), (128, 128)])
        right = a.astype(float) @ b
        for mod, target in (
            (kit.matmul(128, 128, 128), "llvm"),
            (kit.by_hand(kit.matmul(128, 128, 128), 128), "cuda"),
        ):
            c = np.zeros((128, 128), np.float32)
            tvm.compile(mod, target=target)["main"](a, b, c)
            np.testing.assert_allclose(c, right, atol=1e-4)
        short = kit.by_hand(kit.matmul(128, 128, 128, terms=127), 128)
        tvm.compile(short, target="cuda")["main"](a, b, c)
        np.testing.assert_allclose(right - c, np.outer(a[:, 127], b[127]), atol=1e-4)
