"""A schedule for the CPU that is many times as fast as none."""

import numpy as np

from hetlab.grading import Case, Correct, Faster, Task, Wrong, unseen

from .common import FLOAT32, as_given, matrices, product


### BEGIN PUBLIC SPEC
def fast_product_spec(a, b):
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)


def unscheduled(a, b):
    """The description as it stands, three loops one inside the other."""
    return product(as_given, "llvm", a, b)


### END PUBLIC SPEC
def fast_product_cases(rng):
    for n in (64, 128, 256):
        yield Case(f"n = {n}", *matrices(rng, n, n, n))


fast_product = Task(
    "fast_product",
    title="Schedule a product for the CPU",
    criteria=[
        Correct(fast_product_spec, fast_product_cases, points=1, agree=FLOAT32),
        Faster(
            unscheduled,
            lambda rng: matrices(rng, 512, 512, 512),
            bands={4: 2, 15: 4},
            against="the unscheduled product",
            agree=FLOAT32,
            rounds=5,
        ),
    ],
    hints=(
        "Which loop should be innermost, so that every access has stride 0 or 1? That alone is "
        "worth a factor of ten.",
        "Then keep sums in registers: split i by 4 and j by 16, order i0, j0, k, i1, j1, "
        'cache_write(C, 0, "local") and reverse_compute_at its copy to j0. Compile for HERE.',
        "In this order: cache_write and reverse_compute_at; sch.parallel(i0); vectorize j1 and the "
        "copy's last loop; unroll i1; decompose_reduction(C, k) last.",
    ),
)
### BEGIN HIDDEN


def other_way(sch):
    c = sch.get_sblock("C")
    i, j, k = sch.get_loops(c)
    sch.reorder(j, k, i)


def too_few_columns(a, b):
    c = product(as_given, "llvm", a, b)
    c[:, -1] = 0
    return c


fast_product.wrong += [
    Wrong(
        "the innermost loop runs down columns",
        lambda a, b: product(other_way, "llvm", a, b),
        says="With k innermost, B is touched a whole row apart in every step; with i, it is A and "
        "C. Only j goes along rows everywhere.",
        fails="speed",
    ),
    Wrong(
        "B is transposed",
        lambda a, b: product(as_given, "llvm", a, np.ascontiguousarray(b.T)),
        says="Laying B out anew is a good idea, but the description must then find its elements "
        "there. transform_layout changes both.",
    ),
    Wrong(
        "the last column is left out",
        too_few_columns,
        says="A split that does not cover the whole loop leaves elements out. Let TVM work out one "
        "of the factors: [None, 16].",
    ),
]
unseen(fast_product, lambda rng: [Case("another", *matrices(rng, 192, 192, 192), public=False)])
### END HIDDEN

TASKS = [fast_product]
