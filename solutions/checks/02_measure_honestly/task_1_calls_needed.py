"""Checks of lesson 02: calls needed."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen


### BEGIN PUBLIC SPEC
def calls_needed_spec(call_ns, step_ns):
    needed = []
    for call in call_ns.tolist():
        calls = 1
        while calls * call < 1000 * step_ns:
            calls += 1
        needed.append(calls)
    return np.array(needed, dtype=np.int64)


### END PUBLIC SPEC
def calls_needed_cases(rng):
    yield Case("one call of 7 ns, steps of 1 ns", np.array([7]), 1)
    yield Case("exactly 1000 steps long", np.array([1000, 500, 250, 40_000]), 1)
    yield Case("longer than 1000 steps", np.array([1001, 999, 5_000_000]), 1)
    yield Case("steps of 41 ns", np.array([12, 150, 41_000, 40_999]), 41)
    yield Case("no call", np.array([], dtype=np.int64), 10)
    yield Case("steps of 100 ns", rng.integers(20, 300_000, 9), 100)


calls_needed = Task(
    "calls_needed",
    title="Make a sample long enough for the clock",
    criteria=[Correct(calls_needed_spec, calls_needed_cases, points=2, agree=exact())],
    hints=(
        "How long must a sample last in nanoseconds? The step of the clock says it.",
        "It must last 1000 * step_ns. Divide by the length of a call, and think about what is left "
        "over: a sample that is one call short is too short.",
        "Round up: -(-a // b) is a / b rounded up for whole numbers, and works on arrays too.",
    ),
)
### BEGIN HIDDEN
calls_needed.wrong += [
    Wrong(
        "rounded down",
        lambda c, s: np.maximum(1, 1000 * s // c),
        says="When the division leaves a rest, your sample is one call short of 1000 steps.",
    ),
    Wrong(
        "no call at all when one is long enough",
        lambda c, s: 1000 * s // c,
        says="A sample holds at least one call; rounding down left some with none.",
    ),
    Wrong(
        "one step of the clock is enough",
        lambda c, s: -(-s // c),
        says="A sample of one step may be off by all of itself. It should last 1000 steps.",
    ),
    Wrong(
        "the same number for all",
        lambda c, s: np.full(c.shape, -(-1000 * s // c.min()) if c.size else 0),
        says="Each call has a length of its own, so each needs its own number.",
    ),
    Wrong(
        "the division turned over",
        lambda c, s: -(-1000 * c // s),
        says="Shorter calls need more repetitions, and yours get fewer.",
    ),
]
unseen(calls_needed, lambda rng: [Case("more", rng.integers(5, 90_000, 40), 17, public=False)])
### END HIDDEN
