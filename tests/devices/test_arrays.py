"""One name for NumPy and CuPy, and a sentence that says which."""

import re
import sys

import numpy as np
import pytest

import hetlab
from hetlab.devices.chips import chip
from hetlab.devices.sharing import memory_sharing

CUPY = """
import numpy
__version__ = "99.1"
def zeros(n): return ("on the GPU", n)
def asnumpy(array): return numpy.full(array[1], 7)
class runtime:
    getDeviceCount = staticmethod(lambda: {count})
    getDeviceProperties = staticmethod(lambda n: {{"name": b"a pretended GPU"}})
class cuda:
    runtime = runtime
"""


@pytest.fixture
def cupy(monkeypatch, tmp_path):
    """Lets `import cupy` find a file with this text."""

    def install(text):
        (tmp_path / "cupy.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "cupy", raising=False)

    yield install
    sys.modules.pop("cupy", None)


def test_with_cupy_and_a_gpu_arrays_are_cupys(cupy):
    cupy(CUPY.format(count=1))
    xp = hetlab.array_module()
    assert xp.on_gpu and xp.zeros(3) == ("on the GPU", 3)
    assert xp.to_host(xp.zeros(3)).tolist() == [7, 7, 7]
    assert repr(xp) == "xp is CuPy 99.1: its arrays lie in the memory of a pretended GPU."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (CUPY.format(count=0), "CuPy finds no GPU here"),
        (CUPY.format(count="1 / 0"), r"CuPy finds no GPU here .*division by zero"),
        ("raise ImportError('libcuda.so.1 not found')", "CuPy does not import here .*libcuda"),
        ("raise RuntimeError('driver too old')", "CuPy does not import here .*too old"),
        ("raise ModuleNotFoundError('no', name='cupy')", "CuPy is not installed here"),
    ],
)
def test_without_a_gpu_the_same_code_runs_on_numpy_and_says_why(cupy, text, why):
    cupy(text)
    xp = hetlab.array_module()
    assert not xp.on_gpu and xp.module is np
    assert xp.to_host(xp.arange(3) ** 2).tolist() == [0, 1, 4]
    assert re.search(rf"^xp is NumPy .*because {why}", repr(xp))
    assert "asarray" in dir(xp)


def test_a_name_that_the_library_does_not_have_is_its_own_error(cupy):
    cupy("raise RuntimeError('no')")
    with pytest.raises(AttributeError, match="numpy"):
        _ = hetlab.array_module().no_such_function


def test_which_chips_share_memory_stands_in_a_table_with_sources():
    table = memory_sharing()
    by_name = {row.name: row for row in table}
    assert by_name["MI300X"].copies.startswith("needed") and by_name["MI300X"].parts == "GPU"
    assert by_name["MI300A"].copies == "none" and by_name["Apple M2"].copies == "none"
    assert by_name["MI300X"].bandwidth == chip("MI300X").bandwidth == 5.3e12
    assert all(row.source and row.bandwidth > 0 for row in table)
    assert "MI300A" in repr(table) and "<table>" in table._repr_html_()
