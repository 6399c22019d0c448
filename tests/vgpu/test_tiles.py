"""The sanitiser finds the faults of Triton kernels, and says them in words of programs."""

# ruff: noqa: E402

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

triton = pytest.importorskip("triton")
pytest.importorskip("numba_cuda")  # the catalogue's other half

from hetlab.vgpu.frontends.switch import use_virtual_gpu
from hetlab.vgpu.profile import sanitize

from .tiles import FAULTY, Tiled


def sanitised(tiled: Tiled, kernel, mended: bool = False):
    use_virtual_gpu()
    entry = tiled.entry
    make = entry.mended.get("args", entry.args) if mended else entry.args
    launch = triton.jit(kernel)[entry.grid]
    return sanitize(launch, *make(), **tiled.constants, step_budget=20_000)


def show(launch) -> str:
    return "\n".join(f"{h.kind} {h.lines} {h.message}" for h in [*launch.hazards, *launch.warnings])


@pytest.mark.parametrize("tiled", FAULTY, ids=lambda t: t.name)
def test_the_fault_is_found_in_the_learners_line(tiled):
    """Kind, array, index and source line are right, no other line is named, and no thread."""
    entry = tiled.entry
    launch = sanitised(tiled, entry.kernel)
    found = launch.warnings if entry.warning else launch.hazards
    assert found, "nothing was found"
    first = found[0]
    assert {h.kind for h in launch.hazards} <= {entry.kind}, show(launch)
    assert first.kind == entry.kind and first.array == entry.array, show(launch)
    fits = entry.at(first.index) if callable(entry.at) else np.array_equal(first.index, entry.at)
    assert fits or entry.at is None, show(launch)
    for hazard in found:
        assert {number for _, number in hazard.lines} <= entry.lines("fault"), show(launch)
        assert {Path(file).name for file, _ in hazard.lines} == {
            Path(entry.kernel.__code__.co_filename).name
        }
        assert not re.search(r"[Tt]hreads? (\d|\(|of)", hazard.message), hazard.message
    assert all(words in first.message for words in tiled.says), first.message


@pytest.mark.parametrize("tiled", FAULTY, ids=lambda t: t.name)
def test_the_corrected_twin_is_not_reported(tiled):
    """The same text with the fault mended has neither hazards nor warnings."""
    launch = sanitised(tiled, tiled.entry.twin(), mended=True)
    assert not launch.hazards and not launch.warnings, show(launch)


def test_there_are_faults_of_every_kind():
    """At least 25 of them, with each kind that Triton's interpreter passes silently."""
    kinds = Counter(tiled.entry.kind for tiled in FAULTY)
    assert len(FAULTY) >= 25
    assert kinds["out-of-bounds"] >= 8 and kinds["race"] >= 8 and kinds["uninitialised-read"] >= 5
    assert all(tiled.entry.lines("fault") for tiled in FAULTY)
