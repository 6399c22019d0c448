"""A workload of kernels that the lessons wrote, and machines to run it on.

Each stripe of a picture is made, blurred, transposed, multiplied, turned into shares (softmax) and
counted (histogram); all stripes are joined at the end.  The kernels are NumPy, which lets go of
Python's lock while it works.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Mapping

import numpy as np

from hetlab.errors import InvalidValue
from hetlab.sched.graph import TaskGraph
from hetlab.sched.heat import Heat
from hetlab.sched.machine import Device, Link, Machine

__all__ = ["LESSONS", "cores", "kernels", "measured", "mixed_machine", "stripes"]

# The lesson that writes each kernel.
LESSONS = {
    "make": "02_measure_honestly",
    "blur": "04_write_gpu_kernels",
    "transpose": "05_coalesce_memory",
    "matmul": "06_share_and_tile",
    "histogram": "08_keep_warps_busy",
    "softmax": "10_triton_tiles",
}
# Relative work of the kinds, and how much faster a GPU is at each (our own choice, for emulation).
_WORK = {"make": 1.0, "blur": 2.0, "transpose": 1.0, "matmul": 4.0, "softmax": 1.5}
_WORK |= {"histogram": 1.5, "join": 0.5}
_GPU = {"make": 1.0, "blur": 5.0, "transpose": 3.0, "matmul": 8.0, "softmax": 4.0}
_GPU |= {"histogram": 1.5, "join": 0.5}
_CHAIN = ("blur", "transpose", "matmul", "softmax", "histogram")


def stripes(
    count: int = 8,
    *,
    side: int = 160,
    scale: float = 1.0,
    seconds: Mapping[str, float] | None = None,
) -> TaskGraph:
    """The task graph: ``count`` chains of six kernels, and a join.

    Parameters
    ----------
    count : int
    side : int
        Rows and columns of a stripe, in 32-bit numbers; only the sizes of data depend on it.
    scale : float
        Seconds of one unit of work on a CPU core of speed 1.
    seconds : mapping of str to float, optional
        Seconds of each kind on a core, in place of ours: see `measured`.

    Returns
    -------
    TaskGraph
        In seconds; costs by kind of device: "cpu" and "gpu".
    """
    for name, value in (("count", count), ("side", side)):
        if not isinstance(value, int) or value < 1:
            raise InvalidValue(name, "a whole number, at least 1", value)
    graph = TaskGraph(f"{count} stripes", unit="s")

    def add(name: str, kind: str, after: dict) -> None:
        core = seconds[kind] if seconds else scale * _WORK[kind]
        cost = {"cpu": core, "gpu": core / _GPU[kind]}
        graph.add(name, cost, after, kind=kind)

    size = 4.0 * side * side
    for i in range(count):
        add(f"make {i}", "make", {})
        for before, kind in zip(("make", *_CHAIN), _CHAIN):
            add(f"{kind} {i}", kind, {f"{before} {i}": size})
    add("join", "join", {f"histogram {i}": 1024.0 for i in range(count)})
    return graph


def kernels(side: int = 160) -> dict:
    """From the kind of a task to its kernel: functions of NumPy arrays.

    Parameters
    ----------
    side : int
        As in `stripes`.
    """
    return {
        "make": functools.partial(_make, side),
        "blur": _blur,
        "transpose": _transpose,
        "matmul": _matmul,
        "softmax": _softmax,
        "histogram": _histogram,
        "join": _join,
    }


def measured(side: int = 160, repeats: int = 3) -> dict[str, float]:
    """Seconds of each kind of task on this core now, the median of some runs."""
    found, work = {}, kernels(side)
    data = work["make"]()
    count = work["histogram"](data)
    for kind, kernel in work.items():
        given = () if kind == "make" else (count, count) if kind == "join" else (data,)
        times = []
        for _ in range(repeats):
            begin = time.perf_counter()
            kernel(*given)
            times.append(time.perf_counter() - begin)
        found[kind] = statistics.median(times)
    return found


def _make(side: int) -> np.ndarray:
    return np.random.default_rng(3).random((side, side), dtype=np.float32)


def _blur(a: np.ndarray) -> np.ndarray:
    rows = np.pad(a, 1, mode="edge")
    down = rows[:-2] + rows[1:-1] + rows[2:]
    return (down[:, :-2] + down[:, 1:-1] + down[:, 2:]) / np.float32(9)


def _transpose(a: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(a.T)


def _matmul(a: np.ndarray) -> np.ndarray:
    # Not the library's product: its own threads would take the other devices' cores.
    return np.einsum("ik,kj->ij", a, a)


def _softmax(a: np.ndarray) -> np.ndarray:
    shares = np.exp(a - a.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def _histogram(a: np.ndarray) -> np.ndarray:
    return np.bincount((a.ravel() * 255 / a.max()).astype(np.uint8), minlength=256)


def _join(*parts: np.ndarray) -> np.ndarray:
    return np.sum(parts, axis=0)


def cores(count: int = 2) -> Machine:
    """CPU cores in one memory."""
    return Machine([Device(f"cpu{i}", "cpu", memory="host") for i in range(count)], name="cores")


def mixed_machine(*, scale: float = 1.0, warm: bool = False) -> Machine:
    """Two CPU cores, and two GPUs with a memory of their own, one of them badly cooled.

    Parameters
    ----------
    scale : float
        Seconds of one unit of work, as in `stripes`: thermal times go with it.
    warm : bool
        Whether ``gpu0`` has a thermal model: 300 W lead to 95 degrees Celsius, from 80 on it
        runs at 0.3 of its speed until it has cooled down to 60.
    """
    heat = Heat((95 - 25) / 300, 4 * scale, 80.0, 60.0, slowed=0.3, slowed_watts=0.6)
    power = {"idle_watts": 30.0, "busy_watts": 300.0}
    devices = [
        Device(f"cpu{i}", "cpu", memory="host", idle_watts=10.0, busy_watts=60.0) for i in range(2)
    ]
    devices += [
        Device("gpu0", "gpu", memory="gpu0 memory", heat=heat if warm else None, **power),
        Device("gpu1", "gpu", memory="gpu1 memory", **power),
    ]
    links = [Link("host", f"gpu{i} memory", 2e6 / scale, 0.01 * scale) for i in range(2)]
    return Machine(devices, links, home="host", contention="queue", name="mixed")
