"""One call for two targets, a cache of compiled operators, and a search for a tile."""

import functools

import numpy as np
import tvm
from tvm import s_tir, te

from hetlab.grading import Case, Clean, Correct, Task, Wrong, exact, unseen

from .common import FLOAT32, GPU

# -------------------------------------------------------------------------------- wherever


### BEGIN PUBLIC SPEC
def wherever_spec(x, y, target):
    return np.sqrt(x.astype(np.float64) ** 2 + y.astype(np.float64) ** 2).astype(np.float32)


### END PUBLIC SPEC
def vectors(rng, n):
    return tuple(rng.normal(size=(2, n)).astype(np.float32))


def wherever_cases(rng):
    for n, target in ((128, "cpu"), (128, "gpu"), (1000, "gpu"), (1, "gpu"), (77, "cpu")):
        yield Case(f"n = {n} on the {target}", *vectors(rng, n), target)


wherever = Task(
    "wherever",
    title="One call, two targets",
    criteria=[
        Correct(wherever_spec, wherever_cases, points=2, agree=FLOAT32),
        Clean(),
    ],
    hints=(
        "The description is the same for both. What does the GPU need that the CPU does not?",
        "For the GPU: split the loop, and bind the two parts to blocks and threads. For the CPU: "
        "nothing, or vectorise.",
        'sch = s_tir.Schedule(mod); if target == "gpu": split, bind. Then tvm.compile(sch.mod, '
        'target=GPU if target == "gpu" else "llvm").',
    ),
)
### BEGIN HIDDEN


@functools.lru_cache(maxsize=32)
def hypotenuse(n, target, form="right"):
    x, y = te.placeholder((n,), name="X"), te.placeholder((n,), name="Y")
    form_of = {
        "right": lambda i: te.sqrt(x[i] * x[i] + y[i] * y[i]),
        "no root": lambda i: x[i] * x[i] + y[i] * y[i],
        "sum": lambda i: x[i] + y[i],
    }
    z = te.compute((n,), form_of[form], name="Z")
    sch = s_tir.Schedule(tvm.IRModule({"main": te.create_prim_func([x, y, z])}))
    if target == "gpu":
        block, thread = sch.split(sch.get_loops(sch.get_sblock("Z"))[0], [None, 128])
        sch.bind(block, "blockIdx.x")
        sch.bind(thread, "threadIdx.x")
    return tvm.compile(sch.mod, target=GPU if target == "gpu" else "llvm")


def by_form(form):
    def compute(x, y, target):
        z = np.zeros_like(x)
        hypotenuse(x.size, target, form)["main"](x, y, z)
        return z

    return compute


def whole_blocks(x, y, target):
    z = np.zeros_like(x)
    n = x.size // 128 * 128
    if n:
        hypotenuse(n, target)["main"](x[:n].copy(), y[:n].copy(), z[:n])
    return z


wherever.wrong += [
    Wrong(
        "no square root", by_form("no root"), says="The length is the root of the sum of squares."
    ),
    Wrong("a sum", by_form("sum"), says="Square both before adding, and take the root."),
    Wrong(
        "whole blocks only",
        whole_blocks,
        says="With a fixed number of blocks the rest of the array is left out. "
        "Split with [None, 128]: TVM rounds up, and guards the end.",
    ),
]
unseen(wherever, lambda rng: [Case("another", *vectors(rng, 333), "gpu", public=False)])
### END HIDDEN


# ----------------------------------------------------------------------------------- serve


### BEGIN PUBLIC SPEC
def serve_spec(operators, arrays):
    do = {"double": lambda x: 2 * x, "square": lambda x: x * x, "negate": lambda x: -x}
    return [do[name](x) for name, x in zip(operators, arrays)]


### END PUBLIC SPEC
def serve_cases(rng):
    def one(n, dtype="float32"):
        return (8 * rng.random(n)).astype(dtype)

    yield Case("one request", ["double"], [one(4)])
    yield Case("two operators", ["double", "square"], [one(4), one(4)])
    yield Case("two lengths", ["square", "square"], [one(4), one(7)])
    yield Case("two types", ["double", "double"], [one(5), one(5, "float64")])
    kinds = ["float32", "int32", "float64", "int32", "float32"]
    many = ["negate", "negate", "double", "square", "square"]
    yield Case("a mixture", many, [one(n, t) for n, t in zip((3, 3, 3, 9, 9), kinds)])


serve = Task(
    "serve",
    title="Repair a cache of compiled operators",
    criteria=[Correct(serve_spec, serve_cases, points=3, agree=exact())],
    hints=(
        "Send the draft two arrays of different length, then two of different type.",
        "A compiled operator is made for one length and one type. The cache must not hand it to "
        "others.",
        "Everything that the compiled code depends on belongs into the key: name, x.size, "
        "str(x.dtype).",
    ),
)
### BEGIN HIDDEN


def served(*, by_length=True, by_type=True, by_name=True):
    """A cache whose key leaves something out."""

    def compute(operators, arrays):
        do = {"double": lambda x: 2 * x, "square": lambda x: x * x, "negate": lambda x: -x}
        cache, out = {}, []
        for name, x in zip(operators, arrays):
            key = (by_name and name, by_length and x.size, by_type and x.dtype)
            kept, n, dtype = cache.setdefault(key, (name, x.size, x.dtype))
            if n != x.size or dtype != x.dtype:
                raise TypeError(f"compiled for {n} x {dtype}, called with {x.size} x {x.dtype}")
            out.append(do[kept](x))
        return out

    return compute


def all_float32(operators, arrays):
    return serve_spec(operators, [x.astype(np.float32) for x in arrays])


serve.wrong += [
    Wrong(
        "the draft as it was",
        served(by_length=False, by_type=False),
    ),
    Wrong(
        "everything becomes float32",
        all_float32,
        says="Converting the input avoids a second compilation, and changes the result's type "
        "and its digits. Compile for each type instead.",
    ),
    Wrong(
        "the operator is not in the key",
        served(by_name=False),
        says="Two operators on arrays of the same length and type get the same code.",
    ),
]


def more_requests(rng):
    arrays = [rng.random(6).astype(t) for t in ("float64", "float32", "float64")]
    yield Case("another", ["square", "square", "negate"], arrays, public=False)


unseen(serve, more_requests)
### END HIDDEN


# ------------------------------------------------------------------------------- best_tile


### BEGIN PUBLIC SPEC
def best_tile_spec(m, n, shared_bytes, most_threads):
    sizes = [4, 8, 16, 32, 64, 128]
    found = []
    for tall in sizes:
        for wide in sizes:
            threads = tall * wide // 16  # a thread computes 4 x 4 elements
            shared = 4 * 16 * (tall + wide)  # steps of 16 along k, float32
            fits = m % tall == 0 and n % wide == 0
            if fits and 1 <= threads <= most_threads and shared <= shared_bytes:
                loads = (m // tall) * (n // wide) * (tall + wide)  # for each step of 1 along k
                found.append((loads, threads, tall, wide))
    return min(found)[2:]


### END PUBLIC SPEC
def best_tile_cases(rng):
    yield Case("64 x 64, room for all", 64, 64, 163840, 1024)
    yield Case("1024 x 1024, little shared memory", 1024, 1024, 4096, 1024)
    yield Case("1024 x 1024, few threads", 1024, 1024, 49152, 64)
    yield Case("96 x 32", 96, 32, 49152, 1024)
    yield Case("128 x 4", 128, 4, 49152, 1024)


best_tile = Task(
    "best_tile",
    title="Search for a tile in a model",
    criteria=[Correct(best_tile_spec, best_tile_cases, points=3, agree=exact())],
    hints=(
        "There are 36 candidates. Throw out those that do not fit, and compute the loads of the "
        "others.",
        "Ties are broken in order: fewer loads, then fewer threads, then the smaller tall.",
        "Make a list of tuples (loads, threads, tall, wide) and take its min.",
    ),
)
### BEGIN HIDDEN


def tile_by(key, limits=True):
    def search(m, n, shared_bytes, most_threads):
        found = []
        for tall in (4, 8, 16, 32, 64, 128):
            for wide in (4, 8, 16, 32, 64, 128):
                threads, shared = tall * wide // 16, 64 * (tall + wide)
                fits = m % tall == 0 and n % wide == 0
                inside = threads <= most_threads and shared <= shared_bytes
                if fits and (inside or not limits):
                    loads = (m // tall) * (n // wide) * (tall + wide)
                    found.append((key(loads, threads, tall, wide), threads, tall, wide))
        return min(found)[2:]

    return search


best_tile.wrong += [
    Wrong(
        "the largest tile",
        tile_by(lambda loads, threads, tall, wide: -tall * wide),
        says="Among tiles with many elements the flat ones load more. Compare the loads.",
    ),
    Wrong(
        "the limits are ignored",
        tile_by(lambda loads, threads, tall, wide: loads, limits=False),
        says="This tile needs more shared memory, or more threads, than there are.",
    ),
    Wrong(
        "a square, however small",
        tile_by(lambda loads, threads, tall, wide: abs(tall - wide)),
        says="Among tiles of one area the square loads least. But a larger tile loads less than "
        "a smaller square.",
    ),
]
unseen(best_tile, lambda rng: [Case("another", 512, 64, 6144, 256, public=False)])
### END HIDDEN

TASKS = [wherever, serve, best_tile]
