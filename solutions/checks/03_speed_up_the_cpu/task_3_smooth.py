"""Checks of lesson 03: smooth."""

import numpy as np

from hetlab.grading import Case, Correct, Faster, Task, Wrong, close, unseen


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
