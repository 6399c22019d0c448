"""The switch works at any time, and whatever is missing is one sentence."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")

KERNEL = """
import numpy as np
@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2
x = np.arange(100.0)
double[4, 32](x)
assert (x == 2 * np.arange(100.0)).all()
assert cuda.is_available() and len(cuda.gpus) == 1
print("right")
"""


def run(code: str, tmp_path, **environment) -> subprocess.CompletedProcess:
    # From a file: Numba needs the source of a kernel.
    script = tmp_path / "program.py"
    script.write_text(code)
    env = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=env, timeout=120
    )


BEFORE = "import hetlab\nprint(hetlab.use_virtual_gpu())\nfrom numba import cuda\n"
AFTER = "from numba import cuda\nimport hetlab\nhetlab.use_virtual_gpu()\n"
LATE = (
    "from numba import cuda\n"
    "available = cuda.is_available()\n"
    "import hetlab\nhetlab.use_virtual_gpu()\nhetlab.use_virtual_gpu()\n"
)
NUMBA_FIRST = "import numba\nimport hetlab\nhetlab.use_virtual_gpu()\nfrom numba import cuda\n"


@pytest.mark.parametrize("order", [BEFORE, AFTER, LATE, NUMBA_FIRST])
def test_the_order_of_imports_does_not_matter(order, tmp_path):
    # numba issues 3075 and 6330: there the switch is read at import.
    ended = run(order + KERNEL, tmp_path)
    assert ended.stdout.strip().endswith("right"), ended.stderr


def test_the_simulators_variable_is_overruled_before_the_import(tmp_path):
    ended = run(BEFORE + KERNEL, tmp_path, NUMBA_ENABLE_CUDASIM="1")
    assert ended.stdout.strip().endswith("right"), ended.stderr


def test_a_simulator_that_is_loaded_is_told_in_one_sentence(tmp_path):
    ended = run(AFTER, tmp_path, NUMBA_ENABLE_CUDASIM="1")
    assert ended.returncode and "Restart the kernel" in ended.stderr


def test_importing_hetlab_and_the_switch_load_no_compiler(tmp_path):
    code = (
        "import sys, hetlab\n"
        "assert 'numpy' not in sys.modules\n"
        "hetlab.use_virtual_gpu()\n"
        "assert 'numba' not in sys.modules, 'numba'\n"
        "print('light')\n"
    )
    assert run(code, tmp_path).stdout.strip() == "light"


def test_a_missing_numba_cuda_is_a_sentence(tmp_path):
    code = (
        "import sys, importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda n, *a: None if n == 'numba_cuda' else find(n, *a)\n"
        "import hetlab\nprint(hetlab.use_virtual_gpu())\n"
    )
    ended = run(code, tmp_path)
    assert "pip install 'hetlab[cuda]'" in ended.stdout, ended.stderr
    assert "Traceback" not in ended.stderr


def test_missing_cuda_bindings_are_a_sentence(tmp_path):
    code = (
        "import sys\nsys.modules['cuda.bindings'] = None\n"
        "import hetlab\nprint(hetlab.use_virtual_gpu())\n"
    )
    assert "virtual GPU" in run(code, tmp_path).stdout


def test_with_a_real_gpu_launches_stay_there_and_profile_is_virtual(tmp_path):
    # Pretends that there is a GPU: nothing of Numba may be replaced, and the microscope
    # compiles the Python function for itself.
    code = (
        "import numpy as np, hetlab.vgpu.frontends as f\n"
        "f.real_gpu = lambda: None\n"
        "import hetlab.vgpu.frontends.switch as s\n"
        "s.real_gpu = lambda: None\n"
        "import hetlab\n"
        "text = str(hetlab.use_virtual_gpu())\n"
        'assert "this machine\'s GPU" in text, text\n'
        "from numba import cuda\n"
        "from numba.cuda.dispatcher import CUDADispatcher, _LaunchConfiguration\n"
        "@cuda.jit\n"
        "def scale(a, f, out):\n"
        "    i = cuda.grid(1)\n"
        "    if i < out.size:\n"
        "        out[i] = a[i] * f\n"
        "import types\n"
        "a, out = np.arange(64.0), np.zeros(64)\n"
        "class Configured:  # as _LaunchConfiguration, whose stream asks the driver\n"
        "    __module__ = 'numba.cuda.dispatcher'\n"
        "    dispatcher, griddim, blockdim, sharedmem = scale, (2, 1, 1), (32, 1, 1), 0\n"
        "    def __call__(self, *args): raise AssertionError('went to the GPU')\n"
        "report = hetlab.profile(Configured(), a, 3.0, out)\n"
        "assert report.ok and (out == 3 * a).all()\n"
        "assert report.counters['global_store_requests'] == 2\n"
        "assert not cuda.is_available()\n"
        "print('right')\n"
    )
    ended = run(code, tmp_path)
    assert ended.stdout.strip() == "right", ended.stderr


@pytest.mark.parametrize(
    ("init", "count", "version", "says"),
    [
        (0, 1, 13050, None),
        (0, 2, 99000, None),
        (0, 1, 12040, "update the driver, or pip install 'numba-cuda[cu12]'"),
        (0, 0, 13050, "finds no GPU"),
        (100, 0, 13050, "does not start (CUDA_ERROR_NO_DEVICE)"),
    ],
)
def test_a_driver_that_cannot_be_used_is_one_sentence(monkeypatch, init, count, version, says):
    # GPU-Puzzles issue 48: PTX newer than the driver.
    from cuda.bindings import driver

    from hetlab.vgpu import frontends

    status = driver.CUresult
    monkeypatch.setattr(driver, "cuInit", lambda flags: (status(init),))
    monkeypatch.setattr(driver, "cuDeviceGetCount", lambda: (status(0), count))
    monkeypatch.setattr(driver, "cuDriverGetVersion", lambda: (status(0), version))
    reason = frontends.real_gpu.__wrapped__()
    assert reason is None if says is None else says in reason
