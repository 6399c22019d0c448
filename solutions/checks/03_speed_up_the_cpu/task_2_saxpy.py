"""Checks of lesson 03: saxpy."""

import numpy as np

from hetlab.grading import Case, Correct, Faster, Task, Wrong, close, unseen


### BEGIN PUBLIC SPEC
def saxpy_spec(a, x, y):
    y += a * x


### END PUBLIC SPEC
def plain_saxpy(a, x, y):
    for i in range(len(x)):
        y[i] = a * x[i] + y[i]


def vectors(rng, n, dtype=np.float32):
    return tuple(rng.random(n).astype(dtype) + dtype(0.5) for _ in range(2))


def saxpy_cases(rng):
    for n in (0, 1, 3, 17, 1000):
        yield Case(f"n = {n}", np.float32(2), *vectors(rng, n))
    yield Case("a = -0.75, n = 33", np.float32(-0.75), *vectors(rng, 33))
    yield Case("float64, n = 10", np.float64(0.3), *vectors(rng, 10, np.float64))


saxpy = Task(
    "saxpy",
    title="Write saxpy as one compiled loop",
    criteria=[
        Correct(saxpy_spec, saxpy_cases, points=2, changes=(2,), agree=close(ulps=4, atol=1e-6)),
        Faster(
            than=plain_saxpy,
            inputs=lambda rng: (np.float32(0.5), *vectors(rng, 300_000)),
            bands={10: 1},
            against="the loop in Python",
            changes=(2,),
        ),
    ],
    hints=(
        "Write the loop as you would in plain Python. What changes is who runs it.",
        "@njit stands there already. Below it, loop over the indices and assign to y[i]. "
        "Nothing has to be returned: y itself changes.",
        "for i in range(x.size): y[i] = ... with the scaled element of x and the old y[i].",
    ),
    not_checked="whether a temporary array is made on the way",
)
### BEGIN HIDDEN


def new_array(a, x, y):
    return a * x + y


def swapped(a, x, y):
    y[:] = a * y + x


def no_sum(a, x, y):
    y[:] = a * x


saxpy.wrong += [
    Wrong(
        "a new array instead of a change in place",
        new_array,
        says="The sum is in a new array and y is as it was. Assign to y[i], or to y[:].",
    ),
    Wrong("x and y swapped", swapped, says="You scaled y and added x; saxpy scales x."),
    Wrong("y is replaced, not added to", no_sum, says="The old value of y[i] belongs to the sum."),
    Wrong(
        "a loop that Python itself runs",
        lambda a, x, y: plain_saxpy(a, x, y),
        says="The values are right, and the interpreter handles every element. Compile the loop.",
        fails="speed",
    ),
]
unseen(saxpy, lambda rng: [Case("n = 4097", np.float32(-3), *vectors(rng, 4097), public=False)])
### END HIDDEN
