"""Whether values really came out of a kernel: what the trusted worker saw, against the claims.

A student's process could launch any kernel and return what NumPy worked out.  The worker
knows what each array held before and after each launch, so a kernel's output must be the
*after* of an array that was the input *before*, and the kernel must have had nothing else
to work with.
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


def proven(
    outcome: Outcome,
    inputs: tuple,
    evidence: Sequence[dict[str, Any]],
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
    noticed : callable
        Is told what an instructor may want to look at.
    """
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
            if not foreign and _digest(claim) in results.get(_digest(was), ()):
                kept[position] = claim
                changed.append(position)
            continue
    if foreign:
        noticed("a kernel was given arrays that are none of the check's inputs")
    if len(changed) < len(outcome.changed):
        noticed("values were claimed that no launch of a kernel gave")
    return replace(outcome, inputs=tuple(kept), changed=tuple(changed))


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
