"""One operator for five targets, and Relax models on the virtual GPU."""

import numpy as np
import pytest

import hetlab
from hetlab.errors import InvalidValue, UnknownName
from hetlab.widgets.display import sources_html

tvm = pytest.importorskip("tvm")

from tvm import relax, s_tir  # noqa: E402

from tests.vgpu import tvmkit as kit  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def _virtual():
    hetlab.use_virtual_gpu()


@pytest.mark.parametrize("name", ["matmul", "softmax"])
def test_an_unscheduled_operator_comes_out_for_all_five_targets(name):
    """Each in its own language, from the same module, which stays as it was."""
    mod = kit.OPERATORS[name][0]()
    before = mod.script()
    found = hetlab.sources(mod)
    assert list(found) == ["LLVM", "CUDA", "OpenCL", "Metal", "WebGPU"]
    for target, word in {
        "LLVM": "define internal",
        "CUDA": "__global__",
        "OpenCL": "__kernel",
        "Metal": "threadgroup_position_in_grid",
        "WebGPU": "@workgroup_size",
    }.items():
        assert word in str(found[target]), target
        assert not found[target].missing
    assert found["webgpu"].kernels == found["CUDA"].kernels == ("main_kernel",)
    assert "dlight" in repr(found) and "WGSL" in repr(found)
    assert mod.script() == before


def test_a_schedule_for_a_gpu_has_no_source_for_the_cpu_and_says_why():
    """The four GPUs take the schedule as it is."""
    found = hetlab.sources(kit.tiled_matmul(32, 8))
    assert "binds loops to threads of a GPU" in repr(found["LLVM"])
    assert {found[target].schedule for target in ("CUDA", "OpenCL", "Metal", "WebGPU")} == {
        "as given"
    }
    assert "A_shared" in str(found["CUDA"])


def test_a_half_bound_schedule_says_what_is_missing():
    """In words, for each GPU."""
    sch = s_tir.Schedule(kit.softmax(4, 8))
    sch.bind(sch.get_loops("O")[0], "blockIdx.x")
    found = hetlab.sources(sch.mod)
    assert "the stage top of main runs in no thread" in found["OpenCL"].missing
    assert "OpenCL: none." in repr(found)


def test_the_display_is_plain_html_with_the_source_escaped():
    """A part for each target; the first one is open."""
    html = sources_html(hetlab.sources(kit.row_sums(3, 5)))
    assert html.count("<details") == 5 and html.count("<details open") == 1
    assert "&lt;" in html and "<script" not in html


def test_what_is_no_module_or_no_target_is_an_error_in_words():
    """A library, and a target that does not exist."""
    with pytest.raises(InvalidValue, match=r"mod must be a tvm\.IRModule"):
        hetlab.sources("main")
    with pytest.raises(UnknownName, match="Metal"):
        hetlab.sources(kit.row_sums(3, 5))["Metall"]


def block(x, w, gamma, beta, mean, var):
    """conv + batch norm + relu as a Relax function."""
    builder = relax.BlockBuilder()
    data = relax.Var("x", relax.TensorType(x.shape, "float32"))
    with builder.function("main", [data]):
        with builder.dataflow():
            y = builder.emit(relax.op.nn.conv2d(data, relax.const(w), padding=(1, 1)))
            four = map(relax.const, (gamma, beta, mean, var))
            y = builder.emit(relax.op.nn.batch_norm(y, *four, axis=1))
            y = builder.emit(relax.op.nn.relu(relax.TupleGetItem(y, 0)))
            out = builder.emit_output(y)
        builder.emit_func_output(out)
    return relax.transform.DecomposeOpsForInference()(builder.get())


def passes(*chosen):
    t = relax.transform
    return tvm.transform.Sequential(
        [t.FoldConstant(), t.LegalizeOps(), t.AnnotateTIROpPattern(), *chosen]
    )


def test_a_fused_relax_model_is_right_and_moves_fewer_bytes():
    """conv + bn + relu through Relax's virtual machine, on the CPU and on the virtual GPU."""
    (x, w), four = kit.inputs([(1, 4, 9, 11), (6, 4, 3, 3)]), kit.inputs([(6,)] * 4, seed=3)
    gamma, beta, mean, var = (v + 1 for v in four)
    padded = np.pad(x[0], ((0, 0), (1, 1), (1, 1)))
    scale = (gamma / np.sqrt(var.astype(float) + 1e-5)).reshape(-1, 1, 1)
    right = kit.reference("conv2d", padded, w) - mean.reshape(-1, 1, 1)
    right = np.maximum(right * scale + beta.reshape(-1, 1, 1), 0)[None]
    model = block(x, w, gamma, beta, mean, var)

    cpu = relax.VirtualMachine(tvm.compile(model, target="llvm"), tvm.cpu())
    np.testing.assert_allclose(cpu["main"](x).numpy(), right, atol=1e-4)

    traffic, counts = {}, {}
    target = tvm.target.Target("cuda")
    fuse = (relax.transform.FuseOps(), relax.transform.FuseTIR())
    for name, chosen in (("single", ()), ("fused", fuse)):
        with target:
            mod = passes(*chosen)(model)
            mod = kit.dlight.ApplyDefaultSchedule(kit.dlight.gpu.Fallback())(mod)
        executable = tvm.compile(mod, target=target)
        machine = relax.VirtualMachine(executable, tvm.cuda())
        out = machine["main"](x)
        np.testing.assert_allclose(out.numpy(), right, atol=1e-4)
        report = hetlab.profile(machine["main"], tvm.runtime.tensor(x, tvm.cuda()))
        assert report.ok, report.hazards
        counts[name] = len(report)
        traffic[name] = sum(report.counters[f"global_{kind}_sectors"] for kind in ("load", "store"))
    assert counts["fused"] < counts["single"]
    assert traffic["fused"] < traffic["single"]
