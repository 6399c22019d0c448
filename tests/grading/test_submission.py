"""Whatever a learner's function does, the judge gets an outcome and lives on."""

import os
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from hetlab.grading.submission import DirectSubmission, ForkedSubmission

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a fork needs Linux")
KINDS = [pytest.param(ForkedSubmission, marks=linux), DirectSubmission]


def outcome(kind, function, *inputs, seconds=5.0):
    with kind({"f": function}, seconds) as submission:
        return submission.call("f", *inputs)


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_comes_back(kind):
    got = outcome(kind, lambda x, y: (x + y, [1]), np.arange(3), 2)
    assert got.returned and got.changed == ()
    assert np.array_equal(got.value[0], [2, 3, 4]) and got.value[1] == [1]


@pytest.mark.parametrize("kind", KINDS)
def test_changed_inputs_are_named_and_the_callers_arrays_are_untouched(kind):
    def f(x, y, z):
        y[1] = 9
        z.append(5)

    x, y, z = np.zeros(2), np.zeros(2), [4]
    got = outcome(kind, f, x, y, z)
    assert got.changed == (1, 2) and got.inputs[1][1] == 9 and got.inputs[2] == [4, 5]
    assert y[1] == 0 and z == [4]


@pytest.mark.parametrize("kind", KINDS)
def test_a_nan_that_stays_a_nan_is_not_a_change(kind):
    assert outcome(kind, lambda x, y: None, np.array([np.nan]), float("nan")).changed == ()


@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_tells_its_type_and_the_learners_line(kind):
    def f(x):
        return np.linalg.solve(x, x)  # the learner's line

    got = outcome(kind, f, np.zeros((2, 2)))
    assert got.status == "raised" and got.error == "LinAlgError" and "Singular" in got.message
    assert got.place[0] == "f" and "the learner's line" in got.place[2]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), MemoryError("big")])
def test_exceptions_meant_for_the_interpreter_are_only_outcomes(kind, error):
    def f():
        raise error

    assert outcome(kind, f).error == type(error).__name__


@pytest.mark.parametrize("kind", KINDS)
def test_a_function_that_never_returns_is_stopped(kind):
    def f():
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                pass

    assert outcome(kind, f, seconds=0.5).status == "timeout"


@pytest.mark.parametrize("kind", KINDS)
def test_printing_without_end_is_stopped_and_a_little_is_kept(kind):
    def f():
        while True:
            try:
                print("hello")
            except Exception:
                pass

    got = outcome(kind, f)
    assert (
        got.status == "flood" and got.printed.startswith("hello\nhello") and len(got.printed) < 5000
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_missing_or_no_function_is_said(kind):
    with kind({"n": 5}) as submission:
        assert submission.call("f").status == "missing"
        assert submission.call("n").status == "missing"
        assert submission.timed("f")[1].status == "missing"


@linux
def test_compiled_code_that_never_returns_is_stopped_too():
    numba = pytest.importorskip("numba")

    @numba.njit
    def f(x):
        while x[0] == 0:
            x[1] += 1

    f(np.array([1.0, 0.0]))
    assert outcome(ForkedSubmission, f, np.zeros(2), seconds=0.5).status == "timeout"


@linux
@pytest.mark.parametrize(
    ("how", "said"),
    [(lambda: os._exit(7), "exit status 7"), (lambda: os.kill(os.getpid(), 11), "Segmentation")],
)
def test_a_crash_costs_only_the_fork(how, said):
    with ForkedSubmission({"f": how, "g": lambda: 1}) as submission:
        got = submission.call("f")
        assert got.status == "died" and said in got.message
        assert submission.call("g").value == 1


@linux
def test_no_process_is_left_behind():
    import psutil

    with ForkedSubmission({"f": lambda: os.getpid()}) as submission:
        child = submission.call("f").value
        assert psutil.pid_exists(child) and child != os.getpid()
    assert not psutil.pid_exists(child)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kernel_is_launched_by_indexing(kind):
    class Kernel:
        def __getitem__(self, shape):
            def go(x):
                x[:] = shape[0][0] * shape[1][0]

            return go

    with kind({"k": Kernel()}) as submission:
        got = submission.launch("k", (2,), (32,), np.zeros(3))
    assert got.changed == (0,) and got.inputs[0].tolist() == [64, 64, 64]


@linux
def test_numba_threads_survive_the_fork():
    """The threading layer that hetlab prefers works in the parent, then in the fork."""
    import subprocess

    pytest.importorskip("numba")
    code = """
import numpy as np
from hetlab.magics import _prefer_forkable_threads
_prefer_forkable_threads()
from numba import njit, prange
from hetlab.grading import open_submission
@njit(parallel=True)
def f(x):
    s = 0.0
    for i in prange(len(x)):
        s += x[i]
    return s
assert f(np.ones(100)) == 100
with open_submission({"f": f}) as s:
    got = s.call("f", np.ones(1000))
print(got.status, got.value, type(s).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["returned", "1000.0", "ForkedSubmission"], done.stderr[-2000:]


@linux
def test_numba_with_gnu_openmp_already_running_is_judged_in_this_process():
    import subprocess

    pytest.importorskip("numba")
    code = """
import os
os.environ["NUMBA_THREADING_LAYER"] = "omp"
import numba, numpy as np
from hetlab.grading import open_submission
@numba.njit(parallel=True)
def f(x):
    return x + 1
f(np.ones(100))
with open_submission({"f": f}) as s:
    print(s.call("f", np.ones(1)).value[0], type(s).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    if "No threading layer" in done.stderr:
        pytest.skip("this Numba has no OpenMP layer")
    assert done.stdout.split() == ["2.0", "DirectSubmission"], done.stderr[-2000:]


ENDS_IN_A_LOOP = """
import threading
from hetlab.grading.submission import ForkedSubmission

def hang():
    while True: pass

first, second = (ForkedSubmission({"hang": hang, "one": lambda: 1}) for _ in range(2))
first.call("one"), second.call("one")  # the second fork holds a copy of the first one's socket
threading.Thread(target=first.call, args=("hang",), daemon=True).start()
print(first._pid, second._pid, flush=True)
input()
"""


@linux
def test_forks_end_with_a_notebook_that_is_killed_even_in_an_endless_loop():
    with subprocess.Popen(
        [sys.executable, "-c", ENDS_IN_A_LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as notebook:
        forks = [psutil.Process(int(pid)) for pid in notebook.stdout.readline().split()]
        assert len(forks) == 2 and all(fork.is_running() for fork in forks)
        notebook.kill()
    left = psutil.wait_procs(forks, timeout=20)[1]
    for fork in left:
        fork.kill()
    assert not left
