"""Random kernels: the virtual GPU computes what Numba on the CPU and NumPy compute."""

from __future__ import annotations

import functools
import linecache
import math

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from hetlab.vgpu.frontends.raw_kernel import RawKernel
from hetlab.vgpu.frontends.switch import use_virtual_gpu
from hetlab.vgpu.profile import sanitize

from .fuzz import races
from .fuzz.expressions import FLOATS, INTEGERS
from .fuzz.programs import THREADS, Program, generate

BITS = """
def popc{bits}(x):
    n = 0
    for k in range({bits}):
        n += int64((x >> uint{bits}(k)) & uint{bits}(1))
    return n

def clz{bits}(x):
    n = 0
    while n < {bits} and (x >> uint{bits}({bits} - 1 - n)) & uint{bits}(1) == 0:
        n += 1
    return n

def brev{bits}(x):
    out = uint{bits}(0)
    for k in range({bits}):
        out = uint{bits}((out << uint{bits}(1)) | ((x >> uint{bits}(k)) & uint{bits}(1)))
    return out
"""


@functools.cache
def names() -> dict:
    """What the text of a program refers to; Numba has bit functions for GPUs only."""
    import numba
    from numba import cuda

    space = {name: getattr(numba, name) for name in (*INTEGERS, *FLOATS)}
    space |= {"math": math, "cuda": cuda}
    for bits in (32, 64):
        exec(BITS.format(bits=bits), space)
        for name in ("popc", "clz", "brev"):
            space[f"{name}{bits}"] = numba.njit(space[f"{name}{bits}"])
    return space


def function(program: Program, device: bool):
    """The program as a Python function."""
    text = program.source(device)
    file = f"<random kernel {program.seed} for the {'device' if device else 'host'}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = dict(names())
    exec(compile(text, file, "exec"), space)
    return space["kernel"]


def on_the_virtual_gpu(program: Program) -> dict[str, np.ndarray]:
    """Outputs, and no report of a hazard: each thread keeps to its own element."""
    from numba import cuda

    use_virtual_gpu()
    outputs = {name: a.copy() for name, a in program.outputs.items()}
    kernel = cuda.jit(function(program, True))
    block = 32 * (1 + program.seed % 3)
    launch = sanitize(
        kernel[-(-THREADS // block), block], *program.inputs.values(), *outputs.values()
    )
    assert not launch.hazards and not launch.warnings, f"{launch}\n{program.source(True)}"
    return outputs


def on_the_cpu(program: Program, monkeypatch) -> dict[str, np.ndarray]:
    """Outputs of Numba's CPU compiler, its optimiser switched off.

    With it on, LLVM for x86-64 was seen to differ in one of 30 programs from its own
    level 0, from NumPy and from NVVM's PTX, which all agreed.
    """
    import numba
    from numba.core import config

    monkeypatch.setattr(config, "OPT", type(config.OPT)(0))
    outputs = {name: a.copy() for name, a in program.outputs.items()}
    numba.njit(function(program, False))(*program.inputs.values(), *outputs.values())
    return outputs


def differences(program: Program, monkeypatch) -> list[str]:
    """Where the virtual GPU's outputs are not what they must be; one line each."""
    got, cpu = on_the_virtual_gpu(program), on_the_cpu(program, monkeypatch)
    found = []
    for name, a in got.items():
        expected, bound = program.expected[name], 0
        if a.dtype in FLOATS:
            expected, bound = expected
        for who, other in (("virtual GPU", a), ("Numba on the CPU", cpu[name])):
            with np.errstate(all="ignore"):
                bad = ~(np.abs(other.astype(expected.dtype) - expected) <= bound)
            if a.dtype in FLOATS:
                bad &= np.isfinite(bound)
            else:
                bad = other != expected
            if bad.any():
                i = int(np.argmax(bad))
                found.append(f"{who}: {name}[{i}] is {other[i]!r}, expected {expected[i]!r}")
        if a.dtype not in FLOATS and (a != cpu[name]).any():
            i = int(np.argmax(a != cpu[name]))
            found.append(f"{name}[{i}]: virtual GPU {a[i]!r}, Numba on the CPU {cpu[name][i]!r}")
    return found


def check(program: Program, monkeypatch) -> None:
    found = differences(program, monkeypatch)
    assert not found, "\n".join([f"seed {program.seed}", *found, program.source(True)])


@pytest.mark.parametrize("seed", range(30))
def test_a_random_kernel_computes_the_same_everywhere(seed, monkeypatch):
    """Integers bit for bit; floats within what rounding can do; no false alarm."""
    check(generate(seed, size=3), monkeypatch)


def test_a_long_loop_around_reads_is_no_deadlock(monkeypatch):
    """Seed 1854, compiled after 1853: turns are counted where it reads, not in all its blocks."""
    for seed in (1853, 1854):
        check(generate(seed), monkeypatch)


@pytest.mark.soak
@pytest.mark.parametrize("hundred", range(10))
def test_a_thousand_random_kernels_compute_the_same(hundred, monkeypatch):
    """The same for larger kernels, seeds 1000 to 1999."""
    for seed in range(1000 + 100 * hundred, 1100 + 100 * hundred):
        check(generate(seed), monkeypatch)


def test_few_outputs_escape_the_comparison():
    """Bounds are finite for nearly all floats, and both kinds of numbers are made."""
    floats = integers = finite = 0
    for seed in range(60):
        for expected in generate(seed, size=3).expected.values():
            if isinstance(expected, tuple):
                floats += THREADS
                finite += int(np.isfinite(expected[1]).sum())
            else:
                integers += THREADS
    assert floats > 2000 and integers > 10_000
    assert finite > 0.9 * floats


def check_races(seed: int) -> None:
    """The sanitiser reports a race exactly where brute force finds one."""
    kernel = races.generate(seed)
    use_virtual_gpu()
    n = races.BLOCKS * races.THREADS
    args = np.arange(n, dtype=np.int32), np.zeros(n, np.int32), *map(np.int32, (5, 7, 40))
    launch = sanitize(RawKernel(kernel.source, "sharing"), (races.BLOCKS,), (races.THREADS,), args)
    text = f"seed {seed}\n{launch.hazards}\n{kernel.source}"
    assert not launch.warnings, text
    for h in launch.hazards:
        who = frozenset((t["block"][0], t["thread"][0]) for t in h.threads)
        lines = frozenset(line for _, line in h.lines)
        assert (h.array, h.index, lines, who) in kernel.races, f"no such race: {h}\n{text}"
    # Of several races on one cell the detector may keep some; of an array's, never none.
    assert {h.array for h in launch.hazards} == {race[0] for race in kernel.races}, text


@pytest.mark.parametrize("ten", range(12))
def test_races_are_those_that_brute_force_finds(ten):
    """Ten random kernels that share memory: no race is missed, none is made up."""
    for seed in range(10 * ten, 10 * ten + 10):
        check_races(seed)


@pytest.mark.soak
@pytest.mark.parametrize("hundred", range(20))
def test_races_of_two_thousand_kernels(hundred):
    """The same for seeds 1000 to 2999."""
    for seed in range(1000 + 100 * hundred, 1100 + 100 * hundred):
        check_races(seed)
