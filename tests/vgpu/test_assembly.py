"""What Triton's compilers make of a kernel is shown beside the learner's lines."""

# ruff: noqa: E402

import importlib.util

import numpy as np
import pytest

pytest.importorskip("triton")
import hetlab

hetlab.use_virtual_gpu()
import triton
import triton.language as tl

from hetlab.widgets.display import assembly_html


@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def product(a, b, c, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


def test_each_stage_is_there_and_holds_what_it_is_known_for():
    x = np.ones(1000, np.float32)
    found = hetlab.assembly(twice, x, x.copy(), 1000, grid=(4,), BLOCK=256)
    assert list(found) == ["ttir", "ttgir", "ptx", "sass", "amdgcn"] and not found.missing
    assert "tt.load" in found["ttir"] and "ttg.blocked" in found["ttgir"]
    assert "ld.global" in found["ptx"] and "LDG" in found["sass"]
    assert "global_load" in found["amdgcn"] or "buffer_load" in found["amdgcn"]
    assert np.array_equal(x, np.ones(1000)), "nothing was launched"


def test_the_learners_lines_stand_beside_the_counts():
    x = np.ones(8, np.float32)
    text = repr(hetlab.assembly(twice, x, x.copy(), 8, grid=(1,), BLOCK=8))
    assert "tl.store(out + i" in text and "AMDGCN" in text


def test_a_dot_of_halves_becomes_tensor_core_instructions():
    a = np.ones((16, 16), np.float16)
    found = hetlab.assembly(product, a, a.copy(), np.zeros((16, 16), np.float32), grid=(1,), N=16)
    assert "mma.sync" in found["ptx"] and "HMMA" in found["sass"]


def test_the_display_escapes_and_shows_every_stage():
    x = np.ones(8, np.float32)
    html = assembly_html(hetlab.assembly(twice, x, x.copy(), 8, grid=(1,), BLOCK=8))
    assert all(title in html for title in ("TTIR", "TTGIR", "PTX", "SASS", "AMDGCN"))
    assert "i &lt; n" in html and "<script" not in html


def test_a_stage_that_does_not_exist_is_refused_with_the_close_ones():
    x = np.ones(8, np.float32)
    found = hetlab.assembly(twice, x, x.copy(), 8, grid=(1,), BLOCK=8)
    with pytest.raises((KeyError, hetlab.errors.UnknownName), match="ptx"):
        found["ptxx"]


KERNEL = """
import triton
import triton.language as tl

{decorator}
def negated(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, -tl.load(x + i, mask=i < n), mask=i < n)
"""


def from_file(path, decorator: str):
    path.parent.mkdir()
    path.write_text(KERNEL.format(decorator=decorator))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.negated


def test_code_from_the_cache_has_the_lines_of_the_file_that_asks(tmp_path, monkeypatch):
    """Triton finds a kernel's code by its text, whatever its file; the lines are the learner's."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    x = np.ones(300, np.float32)
    found = []
    for name, decorator in (("one/first.py", "@triton.jit"), ("two/second.py", "@triton.jit(\n)")):
        kernel = from_file(tmp_path / name, decorator)
        found.append(hetlab.assembly(kernel, x, x.copy(), 300, grid=(2,), BLOCK=256))
    first, second = found
    assert second.file.endswith("second.py")
    for stage in first:
        counts = {line + 1: n for line, n in first.counts(stage).items()}
        assert counts and counts == second.counts(stage), stage  # its decorator is one line longer
