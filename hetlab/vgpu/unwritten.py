"""Results that a launch has left out: a warning about arrays of ``hetlab.empty``."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.arguments import ArrayArg
from hetlab.vgpu.hazards import Hazard
from hetlab.vgpu.launch import Kernel
from hetlab.vgpu.memory import Memory

__all__ = ["blank_results", "left_out"]


def _elements(memory: Memory, array: ArrayArg) -> np.ndarray | None:
    """Which elements of a contiguous array have been written; None when all have."""
    allocation = memory.find(array.base)
    if allocation is None or allocation.written is None or not array.nbytes:
        return None
    steps = np.cumprod([array.itemsize, *array.shape[:0:-1]])[::-1]
    if any(s != step and n > 1 for n, s, step in zip(array.shape, array.strides, steps)):
        return None
    first = array.base - allocation.base
    part = allocation.written[first : first + array.nbytes]
    return part.reshape(-1, array.itemsize).all(axis=1)


def blank_results(kernel: Kernel, arrays, memory: Memory) -> list[ArrayArg]:
    """The arrays in which nothing has been written yet, and which the kernel only stores to."""
    found = []
    for array in arrays:
        offset = kernel.params[array.param_index].offset
        sites = (s for s in kernel.program.sites if ("param", offset) in s.sources)
        read = any(site.op != "store" for site in sites)
        done = None if read else _elements(memory, array)
        if done is not None and not done.any():
            found.append(array)
    return found


def left_out(arrays: list[ArrayArg], memory: Memory) -> list[Hazard]:
    """A warning for each of these arrays that the launch has written in part."""
    warnings = []
    for array in arrays:
        done = _elements(memory, array)
        if done is None or done.all() or not done.any():
            continue
        index = tuple(map(int, np.unravel_index(int(np.argmin(done)), array.shape)))
        index = index[0] if len(index) == 1 else index
        shown = ", ".join(map(str, index)) if isinstance(index, tuple) else index
        warnings.append(
            Hazard(
                "partly-written",
                array.name,
                index,
                space="global",
                message=f"Only {int(done.sum()):,} of the {done.size:,} elements of {array.name} "
                f"were written; the first that was not is {array.name}[{shown}].",
                count=int((~done).sum()),
            )
        )
    return warnings
