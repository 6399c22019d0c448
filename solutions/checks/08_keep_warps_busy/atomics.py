"""Checks of lesson 08: updates that meet at one address."""

import itertools
from dataclasses import dataclass, field

import numpy as np
from numba import cuda

import hetlab
from hetlab.grading import Agreement, Case, Clean, Correct, Task, Within, Wrong, exact

hetlab.use_virtual_gpu()

BLOCK = 128


### BEGIN HIDDEN
def unseen(task, cases, criterion=0):
    """Add inputs that feedback never shows."""
    judged = task.criteria[criterion]
    known = judged.cases
    judged.cases = lambda rng: itertools.chain(known(rng), cases(rng))


### END HIDDEN
def warps(case):
    """Warps that the elements of the first input fill."""
    return -(-case.inputs[0].size // 32)


# ----------------------------------------------------------------------------- count_above


### BEGIN PUBLIC SPEC
def count_above_spec(x, limit, out):
    out[0] = np.count_nonzero(x > limit)


### END PUBLIC SPEC
def counting(label, x, limit, **more):
    out = np.zeros(1, np.int32)
    return Case(label, x, np.float32(limit), out, grid=-(-x.size // BLOCK), block=BLOCK, **more)


def count_above_cases(rng):
    one = np.zeros(100, np.float32)
    one[70] = 1
    yield counting("one of 100 lies above", one, 0.5)
    yield counting("two of 100 lie above", np.roll(np.maximum(one, one[::-1]), 5), 0.5)
    for n in (1, 33, 1000):
        yield counting(f"n = {n}", rng.random(n, dtype=np.float32), 0.25)
    yield counting("n = 257, none above", rng.random(257, dtype=np.float32), 2)
    yield counting("n = 300, equal to the limit", np.full(300, 0.5, np.float32), 0.5)


count_above = Task(
    "count_above",
    title="Count without losing an update",
    criteria=[
        Correct(count_above_spec, count_above_cases, 1, agree=exact(), changes=(2,)),
        Clean(1),
    ],
    hints=(
        "out[0] += 1 is three steps: read, add, write. What does another thread see in between?",
        "An atomic operation does the three steps as one. cuda.atomic.add takes the array, the "
        "index and what to add.",
        "Under the same condition as before: cuda.atomic.add(out, 0, 1). Nothing else changes.",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def plain_add(x, limit, out):
    i = cuda.grid(1)
    if i < x.size and x[i] > limit:
        out[0] += 1


@cuda.jit
def count_at_least(x, limit, out):
    i = cuda.grid(1)
    if i < x.size and x[i] >= limit:
        cuda.atomic.add(out, 0, 1)


@cuda.jit
def count_unguarded(x, limit, out):
    i = cuda.grid(1)
    if x[i] > limit:
        cuda.atomic.add(out, 0, 1)


count_above.wrong += [
    Wrong(
        "a plain += by many threads",
        plain_add,
        "Threads read the same old count, and all but one of their updates are lost.",
    ),
    Wrong(
        "equal counts as above", count_at_least, "A value that equals the limit is not above it."
    ),
    Wrong(
        "no guard",
        count_unguarded,
        "The last block has threads without an element; they must not read x.",
        fails="hazard",
    ),
]
unseen(
    count_above,
    lambda rng: [counting("more", rng.random(2049, dtype=np.float32), 0.7, public=False)],
)
### END HIDDEN


# ---------------------------------------------------------------------------------- append


### BEGIN PUBLIC SPEC
def append_spec(x, limit, count, out):
    kept = x[x > limit]
    count[0] = kept.size
    out[: kept.size] = kept  # in any order


### END PUBLIC SPEC
@dataclass(frozen=True)
class AnyOrder(Agreement):
    """What stands before the -1 of the expected array may stand in any order."""

    near: object = field(default_factory=lambda: exact().near)
    text: str = "equal in any order"

    def __call__(self, expected, got):
        if isinstance(got, np.ndarray) and got.shape == expected.shape and got.ndim == 1:
            n = int(np.count_nonzero(expected != -1))
            expected = np.concatenate([np.sort(expected[:n]), expected[n:]])
            got = np.concatenate([np.sort(got[:n]), got[n:]])
        return super().__call__(expected, got)


def appending(label, x, limit, **more):
    count, out = np.zeros(1, np.int32), np.full(x.size, -1, np.float32)
    grid = -(-x.size // BLOCK)
    return Case(label, x, np.float32(limit), count, out, grid=grid, block=BLOCK, **more)


def append_cases(rng):
    one = np.zeros(100, np.float32)
    one[70] = 1
    yield appending("one of 100 is kept", one, 0.5)
    for n in (1, 33, 200, 1000):
        yield appending(f"n = {n}", rng.random(n, dtype=np.float32), 0.25)
    yield appending("n = 257, none kept", rng.random(257, dtype=np.float32), 2)
    yield appending("n = 300, all kept", rng.random(300, dtype=np.float32), -1)


append = Task(
    "append",
    title="Reserve places in a list",
    criteria=[
        Correct(append_spec, append_cases, 2, agree=AnyOrder(), changes=(2, 3)),
        Clean(1),
        Within("atomic_turns", warps, 1),
    ],
    hints=(
        "count[0] that is read before or after the atomic addition belongs to nobody: others add "
        "in between. cuda.atomic.add returns something.",
        "What it returns is the old value: a place that no other thread gets. For the last point "
        "one lane asks for places for its whole warp: ballot_sync tells who keeps something, "
        "popc counts them, shfl_sync hands the answer round.",
        "mask = ballot_sync(all lanes, keep); the leader is lane ffs(mask) - 1; it alone calls "
        "base = atomic.add(count, 0, popc(mask)); everybody gets base by shfl_sync from the "
        "leader; a lane's place is base + popc(mask & lower), lower = (1 << lane) - 1.",
    ),
    not_checked="the order of what is kept",
)
### BEGIN HIDDEN


@cuda.jit
def place_read_before(x, limit, count, out):
    i = cuda.grid(1)
    if i < x.size and x[i] > limit:
        place = count[0]
        cuda.atomic.add(count, 0, 1)
        out[place] = x[i]


@cuda.jit
def place_read_after(x, limit, count, out):
    i = cuda.grid(1)
    if i < x.size and x[i] > limit:
        cuda.atomic.add(count, 0, 1)
        out[count[0] - 1] = x[i]


@cuda.jit
def a_turn_a_lane(x, limit, count, out):
    i = cuda.grid(1)
    if i < x.size and x[i] > limit:
        out[cuda.atomic.add(count, 0, 1)] = x[i]


@cuda.jit
def base_kept_by_the_leader(x, limit, count, out):
    i = cuda.grid(1)
    keep = i < x.size and x[i] > limit
    mask = cuda.ballot_sync(0xFFFFFFFF, keep)
    lane = cuda.laneid
    base = 0
    if mask and lane == cuda.ffs(mask) - 1:
        base = cuda.atomic.add(count, 0, cuda.popc(mask))
    if keep:
        out[base + cuda.popc(mask & ((1 << lane) - 1))] = x[i]


append.wrong += [
    Wrong(
        "the place is read before the addition",
        place_read_before,
        "Between the read and the atomic addition other threads read the same place. Use what "
        "the atomic addition returns.",
    ),
    Wrong(
        "the place is read after the addition",
        place_read_after,
        "After the atomic addition other threads have added too. Use what it returns.",
    ),
    Wrong(
        "every lane asks for itself",
        a_turn_a_lane,
        "Right, and the lanes of a warp take turns at one counter. Let one lane ask for all.",
        fails="traffic",
    ),
    Wrong(
        "only the leader knows the base",
        base_kept_by_the_leader,
        "The leader reserved places for all, and the other lanes still have their own base. Hand "
        "it round with shfl_sync.",
    ),
]
unseen(
    append, lambda rng: [appending("more", rng.random(3000, dtype=np.float32), 0.5, public=False)]
)
### END HIDDEN
