"""peaks: the machine code is what is claimed, the counts are right, the file is safe."""

import json
import math

import numpy as np
import pytest

from hetlab.devices import this_cpu
from hetlab.errors import InvalidValue
from hetlab.timing import Peaks, ceilings, machine, peaks
from hetlab.timing.ceilings_numpy import run as run_numpy


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Small arrays and short runs: the figures are worth nothing, the path is the real one."""
    monkeypatch.setenv("HETLAB_CACHE_DIR", str(tmp_path / "with a space" / "缓存"))
    monkeypatch.setattr(ceilings, "array_bytes", lambda: 2**20)
    pytest.importorskip("numba")
    from hetlab.timing import ceilings_numba

    monkeypatch.setattr(ceilings_numba, "RUN_SECONDS", 1e-4)
    monkeypatch.setattr(ceilings_numba, "RUNS", 3)
    return tmp_path


def test_peaks_are_kept_for_this_machine_and_measured_again_on_demand(small, monkeypatch):
    monkeypatch.setattr(ceilings, "DOUBTFUL_SECONDS", 1e9)
    first = peaks(progress=False)
    assert peaks(progress=False) == first
    assert peaks(progress=False, fresh=True).samples != first.samples
    (kept,) = ceilings.cache_folder().iterdir()
    assert machine().fingerprint in kept.name
    for damage in ("", "{", '{"hetlab": "peaks"}', '{"hetlab": "peaks", "samples": 3}'):
        kept.write_text(damage)
        assert peaks(progress=False).samples.keys() == first.samples.keys()


def test_a_folder_that_cannot_be_written_only_means_measuring_again(small, monkeypatch):
    (small / "file").write_text("")
    monkeypatch.setenv("HETLAB_CACHE_DIR", str(small / "file" / "below"))
    assert peaks(progress=False).bandwidth > 0


def test_every_figure_has_a_label_a_spread_and_json_there_and_back(small):
    p = peaks(progress=False)
    again = Peaks.from_json(p.to_json())
    assert again == p
    for key in ceilings.KEYS:
        rate = p.rate(key)
        assert 0 < rate.low <= rate.value == rate.high
        assert rate.label == "measured"
        assert "median to best" in rate.spread
    assert p.flops("fp32", "one") == p.rate("fp32_one").value
    for bad in (lambda: p.rate("fp16"), lambda: p.flops("fp16"), lambda: p.flops("fp64", "two")):
        with pytest.raises(InvalidValue):
            bad()
    data = json.loads(p.to_json())
    data["machine"]["fingerprint"] = "0" * 12
    assert "recorded" in repr(Peaks.from_json(json.dumps(data)))


def made(**samples):
    return Peaks(samples, 4, "Numba", (), machine(), "2026-01-01T00:00:00+00:00")


def test_unsteady_figures_carry_a_warning_and_are_soon_measured_again(small, monkeypatch):
    assert made(fp64_one=(5.0, 4.9, 5.0), fp64_all=(20.0, 19.0, 18.0)).warnings == ()
    (unsteady,) = made(fp64_one=(5.0, 3.0, 3.0)).warnings
    assert "fp64 on one" in unsteady
    (slower,) = made(fp32_one=(5.0,), fp32_all=(4.0,)).warnings
    assert "fp32: 4 threads are hardly faster than one" in slower
    assert made(fp32_one=(5.0,), fp32_all=(6.1,)).warnings == ()
    assert "! " in repr(made(fp32_one=(5.0,), fp32_all=(4.0,)))

    doubtful = Peaks({"fp64_one": (5.0, 1.0, 1.0)}, 4, "Numba", (), machine(), "")
    place = small / "kept.json"
    ceilings._keep(place, doubtful)
    assert ceilings._kept(place, machine(), "Numba", 4) == doubtful
    assert ceilings._kept(place, machine(), "NumPy and BLAS", 4) is None
    assert ceilings._kept(place, machine(), "Numba", 5) is None
    monkeypatch.setattr(ceilings, "DOUBTFUL_SECONDS", -1)
    assert ceilings._kept(place, machine(), "Numba", 4) is None


def test_threads_that_gain_nothing_are_given_more_runs(small, monkeypatch):
    from hetlab.timing import ceilings_numba

    asked = []
    monkeypatch.setattr(ceilings_numba, "no_gain", lambda samples: asked.append(1) or ["fp64"])
    samples, _ = ceilings_numba.run(2, 2**20, lambda what: None)
    assert {len(runs) for runs in samples.values()} == {9} and asked


def test_without_numba_the_figures_are_labelled_lower_bounds():
    samples, notes = run_numpy(4, 2**20, lambda what: None)
    assert samples.keys() == {"fp64_all", "fp32_all", "bandwidth_one"}
    assert any("lower bounds" in note for note in notes)
    p = Peaks(samples, 4, "NumPy and BLAS", tuple(notes), machine(), "2026-01-01T00:00:00+00:00")
    assert "not measured" in repr(p)
    assert math.isnan(p.bandwidth)
    assert p.rate("fp64_one") is None


def test_the_triad_computes_what_stream_computes():
    pytest.importorskip("numba")
    from hetlab.timing.kernels import triad_kernel

    for n, threads in [(1, 1), (17, 2), (1000, 3)]:
        a, b, c = np.zeros(n), np.arange(n) * 1.0, np.ones(n)
        triad_kernel()(a, b, c, 3.0, threads)
        np.testing.assert_array_equal(a, b + 3.0 * c)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_every_chain_runs_the_turns_that_are_counted(kind):
    """The sum over all chains and lanes, against the same recurrence in NumPy."""
    pytest.importorskip("numba")
    from hetlab.timing.kernels import flops_of, peak_kernel, shape

    width, chains = shape()
    lanes = width // np.dtype(kind).itemsize // 8
    out = np.full(2, 0.5, kind)
    peak_kernel()(out, kind(0.5), kind(0.25), 3)
    x = np.repeat(np.arange(1, chains + 1) * 0.5, lanes)
    for _ in range(3):
        x = x * 0.5 + 0.25
    np.testing.assert_allclose(out, x.sum(), rtol=1e-5)
    assert flops_of(lanes and width // lanes, 2, 3) == 2 * 2 * 3 * x.size


def test_the_machine_code_holds_multiply_adds_on_the_widest_vectors():
    pytest.importorskip("numba")
    import platform
    import re

    from hetlab.timing.kernels import peak_kernel, shape

    if platform.machine().lower() not in {"x86_64", "amd64"}:
        pytest.skip("reads x86-64 assembly")
    width, chains = shape()
    if width == 128:
        pytest.skip("this processor has no AVX, so it may have no multiply-add")
    if platform.system() == "Linux":
        assert width == this_cpu().vector_bits
    register = {512: "zmm", 256: "ymm"}[width]
    peak = peak_kernel()
    for kind, suffix in [(np.float32, "ps"), (np.float64, "pd")]:
        peak(np.ones(1, kind), kind(0.5), kind(0.25), 1)
        text = "\n".join(
            asm for key, asm in peak.inspect_asm().items() if str(np.dtype(kind)) in str(key[1])
        )
        wide = re.findall(rf"vfmadd\d+{suffix}\s+.*%{register}", text)
        assert len(wide) >= chains
