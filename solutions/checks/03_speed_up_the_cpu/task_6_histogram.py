"""Checks of lesson 03: histogram."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen


### BEGIN PUBLIC SPEC
def private_counts_spec(x, bins, parts):
    table = np.zeros((parts, bins), np.int64)
    for p in range(parts):
        first, last = p * x.size // parts, (p + 1) * x.size // parts
        table[p] = np.bincount(x[first:last], minlength=bins)
    return table


def histogram_spec(x, bins):
    return np.bincount(x, minlength=bins).astype(np.int64)


### END PUBLIC SPEC
def private_counts_cases(rng):
    for n, bins, parts in ((4, 2, 2), (7, 3, 2), (2, 3, 5), (0, 4, 3), (1, 1, 1), (1000, 10, 7)):
        yield Case(f"{n} values, {bins} bins, {parts} parts", rng.integers(0, bins, n), bins, parts)


def histogram_cases(rng):
    for n, bins in ((4, 2), (0, 3), (1, 1), (1001, 256)):
        yield Case(f"{n} values, {bins} bins", rng.integers(0, bins, n).astype(np.uint8), bins)
    yield Case("2000001 values in one bin", np.full(2_000_001, 2, np.uint8), 5)


histogram = Task(
    "histogram",
    title="Count in parallel without a race",
    hands_in=("private_counts", "histogram"),
    criteria=[
        Correct(
            private_counts_spec,
            private_counts_cases,
            points=2,
            agree=exact(),
            name="private_counts",
        ),
        Correct(histogram_spec, histogram_cases, points=2, agree=exact(), name="histogram"),
    ],
    hints=(
        "Two threads that add to one counter can both read 5 and both write 6. "
        "Give each of them a counter that nobody else touches.",
        "private_counts: prange over the parts; each part walks its own piece of x and adds to its "
        "own row of the table. histogram: the rows of that table, added up.",
        "Part p holds x[p * n // parts : (p + 1) * n // parts], which leaves nothing out. In "
        "the loop over such a piece, element [p, value] of the np.int64 table grows by 1. "
        "At the end add its rows up: sum over axis 0.",
    ),
    not_checked="how many threads it uses; a race may stay hidden on a machine with one core",
)
### BEGIN HIDDEN


def pieces_of_equal_length(x, bins, parts):
    table = np.zeros((parts, bins), np.int64)
    size = x.size // parts
    for p in range(parts):
        table[p] = np.bincount(x[p * size : (p + 1) * size], minlength=bins)
    return table


def small_counters(x, bins):
    return (np.bincount(x, minlength=bins) % 256).astype(np.int64)


def one_row(x, bins, parts):
    table = np.zeros((parts, bins), np.int64)
    table[0] = np.bincount(x, minlength=bins)
    return table


def lost_updates(x, bins):
    counts = np.bincount(x, minlength=bins).astype(np.int64)
    return counts - counts // 3


def updates_are_missing(expected, got):
    return got.shape == expected.shape and (got <= expected).all() and got.sum() < expected.sum()


histogram.wrong += [
    Wrong(
        "the rest of the division is dropped",
        {
            "private_counts": pieces_of_equal_length,
            "histogram": lambda x, bins: pieces_of_equal_length(x, bins, 4).sum(axis=0),
        },
        says="Pieces of n // parts values leave up to parts - 1 values at the end to nobody.",
    ),
    Wrong(
        "counters too small for the sum",
        {"private_counts": private_counts_spec, "histogram": small_counters},
        says="An 8-bit counter goes from 255 back to 0. Count in np.int64.",
    ),
    Wrong(
        "the last part instead of the sum of all",
        {
            "private_counts": private_counts_spec,
            "histogram": lambda x, bins: private_counts_spec(x, bins, 4)[-1],
        },
        says="Each part's counts must be added to those of the others.",
    ),
    Wrong(
        "all parts count in one row",
        {"private_counts": one_row, "histogram": histogram_spec},
        says="Each part needs a row of its own: table[p, value]. In one shared row the parts race.",
    ),
    Wrong(
        "a race on shared counters",
        {"private_counts": private_counts_spec, "histogram": lost_updates},
        says="Counts are missing: two threads read the same old value and both wrote it plus one.",
        when=updates_are_missing,
    ),
]
unseen(
    histogram,
    lambda rng: [Case("more", rng.integers(0, 77, 12_345), 77, public=False)],
    criterion=1,
)
### END HIDDEN
