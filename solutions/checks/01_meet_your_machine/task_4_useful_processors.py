"""Checks of lesson 01: useful processors."""

import itertools
from fractions import Fraction

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen

from .common import whole


### BEGIN PUBLIC SPEC
def useful_processors_spec(serial, divisible, worth):
    def seconds(p):
        return serial + Fraction(divisible, p)

    p = 1
    while seconds(p) - seconds(p + 1) >= worth:
        p += 1
    return p


### END PUBLIC SPEC
def useful_processors_cases(rng):
    yield Case("nothing can be divided", 10, 0, 1)
    yield Case("the second saves just enough", 3, 20, 10)
    yield Case("the second saves too little", 3, 19, 10)
    yield Case("60 s to divide, 1 s worth it", 40, 60, 1)
    yield Case("nothing is serial", 0, 1000, 2)
    yield Case("an hour", 360, 3240, 5)
    for _ in range(3):
        given = whole(rng, 1, 500), whole(rng, 100, 50_000), whole(rng, 1, 30)
        yield Case(f"{given[1]} s to divide", *given)


useful_processors = Task(
    "useful_processors",
    title="Find how many processors are useful",
    criteria=[Correct(useful_processors_spec, useful_processors_cases, points=2, agree=exact())],
    hints=(
        "Write the time on p processors as a function of p. What does one more save?",
        "The serial part is in both times, so it cancels: from p to p + 1 you save "
        "divisible / p - divisible / (p + 1) seconds.",
        "That is divisible / (p * (p + 1)). Start with p = 1 and raise it as long as this is at "
        "least `worth`. Multiply both sides by p * (p + 1), and nothing is rounded.",
    ),
)
### BEGIN HIDDEN


def amdahls_limit(serial, divisible, worth):
    return (serial + divisible) // serial if serial else divisible


useful_processors.wrong += [
    Wrong(
        "the mean of all instead of the last one",
        lambda serial, divisible, worth: max(1, divisible // worth),
        says="Each further processor saves less than the one before. Look at what the last one "
        "saves, not at the mean of all.",
    ),
    Wrong(
        "one too many",
        lambda s, d, worth: useful_processors_spec(s, d, worth) + 1,
        says="You returned the first processor that is no longer worth it.",
    ),
    Wrong(
        "the serial part divided too",
        lambda s, d, worth: useful_processors_spec(0, s + d, worth),
        says="More processors do not make the serial part shorter: only `divisible` is divided.",
    ),
    Wrong(
        "the limit of the speed-up taken for a number of processors",
        amdahls_limit,
        says="1/s is the speed-up that is never reached, not the number of useful processors.",
    ),
    Wrong(
        "just enough is not enough",
        lambda s, d, worth: next(p for p in itertools.count(1) if d <= worth * p * (p + 1)),
        says="At least `worth` seconds: saving exactly so many still counts.",
    ),
]
unseen(
    useful_processors,
    lambda rng: [
        Case("more", whole(rng, 1, 900), whole(rng, 10**5, 10**6), whole(rng, 1, 9), public=False)
    ],
)
### END HIDDEN
