"""Placing work: one operator on the best device, and a chain of stages over several."""

import itertools

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen

from .common import SECONDS

# ------------------------------------------------------------------------------ device_time


### BEGIN PUBLIC SPEC
def device_time_spec(start, link, rate, bandwidth, moved, work, touched):
    transfer = moved / link if link else 0.0  # no link: the data are there already
    return start + transfer + max(work / rate, touched / bandwidth)


### END PUBLIC SPEC
def device_time_cases(rng):
    yield Case("memory decides", 1e-5, 16e9, 19.5e12, 1.5e12, 8e6, 2e6, 12e6)
    yield Case("arithmetic decides", 1e-5, 16e9, 19.5e12, 1.5e12, 8e6, 2e12, 12e6)
    yield Case("the start decides", 1e-5, 16e9, 19.5e12, 1.5e12, 8.0, 2.0, 12.0)
    yield Case("no link", 1e-6, 0.0, 1e11, 2e10, 8e6, 2e6, 12e6)


device_time = Task(
    "device_time",
    title="Model the time of a device",
    criteria=[Correct(device_time_spec, device_time_cases, points=2, agree=SECONDS)],
    hints=(
        "Three terms are added: the start, the transfer, and the work itself.",
        "The work itself is the roofline of lesson 03: arithmetic and memory traffic overlap, so "
        "the slower of the two decides.",
        "start + (moved / link if link else 0) + max(work / rate, touched / bandwidth).",
    ),
)
### BEGIN HIDDEN


def free_transfer(start, link, rate, bandwidth, moved, work, touched):
    return start + max(work / rate, touched / bandwidth)


def all_added(start, link, rate, bandwidth, moved, work, touched):
    return start + (moved / link if link else 0) + work / rate + touched / bandwidth


def all_overlap(start, link, rate, bandwidth, moved, work, touched):
    return start + max(moved / link if link else 0, work / rate, touched / bandwidth)


device_time.wrong += [
    Wrong(
        "the transfer is forgotten",
        free_transfer,
        says="The data must reach the device first: moved / link seconds.",
    ),
    Wrong(
        "arithmetic and memory one after the other",
        all_added,
        says="A processor computes while it loads: the slower of the two decides, not their sum.",
    ),
    Wrong(
        "the transfer overlaps as well",
        all_overlap,
        says="Here the work begins when the data have arrived. Overlapping transfers is a later "
        "lesson's trick.",
    ),
]
unseen(
    device_time,
    lambda rng: [
        Case("another", 2e-5, 3e9, 1e12, 4e11, *(float(v) for v in rng.integers(1, 1e9, 3)),
             public=False)
    ],
)  # fmt: skip
### END HIDDEN


# ------------------------------------------------------------------------------ place_chain


### BEGIN PUBLIC SPEC
def place_chain_spec(compute, move):
    """All combinations are tried: right, and far too slow for dozens of stages."""

    def seconds(where):
        there = sum(compute[s][d] for s, d in enumerate(where))
        return there + sum(move[s][a][b] for s, (a, b) in enumerate(itertools.pairwise(where)))

    stages, devices = len(compute), len(compute[0])
    return list(min(itertools.product(range(devices), repeat=stages), key=seconds))


### END PUBLIC SPEC
def chain(rng, stages, devices, far=1.0):
    compute = rng.uniform(1, 10, (stages, devices)).round(2)
    move = far * rng.uniform(1, 10, (max(stages - 1, 0), devices, devices)).round(2)
    for step in move:
        np.fill_diagonal(step, 0)  # staying costs nothing
    return compute, move


def place_chain_cases(rng):
    yield Case("one stage", *chain(rng, 1, 3))
    yield Case("moving is nearly free", *chain(rng, 4, 3, far=0.01))
    yield Case("moving is dear", *chain(rng, 5, 3, far=5))
    yield Case("in between", *chain(rng, 6, 4, far=0.4))
    compute = np.array([[1.0, 2], [9, 1], [1, 2]])
    step = np.array([[0.0, 3], [3, 0]])
    yield Case("stay together", compute, np.stack([step, step]))
    compute = np.array([[3.0, 4], [3, 4], [30, 1]])
    step = np.array([[0.0, 20], [20, 0]])
    yield Case("start where you will need to be", compute, np.stack([step, step]))


place_chain = Task(
    "place_chain",
    title="Challenge: place a chain of stages",
    criteria=[Correct(place_chain_spec, place_chain_cases, points=4, agree=exact())],
    hints=(
        "The best device for each stage alone is not enough: moving costs. But trying all "
        "combinations is devices ** stages.",
        "Keep, for each device, the least total of all ways that end there. The next stage needs "
        "only these numbers.",
        "best[d] = min over e of (best[e] + move[s - 1][e][d]) + compute[s][d]. Remember which e "
        "it was, and walk back from the best end.",
    ),
)
### BEGIN HIDDEN


def each_alone(compute, move):
    return [int(d) for d in compute.argmin(1)]


def one_for_all(compute, move):
    return [int(compute.sum(0).argmin())] * len(compute)


def greedy(compute, move):
    where = [int(compute[0].argmin())]
    for s in range(1, len(compute)):
        where.append(int((compute[s] + move[s - 1][where[-1]]).argmin()))
    return where


place_chain.wrong += [
    Wrong(
        "the best device of each stage",
        each_alone,
        says="Moving between devices costs time, and this placement moves too often.",
    ),
    Wrong(
        "one device for all",
        one_for_all,
        says="Sometimes it pays to move. Compare with totals that change the device once.",
    ),
    Wrong(
        "the best next step",
        greedy,
        says="Looking one stage ahead is not enough: a dear step now may save a dearer one later.",
    ),
]
unseen(place_chain, lambda rng: [Case("another", *chain(rng, 7, 4, far=0.6), public=False)])
### END HIDDEN

TASKS = [device_time]
