"""The sanitiser finds every fault of the catalogue, and nothing in a correct kernel."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from hetlab.vgpu.frontends.raw_kernel import RawKernel
from hetlab.vgpu.frontends.switch import use_virtual_gpu
from hetlab.vgpu.profile import sanitize

from .catalogue import CLEAN, FAULTY, Entry

PAIRS = ("race", "divergent-barrier")
"""Kinds that take two threads."""


def three(shape) -> list[int]:
    shape = [shape] if isinstance(shape, int) else list(shape)
    return shape + [1] * (3 - len(shape))


def sanitised(entry: Entry, kernel, mended=False, order_seed=None):
    """Launch a kernel of an entry as a learner would, and sanitise the launch."""
    use_virtual_gpu()
    options = {"order_seed": order_seed}
    if entry.kind == "deadlock":  # the twins take a few hundred steps
        options["step_budget"] = 20_000
    shape = {k: getattr(entry, k) for k in ("grid", "block", "shared", "args")}
    if mended:
        shape |= entry.mended
    args = shape["args"]()
    if isinstance(kernel, str):
        grid, block = tuple(three(shape["grid"])), tuple(three(shape["block"]))
        raw = RawKernel(kernel, entry.name)
        return sanitize(raw, grid, block, args, shared_mem=shape["shared"], **options)
    from numba import cuda

    jitted = cuda.jit(kernel)
    launch = jitted[shape["grid"], shape["block"], 0, shape["shared"]]
    return sanitize(launch, *args, **options)


def thread(entry: Entry, where: dict) -> SimpleNamespace:
    """A reported thread; it must be one of the launch."""
    (x, y, z), (bx, by, bz) = where["thread"], where["block"]
    (nx, ny, nz), grid = three(entry.block), three(entry.grid)
    assert 0 <= x < nx and 0 <= y < ny and 0 <= z < nz
    assert all(0 <= b < n for b, n in zip((bx, by, bz), grid))
    flat = (z * ny + y) * nx + x
    b = (bz * grid[1] + by) * grid[0] + bx
    return SimpleNamespace(
        x=x, y=y, z=z, b=b, g=b * nx * ny * nz + flat, warp=flat // 32, lane=flat % 32
    )


def unfit(entry: Entry, hazard) -> str:
    """What is wrong with a report of the entry's fault; empty when it is right."""
    if hazard.kind != entry.kind:
        return f"kind {hazard.kind}"
    if entry.array is not None and hazard.array != entry.array:
        return f"array {hazard.array!r} for {entry.array!r}"
    threads = [thread(entry, where) for where in hazard.threads]
    if not threads:
        return "no thread"
    pair = entry.kind in PAIRS and not entry.alone
    if pair and (len(threads) != 2 or threads[0] == threads[1]):
        return f"threads {hazard.threads}"
    if callable(entry.at):
        fits = entry.at(hazard.index, *threads[: entry.at.__code__.co_argcount - 1 or None])
    else:
        fits = entry.at is None or np.array_equal(hazard.index, entry.at)
    if not fits:
        return f"index {hazard.index} of threads {hazard.threads}"
    lines, marked = {line for _, line in hazard.lines}, entry.lines("fault")
    # A race has two lines; of other faults each marked line may have a report of its own.
    if not (marked <= lines if entry.kind in PAIRS else lines and lines <= marked):
        return f"lines {sorted(lines)} for {sorted(marked)}"
    return ""


def show(launch) -> str:
    found = [*launch.hazards, *launch.warnings]
    return "\n".join(
        f"  {h.kind} {h.array}[{h.index}] lines {[n for _, n in h.lines]} {h.threads} {h.message}"
        for h in found
    )


@pytest.mark.parametrize("entry", FAULTY, ids=lambda e: e.name)
def test_the_fault_is_found_where_it_is(entry):
    """Kind, array, index, source lines and threads are right, and nothing else is reported."""
    launch = sanitised(entry, entry.kernel)
    found = launch.warnings if entry.warning else launch.hazards
    wrong = [unfit(entry, h) for h in found]
    told = {n for h, why in zip(found, wrong) if not why for _, n in h.lines}
    assert "" in wrong and entry.lines("fault") <= told, f"{wrong}\n{show(launch)}"
    allowed = entry.lines("fault") | entry.lines("also")
    for h in launch.hazards:
        assert h.kind in (entry.kind, *entry.also), show(launch)
        assert {n for _, n in h.lines} <= allowed, show(launch)
    files = {Path(file).name for h in found for file, _ in h.lines}
    cpp = entry.language == "CUDA C++"
    assert files <= {f"{entry.name}.cu" if cpp else Path(entry.kernel.__code__.co_filename).name}


@pytest.mark.parametrize("entry", FAULTY, ids=lambda e: e.name)
def test_the_corrected_twin_is_not_reported(entry):
    """The same text with the fault mended has neither hazards nor warnings."""
    launch = sanitised(entry, entry.twin(), mended=True)
    assert not launch.hazards and not launch.warnings, show(launch)


@pytest.mark.parametrize("entry", CLEAN, ids=lambda e: e.name)
def test_a_correct_kernel_is_not_reported(entry):
    """Neither hazards nor warnings, however much it looks like a fault."""
    launch = sanitised(entry, entry.kernel)
    assert not launch.hazards and not launch.warnings, show(launch)


def test_the_catalogue_has_every_kind_in_both_languages():
    """At least 80 faults of all kinds, 25 correct kernels, each fault marked in its source."""
    assert len(FAULTY) >= 80 and len(CLEAN) >= 25
    kinds = Counter(e.kind for e in FAULTY)
    for kind in ("out-of-bounds", "misaligned", "uninitialised-read", "race"):
        assert kinds[kind] >= 8
    assert kinds["divergent-barrier"] >= 8 and kinds["deadlock"] >= 6
    assert {e.language for e in FAULTY} == {e.language for e in CLEAN} == {"Numba", "CUDA C++"}
    assert all(e.lines("fault") for e in FAULTY)


@pytest.mark.soak
@pytest.mark.parametrize("order_seed", [1, 2, 3])
def test_verdicts_do_not_depend_on_the_order_of_execution(order_seed):
    """In any order of blocks and warps, each fault has its kind and no correct kernel a report."""
    for entry in FAULTY:
        launch = sanitised(entry, entry.kernel, order_seed=order_seed)
        found = launch.warnings if entry.warning else launch.hazards
        assert entry.kind in {h.kind for h in found}, f"{entry.name}\n{show(launch)}"
    for entry in CLEAN:
        launch = sanitised(entry, entry.kernel, order_seed=order_seed)
        assert not launch.hazards and not launch.warnings, f"{entry.name}\n{show(launch)}"
