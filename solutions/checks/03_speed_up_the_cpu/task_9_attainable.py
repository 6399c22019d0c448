"""Checks of lesson 03: attainable, classify."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, close, unseen


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
