"""Checks of lesson 08: warps that split, and warps that wait for one lane."""

import functools
import itertools

import numpy as np
from numba import cuda, float32

import hetlab
from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, close, exact

hetlab.use_virtual_gpu()


### BEGIN HIDDEN
def unseen(task, cases, criterion=0):
    """Add inputs that feedback never shows."""
    judged = task.criteria[criterion]
    known = judged.cases
    judged.cases = lambda rng: itertools.chain(known(rng), cases(rng))


### END HIDDEN
# ---------------------------------------------------------------------------- two_channels


### BEGIN PUBLIC SPEC
def two_channels_spec(x, out):
    warm, cool = x[0::2].astype(np.float64), x[1::2].astype(np.float64)
    for _ in range(48):
        warm = warm + (1 - warm * warm) / 32
        cool = cool * (33 - cool) / 32
    out[0::2], out[1::2] = warm, cool


# What the exercise gives: right, and every warp walks through both sides.
@cuda.jit
def by_parity(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        if i % 2 == 0:
            for _ in range(48):
                v = v + float32(1 / 32) * (float32(1) - v * v)
        else:
            for _ in range(48):
                v = v * (float32(33 / 32) - float32(1 / 32) * v)
        out[i] = v


### END PUBLIC SPEC
def samples(label, x, **more):
    grid = -(-x.size // 128)
    return Case(label, x, np.zeros_like(x), grid=grid, block=128, **more)


def two_channels_cases(rng):
    for n in (64, 1, 2, 31, 65, 100, 128, 257, 1500):
        yield samples(f"n = {n}", rng.random(n, dtype=np.float32) + np.float32(0.1))


@functools.cache
def given_instructions(n):
    """Warp instructions of the kernel that the exercise gives, compiled in the same run."""
    x = np.ones(n, np.float32)
    given = hetlab.profile(by_parity[-(-n // 128), 128], x, np.zeros_like(x))
    return given.counters["instructions"]


def fewer_instructions(case):
    """Four fifths; with few numbers there are not enough whole warps to choose from."""
    n = case.inputs[0].size
    return given_instructions(n) * (0.8 if n >= 100 else 1.7)


two_channels = Task(
    "two_channels",
    title="Give each warp one side of the branch",
    criteria=[
        Correct(two_channels_spec, two_channels_cases, 1, agree=close(rtol=1e-5), changes=(1,)),
        Clean(1),
        Within("instructions", fewer_instructions, 2),
    ],
    hints=(
        "The branch costs both sides because neighbours disagree. It may stay, if whole warps "
        "agree on it: i is yours to choose.",
        "Two warps share 64 neighbouring numbers: one takes the even ones, the other the odd "
        "ones. Or one thread takes a pair of neighbours, and there is no branch at all.",
        "With t = grid(1), warp = t // 32, lane = t % 32: i = warp // 2 * 64 + 2 * lane + "
        "warp % 2, and the branch asks warp % 2.",
    ),
    not_checked="memory: a warp that takes every second number asks for twice the sectors",
)
### BEGIN HIDDEN


@cuda.jit
def both_and_choose(x, out):
    i = cuda.grid(1)
    if i < x.size:
        a = b = x[i]
        for _ in range(48):
            a = a + float32(1 / 32) * (float32(1) - a * a)
            b = b * (float32(33 / 32) - float32(1 / 32) * b)
        out[i] = a if i % 2 == 0 else b


@cuda.jit
def channel_by_warp_of_i(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        if i // 32 % 2 == 0:
            for _ in range(48):
                v = v + float32(1 / 32) * (float32(1) - v * v)
        else:
            for _ in range(48):
                v = v * (float32(33 / 32) - float32(1 / 32) * v)
        out[i] = v


@cuda.jit
def guard_on_the_thread(x, out):
    t = cuda.grid(1)
    warp, lane = t // 32, t % 32
    i = warp // 2 * 64 + 2 * lane + warp % 2
    if t < x.size:
        v = x[i]
        if warp % 2 == 0:
            for _ in range(48):
                v = v + float32(1 / 32) * (float32(1) - v * v)
        else:
            for _ in range(48):
                v = v * (float32(33 / 32) - float32(1 / 32) * v)
        out[i] = v


two_channels.wrong += [
    Wrong(
        "the branch asks for the thread's parity",
        by_parity,
        "Neighbouring lanes disagree, so every warp runs both sides, half empty.",
        fails="traffic",
    ),
    Wrong(
        "both sides for everybody",
        both_and_choose,
        "No branch is left, and every thread computes both channels: nothing is saved.",
        fails="traffic",
    ),
    Wrong(
        "the channel is chosen by warp, the number is not",
        channel_by_warp_of_i,
        "Warps agree now, but numbers get the wrong channel. Choose i such that a warp's numbers "
        "all belong to its channel.",
    ),
    Wrong(
        "the guard looks at the thread",
        guard_on_the_thread,
        "The thread's number and its i differ now; the guard must ask for i.",
    ),
]
unseen(
    two_channels,
    lambda rng: [samples("more", rng.random(1023, dtype=np.float32) + 0.2, public=False)],
)
### END HIDDEN


# --------------------------------------------------------------------------- lockstep_steps


### BEGIN PUBLIC SPEC
def lockstep_steps_spec(turns):
    def steps(order):
        return sum(int(max(order[w : w + 32])) for w in range(0, len(order), 32))

    return steps(turns.tolist()), steps(sorted(turns.tolist()))


### END PUBLIC SPEC
def lockstep_steps_cases(rng):
    yield Case("one thread, 5 turns", np.array([5]))
    yield Case("64 threads, one of them with 9 turns", np.where(np.arange(64) == 40, 9, 1))
    yield Case("33 threads", rng.integers(0, 20, 33))
    yield Case("256 threads, every 32nd long", np.where(np.arange(256) % 32 == 0, 50, 1))
    yield Case("1000 threads", rng.integers(1, 100, 1000))
    yield Case("nothing to do", np.zeros(40, np.int64))


lockstep_steps = Task(
    "lockstep_steps",
    title="Count the steps of warps in a loop",
    criteria=[Correct(lockstep_steps_spec, lockstep_steps_cases, 2, agree=exact(strict=False))],
    hints=(
        "A warp stays in the loop as long as one of its lanes does.",
        "So a warp takes as many steps as its longest lane has turns; the warps are added up. The "
        "last warp may have fewer than 32 lanes.",
        "Fill the array with zeros up to a multiple of 32, reshape(-1, 32), max(axis=1), sum(). "
        "Then the same of np.sort(turns).",
    ),
)
### BEGIN HIDDEN


def padded(turns):
    turns = np.asarray(turns)
    return np.pad(turns, (0, -turns.size % 32)).reshape(-1, 32)


def both(count):
    return lambda turns: (int(count(turns)), int(count(np.sort(turns))))


lockstep_steps.wrong += [
    Wrong(
        "every lane counts for itself",
        both(lambda t: t.sum()),
        "That is the work of all lanes. They take their steps together, 32 at a time.",
    ),
    Wrong(
        "the mean of a warp",
        both(lambda t: int(np.ceil(padded(t).mean(axis=1)).sum())),
        "A warp is done when its longest lane is done, not when the average lane is.",
    ),
    Wrong(
        "the last warp is forgotten",
        both(lambda t: padded(t[: t.size // 32 * 32]).max(axis=1, initial=0).sum()),
        "A last warp with fewer than 32 lanes takes its steps as well.",
    ),
    Wrong(
        "all threads as one warp",
        both(lambda t: t.max() * -(-t.size // 32)),
        "Warps do not wait for each other: each has its own longest lane.",
    ),
]
unseen(
    lockstep_steps,
    lambda rng: [Case("more", rng.integers(0, 9, 777) ** 2, public=False)],
)
### END HIDDEN
