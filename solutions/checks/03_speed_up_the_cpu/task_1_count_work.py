"""Checks of lesson 03: count work."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen


### BEGIN PUBLIC SPEC
class Number:
    """A number that counts what is done with it."""

    def __init__(self, tally):
        self.tally = tally

    def _operate(self, other):
        self.tally["flops"] += 1
        return self

    __add__ = __mul__ = __truediv__ = _operate


class Array:
    """An array that remembers which of its elements were read and written."""

    def __init__(self, tally):
        self.tally, self.read, self.written = tally, set(), set()

    def __getitem__(self, index):
        self.read.add(index)
        return Number(self.tally)

    def __setitem__(self, index, value):
        self.written.add(index)


def saxpy_loop(n, m, a, x, y):
    for i in range(n):
        y[i] = a * x[i] + y[i]


def blur_loop(n, m, third, x, out):
    for i in range(1, n - 1):
        out[i] = (x[i - 1] + x[i] + x[i + 1]) * third


def matvec_loop(n, m, zero, x, y, matrix):
    for i in range(n):
        total = zero
        for j in range(m):
            total = total + matrix[i, j] * x[j]
        y[i] = total


def count_work_spec(n, m, itemsize):
    rows = []
    for loop in (saxpy_loop, blur_loop, matvec_loop):
        tally = {"flops": 0}
        arrays = [Array(tally) for _ in range(3 if loop is matvec_loop else 2)]
        loop(n, m, Number(tally), *arrays)
        moved = sum(len(a.read) + len(a.written) for a in arrays)
        rows.append((tally["flops"], moved * itemsize))
    return np.array(rows)


### END PUBLIC SPEC
def count_work_cases(rng):
    yield Case("n = 3, m = 1, 4 bytes", 3, 1, 4)
    yield Case("n = 10, m = 7, 8 bytes", 10, 7, 8)
    n, m = (int(v) for v in rng.integers(20, 60, 2))
    yield Case(f"n = {n}, m = {m}, 4 bytes", n, m, 4)


count_work = Task(
    "count_work",
    title="Count the operations and bytes of three loops",
    criteria=[Correct(count_work_spec, count_work_cases, points=3, agree=exact())],
    hints=(
        "Take one turn of each loop and write its additions, multiplications, reads and writes "
        "beside it. Then multiply by the number of turns.",
        "An element that is read in several turns moves once: neighbouring turns of blur share "
        "elements of x, and every row of matvec reads the same x.",
        "saxpy: 2n FLOP, x and y read, y written. blur: 3 FLOP a turn in n - 2 turns, n elements "
        "read, n - 2 written. matvec: 2nm FLOP, the matrix, x and y once each.",
    ),
)
### BEGIN HIDDEN
count_work.wrong += [
    Wrong(
        "every access goes to memory",
        lambda n, m, s: np.array(
            [(2 * n, 3 * n * s), (3 * (n - 2), 4 * (n - 2) * s), (2 * n * m, (2 * n * m + n) * s)]
        ),
        says="An element that is used again soon waits in a cache. Count each element that is "
        "read once, however often the loop reads it.",
    ),
    Wrong(
        "the read of y is forgotten",
        lambda n, m, s: count_work_spec(n, m, s) - np.array([(0, n * s), (0, 0), (0, 0)]),
        says="y[i] = a * x[i] + y[i] reads y before it writes it: that is two movements.",
    ),
    Wrong(
        "a multiply-add counted as one operation",
        lambda n, m, s: count_work_spec(n, m, s) // np.array([(2, 1), (1, 1), (2, 1)]),
        says="A multiplication and an addition are 2 FLOP, also when one instruction does both.",
    ),
    Wrong(
        "elements instead of bytes",
        lambda n, m, s: count_work_spec(n, m, 1),
        says="You counted elements. Multiply by itemsize.",
    ),
]
unseen(
    count_work, lambda rng: [Case("larger", *map(int, rng.integers(50, 90, 2)), 2, public=False)]
)
### END HIDDEN
