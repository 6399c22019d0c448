"""Loops and their strides; a description of one's own; a matrix product that is all right."""

import numpy as np
import tvm
from tvm import te

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen

from .common import FLOAT32, as_given, describe, library, matrices, product

# --------------------------------------------------------------------------------- strides


### BEGIN PUBLIC SPEC
def strides_spec(order, n):
    inner = order[-1]
    at = {
        "A": lambda i, j, k: i * n + k,
        "B": lambda i, j, k: k * n + j,
        "C": lambda i, j, k: i * n + j,
    }
    one_step = {name: int(name == inner) for name in "ijk"}
    return tuple(place(**one_step) - place(0, 0, 0) for place in at.values())


### END PUBLIC SPEC
def strides_cases(rng):
    for order in ("ijk", "ikj", "jki", "kij", "jik"):
        yield Case(f"loops {order}, n = 512", order, 512)
    yield Case("loops kji, n = 64", "kji", 64)


strides = Task(
    "strides",
    title="Find the strides of the innermost loop",
    criteria=[Correct(strides_spec, strides_cases, points=2, agree=exact())],
    hints=(
        "Only the last letter of the order matters: it names the loop that runs fastest.",
        "Element (r, c) of an n x n matrix lies at r * n + c. By how much does that grow when the "
        "innermost index grows by one?",
        'For "k": A moves by 1, B by n, C not at all.',
    ),
)
### BEGIN HIDDEN
strides.wrong += [
    Wrong(
        "the outermost loop",
        lambda order, n: {"i": (n, 0, n), "j": (0, 1, 1), "k": (1, n, 0)}[order[0]],
        says="The first letter is the outermost loop, which runs slowest. The last one decides.",
    ),
    Wrong(
        "rows and columns swapped",
        lambda order, n: {"i": (1, 0, 1), "j": (0, n, n), "k": (n, 1, 0)}[order[-1]],
        says="Rows lie one after another in memory: one row further is n elements, one column "
        "further is 1.",
    ),
]
unseen(strides, lambda rng: [Case("another", "ijk", 99, public=False), Case("another", "jki", 7)])
### END HIDDEN


# ------------------------------------------------------------------------------- row_norms


### BEGIN PUBLIC SPEC
def row_norms_spec(x):
    return np.sqrt((x.astype(np.float64) ** 2).sum(1)).astype(np.float32)


### END PUBLIC SPEC
def row_norms_cases(rng):
    for n, m in ((4, 8), (7, 33), (1, 1), (20, 100)):
        yield Case(f"{n} x {m}", rng.normal(size=(n, m)).astype(np.float32))


row_norms = Task(
    "row_norms",
    title="Describe an operator: the length of each row",
    criteria=[Correct(row_norms_spec, row_norms_cases, points=2, agree=FLOAT32)],
    hints=(
        "Two steps, two te.compute: the sum of squares of each row, then its square root.",
        "A sum needs te.reduce_axis((0, m)) and te.sum(..., axis=k). te.sqrt takes one element.",
        "S = te.compute((n,), lambda i: te.sum(X[i, k] * X[i, k], axis=k)); then "
        "R = te.compute((n,), lambda i: te.sqrt(S[i])).",
    ),
)
### BEGIN HIDDEN


def norms(n, m, form):
    x = te.placeholder((n, m), name="X")
    k = te.reduce_axis((0, m), name="k")
    power = {"sums": lambda v: v, "last": lambda v: v * v}.get(form, lambda v: v * v)
    s = te.compute((n,), lambda i: te.sum(power(x[i, k]), axis=k), name="S")
    root = s if form == "squares" else te.compute((n,), lambda i: te.sqrt(s[i]), name="R")
    return tvm.IRModule({"main": te.create_prim_func([x, root])})


def wrong_norms(form):
    def by_form(x):
        out = np.zeros(x.shape[0], np.float32)
        library(norms, as_given, "llvm", *x.shape, form)["main"](x, out)
        return out

    return by_form


def by_columns(x):
    return np.sqrt((x**2).sum(0)).astype(np.float32)


row_norms.wrong += [
    Wrong(
        "no square root",
        wrong_norms("squares"),
        says="These are the sums of squares. The length is the square root of each.",
    ),
    Wrong(
        "the elements are not squared",
        wrong_norms("sums"),
        says="Square each element before adding: x[i, k] * x[i, k].",
    ),
    Wrong(
        "columns instead of rows",
        by_columns,
        says="One result for each row: the axis that is added up is the second one.",
    ),
]
unseen(
    row_norms,
    lambda rng: [Case("another", rng.normal(size=(9, 41)).astype(np.float32), public=False)],
)
### END HIDDEN


# ---------------------------------------------------------------------------- repaired_cpu


### BEGIN PUBLIC SPEC
def repaired_cpu_spec(a, b):
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)


### END PUBLIC SPEC
def repaired_cpu_cases(rng):
    for n, m, k in ((1, 1, 1), (33, 20, 47), (128, 128, 128)):
        yield Case(f"{n} x {k} by {k} x {m}", *matrices(rng, n, m, k))


repaired_cpu = Task(
    "repaired_cpu",
    title="Repair a sample: the product on the CPU",
    criteria=[Correct(repaired_cpu_spec, repaired_cpu_cases, points=3, agree=FLOAT32)],
    hints=(
        "Compile the description first, and compare with a @ b for small sizes. Does every term "
        "of the sums take part?",
        "There is no te.create_schedule any more. Without any schedule: "
        'tvm.compile(tvm.IRModule({"main": te.create_prim_func([A, B, C])}), target="llvm").',
        "The reduce axis must run over (0, k). The shapes come from the arrays, not from 128.",
    ),
)
### BEGIN HIDDEN


def one_short(n, m, k):
    return describe(n, m, k, max(1, k - 1))


def always_128(a, b):
    n, m, k = (min(128, v) for v in (a.shape[0], b.shape[1], a.shape[1]))
    out = np.zeros((128, 128), np.float32)
    out[:n, :m] = a[:n, :k] @ b[:k, :m]
    return out


repaired_cpu.wrong += [
    Wrong(
        "one term is missing",
        lambda a, b: product(as_given, "llvm", a, b, describing=one_short),
        says="The sums leave out their last term: the range of a reduce axis ends before its end, "
        "as in Python.",
    ),
    Wrong(
        "always 128 x 128",
        always_128,
        says="The sample fixes all sizes at 128. Take them from the arrays.",
    ),
    Wrong(
        "element by element",
        lambda a, b: a * b if a.shape == b.shape else a,
        says="This multiplies elements that stand in the same place. A matrix product adds up "
        "A[i, k] * B[k, j] over k.",
    ),
]
unseen(repaired_cpu, lambda rng: [Case("another", *matrices(rng, 50, 30, 61), public=False)])
### END HIDDEN

TASKS = [strides, row_norms, repaired_cpu]
