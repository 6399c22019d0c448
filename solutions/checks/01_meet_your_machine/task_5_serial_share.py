"""Checks of lesson 01: serial share."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, unseen

from .common import NEARLY

NOTHING, SLOWER, FASTER = "says nothing", "slower than alone", "faster than possible"


### BEGIN PUBLIC SPEC
def serial_share_spec(t1, tp, p):
    if p == 1:
        return NOTHING
    if tp > t1:
        return SLOWER
    if tp * p < t1:
        return FASTER
    # Amdahl's time on p processors lies on a line between t1 / p (share 0) and t1 (share 1).
    return float(np.interp(tp, [t1 / p, t1], [0.0, 1.0]))


### END PUBLIC SPEC
def serial_share_cases(rng):
    yield Case("half is serial", 8.0, 6.0, 2)
    yield Case("all of it is serial", 8.0, 8.0, 4)
    yield Case("nothing is serial", 8.0, 2.0, 4)
    yield Case("whole seconds", 10, 4, 4)
    yield Case("slower than on one", 8.0, 9.0, 2)
    yield Case("more than p times faster", 8.0, 1.5, 4)
    yield Case("one processor", 8.0, 8.0, 1)
    for p in (2, 7, 64):
        yield Case(f"{p} processors", *random_times(rng, p))


def random_times(rng, p):
    share, t1 = rng.uniform(0.05, 0.9), rng.uniform(1, 100)
    return float(t1), float(t1 * (share + (1 - share) / p)), p


serial_share = Task(
    "serial_share",
    title="Find the serial share from two measurements",
    criteria=[Correct(serial_share_spec, serial_share_cases, points=3, agree=NEARLY)],
    hints=(
        "First sort out what Amdahl's law cannot explain. Then there is one equation with one "
        "unknown.",
        "tp / t1 = s + (1 - s) / p. Solve it for s. With p = 1 it holds for every s.",
        "s = (p * tp / t1 - 1) / (p - 1). Before that: p == 1, then tp > t1, then tp * p < t1, "
        "each with its text.",
    ),
)
### BEGIN HIDDEN


def share_by(formula):
    def function(t1, tp, p):
        told = serial_share_spec(t1, tp, p)
        return told if isinstance(told, str) else formula(t1, tp, p)

    return function


def clipped(t1, tp, p):
    if p == 1:
        return NOTHING
    return float(min(1.0, max(0.0, (p * tp / t1 - 1) / (p - 1))))


def unchecked(t1, tp, p):
    return (p * tp / t1 - 1) / (p - 1)


serial_share.wrong += [
    Wrong(
        "the time on p taken for the serial part",
        share_by(lambda t1, tp, p: tp / t1),
        says="The time on p processors holds the serial part *and* a piece of the divisible one.",
    ),
    Wrong(
        "the serial share counted twice",
        share_by(lambda t1, tp, p: tp / t1 - 1 / p),
        says="Of t1 / p a part is serial as well: divide by 1 - 1/p.",
    ),
    Wrong(
        "whole numbers divided without the rest",
        share_by(lambda t1, tp, p: float((1 / (t1 // tp) - 1 / p) / (1 - 1 / p))),
        says="// drops the rest of a division. A speed-up of 2.5 is not 2.",
    ),
    Wrong(
        "the efficiency taken for the share",
        share_by(lambda t1, tp, p: 1 - t1 / tp / p),
        says="1 - speed-up / p tells how much of the processors' time is lost, not how much of "
        "the program is serial.",
    ),
    Wrong(
        "impossible times squeezed between 0 and 1",
        clipped,
        says="No share explains these times. Say so, instead of returning 0 or 1 as if it were "
        "a finding.",
    ),
    Wrong(
        "impossible times not noticed",
        unchecked,
        says="A share below 0 or above 1, or a division by zero, is no share. Look at the "
        "measurements first.",
    ),
]
unseen(serial_share, lambda rng: [Case("more", *random_times(rng, 12), public=False)])
### END HIDDEN
