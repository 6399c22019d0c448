"""CUDA events as a clock: where there is a GPU; elsewhere a sentence says why not."""

import subprocess
import sys

import pytest

from hetlab.errors import HetlabError
from hetlab.timing import measure
from hetlab.timing.device_clock import device_clock
from hetlab.vgpu.frontends import real_gpu

pytest.importorskip("numba.cuda")


@pytest.mark.skipif(real_gpu() is None, reason="this machine has a GPU")
def test_without_a_gpu_the_virtual_one_lends_no_clock():
    with pytest.raises(HetlabError, match="no GPU whose time"):
        device_clock()


def test_the_events_of_numba_are_read_in_order():
    """The virtual GPU has events too, so the adapter can be tried anywhere."""
    code = """
import hetlab
hetlab.use_virtual_gpu()
from hetlab.devices.cuda_events import event_milliseconds
now = event_milliseconds()
times = [now() for _ in range(5)]
assert times == sorted(times) and times[0] >= 0, times
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_measurement_names_the_clock_it_was_taken_with(monkeypatch):
    ticks = iter(range(10**6))
    monkeypatch.setattr("hetlab.timing.device_clock.real_gpu", lambda: None)
    fake = lambda: lambda: 5.0 * next(ticks)  # noqa: E731
    monkeypatch.setattr("hetlab.timing.device_clock.event_milliseconds", fake)
    found = measure(int, samples=20, clock=device_clock())
    assert found.median == pytest.approx(5e-3 / found.calibration.loops)
    assert "CUDA events" in str(found.to_json())
