"""How the tasks of this lesson are judged."""

import numpy as np

from hetlab.grading import Case, Correct, Faster, Task, Wrong, close


### BEGIN PUBLIC SPEC
def spec(x):
    """The specification: slow, clear and trusted.  Learners may read it."""
    out = x.copy()
    for i in range(1, len(x) - 1):
        out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3
    return out


### END PUBLIC SPEC


def cases(rng):
    """From small to large: the first that fails is the smallest that fails."""
    for n in (0, 1, 2, 3, 4, 17, 1000):
        yield Case(f"n = {n}", rng.random(n, dtype=np.float32))
    ### BEGIN HIDDEN
    yield Case("an odd length", rng.random(257, dtype=np.float32), public=False)
    ### END HIDDEN


def long_input(rng):
    """Long enough that the cost of a call does not matter."""
    return (rng.random(100_000, dtype=np.float32),)


### BEGIN HIDDEN
def reads_its_own_results(x):
    """Each element is computed from a neighbour that was already replaced."""
    out = x.copy()
    for i in range(1, len(out) - 1):
        out[i] = (out[i - 1] + out[i] + out[i + 1]) / 3
    return out


def wraps_around(x):
    """The ends are averaged with each other."""
    return (np.roll(x, 1) + x + np.roll(x, -1)) / np.float32(3)


### END HIDDEN


smooth = Task(
    "smooth",
    title="Smooth an array with whole-array operations",
    criteria=[
        Correct(spec, cases, points=2, agree=close(ulps=4)),
        Faster(than=spec, inputs=long_input, bands={10.0: 1}, against="the Python loop"),
    ],
    wrong=[
        ### BEGIN HIDDEN
        Wrong(
            "reads its own results",
            reads_its_own_results,
            says="You average values that were already replaced. All elements must be computed "
            "from the old ones, as if at the same moment: keep x and write to a new array.",
        ),
        Wrong(
            "wraps around at the ends",
            wraps_around,
            says="Your first and last element are averaged with each other. The two ends have "
            "one neighbour only and must stay as they are.",
        ),
        Wrong(
            "still a Python loop",
            spec,
            says="Right, and as slow as the loop: Python still handles one element at a time.",
            fails="speed",
        ),
        ### END HIDDEN
    ],
    hints=(
        "How many elements have both neighbours? Which part of x holds them?",
        "Three slices of equal length hold the left neighbours, the elements and the right "
        "neighbours. Add slices, not elements.",
        "x[:-2] are the left neighbours and x[2:] the right ones. Put their average with x[1:-1] "
        "into the middle of a copy of x.",
    ),
)
