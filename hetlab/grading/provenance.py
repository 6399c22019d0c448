"""Whether values really came out of a kernel: what the trusted worker saw, against the claims.

A student's process could launch any kernel and return what NumPy worked out.  The worker
knows what each array held before and after each launch, so a kernel's output must be the
*after* of an array that was the input *before*, and the kernel must have had nothing else
to work with: no other array, no room in its parameters, and no code made for this input.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .submission import Outcome

__all__ = ["proven"]

#: Bytes from which on an array that is no input could carry an answer.
_SMALL = 16
#: Bytes of parameters that an argument may need: Numba hands an array over as up to 13 numbers.
_PARAMETERS = 128


def proven(
    outcome: Outcome,
    inputs: tuple,
    evidence: Sequence[dict[str, Any]],
    codes: dict[tuple, str],
    noticed: Callable[[str], None],
) -> Outcome:
    """An outcome of one kernel's launch with nothing in it that the launch did not do.

    Parameters
    ----------
    outcome : Outcome
        What the student's process claims.
    inputs : tuple
        What the kernel was to be given.
    evidence : sequence of dict
        What the worker saw, a launch each (see :func:`hetlab.vgpu.elsewhere.carry_out`).
    codes : dict
        The code of each kind of arguments so far, for the checks of one task; filled here.
    noticed : callable
        Is told what an instructor may want to look at.
    """
    made_for_it = [
        launch["code"]
        for launch in evidence[:1]
        if codes.setdefault(_kind(inputs), launch["code"]) != launch["code"]
    ]
    if made_for_it:
        noticed("a kernel's code differs from one check to the next")
    stuffed = any(e["param_bytes"] > _PARAMETERS * (len(inputs) + 1) for e in evidence)
    if stuffed:
        noticed("a kernel was given more parameters than its arguments need")
    given = {_digest(v) for v in inputs if isinstance(v, np.ndarray)}
    foreign = False
    results: dict[str, set[str]] = {}
    for launch in evidence:
        for before, after, size in launch["arrays"]:
            # Several launches: what one left is what the next may begin with.
            sources = {d for d, found in results.items() if before in found}
            if before in given:
                sources.add(before)
            if not sources and size >= _SMALL:
                foreign = True
            for source in sources:
                results.setdefault(source, set()).add(after)
    kept, changed = list(inputs), []
    for position in outcome.changed:
        claim, was = outcome.inputs[position], inputs[position]
        if isinstance(claim, np.ndarray) and isinstance(was, np.ndarray):
            honest = not (foreign or made_for_it or stuffed)
            if honest and _digest(claim) in results.get(_digest(was), ()):
                kept[position] = claim
                changed.append(position)
            continue
    if foreign:
        noticed("a kernel was given arrays that are none of the check's inputs")
    if len(changed) < len(outcome.changed):
        noticed("values were claimed that no launch of a kernel gave")
    return replace(outcome, inputs=tuple(kept), changed=tuple(changed))


def _kind(inputs: tuple) -> tuple:
    """What a compiler may specialise a kernel for: types, and the values 1 and multiples of 16."""
    found = []
    for value in inputs:
        if isinstance(value, np.ndarray):
            found.append((value.dtype.str, value.ndim))
        elif isinstance(value, int | np.integer):
            found.append((type(value).__name__, int(value) == 1, int(value) % 16 == 0))
        else:
            found.append((type(value).__name__,))
    return tuple(found)


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
