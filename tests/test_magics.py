"""``%load_ext hetlab``: one line, and a notebook is ready."""

import subprocess
import sys

import pytest

pytest.importorskip("IPython")

SESSION = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def run(cell):
    result = shell.run_cell(cell)
    assert result.success, result.error_in_exec or result.error_before_exec
    return result.result
run("%load_ext hetlab")
"""


def session(text):
    done = subprocess.run(
        [sys.executable, "-c", SESSION + text], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    return done


def test_measurements_become_rich():
    session("""
import hetlab
m = hetlab.measure(sum, [1, 2, 3], seconds=0.05)
data, _ = shell.display_formatter.format(m)
assert "text/html" in data and "text/plain" in data
""")


def test_a_cuda_kernel_runs_on_the_virtual_gpu_without_a_word_of_advice():
    pytest.importorskip("numba.cuda")
    done = session("""
run('''
import numpy as np
from numba import cuda
@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2
x = np.ones(5)
double[1, 32](x)
assert x.sum() == 10
''')
""")
    assert "Warning" not in done.stderr + done.stdout


def test_loading_it_twice_is_harmless():
    session('run("%load_ext hetlab"); run("%reload_ext hetlab")')
