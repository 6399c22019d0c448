"""Compilers that work, lie, crash, hang or are missing; each becomes one row."""

import json
import sys
import tempfile
import textwrap
from dataclasses import replace

import pytest

from hetlab.devices.canary import Compiler, beside_driver, try_compiler, try_compilers
from hetlab.devices.canary_process import MARK
from hetlab.devices.compilers import ADAPTERS, SUM_OF_SQUARES, adapter, runs_on
from hetlab.devices.compilers.ptx_checks import ptx_version, stored_constant
from hetlab.devices.nvidia import Driver
from hetlab.devices.sources import Done, Sources, here
from hetlab.devices.trust import Untrusted, trusted
from hetlab.errors import UnknownName


def with_module(tmp_path, name: str, code: str, **environ) -> Sources:
    """This machine, with a package of that name in front of the installed one."""
    folder = tmp_path / "fakes" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text(textwrap.dedent(code))
    base = here()
    paths = [str(tmp_path / "fakes"), base.environ.get("PYTHONPATH", "")]
    env = {**base.environ, "PYTHONPATH": ":".join(filter(None, paths)), **environ}
    return replace(base, environ=env)


def test_the_known_answer_is_the_sum_of_squares():
    assert sum(i * i for i in range(100)) == SUM_OF_SQUARES


def test_the_installed_compilers_give_the_known_answer():
    rows = {row.key: row for row in try_compilers()}
    assert list(rows) == list(ADAPTERS)
    assert rows["numba"].state == "works"
    for row in rows.values():
        assert row.state in {"works", "missing", "idle", "unavailable"}, row
        if row.state == "works":
            assert row.version
        else:
            assert row.why


def test_a_simulator_switched_on_does_not_hide_the_compiler():
    env = {**here().environ, "NUMBA_DISABLE_JIT": "1", "NUMBA_ENABLE_CUDASIM": "1"}
    row = try_compiler("numba_cuda", replace(here(), environ=env))
    assert row.state in {"works", "missing", "unavailable"}, row


WRONG = """
    def njit(function):
        return lambda n: function(n) + 1
"""


def test_a_wrong_answer_refuses_grading_with_both_numbers(tmp_path):
    row = try_compiler("numba", with_module(tmp_path, "numba", WRONG))
    assert row.state == "wrong answer"
    assert not row.graded and row.hurts
    assert f"{SUM_OF_SQUARES + 1} where {SUM_OF_SQUARES} is right" in row.why
    assert "not graded" in row.do


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise ImportError('libcuda.so.1: cannot open shared object file')", "libcuda.so.1"),
        ("raise RuntimeError('CuPy needs a driver')\n", "RuntimeError: CuPy needs a driver"),
        ("import sys; sys.exit('I end here')", "SystemExit: I end here"),
        ("import os; os._exit(3)", "status 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "crashed (SIGSEGV)"),
        ("def __getattr__(name): raise ValueError('odd\\nsecond line')", "ValueError: odd."),
    ],
)
@pytest.mark.parametrize("key", ["cupy", "tvm"])
def test_a_library_that_fails_is_a_row_with_its_reason(tmp_path, key, code, why):
    if not runs_on(adapter(key), here().system, here().machine):
        pytest.skip("has no wheel for this platform")
    row = try_compiler(key, with_module(tmp_path, adapter(key).MODULE, code))
    assert row.state == "broken"
    assert why in row.why
    assert row.do
    assert row.hurts == (key != "cupy")  # no lesson needs CuPy


def test_a_hanging_compiler_and_what_it_started_are_ended(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    code = f"""
        import subprocess, time
        subprocess.Popen([{sys.executable!r}, "-c", "import time; time.sleep(600)"])
        time.sleep(600)
    """
    row = try_compiler("triton", with_module(tmp_path, "triton", code), patience=1.5)
    if row.state == "unavailable":
        pytest.skip("has no wheel for this platform")
    assert row.state == "broken"
    assert "did not end within 1.5 s" in row.why
    assert not list((tmp_path / "temporary").iterdir())


def test_a_file_in_the_learners_folder_is_not_taken_for_the_compiler(tmp_path, monkeypatch):
    (tmp_path / "numba.py").write_text("raise RuntimeError('my homework')")
    monkeypatch.chdir(tmp_path)
    assert try_compiler("numba").state == "works"


def test_noise_on_the_output_does_not_hide_the_answer(tmp_path):
    code = "print('hetlab-canary is my name'); print('{\"answer\": 1}')" + textwrap.dedent(WRONG)
    row = try_compiler("numba", with_module(tmp_path, "numba", code))
    assert row.state == "wrong answer"


def on_a_mac(told: str) -> Sources:
    """A Mac on which the canary's process prints that."""
    done = Done(0, f"{MARK}{told}\n")
    return replace(here(), system="Darwin", machine="arm64", runner=lambda *_: done)


def test_a_compiler_without_a_wheel_is_unavailable():
    row = try_compiler("triton", on_a_mac('{"installed": false, "versions": {}}'))
    assert row.state == "unavailable"
    assert not row.hurts
    assert row.why == "There is no Triton for Darwin on arm64."
    assert "Binder" in row.do


def test_a_compiler_that_somebody_built_where_there_is_no_wheel_counts():
    told = {"installed": True, "answer": SUM_OF_SQUARES, "expected": SUM_OF_SQUARES}
    assert try_compiler("triton", on_a_mac(json.dumps(told))).state == "works"


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ("", "broken"),
        ("null", "broken"),
        ("[1]", "broken"),
        ('{"installed": true}', "broken"),
        ('{"installed": true, "expected": 1}', "wrong answer"),
        ('{"installed": true, "expected": 1, "answer": true}', "wrong answer"),
    ],
)
def test_an_answer_that_is_none_is_never_a_right_one(told, state):
    row = try_compiler("tvm", on_a_mac(told))
    assert row.state == state and not row.graded
    assert row.why and row.do


@pytest.mark.parametrize(
    ("key", "system", "machine", "runs"),
    [
        ("triton", "Linux", "aarch64", True),
        ("triton", "Windows", "AMD64", False),
        ("numba_cuda", "Windows", "AMD64", True),
        ("numba_cuda", "Darwin", "arm64", False),
        ("tvm", "Darwin", "arm64", True),
        ("numba", "Linux", "riscv64", False),
    ],
)
def test_platforms_are_those_of_the_wheels(key, system, machine, runs):
    assert runs_on(adapter(key), system, machine) is runs


def test_ptx_newer_than_the_driver_is_one_plain_sentence():
    row = Compiler("numba_cuda", "numba-cuda", "works", ptx="9.5")
    warned = beside_driver(row, Driver("550.54.15", (12, 4)))
    assert warned.graded
    assert "writes PTX 9.5" in warned.why
    assert "driver 550.54.15 (CUDA 12.4) reads PTX up to 8.4." in warned.why
    assert "CUDA 13.5" in warned.do and "virtual GPU goes on" in warned.do
    assert beside_driver(row, Driver("590.1", (13, 5))) == row
    assert beside_driver(row, None) == row
    assert beside_driver(row, Driver(None, None)) == row


TRITONS_STORE = "@%p1 st.global.b32 [ %rd1 + 0 ], { %r1 }"
PTX = """
.version 8.8
.target sm_80
.visible .entry squares(
\t.param .u64 squares_param_0
)
{
\tld.param.u64 \t%rd1, [squares_param_0];
\tmov.u32 \t%r1, 328350;
\tst.global.u32 \t[%rd1], %r1;
\tret;
}
"""


@pytest.mark.parametrize(
    ("ptx", "found"),
    [
        (PTX, 328350),
        (PTX.replace("%r1;", "328350;"), 328350),
        (PTX.replace("328350", "0x5029E"), 328350),
        (
            PTX.replace("st.global.u32 \t[%rd1], %r1", "@%p1 st.global.b32 [ %rd1 + 0 ], { %r1 }"),
            328350,
        ),
        (PTX.replace("328350", "328349"), 328349),
        (PTX.replace("\tst.global", "\tst.shared"), None),
        (PTX.replace("\tmov.u32 \t%r1, 328350;", "\tld.global.u32 %r1, [%rd1];"), None),
        ("", None),
    ],
)
def test_the_constant_that_a_kernel_stores(ptx, found):
    assert stored_constant(ptx) == found


def test_the_ptx_version_is_the_declared_one():
    assert ptx_version(PTX) == "8.8"
    assert ptx_version("nothing") is None


def cached(tmp_path, *args, **environ) -> Sources:
    at = with_module(tmp_path, *args) if args else here()
    return replace(at, environ={**at.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")})


def test_trust_is_remembered_for_these_versions_and_a_failure_is_not(tmp_path, monkeypatch):
    from hetlab.devices import trust

    trust._in_process().clear()
    assert trusted("numba", sources=cached(tmp_path)).graded
    (kept,) = (tmp_path / "cache" / "hetlab" / "canaries").iterdir()
    assert json.loads(kept.read_text())["state"] == "works"

    def never(*_):
        raise AssertionError("tried again")

    trust._in_process().clear()
    monkeypatch.setattr(trust, "try_compiler", never)
    assert trusted("numba", sources=cached(tmp_path)).key == "numba"
    failed = {**json.loads(kept.read_text()), "state": "broken"}
    for text in ('{"state": "works", "unexpected"', json.dumps(failed), "[]", ""):
        kept.write_text(text)
        trust._in_process().clear()
        with pytest.raises(AssertionError, match="tried again"):
            trusted("numba", sources=cached(tmp_path))


def test_distrust_names_versions_reason_and_next_step(tmp_path):
    from hetlab.devices import trust

    trust._in_process().clear()
    with pytest.raises(Untrusted, match="is right") as caught:
        trusted("numba", sources=cached(tmp_path, "numba", WRONG))
    assert "numba" in caught.value.where
    assert caught.value.compiler.state == "wrong answer"
    assert not (tmp_path / "cache").exists()
    with pytest.raises(UnknownName, match="triton"):
        trusted("tritn")
