"""How time and memory grow with the grid: ``python -m tests.vgpu.test_growth`` prints a table.

Each row is a process of its own, ``python -m tests.vgpu.test_growth KERNEL LOG2_THREADS``, with
counting and all hazards on.  Its seconds are those of the host's processor, which say what the
virtual GPU costs, never how quick a device is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

SOURCE = """\
extern "C" __global__ void add(const float* a, const float* b, float* c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

// However large the grid, the same 4,096 floats.
extern "C" __global__ void few(const float* a, const float* b, float* c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = a[i % 4096] + b[i % 4096];
    if (i < 4096)
        c[i] = sum;
}

// The same, by way of 32 KiB of shared memory a block.
extern "C" __global__ void shared(const float* a, const float* b, float* c)
{
    __shared__ float part[32][256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    for (int k = 0; k < 32; ++k)
        part[k][t] = a[i % 4096];
    __syncthreads();
    float sum = part[31][255 - t] - part[0][255 - t] + a[i % 4096] + b[i % 4096];
    if (i < 4096)
        c[i] = sum;
}
"""
BLOCK = 256
POWERS = range(12, 26, 2)
LARGE = 20
MIB = 1 << 20


def peak_bytes() -> int:
    """The most memory that this process has held.

    ``getrusage`` would count what the starting process held before ``exec``, too.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [x for x in status.read_text().splitlines() if x.startswith("VmHWM")]
        return int(line.split()[1]) * 1024
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def launch(name: str, power: int) -> dict:
    """One launch of 2**power threads in this process, and what it cost."""
    import hetlab

    n = 1 << power
    size = n if name == "add" else min(n, 4096)
    kernel = hetlab.raw_kernel(SOURCE, name)
    a = np.arange(size, dtype=np.float32) % 1000
    b, c = a[::-1].copy(), np.zeros(size, np.float32)
    small = [np.zeros(4096, np.float32) for _ in range(3)]
    hetlab.profile(kernel, (4096 // BLOCK,), (BLOCK,), tuple(small))  # compiles, warms up
    begin = time.process_time()
    report = hetlab.profile(kernel, (n // BLOCK,), (BLOCK,), (a, b, c))
    seconds = time.process_time() - begin
    return {
        "threads": n,
        "seconds": seconds,
        "peak": peak_bytes(),
        "arrays": a.nbytes + b.nbytes + c.nbytes,
        "right": bool(np.array_equal(c, a + b)),
        "ok": report.ok and not report.warnings,
        "loads": report.counters["global_load_requests"],
        "stores": report.counters["global_store_requests"],
    }


def child(name: str, power: int) -> dict:
    """The same in a process of its own."""
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "tests.vgpu.test_growth", name, str(power)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def row(r: dict) -> str:
    each = r["seconds"] / r["threads"] * 1e9
    return (
        f"{r['threads']:>12,}  {each:>12.1f}  {r['seconds']:>9.3f}  {r['arrays'] / MIB:>11.1f}"
        f"  {r['peak'] / MIB:>10.1f}  {'right' if r['right'] else 'WRONG'}"
    )


HEAD = (
    "vector add in blocks of 256, counting and all hazards on, once after a warm-up\n"
    f"{'threads':>12}  {'ns a thread':>12}  {'seconds':>9}  {'arrays, MiB':>11}  {'peak, MiB':>10}"
)


@pytest.fixture(scope="module", autouse=True)
def nvrtc():
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC is not installed")


def check_add(r: dict) -> None:
    assert r["right"] and r["ok"]
    assert r["loads"] == 2 * r["threads"] // 32 and r["stores"] == r["threads"] // 32


def test_memory_grows_with_the_arrays_not_with_the_threads():
    small, large = child("add", 12), child("add", LARGE)
    check_add(small)
    check_add(large)
    # Beside the arrays, the race detector keeps 8 bytes for each float stored: 2/3 as much again.
    # Registers and addresses of 2**20 threads at one time would be hundreds of MiB.
    grown, arrays = large["peak"] - small["peak"], large["arrays"] - small["arrays"]
    assert grown <= 1.7 * arrays + 16 * MIB, (grown / MIB, arrays / MIB)


@pytest.mark.parametrize("name", ["few", "shared"])
def test_a_larger_grid_over_the_same_arrays_needs_no_more_memory(name):
    small, large = child(name, 16), child(name, LARGE)
    for r in (small, large):
        assert r["right"] and r["ok"]
        assert r["stores"] == 4096 // 32
    assert large["peak"] - small["peak"] <= 16 * MIB, (small, large)


@pytest.mark.soak
def test_cost_from_4096_to_16_million_threads(capsys):
    rows = [child("add", power) for power in POWERS]
    with capsys.disabled():
        sys.stdout.write("\n".join(["", HEAD, *map(row, rows), ""]))
    for r in rows:
        check_add(r)
        grown, arrays = r["peak"] - rows[0]["peak"], r["arrays"] - rows[0]["arrays"]
        assert grown <= 1.7 * arrays + 16 * MIB, row(r)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        sys.stdout.write(json.dumps(launch(sys.argv[1], int(sys.argv[2]))) + "\n")
    else:
        sys.stdout.write(HEAD + "\n")
        for power in POWERS:
            sys.stdout.write(row(child("add", power)) + "\n")
            sys.stdout.flush()
