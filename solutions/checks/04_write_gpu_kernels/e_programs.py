"""Whole programs: both sides of a launch, and the challenge."""

import numpy as np
from numba import cuda

from hetlab.grading import Case, Clean, Correct, Task, Wrong, close, exact

from .common import plane, unseen

# ----------------------------------------------------------------------------------- heat


### BEGIN PUBLIC SPEC
def heat_spec(u, steps):
    u = u.copy()
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = u[1:-1] + np.float32(0.25) * (u[:-2] - 2 * u[1:-1] + u[2:])
        u = new
    return u


### END PUBLIC SPEC
def heat_cases(rng):
    for n, steps in ((3, 1), (1, 2), (2, 1), (130, 0), (130, 1), (64, 2), (300, 5)):
        u = rng.random(n, dtype=np.float32) * 100
        yield Case(f"{n} points, {steps} step{'s' * (steps != 1)}", u, steps)


heat = Task(
    "heat",
    title="Write the host code and the kernel of a whole program",
    criteria=[
        Correct(heat_spec, heat_cases, points=3, agree=close(rtol=1e-4, atol=1e-3)),
        Clean(),
    ],
    hints=(
        "Write the kernel for one step first: it reads one array and writes another. What does a "
        "thread at one of the two ends do?",
        "The host makes two arrays on the device. After each launch they change their names: "
        "old, new = new, old. Which of them holds the result after the last step?",
        "old = cuda.to_device(u), new = cuda.device_array_like(old); in a loop launch "
        "heat_step[blocks, 128](old, new) and swap; return old.copy_to_host(). The kernel copies "
        "the ends.",
    ),
    not_checked="how often data are copied between host and device",
)
### BEGIN HIDDEN


@cuda.jit
def heat_inner(old, new):
    i = cuda.grid(1)
    if 0 < i < old.size - 1:
        new[i] = old[i] + np.float32(0.25) * (old[i - 1] - 2 * old[i] + old[i + 1])


@cuda.jit
def heat_whole(old, new):
    i = cuda.grid(1)
    if i < old.size:
        if 0 < i < old.size - 1:
            new[i] = old[i] + np.float32(0.25) * (old[i - 1] - 2 * old[i] + old[i + 1])
        else:
            new[i] = old[i]


def blocks_of(u):
    return -(-u.size // 128)


def heat_in_place(u, steps):
    one = cuda.to_device(u)
    for _ in range(steps):
        heat_whole[blocks_of(u), 128](one, one)
    return one.copy_to_host()


def heat_never_swapped(u, steps):
    old = cuda.to_device(u)
    new = cuda.to_device(u)
    for _ in range(steps):
        heat_whole[blocks_of(u), 128](old, new)
    return new.copy_to_host()


def heat_wrong_one(u, steps):
    old = cuda.to_device(u)
    new = cuda.to_device(u)
    for _ in range(steps):
        heat_whole[blocks_of(u), 128](old, new)
        old, new = new, old
    return new.copy_to_host()


def heat_no_ends(u, steps):
    old = cuda.to_device(u)
    new = cuda.device_array_like(old)
    for _ in range(steps):
        heat_inner[blocks_of(u), 128](old, new)
        old, new = new, old
    return old.copy_to_host()


heat.wrong += [
    Wrong(
        "one array for old and new",
        heat_in_place,
        says="Each thread writes where its neighbours still read. A step needs two arrays.",
        fails="hazard",
    ),
    Wrong(
        "the arrays never swap",
        heat_never_swapped,
        says="Every launch starts from the same old values, so all steps give the first one. Swap "
        "the two arrays after each launch.",
    ),
    Wrong(
        "the array of the step before",
        heat_wrong_one,
        says="After the last swap the newest values are in the array that is now called old.",
    ),
    Wrong(
        "the ends are never written",
        heat_no_ends,
        says="device_array_like gives memory that nobody has written to. The threads of the two "
        "ends must copy their element.",
        fails="value",
    ),
]
unseen(
    heat,
    lambda rng: [Case("more", rng.random(411, dtype=np.float32) * 9, 4, public=False)],
)
### END HIDDEN


# ----------------------------------------------------------------------------------- life


### BEGIN PUBLIC SPEC
def life_spec(world, out):
    sums = sum(
        np.roll(world, (dy, dx), (0, 1))
        for dy in (-1, 0, 1)
        for dx in (-1, 0, 1)
        if (dy, dx) != (0, 0)
    )
    out[:] = (sums == 3) | ((world == 1) & (sums == 2))


### END PUBLIC SPEC
def life_cases(rng):
    glider = np.zeros((6, 7), np.uint8)
    glider[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    block = np.zeros((4, 5), np.uint8)
    block[-2:, -2:] = 1
    worlds = {"a block in the corner, 4 rows, 5 columns": block, "a glider, 6 rows": glider}
    for shape in ((1, 1), (1, 8), (3, 3), (16, 16), (13, 37)):
        worlds[f"{shape[0]} rows, {shape[1]} columns"] = rng.integers(0, 2, shape, np.uint8)
    for label, world in worlds.items():
        yield Case(label, world, np.zeros_like(world), **plane(world.shape))


life = Task(
    "life",
    title="Challenge: the Game of Life with few instructions",
    criteria=[Correct(life_spec, life_cases, points=1, agree=exact(), changes=(1,)), Clean()],
    hints=(
        "First make it right: eight neighbours, with an index that goes around at each edge.",
        "(x + 1) % columns goes around. A remainder is slow, though: a condition, such as "
        "x + 1 if x + 1 < columns else 0, costs less.",
        "Compute the two rows and two columns around the cell once, add the eight cells, then "
        "decide. One comparison is enough: count | alive is 3 exactly for the cells that live.",
    ),
    not_checked="how many instructions it takes: that is for the board",
)
### BEGIN HIDDEN


@cuda.jit
def life_walls(world, out):
    x, y = cuda.grid(2)
    rows, columns = world.shape
    if x < columns and y < rows:
        count = 0
        for row in range(max(y - 1, 0), min(y + 2, rows)):
            for column in range(max(x - 1, 0), min(x + 2, columns)):
                if row != y or column != x:
                    count += world[row, column]
        out[y, x] = count == 3 or (world[y, x] == 1 and count == 2)


@cuda.jit
def life_itself(world, out):
    x, y = cuda.grid(2)
    rows, columns = world.shape
    if x < columns and y < rows:
        count = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                count += world[(y + dy) % rows, (x + dx) % columns]
        out[y, x] = count == 3 or (world[y, x] == 1 and count == 2)


@cuda.jit
def life_in_place(world, out):
    x, y = cuda.grid(2)
    rows, columns = world.shape
    if x < columns and y < rows:
        out[y, x] = world[y, x]
        count = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dx != 0 or dy != 0:
                    count += world[(y + dy) % rows, (x + dx) % columns]
        world[y, x] = count == 3 or (world[y, x] == 1 and count == 2)


life.wrong += [
    Wrong(
        "a world with walls",
        life_walls,
        says="This world goes around: beyond the last column comes the first.",
    ),
    Wrong(
        "the cell counted as its own neighbour",
        life_itself,
        says="Only the eight cells around it count, not the cell itself.",
    ),
    Wrong(
        "the next generation written into the world",
        life_in_place,
        says="The next generation goes into out. In world, neighbours still read the old one.",
        fails="value",
    ),
]
unseen(
    life,
    lambda rng: [
        Case(
            "more",
            (world := rng.integers(0, 2, (40, 21), np.uint8)),
            np.zeros_like(world),
            public=False,
            **plane((40, 21), (32, 2)),
        )
    ],
)
### END HIDDEN
