"""How data lie: structures turned inside out, bytes taken eight at a time."""

import numpy as np
from numba import cuda

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, close, exact

from .common import sectors_of, unseen

# ------------------------------------------------------------------------------------- drift


### BEGIN PUBLIC SPEC
def drift_spec(particles, dt, steps):
    out = particles.copy()
    for _ in range(steps):
        out[:, 0:3] += np.float32(dt) * out[:, 3:6]
    return out


### END PUBLIC SPEC
def drift_cases(rng):
    for n, steps in ((2, 1), (64, 1), (100, 2), (1000, 3)):
        particles = rng.random((n, 8), dtype=np.float32)
        yield Case(f"{n} particles, {steps} step{'s' * (steps > 1)}", particles, 0.1, steps)


def values_of_steps(values):
    """Sectors of so many values a particle, in all steps; a row may begin inside a sector."""

    def budget(case):
        particles, _, steps = case.inputs
        return steps * values * (sectors_of(4 * len(particles)) + 1)

    return budget


drift = Task(
    "drift",
    title="Turn an array of structures into a structure of arrays",
    criteria=[
        Correct(drift_spec, drift_cases, points=2, agree=close(rtol=1e-4, atol=1e-5)),
        Clean(),
        Within("global_load_sectors", values_of_steps(6), times=1.5),
        Within("global_store_sectors", values_of_steps(3), times=1.5),
    ],
    hints=(
        "Thread i reads particles[i, 0]. How many bytes further does thread i + 1 read?",
        "Make an array of shape (8, n) on the host, whose rows lie one after the other in memory, "
        "and let the kernel use state[k, i].",
        "state = cuda.to_device(np.ascontiguousarray(particles.T)); launch move(state, dt) for "
        "each step; return np.ascontiguousarray(state.copy_to_host().T).",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def move_rows(p, dt):
    i = cuda.grid(1)
    if i < p.shape[0]:
        for k in range(3):
            p[i, k] += dt * p[i, k + 3]


@cuda.jit
def move_columns(state, dt):
    i = cuda.grid(1)
    if i < state.shape[1]:
        for k in range(3):
            state[k, i] += dt * state[k + 3, i]


def blocks_for(n):
    return -(-n // 128)


def drift_as_it_is(particles, dt, steps):
    state = cuda.to_device(particles)
    for _ in range(steps):
        move_rows[blocks_for(len(particles)), 128](state, np.float32(dt))
    return state.copy_to_host()


def drift_once(particles, dt, steps):
    state = cuda.to_device(np.ascontiguousarray(particles.T))
    move_columns[blocks_for(len(particles)), 128](state, np.float32(dt))
    return np.ascontiguousarray(state.copy_to_host().T)


def drift_not_turned_back(particles, dt, steps):
    state = cuda.to_device(np.ascontiguousarray(particles.T))
    for _ in range(steps):
        move_columns[blocks_for(len(particles)), 128](state, np.float32(dt))
    return state.copy_to_host()


drift.wrong += [
    Wrong(
        "an array of structures, as given or looked at through .T",
        drift_as_it_is,
        says="Each particle has 32 bytes, a sector of its own, and each of the six loads moves all "
        "of it. Change the layout: np.ascontiguousarray(particles.T).",
        fails="traffic",
    ),
    Wrong(
        "one step only",
        drift_once,
        says="The velocity must be added once for each step.",
    ),
    Wrong(
        "the result not turned back",
        drift_not_turned_back,
        says="The result has the shape (8, n). Turn it back into (n, 8).",
    ),
]
unseen(
    drift,
    lambda rng: [Case("hidden", rng.random((777, 8), dtype=np.float32), 0.25, 2, public=False)],
)
### END HIDDEN


# ---------------------------------------------------------------------------------- negative


### BEGIN PUBLIC SPEC
def negative_spec(image):
    return ~image


### END PUBLIC SPEC
def negative_cases(rng):
    for n in (8, 256, 1, 7, 1000, 1003, 5000):
        yield Case(f"{n} bytes", rng.integers(0, 256, n, np.uint8))


def wide_requests(case):
    """One for each 256 bytes, which is a warp with 8 bytes a lane, and two for the rest."""
    return -(-case.inputs[0].size // 256) + 2


negative = Task(
    "negative",
    title="Load and store eight bytes at once",
    criteria=[
        Correct(negative_spec, negative_cases, points=1, agree=exact()),
        Clean(),
        Within("global_load_requests", wide_requests),
        Within("global_store_requests", wide_requests),
    ],
    hints=(
        "Write it for bytes first: one pixel a thread. Then look at the requests: how many bytes "
        "does one of them bring?",
        "An array of 8 m bytes is, without a copy, an array of m uint64: image[: 8 * m].view("
        "np.uint64). The same kernel works for both. What is left has fewer than 8 bytes.",
        "whole = image.size // 8 * 8; launch invert on image[:whole].view(np.uint64) and on "
        "out[:whole].view(np.uint64), if whole is not 0; then out[whole:] = ~image[whole:].",
    ),
)
### BEGIN HIDDEN


@cuda.jit
def invert(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = ~x[i]


def negative_bytes(image):
    out = np.zeros_like(image)
    invert[-(-image.size // 128), 128](image, out)
    return out


def negative_rest_forgotten(image):
    out = np.zeros_like(image)
    whole = image.size // 8 * 8
    if whole:
        invert[-(-whole // 1024), 128](image[:whole].view(np.uint64), out[:whole].view(np.uint64))
    return out


@cuda.jit
def minus(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = np.uint64(0) - x[i]


def negative_of_words(image):
    out = ~image
    whole = image.size // 8 * 8
    if whole:
        minus[-(-whole // 1024), 128](image[:whole].view(np.uint64), out[:whole].view(np.uint64))
    return out


negative.wrong += [
    Wrong(
        "one byte for each thread",
        negative_bytes,
        says="The values are right, and each request brings 32 bytes. With 8 bytes a lane it "
        "brings 256.",
        fails="traffic",
    ),
    Wrong(
        "the last pixels are forgotten",
        negative_rest_forgotten,
        says="Where the length is no multiple of 8, up to 7 pixels remain. They need care of "
        "their own.",
    ),
    Wrong(
        "the negative number instead of inverted bits",
        negative_of_words,
        says="-x of a word of 8 bytes is not the negative of its pixels: a carry runs from byte to "
        "byte. ~x inverts every bit.",
    ),
]
unseen(
    negative,
    lambda rng: [Case("hidden", rng.integers(0, 256, 2777, np.uint8), public=False)],
)
### END HIDDEN
