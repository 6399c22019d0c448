"""numba-cuda's own tests pass on the virtual GPU, or a reason is written down."""

from __future__ import annotations

import importlib.util
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from . import numba_suite

HERE = Path(__file__).parent
REASONS = tomllib.loads((HERE / "numba_reasons.toml").read_text())["reason"]
SAMPLE = ["test_sm", "test_sync", "test_localmem", "test_warp_ops"]
LEAST = 1500

needs_suite = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("numba_cuda", "filecheck")),
    reason="numba-cuda's tests need numba-cuda and filecheck",
)


def reason(test: str) -> str | None:
    """Why a test is known not to pass, if it is."""
    short = test.removeprefix(f"{numba_suite.PACKAGE}.")
    for entry in REASONS:
        if any(fnmatch(short, pattern) for pattern in entry["tests"]):
            return entry["why"]
    return None


def failures(found: dict) -> dict[str, str]:
    """Tests that did not pass, with the end of their trace."""
    return {
        test: result["why"][-300:]
        for results in found.values()
        for test, result in results.items()
        if result["outcome"] == "failed"
    }


def test_every_reason_is_a_sentence_and_names_tests():
    for entry in REASONS:
        assert entry["why"].endswith(".") and len(entry["why"]) > 20, entry
        assert entry["tests"], entry


@needs_suite
@pytest.mark.soak
def test_a_sample_of_numbas_tests_passes_or_has_a_reason():
    found = numba_suite.run(SAMPLE, "virtual", jobs=2)
    unexplained = {t: why for t, why in failures(found).items() if reason(t) is None}
    assert not unexplained
    everything = {t: r for results in found.values() for t, r in results.items()}
    assert numba_suite.count(everything)["passed"] >= 60


@pytest.mark.soak
@needs_suite
def test_all_of_numbas_tests_pass_or_have_a_reason(tmp_path):
    found = numba_suite.run(numba_suite.modules(), "virtual", jobs=2)
    failed = failures(found)
    unexplained = {t: why for t, why in failed.items() if reason(t) is None}
    assert not unexplained
    stale = [
        pattern
        for entry in REASONS
        for pattern in entry["tests"]
        if not any(fnmatch(t.removeprefix(f"{numba_suite.PACKAGE}."), pattern) for t in failed)
    ]
    assert not stale, "these pass now; take their reasons out"
    everything = {t: r for results in found.values() for t, r in results.items()}
    assert numba_suite.count(everything)["passed"] >= LEAST
