"""The ways to call a Triton kernel, and what it says, on the virtual GPU."""

# ruff: noqa: E402

from __future__ import annotations

import linecache

import numpy as np
import pytest

triton = pytest.importorskip("triton")

import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from hetlab.errors import InvalidValue
from hetlab.vgpu.frontends import triton_tuning
from hetlab.vgpu.frontends.switch import use_virtual_gpu
from hetlab.vgpu.profile import profile, sanitize
from hetlab.vgpu.uninitialised import empty


@pytest.fixture(autouse=True)
def _virtual():
    use_virtual_gpu()


@triton.jit
def scale(x, out, factor, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


@triton.jit
def announce(x, B: tl.constexpr):
    value = tl.load(x + tl.program_id(0) * B + tl.arange(0, B))
    tl.device_print("value", value)


def test_device_print_shows_every_element_of_a_tile_once(capsys):
    """128 threads hold 32 elements: each is printed by one of them, with its place."""
    x = np.arange(64, dtype=np.int32) * 3
    announce[(2,)](x, B=32)
    lines = [line for line in capsys.readouterr().out.splitlines() if "value" in line]
    assert len(lines) == 64
    assert sorted(int(line.split()[-1]) for line in lines) == x.tolist()


@triton.jit
def checked(x, out, limit, B: tl.constexpr):
    value = tl.load(x + tl.arange(0, B))
    tl.device_assert(value < limit, "too large")
    tl.store(out + tl.arange(0, B), value)


def test_device_assert_stops_a_launch_in_debug_mode_only():
    """As on a GPU: the check is compiled with ``debug=True``, and costs nothing without."""
    x, out = np.arange(32, dtype=np.int32), empty(32, np.int32)
    failed = sanitize(checked[(1,)], x, out, 31, B=32, debug=True)
    assert not failed.ok and "too large" in failed.hazards[0].message
    assert sanitize(checked[(1,)], x, out, 32, B=32, debug=True).ok
    assert sanitize(checked[(1,)], x, out, 31, B=32).ok
    assert np.array_equal(out, x)


@triton.jit
def transposed(source, target, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.program_id(0) * R, tl.program_id(1) * C
    target.store([c, r], tl.trans(source.load([r, c])))


def test_a_host_side_descriptor_lends_its_array_and_its_bounds():
    """Tiles that reach over the edge read zeros and store nothing there."""
    x, out = np.random.default_rng(3).random((40, 24), np.float32), empty((24, 40), np.float32)
    source = TensorDescriptor.from_tensor(x, [16, 16])
    target = TensorDescriptor(out, [24, 40], [40, 1], [16, 16])
    report = sanitize(transposed[(3, 2)], source, target, R=16, C=16)
    assert report.ok and np.array_equal(out, x.T)


def test_warmup_compiles_and_launches_nothing():
    """Types may stand for the arrays; the launch that follows finds the code compiled."""
    made = scale.warmup(np.float32, np.float32, 2.0, 1000, B=256, grid=(4,))
    assert "ld.global" in made.asm["ptx"]
    x, out = np.ones(1000, np.float32), np.zeros(1000, np.float32)
    scale.warmup(x, out, 2.0, 1000, B=256, grid=(4,))
    assert not out.any(), "nothing was launched"
    scale[(4,)](x, out, 2.0, 1000, B=256)
    assert np.array_equal(out, 2 * x)


@pytest.mark.parametrize("number", [np.float32, np.float64, np.float16, np.int32, np.int64])
def test_numpy_scalars_are_numbers(number):
    """Also for sizes and in the grid, where ``x.shape`` of another library gives them."""
    x, out, n = np.ones(100, np.float32), empty(100, np.float32), np.int64(100)
    scale[(np.int64(2),)](x, out, number(3), n, B=64)
    assert np.array_equal(out, 3 * x)


class Exported:
    """An array of another library: DLPack, and nothing else."""

    def __init__(self, array: np.ndarray, device: int = 1) -> None:
        self.array, self.device = array, device

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


def test_arrays_of_other_libraries_come_by_dlpack():
    """Memory of the host is used in place; memory of a device is refused in a sentence."""
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    scale[(1,)](Exported(x), Exported(out), 2.0, 100, B=128)
    assert np.array_equal(out, 2 * x)
    with pytest.raises(InvalidValue, match="host's memory"):
        scale[(1,)](Exported(x, device=2), out, 2.0, 100, B=128)


def tuned():
    """A new autotuner, which has picked nothing yet."""
    configs = [triton.Config({"B": b}, num_warps=w) for b in (32, 256, 1024) for w in (1, 4)]
    return triton.autotune(configs, key=["n"])(triton.jit(scale.fn))


def test_autotuning_picks_by_estimate_and_always_the_same(capsys):
    """Two tuners, two rounds of estimates: all times are equal, and so is the choice."""
    x, out = np.ones(20_000, np.float32), np.zeros(20_000, np.float32)
    times, picked = [], []
    for _ in range(2):
        kernel = tuned()
        kernel[lambda meta: (triton.cdiv(20_000, meta["B"]),)](x, out, 2.0, 20_000)
        picked.append(str(kernel.best_config))
        times.append({str(config): took for config, took in kernel.configs_timings.items()})
    assert times[0] == times[1] and picked[0] == picked[1] == min(times[0], key=times[0].get)
    assert "modelled, not measured" in capsys.readouterr().out
    assert np.array_equal(out, 2 * x)


def test_an_estimate_is_the_same_for_every_quantile():
    """No clock runs, so that nothing varies."""
    x, out = np.ones(512, np.float32), np.zeros(512, np.float32)
    call = lambda: scale[(2,)](x, out, 2.0, 512, B=256)  # noqa: E731
    once = triton_tuning.by_estimate(call)
    assert once > 0 and triton_tuning.by_estimate(call, quantiles=(0.5, 0.2)) == [once, once]


@triton.jit
def add_one(x, out, n, B: tl.constexpr):
    tl.static_assert(False, "add_one is not started")


def test_the_stub_of_an_exercise_says_that_it_is_not_started():
    """Triton compiles no ``raise``: its stub is an assertion, told as Python's own error."""
    x = np.ones(8, np.float32)
    with pytest.raises(NotImplementedError, match=r"^add_one is not started$"):
        profile(add_one[(1,)], x, x.copy(), 8, B=8)


@triton.jit
def sum_of_another_type(x, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    total = 0
    for i in range(0, n, B):
        total = total + tl.load(x + at + i, mask=at + i < n, other=0.0)
    tl.store(out, tl.sum(total))


@triton.jit
def read_by_brackets(x, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(out + at, x[at])


@triton.jit
def written_by_brackets(x, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    out[at] = tl.load(x + at)


@triton.jit
def inside(a):
    return a + unknown_name  # noqa: F821


@triton.jit
def calls_what_is_wrong(x, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(out + at, inside(tl.load(x + at)))


@pytest.mark.parametrize(
    ("kernel", "source", "reason"),
    [
        (
            sum_of_another_type,
            "for i in range(0, n, B):",
            "Loop-carried variable total",
        ),
        (read_by_brackets, "tl.store(out + at, x[at])", "takes no [ ]: read with tl.load(x + at)"),
        (written_by_brackets, "out[at] = tl.load(x + at)", "write with tl.store(out + at, value)"),
        (calls_what_is_wrong, "return a + unknown_name", "unknown_name is not defined"),
    ],
)
def test_an_error_of_the_compiler_says_its_line_and_its_reason_in_a_note(kernel, source, reason):
    x = np.ones(64, np.float32)
    with pytest.raises(triton.CompilationError) as caught:
        kernel[(1,)](x, x.copy(), 64, B=32)
    place, told = caught.value.__notes__[0].split("\n", 1)
    number, text = place.removeprefix("line ").split(":", 1)
    assert text.strip().startswith(source) and reason in told
    if kernel is not calls_what_is_wrong:  # the line is the file's where the kernel's own fails
        assert linecache.getline(__file__, int(number)).strip() == source
