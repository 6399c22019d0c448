"""The first kernels: shapes, a map and its guard."""

import numpy as np
from numba import cuda

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, exact

from .common import FLOAT32, line, unseen

# --------------------------------------------------------------------------- launch_shape


### BEGIN PUBLIC SPEC
def launch_shape_spec(n, block):
    blocks = 0
    while blocks * block < n:
        blocks += 1
    return blocks, blocks * block - n


### END PUBLIC SPEC
def launch_shape_cases(rng):
    for n, block in ((1, 32), (31, 32), (32, 32), (33, 32), (1000, 256), (1024, 256), (7, 1)):
        yield Case(f"n = {n}, block = {block}", n, block)


launch_shape = Task(
    "launch_shape",
    title="Compute how many blocks a launch needs",
    criteria=[Correct(launch_shape_spec, launch_shape_cases, points=2, agree=exact())],
    hints=(
        "Take 33 elements and blocks of 32. One block is too few. How many are needed, and how "
        "many threads is that?",
        "Divide and round up. Integer division // rounds down, also for negative numbers.",
        "-(-n // block) rounds up. The rest is blocks * block - n.",
    ),
)
### BEGIN HIDDEN
launch_shape.wrong += [
    Wrong(
        "rounded down",
        lambda n, block: (n // block, abs(n // block * block - n)),
        says="The last elements have no thread. Round the number of blocks up.",
    ),
    Wrong(
        "one more than rounded down, always",
        lambda n, block: (n // block + 1, (n // block + 1) * block - n),
        says="Where the blocks fit exactly, this starts one for nothing. Round up only if "
        "something is left.",
    ),
    Wrong(
        "the elements of the last block, not its idle threads",
        lambda n, block: (-(-n // block), n % block),
        says="n % block is how many threads of the last block have work. The others are asked for.",
    ),
]


def more_shapes(rng):
    n, block = int(rng.integers(500, 900)), 32 * int(rng.integers(1, 5))
    yield Case("another", n, block, public=False)


unseen(launch_shape, more_shapes)
### END HIDDEN


# ----------------------------------------------------------------------------- fahrenheit


### BEGIN PUBLIC SPEC
def fahrenheit_spec(celsius, out):
    out[:] = 1.8 * celsius + 32


### END PUBLIC SPEC
def fahrenheit_cases(rng):
    for n, block in ((1, 32), (64, 64), (65, 64), (1000, 256)):
        celsius = rng.uniform(-30, 40, n).astype(np.float32)
        yield Case(f"n = {n}, blocks of {block}", celsius, np.zeros_like(celsius), **line(n, block))


fahrenheit = Task(
    "fahrenheit",
    title="Write a map with its guard",
    criteria=[
        Correct(fahrenheit_spec, fahrenheit_cases, points=1, agree=FLOAT32, changes=(1,)),
        Clean(),
        Within(
            "global_store_requests",
            lambda case: -(-case.inputs[0].size // 32),
            what="stores",
        ),
    ],
    hints=(
        "Say what one thread does. Which element is its own, and does it have one at all?",
        "i = cuda.grid(1) is the thread's number in the whole grid. Threads whose number is not "
        "below out.size must do nothing.",
        "i = cuda.grid(1), then: if i < out.size, assign to out[i] what the specification says "
        "about celsius[i].",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def fahrenheit_no_guard(celsius, out):
    i = cuda.grid(1)
    out[i] = 1.8 * celsius[i] + 32


@cuda.jit
def fahrenheit_first_block(celsius, out):
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = 1.8 * celsius[i] + 32


@cuda.jit
def fahrenheit_everybody(celsius, out):
    for i in range(out.size):
        out[i] = 1.8 * celsius[i] + 32


fahrenheit.wrong += [
    Wrong(
        "no guard, or one that lets too many in",
        fahrenheit_no_guard,
        says="Threads beyond the last element read and write outside the arrays. Test the index "
        "first: if i < out.size. (With <= one thread too many goes on.)",
        fails="hazard",
    ),
    Wrong(
        "every thread does everything",
        fahrenheit_everybody,
        says="The loop makes each thread convert the whole array: the work is done as many times "
        "as there are threads. A thread has one element; which one says cuda.grid(1).",
        fails="traffic",
    ),
    Wrong(
        "the number in the block, not in the grid",
        fahrenheit_first_block,
        says="cuda.threadIdx.x starts from 0 in every block: all blocks do the first elements. "
        "cuda.grid(1) counts through the whole grid.",
    ),
]


def more_degrees(rng):
    celsius = rng.uniform(-30, 40, 777).astype(np.float32)
    yield Case(
        "three blocks too many", celsius, np.zeros_like(celsius), public=False, **line(777, 96, 3)
    )


unseen(fahrenheit, more_degrees)
### END HIDDEN


# ---------------------------------------------------------------------------- differences


### BEGIN PUBLIC SPEC
def differences_spec(x, out):
    out[:] = np.diff(x)


### END PUBLIC SPEC
def differences_cases(rng):
    for n, block in ((2, 32), (64, 64), (65, 64), (500, 128)):
        x = rng.integers(-50, 50, n).astype(np.float32)
        yield Case(
            f"{n} elements, blocks of {block}", x, np.zeros(n - 1, np.float32), **line(n, block)
        )


differences = Task(
    "differences",
    title="Repair a guard that does not fit every access",
    criteria=[
        Correct(differences_spec, differences_cases, points=1, agree=exact(), changes=(1,)),
        Clean(2),
    ],
    hints=(
        "Launch the draft with hetlab.sanitize. It names a thread, an index and a line.",
        "The draft touches x[i], x[i + 1] and out[i]. Up to which i are all three inside?",
        "out has one element less than x, so i < out.size keeps x[i + 1] inside too.",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def differences_draft(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i + 1] - x[i]


@cuda.jit
def differences_too_few(x, out):
    i = cuda.grid(1)
    if i < x.size - 2:
        out[i] = x[i + 1] - x[i]


@cuda.jit
def differences_backwards(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] - x[i + 1]


differences.wrong += [
    Wrong(
        "the draft as it was",
        differences_draft,
        says="The thread of the last element reads x[size], behind its end, and writes behind the "
        "end of out. The guard must fit x[i + 1] and out[i].",
        fails="hazard",
    ),
    Wrong(
        "the guard cuts off the last result",
        differences_too_few,
        says="Now the last difference is missing. out has x.size - 1 elements.",
    ),
    Wrong(
        "the difference turned around",
        differences_backwards,
        says="out[i] is the next element minus this one.",
    ),
]
unseen(
    differences,
    lambda rng: [
        Case("n = 257", np.arange(257.0), np.zeros(256), public=False, **line(257, 32, 1)),
    ],
)
### END HIDDEN
