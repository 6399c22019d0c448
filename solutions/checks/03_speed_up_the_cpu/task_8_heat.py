"""Checks of lesson 03: heat."""

import itertools

import numpy as np

from hetlab.grading import Case, Correct, Faster, Task, Wrong, close, unseen


### BEGIN PUBLIC SPEC
def heat_spec(u, steps):
    u = u.copy()
    for _ in range(steps):
        new = u.copy()
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        new[1:-1, 1:-1] = np.float32(0.25) * around
        u = new
    return u


### END PUBLIC SPEC
def field(rng, *shape):
    return rng.random(shape, dtype=np.float32) * np.float32(4)


def heat_cases(rng):
    yield Case("3 x 3, 1 step", field(rng, 3, 3), 1)
    yield Case("4 x 5, 2 steps", field(rng, 4, 5), 2)
    yield Case("3 x 4, no step", field(rng, 3, 4), 0)
    for shape in ((1, 1), (1, 6), (6, 2), (2, 2), (0, 3), (3, 17), (40, 3), (33, 18)):
        yield Case(f"{shape[0]} x {shape[1]}, 3 steps", field(rng, *shape), 3)


heat = Task(
    "heat",
    title="Let heat spread: a stencil with its borders",
    criteria=[
        Correct(heat_spec, heat_cases, points=2, agree=close(ulps=0, rtol=1e-4, atol=1e-5)),
        Faster(
            than=heat_spec,
            inputs=lambda rng: (field(rng, 200, 200), 500),
            bands={3: 1},
            against="NumPy's slices",
        ),
    ],
    hints=(
        "A new value needs the old values of its four neighbours. Where are the old ones kept "
        "while you write new ones?",
        "Keep two arrays, both begun as copies of u, so that both have the borders. Write the "
        "inside of one from the other, then exchange their names.",
        "i runs from 1 to the last row but one, j likewise. The new [i, j] is np.float32(0.25) "
        "times the sum of four old neighbours. After each step exchange the two names; after "
        "the last exchange the result is in the array called old.",
    ),
)
### BEGIN HIDDEN


def in_place(u, steps):
    u = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = np.float32(0.25) * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


def borders_lost(u, steps):
    u = u.copy()
    for _ in range(steps):
        new = np.zeros_like(u)
        new[1:-1, 1:-1] = heat_spec(u, 1)[1:-1, 1:-1]
        u = new
    return u


def around_the_world(u, steps):
    for _ in range(steps):
        rolled = [np.roll(u, d, axis) for axis in (0, 1) for d in (1, -1)]
        u = np.float32(0.25) * (rolled[0] + rolled[1] + rolled[2] + rolled[3])
    return u.copy()


def never_swapped(u, steps):
    return heat_spec(u, min(steps, 1))


def eight_neighbours(u, steps):
    u = u.copy()
    for _ in range(steps):
        new = u.copy()
        if min(u.shape) >= 3:
            total = np.zeros_like(u[1:-1, 1:-1])
            for i, j in itertools.product(range(3), range(3)):
                if (i, j) != (1, 1):
                    total += u[i : i + u.shape[0] - 2, j : j + u.shape[1] - 2]
            new[1:-1, 1:-1] = total / np.float32(8)
        u = new
    return u


heat.wrong += [
    Wrong(
        "the update in place reads new values",
        in_place,
        says="Above and to the left you read values of this step already. "
        "Keep old and new values in two arrays.",
    ),
    Wrong(
        "the borders are lost",
        borders_lost,
        says="The outermost rows and columns must keep their values; yours became 0.",
    ),
    Wrong(
        "the plate is closed to a ring",
        around_the_world,
        says="np.roll makes the last row a neighbour of the first. Borders keep their values here.",
    ),
    Wrong(
        "every step starts from the first field",
        never_swapped,
        says="After one step nothing changes any more: exchange the two arrays after each step.",
    ),
    Wrong(
        "eight neighbours instead of four",
        eight_neighbours,
        says="The four corners do not take part: above, below, left and right only.",
    ),
]
unseen(heat, lambda rng: [Case("more", field(rng, 61, 45), 9, public=False)])
### END HIDDEN
