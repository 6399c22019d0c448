"""Checks of lesson 03, speed up the CPU.

Every specification is slow and clear.  What a task is compared with in speed is the slow version of
the same thing, so nothing here is an answer; wrong answers and unseen inputs stay with the author.
"""

import functools
import itertools

import numpy as np

from hetlab.grading import Case, Correct, Faster, Task, Wrong, close, exact


### BEGIN HIDDEN
def unseen(task, cases, criterion=0):
    """Add inputs that feedback never shows."""
    judged = task.criteria[criterion]
    known = judged.cases
    judged.cases = lambda rng: itertools.chain(known(rng), cases(rng))


### END HIDDEN
@functools.cache
def compiled(function):
    """Numba is loaded when a reference is timed, not when this file is read."""
    import numba

    return numba.njit(function)


# ------------------------------------------------------------------------------ count_work


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


# ----------------------------------------------------------------------------------- saxpy


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
            inputs=lambda rng: (np.float32(0.5), *vectors(rng, 30_000)),
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


# ---------------------------------------------------------------------------------- smooth


### BEGIN PUBLIC SPEC
def smooth_spec(signals, alpha):
    out = signals.copy()
    for t in range(1, signals.shape[1]):
        out[:, t] = alpha * signals[:, t] + (1 - alpha) * out[:, t - 1]
    return out


### END PUBLIC SPEC
def smooth_cases(rng):
    for shape in ((1, 1), (1, 2), (2, 1), (3, 5), (0, 4), (4, 0), (5, 64), (70, 3)):
        yield Case(f"{shape[0]} signals of {shape[1]} samples", rng.random(shape) + 1, 0.25)
    yield Case("alpha = 1", rng.random((2, 9)), 1.0)
    yield Case("alpha = 0", rng.random((2, 9)), 0.0)


smooth = Task(
    "smooth",
    title="Smooth many signals: find the loop that may run in parallel",
    criteria=[
        Correct(smooth_spec, smooth_cases, points=2, agree=close(ulps=0, rtol=1e-9, atol=1e-12)),
        Faster(
            than=smooth_spec,
            inputs=lambda rng: (rng.random((16, 8192)), 0.1),
            bands={5: 2},
            against="NumPy, one instant at a time,",
        ),
    ],
    hints=(
        "Which of the two loops needs a result of its own previous turn? The other one is free.",
        "Time must go step by step. Signals do not know of each other: let the outer loop run "
        "over signals (prange, or plain range) and the inner one over time.",
        "Begin with a copy of signals, which holds the first samples already. Then for each "
        "signal s, for t from 1 on: signals[s, t] mixed with the output at t - 1 is the output "
        "at t.",
    ),
    not_checked="how many threads it uses",
)
### BEGIN HIDDEN


def weights_turned(signals, alpha):
    return smooth_spec(signals, 1 - alpha)


def from_zero(signals, alpha):
    padded = np.concatenate([np.zeros((signals.shape[0], 1)), signals], axis=1)
    return smooth_spec(padded, alpha)[:, 1:].copy()


def of_the_input(signals, alpha):
    out = signals.copy()
    out[:, 1:] = alpha * signals[:, 1:] + (1 - alpha) * signals[:, :-1]
    return out


def across_signals(signals, alpha):
    return smooth_spec(np.ascontiguousarray(signals.T), alpha).T.copy()


def one_by_one(signals, alpha):
    out = signals.copy()
    for s in range(signals.shape[0]):
        for t in range(1, signals.shape[1]):
            out[s, t] = alpha * signals[s, t] + (1 - alpha) * out[s, t - 1]
    return out


smooth.wrong += [
    Wrong(
        "alpha weighs the old value",
        weights_turned,
        says="alpha belongs to the new sample, 1 - alpha to the previous output.",
    ),
    Wrong(
        "the first output starts from zero",
        from_zero,
        says="The first output is the first sample itself.",
    ),
    Wrong(
        "the previous input instead of the previous output",
        of_the_input,
        says="The recurrence goes on with its own last output; you mixed two neighbouring inputs.",
    ),
    Wrong(
        "smoothed across the signals",
        across_signals,
        says="Each row is a signal of its own; time runs along the row.",
    ),
    Wrong(
        "a loop that Python itself runs",
        one_by_one,
        says="The values are right, and the interpreter handles every sample. Compile the loops.",
        fails="speed",
    ),
]
unseen(smooth, lambda rng: [Case("more", rng.normal(size=(33, 257)), 0.7, public=False)])
### END HIDDEN


# ------------------------------------------------------------------------- autocorrelation


### BEGIN PUBLIC SPEC
def autocorrelation_spec(x, lags):
    out = np.zeros(lags, np.float32)
    for lag in range(min(lags, x.size)):
        head, tail = x[: x.size - lag].astype(np.float64), x[lag:].astype(np.float64)
        out[lag] = np.sum(head * tail)
    return out


### END PUBLIC SPEC
def one_chain(x, lags):
    out = np.zeros(lags, np.float32)
    for lag in range(min(lags, x.size)):
        total = np.float32(0)
        for i in range(x.size - lag):
            total += x[i] * x[i + lag]
        out[lag] = total
    return out


def one_chain_compiled(x, lags):
    return compiled(one_chain)(x, lags)


def autocorrelation_cases(rng):
    for n, lags in ((1, 1), (5, 2), (3, 7), (0, 3), (17, 4), (64, 64), (1000, 33)):
        yield Case(f"{n} samples, {lags} lags", vectors(rng, n)[0], lags)


autocorrelation = Task(
    "autocorrelation",
    title="Add up in many independent sums",
    criteria=[
        Correct(autocorrelation_spec, autocorrelation_cases, points=2, agree=close(rtol=1e-4)),
        Faster(
            than=one_chain_compiled,
            inputs=lambda rng: (vectors(rng, 16_384)[0], 256),
            bands={3: 2},
            against="one chain of additions a lag, compiled,",
            agree=close(rtol=1e-3),
        ),
    ],
    hints=(
        "Inside one lag the sum is a chain: each addition waits for the one before. "
        "Where in this task do you find sums that do not wait for each other?",
        "Every lag has a sum of its own. Let the inner loop run over lags, so that neighbouring "
        "turns add to different elements of out. (Or allow the compiler to reorder one sum: "
        'fastmath={"reassoc"}.)',
        "Outer loop over i. Take the slice of x that begins at i and has `lags` elements; at the "
        "end of x it is shorter by itself. Inner loop over that slice: element number lag, times "
        "x[i], belongs to out[lag].",
    ),
)
### BEGIN HIDDEN


def last_block_lost(x, lags):
    out = np.zeros(lags, np.float32)
    for lag in range(min(lags, x.size)):
        n = (x.size - lag) // 8 * 8
        out[lag] = np.sum(x[:n].astype(np.float64) * x[lag : lag + n])
    return out


def wraps_around(x, lags):
    return np.array([np.sum(x * np.roll(x, -k)) for k in range(lags)], np.float32)


def lag_one_first(x, lags):
    return autocorrelation_spec(x, lags + 1)[1:].copy()


def averaged(x, lags):
    terms = np.maximum(x.size - np.arange(lags), 1)
    return (autocorrelation_spec(x, lags) / terms).astype(np.float32)


autocorrelation.wrong += [
    Wrong(
        "the tail behind the last full block is lost",
        last_block_lost,
        says="With eight sums at a time, up to seven terms are left over. Add them too.",
    ),
    Wrong(
        "the end wraps around to the beginning",
        wraps_around,
        says="x[i + lag] beyond the end does not exist; it is not x[0]. "
        "Compiled code does not stop at the end of an array.",
    ),
    Wrong("lag 0 is left out", lag_one_first, says="The first lag is 0: the sum of squares."),
    Wrong("an average instead of a sum", averaged, says="Do not divide by the number of terms."),
    Wrong(
        "one chain of additions",
        lambda x, lags: one_chain_compiled(x, lags),
        says="The values are right, and each addition waits for the one before it.",
        fails="speed",
    ),
]
unseen(autocorrelation, lambda rng: [Case("more", vectors(rng, 511)[0], 100, public=False)])
### END HIDDEN


# ------------------------------------------------------------------------- predict_speedup


### BEGIN PUBLIC SPEC
def predict_speedup_spec(t1, tp, p, q):
    out = np.empty(len(t1))
    for k in range(len(t1)):
        # seconds = serial + parallel / cores, known for 1 and for p cores
        serial, parallel = np.linalg.solve([[1, 1], [1, 1 / p]], [t1[k], tp[k]])
        out[k] = t1[k] / (serial + parallel / q)
    return out


### END PUBLIC SPEC
def programs(rng, k, p):
    t1, share = rng.uniform(1, 20, k), rng.uniform(0.3, 0.99, k)
    return t1, t1 * (1 - share + share / p)


def predict_speedup_cases(rng):
    yield Case("half of it parallel, 2 to 4 cores", np.array([8.0]), np.array([6.0]), 2, 4)
    yield Case("nothing parallel", np.array([3.0, 5.0]), np.array([3.0, 5.0]), 4, 8)
    yield Case("all of it parallel", np.array([12.0]), np.array([3.0]), 4, 16)
    yield Case("back to one core", *programs(rng, 2, 8), 8, 1)
    for k, p, q in ((0, 2, 4), (3, 4, 64), (5, 3, 1000)):
        yield Case(f"{k} programs, {p} to {q} cores", *programs(rng, k, p), p, q)


predict_speedup = Task(
    "predict_speedup",
    title="Predict the speed-up on more cores",
    criteria=[
        Correct(
            predict_speedup_spec,
            predict_speedup_cases,
            points=2,
            agree=close(ulps=0, rtol=1e-6),
        )
    ],
    hints=(
        "Two runs, two unknowns: the serial seconds and the parallel seconds.",
        "t1 = s + w and tp = s + w / p. Subtract the two to get w.",
        "t1 - tp is w times (1 - 1/p), which gives w; s is the rest of t1. "
        "The answer is t1 divided by the seconds on q cores.",
    ),
    not_checked="whether a real program obeys the law: it leaves out the cost of starting threads "
    "and the bandwidth that they share",
)
### BEGIN HIDDEN


def parallel_share(t1, tp, p):
    return (1 - tp / t1) / (1 - 1 / p)


def gustafson(t1, tp, p, q):
    f = parallel_share(t1, tp, p)
    return 1 - f + f * q


def shares_turned(t1, tp, p, q):
    f = parallel_share(t1, tp, p)
    return 1 / (f + (1 - f) / q)


predict_speedup.wrong += [
    Wrong(
        "speed-up in proportion to the cores",
        lambda t1, tp, p, q: t1 / tp * q / p,
        says="That holds only if nothing is serial. The serial seconds stay, however many cores "
        "you add.",
    ),
    Wrong(
        "Gustafson's law instead of Amdahl's",
        gustafson,
        says="Gustafson lets the problem grow with the cores. Here the problem stays as it is.",
    ),
    Wrong(
        "serial and parallel share exchanged",
        shares_turned,
        says="The parallel seconds are divided by the cores, the serial ones are not.",
    ),
]
unseen(predict_speedup, lambda rng: [Case("more", *programs(rng, 9, 6), 6, 48, public=False)])
### END HIDDEN


# ------------------------------------------------------------------------------- histogram


### BEGIN PUBLIC SPEC
def private_counts_spec(x, bins, parts):
    table = np.zeros((parts, bins), np.int64)
    for p in range(parts):
        first, last = p * x.size // parts, (p + 1) * x.size // parts
        table[p] = np.bincount(x[first:last], minlength=bins)
    return table


def histogram_spec(x, bins):
    return np.bincount(x, minlength=bins).astype(np.int64)


### END PUBLIC SPEC
def private_counts_cases(rng):
    for n, bins, parts in ((4, 2, 2), (7, 3, 2), (2, 3, 5), (0, 4, 3), (1, 1, 1), (1000, 10, 7)):
        yield Case(f"{n} values, {bins} bins, {parts} parts", rng.integers(0, bins, n), bins, parts)


def histogram_cases(rng):
    for n, bins in ((4, 2), (0, 3), (1, 1), (1001, 256)):
        yield Case(f"{n} values, {bins} bins", rng.integers(0, bins, n).astype(np.uint8), bins)
    yield Case("2000001 values in one bin", np.full(2_000_001, 2, np.uint8), 5)


histogram = Task(
    "histogram",
    title="Count in parallel without a race",
    hands_in=("private_counts", "histogram"),
    criteria=[
        Correct(
            private_counts_spec,
            private_counts_cases,
            points=2,
            agree=exact(),
            name="private_counts",
        ),
        Correct(histogram_spec, histogram_cases, points=2, agree=exact(), name="histogram"),
    ],
    hints=(
        "Two threads that add to one counter can both read 5 and both write 6. "
        "Give each of them a counter that nobody else touches.",
        "private_counts: prange over the parts; each part walks its own piece of x and adds to its "
        "own row of the table. histogram: the rows of that table, added up.",
        "Part p holds x[p * n // parts : (p + 1) * n // parts], which leaves nothing out. In "
        "the loop over such a piece, element [p, value] of the np.int64 table grows by 1. "
        "At the end add its rows up: sum over axis 0.",
    ),
    not_checked="how many threads it uses; a race may stay hidden on a machine with one core",
)
### BEGIN HIDDEN


def pieces_of_equal_length(x, bins, parts):
    table = np.zeros((parts, bins), np.int64)
    size = x.size // parts
    for p in range(parts):
        table[p] = np.bincount(x[p * size : (p + 1) * size], minlength=bins)
    return table


def small_counters(x, bins):
    return (np.bincount(x, minlength=bins) % 256).astype(np.int64)


def one_row(x, bins, parts):
    table = np.zeros((parts, bins), np.int64)
    table[0] = np.bincount(x, minlength=bins)
    return table


def lost_updates(x, bins):
    counts = np.bincount(x, minlength=bins).astype(np.int64)
    return counts - counts // 3


def updates_are_missing(expected, got):
    return got.shape == expected.shape and (got <= expected).all() and got.sum() < expected.sum()


histogram.wrong += [
    Wrong(
        "the rest of the division is dropped",
        {
            "private_counts": pieces_of_equal_length,
            "histogram": lambda x, bins: pieces_of_equal_length(x, bins, 4).sum(axis=0),
        },
        says="Pieces of n // parts values leave up to parts - 1 values at the end to nobody.",
    ),
    Wrong(
        "counters too small for the sum",
        {"private_counts": private_counts_spec, "histogram": small_counters},
        says="An 8-bit counter goes from 255 back to 0. Count in np.int64.",
    ),
    Wrong(
        "the last part instead of the sum of all",
        {
            "private_counts": private_counts_spec,
            "histogram": lambda x, bins: private_counts_spec(x, bins, 4)[-1],
        },
        says="Each part's counts must be added to those of the others.",
    ),
    Wrong(
        "all parts count in one row",
        {"private_counts": one_row, "histogram": histogram_spec},
        says="Each part needs a row of its own: table[p, value]. In one shared row the parts race.",
    ),
    Wrong(
        "a race on shared counters",
        {"private_counts": private_counts_spec, "histogram": lost_updates},
        says="Counts are missing: two threads read the same old value and both wrote it plus one.",
        when=updates_are_missing,
    ),
]
unseen(
    histogram,
    lambda rng: [Case("more", rng.integers(0, 77, 12_345), 77, public=False)],
    criterion=1,
)
### END HIDDEN


# ----------------------------------------------------------------------------- matmul_int8


### BEGIN PUBLIC SPEC
def matmul_int8_spec(a, b):
    return a.astype(np.int32) @ b.astype(np.int32)


### END PUBLIC SPEC
def bytes_of(rng, *shape):
    return rng.integers(-128, 128, shape).astype(np.int8)


def matmul_cases(rng):
    for n, m, p in (
        *((1, 1, 1), (2, 2, 2), (2, 3, 2), (3, 2, 5), (1, 9, 1), (0, 3, 2), (2, 0, 3), (3, 2, 0)),
        *((33, 17, 9), (70, 2, 3), (2, 3, 70), (64, 64, 64), (65, 65, 65)),
    ):
        yield Case(f"({n}, {m}) @ ({m}, {p})", bytes_of(rng, n, m), bytes_of(rng, m, p))


matmul_int8 = Task(
    "matmul_int8",
    title="Multiply matrices tile by tile",
    criteria=[
        Correct(matmul_int8_spec, matmul_cases, points=2, agree=exact()),
        Faster(
            than=matmul_int8_spec,
            inputs=lambda rng: (bytes_of(rng, 256, 256), bytes_of(rng, 256, 256)),
            bands={3: 2},
            against="NumPy's integer matmul",
        ),
    ],
    hints=(
        "Walk along rows in the inner loop. Which of the matrices is walked down its columns, and "
        "what turns columns into rows?",
        "Store b transposed: np.ascontiguousarray(b.T). Then each element of c is a sum over two "
        "rows, and a 2 x 2 tile of c needs four rows for four sums. Convert to np.int32 before "
        "you multiply.",
        "Cover the even part of c with tiles (n - n % 2 rows, p - p % 2 columns), then the last "
        "row and the last column with single sums. A helper that computes one sum keeps it short.",
    ),
)
### BEGIN HIDDEN


def sums_of_int8(a, b):
    out = np.zeros((a.shape[0], b.shape[1]), np.int8)
    for k in range(a.shape[1]):
        out += a[:, k, None] * b[None, k]
    return out.astype(np.int32)


def products_of_int8(a, b):
    out = np.zeros((a.shape[0], b.shape[1]), np.int32)
    for k in range(a.shape[1]):
        out += a[:, k, None] * b[None, k]
    return out


def ragged_edge_dropped(a, b):
    out = np.zeros((a.shape[0], b.shape[1]), np.int32)
    n, p = a.shape[0] // 2 * 2, b.shape[1] // 2 * 2
    out[:n, :p] = matmul_int8_spec(a[:n], b[:, :p])
    return out


def transposed_twice(a, b):
    square = a.shape[1] == b.shape[1]
    return matmul_int8_spec(a, np.ascontiguousarray(b.T) if square else b)


def columns(a, b):
    n, m, p = a.shape[0], a.shape[1], b.shape[1]
    out = np.zeros((n, p), np.int32)
    for i in range(n):
        for j in range(p):
            total = np.int32(0)
            for k in range(m):
                total += np.int32(a[i, k]) * np.int32(b[k, j])
            out[i, j] = total
    return out


matmul_int8.wrong += [
    Wrong(
        "the sum overflows",
        sums_of_int8,
        says="An int8 holds -128 to 127, and so did your sum. Sum in np.int32.",
    ),
    Wrong(
        "the product overflows",
        products_of_int8,
        says="int8 times int8 is an int8 again. Convert both to np.int32 before you multiply.",
    ),
    Wrong(
        "the tiles drop the ragged edge",
        ragged_edge_dropped,
        says="The last row or column does not fill a tile, and nobody computed it.",
    ),
    Wrong(
        "b is taken as transposed already",
        transposed_twice,
        says="c[i, j] sums a[i, k] * b[k, j]; you used b[j, k].",
    ),
    Wrong(
        "b is walked down its columns",
        lambda a, b: compiled(columns)(a, b),
        says="The values are right, and the inner loop takes one element of each cache line of b.",
        fails="speed",
    ),
]
unseen(
    matmul_int8,
    lambda rng: [Case("more", bytes_of(rng, 51, 130), bytes_of(rng, 130, 47), public=False)],
)
### END HIDDEN


# ------------------------------------------------------------------------------------ heat


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
            inputs=lambda rng: (field(rng, 100, 100), 500),
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


# -------------------------------------------------------------------- attainable, classify


### BEGIN PUBLIC SPEC
def attainable_spec(intensity, peak, bandwidth):
    return np.array([min(peak, i * bandwidth) for i in intensity], dtype=np.float64)


def classify_spec(flops, moved, seconds, peak, bandwidth):
    roof = attainable_spec(flops / moved, peak, bandwidth)
    return flops / moved * bandwidth < peak, flops / seconds / roof


### END PUBLIC SPEC
def attainable_cases(rng):
    yield Case("below, at and above the ridge point", np.array([1.0, 4.0, 9.0]), 200e9, 50e9)
    for k in (0, 1, 6):
        given = (
            rng.uniform(0.05, 80, k),
            float(rng.uniform(2e10, 9e11)),
            float(rng.uniform(1e10, 1e11)),
        )
        yield Case(f"{k} kernels", *given)


attainable = Task(
    "attainable",
    title="Compute the roof",
    criteria=[Correct(attainable_spec, attainable_cases, points=1, agree=close(ulps=0, rtol=1e-9))],
    hints=(
        "Two limits hold at once. Which of the two decides?",
        "Bytes arrive at `bandwidth` bytes a second and each brings `intensity` FLOP of work.",
        "np.minimum takes the smaller of two, element by element.",
    ),
)


def kernels(rng, k):
    peak, bandwidth = float(rng.uniform(5e10, 5e11)), float(rng.uniform(1e10, 5e10))
    moved = rng.uniform(1e6, 1e9, k)
    intensity = peak / bandwidth * 2.0 ** rng.uniform(-4, 4, k)
    flops = moved * intensity
    ideal = np.maximum(flops / peak, moved / bandwidth)
    return flops, moved, ideal / rng.uniform(0.1, 1, k), peak, bandwidth


def classify_cases(rng):
    given = np.array([1e9, 8e9]), np.array([1e9, 1e9]), np.array([0.1, 0.1]), 100e9, 20e9
    yield Case("one of each", *given)
    for k in (0, 1, 7):
        yield Case(f"{k} kernels", *kernels(rng, k))


classify = Task(
    "classify",
    title="Say what limits each kernel",
    criteria=[Correct(classify_spec, classify_cases, points=2, agree=close(ulps=0, rtol=1e-9))],
    hints=(
        "First the intensity of each kernel, then the roof above it, then how close it came.",
        "A kernel is limited by memory when intensity * bandwidth is below peak. What it reached "
        "is flops / seconds.",
        "Three lines: the intensity, flops by bytes; its roof, as in the task before; and the "
        "tuple of a comparison (intensity times bandwidth with peak) and a quotient (FLOP/s "
        "by roof).",
    ),
)
### BEGIN HIDDEN
attainable.wrong += [
    Wrong(
        "the larger of the two limits",
        lambda i, peak, bandwidth: np.maximum(peak, i * bandwidth),
        says="A kernel must stay under both limits, so the smaller one decides.",
    ),
    Wrong(
        "the bandwidth alone",
        lambda i, peak, bandwidth: i * bandwidth,
        says="Right of the ridge point the roof is flat: no kernel does more than `peak`.",
    ),
    Wrong(
        "bandwidth divided by intensity",
        lambda i, peak, bandwidth: np.minimum(peak, bandwidth / i),
        says="Look at the units: B/s times FLOP/B is FLOP/s.",
    ),
]


def share_of_peak(flops, moved, seconds, peak, bandwidth):
    return flops / moved * bandwidth < peak, flops / seconds / peak


def ridge_turned(flops, moved, seconds, peak, bandwidth):
    limited, share = classify_spec(flops, moved, seconds, peak, bandwidth)
    return ~limited, share


def below_the_roof(flops, moved, seconds, peak, bandwidth):
    share = classify_spec(flops, moved, seconds, peak, bandwidth)[1]
    return flops / seconds < peak, share


classify.wrong += [
    Wrong(
        "the share of the peak instead of the roof",
        share_of_peak,
        says="A kernel limited by memory cannot reach the peak. Measure it against its own roof.",
    ),
    Wrong(
        "the ridge point read the wrong way round",
        ridge_turned,
        says="Low intensity, left of the ridge point, means limited by memory.",
    ),
    Wrong(
        "slower than the peak taken for limited by memory",
        below_the_roof,
        says="What limits a kernel is a matter of its intensity, not of how fast it ran today.",
    ),
]
unseen(attainable, lambda rng: [Case("more", rng.uniform(0.1, 99, 20), 3e11, 4e10, public=False)])
unseen(classify, lambda rng: [Case("more", *kernels(rng, 30), public=False)])
### END HIDDEN
