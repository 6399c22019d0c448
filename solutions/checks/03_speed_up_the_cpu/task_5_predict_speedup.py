"""Checks of lesson 03: predict speedup."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, close, unseen


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
