"""Checks of lesson 07: compact."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Wrong, exact, unseen


### BEGIN PUBLIC SPEC
def compact_spec(x, out, kept):
    chosen = x[x > 0]
    out[: chosen.size] = chosen
    kept[0] = chosen.size


### END PUBLIC SPEC
def compact_case(rng, n, low=-5, high=6, **more):
    x = rng.integers(low, high, n).astype(np.float32)
    return Case(
        more.pop("label", f"n = {n}"),
        x,
        np.zeros_like(x),
        np.zeros(1, np.int32),
        grid=1,
        block=128,
        **more,
    )


def compact_cases(rng):
    for n in (8, 1, 33, 100, 128):
        yield compact_case(rng, n)
    yield compact_case(rng, 128, low=1, label="n = 128, all are kept")
    yield compact_case(rng, 40, high=1, label="n = 40, none is kept")


compact = Task(
    "compact",
    title="Repair: places that are off by one",
    criteria=[
        Correct(compact_spec, compact_cases, points=2, changes=(1, 2), agree=exact()),
        Clean(points=1),
    ],
    hints=(
        "Work it out by hand for x = 3, -1, 4: which places does the scan give, and which are "
        "wanted?",
        "The scan counts the element itself. The place of an element is the number of kept "
        "elements *before* it. How do you get the one from the other?",
        "place[t] - 1 for an element that is kept. The number of kept elements is the last sum of "
        "the inclusive scan, as it was.",
    ),
)
### BEGIN HIDDEN
from numba import cuda, int32  # noqa: E402


@cuda.jit(device=True)
def scanned(place, t):
    cuda.syncthreads()
    step = 1
    while step < 128:
        left = place[t - step] if t >= step else 0
        cuda.syncthreads()
        place[t] += left
        cuda.syncthreads()
        step *= 2


@cuda.jit
def inclusive_places(x, out, kept):
    place = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    keep = t < x.size and x[t] > 0
    place[t] = 1 if keep else 0
    scanned(place, t)
    if keep:
        out[place[t]] = x[t]
    if t == 127:
        kept[0] = place[127]


@cuda.jit
def last_not_counted(x, out, kept):
    place = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    keep = t < x.size and x[t] > 0
    place[t] = 1 if keep else 0
    scanned(place, t)
    if keep:
        out[place[t] - 1] = x[t]
    if t == 127:
        kept[0] = place[127] - 1


@cuda.jit
def everything_stored(x, out, kept):
    place = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    keep = t < x.size and x[t] > 0
    place[t] = 1 if keep else 0
    scanned(place, t)
    if t < x.size:
        out[t] = x[t] if keep else 0
    if t == 127:
        kept[0] = place[127]


@cuda.jit
def zero_kept(x, out, kept):
    place = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    keep = t < x.size and x[t] >= 0
    place[t] = 1 if keep else 0
    scanned(place, t)
    if keep:
        out[place[t] - 1] = x[t]
    if t == 127:
        kept[0] = place[127]


compact.wrong += [
    Wrong(
        "the places of an inclusive scan",
        inclusive_places,
        says="The first kept element goes to place 1, and place 0 stays empty. If everything is "
        "kept, the last one lands outside of out.",
    ),
    Wrong(
        "the number of kept elements off by one",
        last_not_counted,
        says="Only the places begin at 0. The count is the last sum of the inclusive scan.",
    ),
    Wrong(
        "gaps instead of a packed array",
        everything_stored,
        says="The kept elements stay where they were. They must move together.",
    ),
    Wrong(
        "zero is kept too",
        zero_kept,
        says="Elements *above* zero are kept; 0 is not above zero.",
    ),
]
unseen(compact, lambda rng: [compact_case(rng, 90, public=False)])
### END HIDDEN
