"""``hetlab bench vgpu`` runs real peers, checks their results, and prints figures with spread."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from hetlab.bench import vgpu

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")


@pytest.mark.soak
def test_every_peer_runs_every_kernel_in_both_spellings_and_is_right():
    for name, sizes in (
        (vgpu.VIRTUAL, {"vector add": 1000, "block reduction": 1024, "tiled matmul": 32}),
        (vgpu.SIMULATOR, {"vector add": 64, "block reduction": 256, "tiled matmul": 16}),
        (vgpu.NJIT, {"vector add": 1000, "block reduction": 1024, "tiled matmul": 32}),
    ):
        with vgpu.Peer(name) as peer:
            for case, n in sizes.items():
                for spelling in (0, 1):
                    got = peer.ask(case, n, spelling, name == vgpu.VIRTUAL, warm=False)
                    assert got.get("right") is True, (name, case, spelling, got)
                    assert got["seconds"] > 0 and got["peak_bytes"] > 1 << 20


def test_a_peer_that_fails_is_an_error_and_not_a_figure():
    with vgpu.Peer(vgpu.NJIT) as peer:
        assert "error" in peer.ask("no such kernel", 1)
    with vgpu.Peer(vgpu.VIRTUAL) as peer:
        peer.process.kill()
        peer.process.wait()
        assert "ended" in peer.ask("vector add", 32).get("error", "")


def test_the_command_prints_json_with_all_samples(capsys, monkeypatch):
    monkeypatch.setattr(vgpu, "COMPARISONS", [("vector add", 1000, True, vgpu.NJIT)])
    status = vgpu.main(["--json", "--quick", "--rounds", "1"])
    out, told = capsys.readouterr()
    report = json.loads(out)
    assert status == 0, report
    assert "cores" in report["machine"] and "numba-cuda" in report["machine"]
    for result in report["comparisons"]:
        assert len(result["ratios"]) == 2 and len(result["spread"]) == 2
        assert all(len(s) == 1 for per in result["seconds"].values() for s in per)
    assert "never of a GPU" in told and "launch overhead" in told


def test_a_ratio_comes_with_its_spread(monkeypatch):
    seconds = {vgpu.VIRTUAL: iter([1.0, 1.0, 2.0, 1.0]), vgpu.SIMULATOR: iter([10.0, 30.0] * 2)}

    class Fake(SimpleNamespace):
        def __init__(self, name):
            super().__init__(name=name)

        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda self, *error: None  # noqa: E731

        def ask(self, *args):
            return {"seconds": next(seconds[self.name]), "right": True}

    monkeypatch.setattr(vgpu, "Peer", Fake)
    result = vgpu.compare("vector add", 1, True, vgpu.SIMULATOR, rounds=2, budget=1000)
    assert result["ratios"] == [10 / 1.5, 30.0]
    assert result["spread"] == [5.0, 30.0]
    assert "6.67x and 30.0x faster than Numba's simulator (samples 5.00x to 30.0x)" in vgpu._line(
        result
    )
