"""The benchmark of the processor."""

import json

import pytest

from hetlab.bench import cpu
from hetlab.bench.ladders import ladders
from hetlab.timing import Comparison, Peaks, ceilings
from hetlab.timing.agreement import disagreement


@pytest.fixture
def quick(monkeypatch, tmp_path):
    pytest.importorskip("numba")
    from hetlab.timing import ceilings_numba

    monkeypatch.setenv("HETLAB_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(ceilings, "array_bytes", lambda: 2**20)
    monkeypatch.setattr(ceilings_numba, "RUN_SECONDS", 1e-4)
    monkeypatch.setattr(ceilings_numba, "RUNS", 3)


def test_all_steps_of_a_ladder_compute_the_same():
    for ladder in ladders():
        results = [step(*ladder.inputs) for step in ladder.steps.values()]
        for result in results[1:]:
            assert disagreement(results[0], result, ladder.title) == ""


@pytest.mark.soak
def test_json_can_be_read_back(quick, capsys):
    assert cpu.main(["--json", "--seconds", "0.05"]) == 0
    record = json.loads(capsys.readouterr().out)
    Peaks.from_json(json.dumps(record["peaks"]))
    assert len(record["ladders"]) == 4
    for ladder in record["ladders"].values():
        assert Comparison.from_json(json.dumps(ladder)).rounds >= 8


def test_text_names_peaks_ratios_and_machine(quick, capsys):
    assert cpu.main(["--seconds", "0.05"]) == 0
    text = capsys.readouterr().out
    assert "memory bandwidth (triad)" in text
    assert "the baseline" in text
    assert text.count("machine:") == 0
    with pytest.raises(SystemExit):
        cpu.main(["--seconds", "-1"])
    assert "between 0 and 600" in capsys.readouterr().err
