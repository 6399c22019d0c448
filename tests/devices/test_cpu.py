"""The processor as the system tells it, against tools that read it in their own way."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.devices import Sources, this_cpu
from hetlab.devices.linux_cpu import cpu_list, size

from .machines import EPYC, GRAVITON, make

V1 = "sys/fs/cgroup/cpu/cpu.cfs_"
LSCPU = shutil.which("lscpu")


def lscpu() -> dict[str, str]:
    """`lscpu -J` flattened; its entries nest in newer releases."""
    told = json.loads(subprocess.run(["lscpu", "-J"], capture_output=True, check=True).stdout)
    found, left = {}, list(told["lscpu"])
    while left:
        entry = left.pop()
        found[entry["field"].rstrip(":")] = entry["data"]
        left += entry.get("children", [])
    return found


@pytest.mark.skipif(not LSCPU, reason="lscpu is not installed")
def test_cores_and_model_are_those_of_lscpu():
    cpu, told = this_cpu(), lscpu()
    assert cpu.logical == len(cpu_list(told["On-line CPU(s) list"]))
    if "Core(s) per socket" in told and told.get("Socket(s)", "-") != "-":
        assert cpu.physical == int(told["Core(s) per socket"]) * int(told["Socket(s)"])
        assert cpu.sockets == int(told["Socket(s)"])
    if "NUMA node(s)" in told:
        assert len(cpu.numa) == int(told["NUMA node(s)"])
    if told["Architecture"] == "x86_64":
        assert cpu.model == told["Model name"]
        assert (cpu.vector_bits == 512) == ("avx512f" in told["Flags"].split())


@pytest.mark.skipif(not LSCPU, reason="lscpu is not installed")
def test_caches_are_those_of_lscpu():
    done = subprocess.run(["lscpu", "-B", "-J", "-C"], capture_output=True, text=True)
    if done.returncode or not done.stdout.strip():
        pytest.skip("this lscpu lists no caches")
    told = {
        c["name"]: (int(c["one-size"]), int(c["all-size"]))
        for c in json.loads(done.stdout)["caches"]
    }
    ours: dict[str, tuple[int, int]] = {}
    for c in this_cpu().caches:
        one, total = ours.get(c.name, (0, 0))
        ours[c.name] = (max(one, c.bytes), total + c.bytes * c.instances)
    assert ours == told


def test_usable_threads_are_those_the_process_may_run_on():
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("this system has no affinity")
    assert this_cpu().usable == len(os.sched_getaffinity(0))


def test_a_pinned_process_sees_fewer_usable_threads():
    if not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two threads and affinity")
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from hetlab.devices import this_cpu; cpu = this_cpu();"
        "print(cpu.usable, 'usable here' in repr(cpu))"
    )
    out = subprocess.run([os.sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert out.split() == ["1", "True"]


def test_a_two_socket_server_is_read_as_its_data_sheet_has_it(tmp_path):
    cpu = this_cpu(make(tmp_path, EPYC))
    assert (cpu.vendor, cpu.model) == ("AMD", "AMD EPYC 9654 96-Core Processor")
    assert (cpu.sockets, cpu.physical, cpu.logical) == (2, 4, 8)
    assert (cpu.simd, cpu.vector_bits) == ("AVX-512", 512)
    # One L3 of 32 MiB for each socket of this small copy; its two cores have four threads.
    assert cpu.last_level == 2 * 2**25
    l3 = next(c for c in cpu.caches if c.name == "L3")
    assert (l3.instances, l3.shared_by, l3.line) == (2, 4, 64)
    assert [(n.cpus, n.memory) for n in cpu.numa] == [(4, 2**30), (4, 2**30)]


def test_an_arm_server_has_a_name_and_its_vector_width(tmp_path):
    cpu = this_cpu(make(tmp_path, GRAVITON))
    assert (cpu.vendor, cpu.model) == ("Arm", "Neoverse V1")
    assert (cpu.simd, cpu.vector_bits) == ("SVE", 256)
    assert cpu.logical == 2
    assert cpu.caches == ()
    assert "as in some virtual machines" in cpu.unread["caches"]


def test_what_is_not_read_is_none_with_a_reason(tmp_path):
    cpu = this_cpu(Sources(root=tmp_path, system="Linux", machine="x86_64"))
    assert cpu.model is None and cpu.physical is None and cpu.memory is None
    assert "/proc/cpuinfo is hidden here" in cpu.unread["model"]
    assert "/proc/meminfo is hidden here" in cpu.unread["memory"]
    assert "Unknown processor" in repr(cpu)


def test_one_fact_that_cannot_be_read_leaves_the_others(tmp_path, monkeypatch):
    from hetlab.devices import cpu as module

    def breaks(_):
        raise PermissionError("not allowed here")

    monkeypatch.setattr(module, "_model", breaks)
    found = this_cpu(make(tmp_path, EPYC))
    assert found.model is None and found.logical == 8
    assert found.unread == {"model": "PermissionError: not allowed here"}
    assert "not allowed here" in repr(found)


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"sys/fs/cgroup/cpu.max": "150000 100000"}, 1.5),
        ({"sys/fs/cgroup/cpu.max": "max 100000"}, None),
        (
            {
                V1 + "quota_us": "50000",
                V1 + "period_us": "100000",
            },
            0.5,
        ),
        (
            {
                V1 + "quota_us": "-1",
                V1 + "period_us": "100000",
            },
            None,
        ),
        (  # the tightest limit on the way up holds
            {
                "proc/self/cgroup": "0::/user/job",
                "sys/fs/cgroup/user/job/cpu.max": "400000 100000",
                "sys/fs/cgroup/user/cpu.max": "200000 100000",
            },
            2.0,
        ),
        (  # a group outside of what this container sees
            {
                "proc/self/cgroup": "0::/../outside",
                "sys/fs/outside/cpu.max": "50000 100000",
                "sys/fs/cgroup/cpu.max": "100000 100000",
            },
            1.0,
        ),
        ({"sys/fs/cgroup/cpu.max": "garbage"}, None),
        ({}, None),
    ],
)
def test_processor_time_that_a_container_grants(tmp_path, files, quota):
    assert this_cpu(make(tmp_path, EPYC | files)).quota == quota


@given(st.sets(st.integers(0, 300), min_size=1))
def test_lists_of_processors_in_the_kernels_notation(numbers):
    runs, ordered = [], sorted(numbers)
    for n in ordered:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    text = ",".join(f"{a}-{b}" if a != b else f"{a}" for a, b in runs)
    assert cpu_list(text + "\n") == numbers


@pytest.mark.parametrize(
    ("text", "amount"), [("48K\n", 49152), ("32768K", 2**25), ("1M", 2**20), ("512", 512)]
)
def test_sizes_as_the_kernel_writes_them(text, amount):
    assert size(text) == amount


def test_reading_the_processor_loads_no_other_probe():
    code = (
        "import sys; from hetlab.devices import this_cpu; this_cpu();"
        "print([m for m in sys.modules if m.startswith('hetlab.devices.') and "
        "m.split('.')[2] in {'nvidia', 'canary', 'workers', 'chips'}])"
    )
    here = Path(__file__).parents[2]
    out = subprocess.run([os.sys.executable, "-c", code], capture_output=True, text=True, cwd=here)
    assert out.stdout.strip() == "[]", out.stderr
