"""The processor, as the system tells it."""

import os
import platform
from pathlib import Path

import pytest

from hetlab.devices import this_cpu
from hetlab.devices.cpu import _size


def test_what_is_read_is_what_the_system_says():
    cpu = this_cpu()
    assert cpu.logical == os.cpu_count()
    assert 1 <= cpu.usable <= cpu.logical
    if platform.system() == "Linux" and platform.machine() == "x86_64":
        text = Path("/proc/cpuinfo").read_text()
        assert cpu.model in text
        assert (cpu.vector_bits == 512) == ("avx512f" in text)


def test_what_is_not_read_is_none_with_a_reason(monkeypatch):
    from hetlab.devices import cpu as module

    def breaks():
        raise PermissionError("not allowed here")

    monkeypatch.setattr(module, "_model", breaks)
    monkeypatch.setattr(module, "_caches", lambda: None)
    found = this_cpu.__wrapped__()
    assert found.model is None
    assert found.unread["model"] == "PermissionError: not allowed here"
    assert "does not tell" in found.unread["caches"]
    text = repr(found)
    assert "Unknown processor" in text
    assert "not allowed here" in text


@pytest.mark.parametrize(
    ("text", "size"), [("48K\n", 49152), ("32768K", 2**25), ("1M", 2**20), ("512", 512)]
)
def test_sizes_as_the_kernel_writes_them(text, size):
    assert _size(text) == size
