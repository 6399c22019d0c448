"""Atomic read-modify-write by many threads at one time, in lane order, with old values.

Threads that hit different addresses are served at once.  Where several hit one
address, each must see what the ones before it left: a running total for each
address, or, for operations that are no running total, one thread after another.
"""

from __future__ import annotations

import numpy as np

from hetlab.vgpu import numerics as nx

__all__ = ["apply"]

_RUNNING = {
    "add": np.add,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "min": np.minimum,
    "max": np.maximum,
}


def apply(memory, index, op: str, kind: str, values, wanted: bool):
    """Update ``memory[index]``.

    Parameters
    ----------
    memory : numpy.ndarray
        Elements of the operation's type.
    index : numpy.ndarray of int
        One a thread, in lane order.
    op : str
        ``add``, ``min``, ``max``, ``and``, ``or``, ``xor``, ``exch``, ``inc``, ``dec``, ``cas``.
    kind : str
        The PTX type.
    values : tuple of numpy.ndarray
        The operands, one element a thread.
    wanted : bool
        Whether the old values are.

    Returns
    -------
    numpy.ndarray or None
        What each thread found.
    """
    step = _STEPS.get((op, kind)) or _STEPS[op]
    n = len(index)
    if n == 1 or _all_differ(index):
        old = memory[index]
        memory[index] = step(old, *values)
        return old
    order = np.argsort(index, kind="stable")
    sorted_index = index[order]
    starts = np.flatnonzero(np.concatenate(([True], sorted_index[1:] != sorted_index[:-1])))
    ends = np.append(starts[1:], n)
    longest = int((ends - starts).max())
    old = np.empty(n, memory.dtype)
    if op in _RUNNING and (op, kind) not in _STEPS and len(starts) <= longest:
        _running(memory, sorted_index, starts, ends, _RUNNING[op], values[0], order, old)
    elif op == "exch" and len(starts) <= longest:
        sorted_values = values[0][order]
        shifted = np.concatenate((sorted_values[:1], sorted_values[:-1]))
        shifted[starts] = memory[sorted_index[starts]]
        old[order] = shifted
        memory[sorted_index[starts]] = sorted_values[ends - 1]
    elif op == "cas" and len(starts) < longest:
        _compare_and_swap(memory, sorted_index, starts, ends, values, order, old)
    else:
        for rank in range(longest):  # the rank-th thread of every address
            here = starts[starts + rank < ends] + rank
            lanes, where = order[here], sorted_index[here]
            found = memory[where]
            old[lanes] = found
            memory[where] = step(found, *(v[lanes] for v in values))
    return old if wanted else None


def _all_differ(index) -> bool:
    if (index[1:] > index[:-1]).all():
        return True
    ordered = np.sort(index)
    return bool((ordered[1:] != ordered[:-1]).all())


def _running(memory, sorted_index, starts, ends, ufunc, values, order, old) -> None:
    """One address after another, each a running total from what memory holds."""
    for start, end in zip(starts.tolist(), ends.tolist()):
        lanes, where = order[start:end], sorted_index[start]
        chain = np.concatenate((memory[where : where + 1], values[lanes]))
        total = ufunc.accumulate(chain)
        old[lanes] = total[:-1]
        memory[where] = total[-1]


def _compare_and_swap(memory, sorted_index, starts, ends, values, order, old) -> None:
    """Few addresses and many threads: plain Python, one thread after another."""
    for start, end in zip(starts.tolist(), ends.tolist()):
        lanes, where = order[start:end], sorted_index[start]
        now, found = memory[where].item(), []
        for expected, new in zip(values[0][lanes].tolist(), values[1][lanes].tolist()):
            found.append(now)
            if now == expected:
                now = new
        old[lanes] = found
        memory[where] = now


def _pairs(old, v):
    return nx.pack_halves(nx.halves(old) + nx.halves(v), False)


def _bf16(old, v):
    return nx.f32_to_bf16(nx.bf16_to_f32(old) + nx.bf16_to_f32(v))


def _bf16_pairs(old, v):
    low = _bf16(old.astype(np.uint16), v.astype(np.uint16)).astype(np.uint32)
    high = _bf16((old >> 16).astype(np.uint16), (v >> 16).astype(np.uint16)).astype(np.uint32)
    return low | high << np.uint32(16)


_STEPS = {
    **_RUNNING,
    "exch": lambda old, v: v,
    "cas": lambda old, expected, new: np.where(old == expected, new, old),
    "inc": lambda old, v: np.where(old >= v, old.dtype.type(0), old + old.dtype.type(1)),
    "dec": lambda old, v: np.where((old == 0) | (old > v), v, old - old.dtype.type(1)),
    ("add", "f16x2"): _pairs,
    ("add", "bf16"): _bf16,
    ("add", "bf16x2"): _bf16_pairs,
}
