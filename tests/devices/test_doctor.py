"""`hetlab doctor` here, and on machines that are odd or broken in some way."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hetlab.devices import diagnose
from hetlab.devices.canary import Compiler
from hetlab.devices.sources import Done

from .machines import EPYC, GRAVITON, NvmlError, importer, make, nvml, raises

HOUSE = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from hetlab.cli import main; main()", "doctor", "--json"]


def doctor(fakes: Path | None = None, files: dict[str, str] | None = None, before=(), **environ):
    """Run the real command; ``files`` are put in front of all installed packages."""
    for name, code in (files or {}).items():
        path = fakes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(code))
    paths = [str(fakes)] if fakes else []
    env = {**os.environ, **environ, "PYTHONPATH": os.pathsep.join([*paths, str(HOUSE)])}
    return subprocess.run([*before, *COMMAND], capture_output=True, text=True, env=env, timeout=120)


def checked(done) -> dict:
    """The parsed JSON, after what must hold for every machine."""
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    told = json.loads(done.stdout)
    assert list(told) == [
        "schema",
        "healthy",
        "machine",
        "devices",
        "compilers",
        "libraries",
        "steps",
    ]
    assert done.returncode == (0 if told["healthy"] else 1)
    for device in told["devices"]:
        if device["present"]:
            assert device["name"]
        else:
            assert device["why"].endswith(".") and device["do"].strip(), device
    seen = {(d["kind"], d["present"]) for d in told["devices"]}
    for kind in ("cpu", "memory", "gpu", "virtual gpu", "worker"):
        assert (kind, True) in seen or (kind, False) in seen
    for row in told["compilers"]:
        assert row["state"] == "works" or row["why"], row
    assert told["steps"]
    return told


def compiler(told: dict, key: str) -> dict:
    return next(row for row in told["compilers"] if row["key"] == key)


def device(told: dict, name: str) -> dict:
    return next(d for d in told["devices"] if d["name"] == name)


def test_here_it_is_valid_and_names_the_processor():
    from hetlab.devices import this_cpu

    told = checked(doctor())
    assert told["healthy"], told["steps"]
    cpu = next(d for d in told["devices"] if d["kind"] == "cpu")
    assert cpu["name"] == this_cpu().model
    assert compiler(told, "numba")["graded"]


@pytest.fixture(scope="module")
def odd(tmp_path_factory) -> dict:
    """One machine with a CuPy that raises, an old driver, Arm, and a simulator switched on."""
    files = {
        "cupy/__init__.py": "raise ImportError('libnvrtc.so.13: cannot open shared object file')",
        "sitecustomize.py": "import platform; platform.machine = lambda: 'aarch64'",
        "pynvml.py": """
            from types import SimpleNamespace
            NVML_CLOCK_SM = 1
            def nvmlInit(): pass
            def nvmlDeviceGetCount(): return 1
            def nvmlDeviceGetHandleByIndex(n): return n
            def nvmlDeviceGetName(h): return b"Tesla T4"
            def nvmlDeviceGetMemoryInfo(h): return SimpleNamespace(total=2**34, free=2**33)
            def nvmlSystemGetDriverVersion(): return b"470.256.02"
            def nvmlSystemGetCudaDriverVersion(): return 11040
        """,
    }
    return checked(
        doctor(tmp_path_factory.mktemp("fakes"), files, NUMBA_ENABLE_CUDASIM="1"),
    )


def test_a_cupy_that_raises_is_a_row_and_no_problem(odd):
    row = compiler(odd, "cupy")
    assert row["state"] == "broken"
    assert "libnvrtc.so.13" in row["why"]
    assert odd["healthy"]


def test_an_old_driver_is_told_beside_the_ptx_it_cannot_read(odd):
    gpu = device(odd, "Tesla T4")
    assert (gpu["facts"]["driver"], gpu["facts"]["cuda"]) == ("470.256.02", "11.4")
    row = compiler(odd, "nvrtc")
    if row["state"] == "missing":
        pytest.skip("NVRTC is not installed")
    assert row["graded"]
    assert "reads PTX up to 7.4" in row["why"]
    assert any("Update the NVIDIA driver" in step["text"] for step in odd["steps"])


def test_an_arm_machine_is_told_as_one(odd):
    assert odd["machine"]["architecture"] == "aarch64"


def test_a_simulator_that_is_switched_on_is_told(odd):
    assert any("NUMBA_ENABLE_CUDASIM is set" in step["text"] for step in odd["steps"])


@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare")
def test_without_sys_it_says_so_and_goes_on():
    hide = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
    if subprocess.run([*hide, "mount -t tmpfs none /sys"], capture_output=True).returncode:
        pytest.skip("no right to hide /sys here")
    told = checked(doctor(before=[*hide, 'mount -t tmpfs none /sys && exec "$@"', "sh"]))
    cpu = next(d for d in told["devices"] if d["kind"] == "cpu")
    assert "hidden here" in cpu["unread"]["caches"]
    assert cpu["facts"]["logical"] == os.cpu_count()


def test_a_compiler_that_lies_is_a_problem_and_the_status_says_so(tmp_path):
    lies = "def njit(f): return lambda n: 0"
    told = checked(doctor(tmp_path, {"numba/__init__.py": lies}))
    assert not told["healthy"]
    assert compiler(told, "numba")["state"] == "wrong answer"
    assert any("Numba gave 0" in s["text"] for s in told["steps"] if s["level"] == "problem")


def test_for_people_it_has_four_sections_and_tells_the_same():
    command = [part for part in COMMAND if part != "--json"]
    env = {**os.environ, "PYTHONPATH": str(HOUSE), "COLUMNS": "72", "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    for title in ("Machine", "Devices", "Not here", "Compilers", "What to do next"):
        assert f"\n{title}" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 72


@pytest.fixture
def quick(monkeypatch):
    """Compilers that need no process, for questions about the rest."""
    from hetlab.devices import doctor as module

    rows = [Compiler("numba", "Numba", "works", {"numba": "1"}, ptx="9.5", needed="always")]
    monkeypatch.setattr(module, "try_compilers", lambda sources: list(rows))
    return rows


@pytest.mark.parametrize(
    ("files", "library"),
    [
        ({}, ModuleNotFoundError("pynvml")),
        (EPYC, ModuleNotFoundError("pynvml")),
        (GRAVITON, RuntimeError("half a wheel")),
        (EPYC, nvml(nvmlInit=raises(NvmlError("Driver Not Loaded")))),
        (EPYC, nvml(nvmlSystemGetDriverVersion=raises(OSError("odd")))),
        (
            EPYC | {"proc/cpuinfo": "\0\xff garbage : : \n:\n", "proc/meminfo": "MemTotal:\n"},
            nvml(),
        ),
        (dict.fromkeys(EPYC, "garbage"), nvml()),
        (dict.fromkeys(EPYC, ""), nvml()),
    ],
)
def test_no_machine_gives_a_traceback(tmp_path, quick, files, library):
    at = make(tmp_path, files, importer=importer({"pynvml": library}))
    found = diagnose(sources=at)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["healthy"]
    assert repr(found).count("\n") > 5
    assert "Please report" not in repr(found)


def test_a_missing_numba_is_a_problem_and_a_missing_triton_is_not(tmp_path, quick):
    quick[:] = [Compiler("triton", "Triton", "missing", why="Triton is not installed.")]
    assert diagnose(sources=make(tmp_path, EPYC)).healthy
    quick[:] = [Compiler("numba", "Numba", "missing", why="Gone.", needed="always")]
    found = diagnose(sources=make(tmp_path, EPYC))
    assert not found.healthy
    assert found.steps[0].text.startswith("Gone.")
    assert "Open the lessons" not in repr(found)


def test_a_container_with_little_memory_is_told(tmp_path, quick):
    files = EPYC | {"sys/fs/cgroup/memory.max": str(2**29)}
    found = diagnose(sources=make(tmp_path, files))
    (memory,) = found.devices.of("memory")
    assert memory.facts["limit_bytes"] == 2**29
    assert any("Less than 1 GiB" in step.text for step in found.steps)


def test_wsl_and_containers_are_named(tmp_path, quick):
    wsl = EPYC | {"proc/sys/kernel/osrelease": "5.15.90.1-microsoft-standard-WSL2"}
    assert "(WSL)" in diagnose(sources=make(tmp_path / "a", wsl)).machine["system"]
    box = EPYC | {".dockerenv": ""}
    assert "container" in diagnose(sources=make(tmp_path / "b", box)).machine["system"]


def test_a_command_that_does_not_end_is_told(tmp_path):
    from hetlab.devices.sources import here

    done = here().run(sys.executable, "-c", "import time; time.sleep(60)", timeout=0.5)
    assert done.status is None and "did not end within 0.5 s" in done.failure
    assert "could not be started" in here().run("no-such-command-at-all").failure
    assert here().run(sys.executable, "-c", "print(1)") == Done(0, "1\n")
