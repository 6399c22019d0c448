"""Checks of lesson 06: count_wavefronts."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen


### BEGIN PUBLIC SPEC
def count_wavefronts_spec(words):
    # Turn after turn: every bank that still owes words gives one of them.
    waiting = {int(word) for word in words}
    wavefronts = 0
    while waiting:
        served = {}
        for word in sorted(waiting):
            served.setdefault(word % 32, word)
        waiting -= set(served.values())
        wavefronts += 1
    return wavefronts


### END PUBLIC SPEC
LANES = np.arange(32)


def count_wavefronts_cases(rng):
    yield Case("all lanes read word 5", np.full(32, 5))
    yield Case("neighbours", LANES.copy())
    for stride in (2, 3, 16, 32, 33):
        yield Case(f"every {stride}th word", stride * LANES)
    yield Case("two words of one bank, each for 16 lanes", LANES % 2 * 64)
    yield Case("two rows of 16, 17 words apart", LANES % 16 + LANES // 16 * 17)
    yield Case("any words", rng.integers(0, 256, 32))


count_wavefronts = Task(
    "count_wavefronts",
    title="Count the wavefronts of a request",
    criteria=[
        Correct(count_wavefronts_spec, count_wavefronts_cases, points=3, agree=exact(strict=False))
    ],
    hints=(
        "Which bank holds word number w? And what happens to lanes that ask for the same word?",
        "First leave each word only once (np.unique). Then count how many of these words each of "
        "the 32 banks holds.",
        "np.bincount of the distinct words modulo 32 counts the words of each bank; the busiest "
        "bank decides.",
    ),
)
### BEGIN HIDDEN


def no_broadcast(words):
    return int(np.bincount(words % 32).max())


def conflicts_only(words):
    return count_wavefronts_spec(words) - 1


def lines_touched(words):
    return len(np.unique(words // 32))


def busy_banks(words):
    return len(np.unique(words % 32))


def distinct_words(words):
    return -(-len(np.unique(words)) // 32)


count_wavefronts.wrong += [
    Wrong(
        "equal words counted twice",
        no_broadcast,
        says="Lanes that ask for the same word get it together, in one wavefront.",
    ),
    Wrong(
        "the conflicts instead of the wavefronts",
        conflicts_only,
        says="Without any conflict there is still one wavefront.",
    ),
    Wrong(
        "rows of 32 words counted, as for sectors",
        lines_touched,
        says="Banks are no sectors: 32 words far apart are one wavefront when they lie in "
        "32 different banks.",
    ),
    Wrong(
        "the number of banks that are busy",
        busy_banks,
        says="Banks work side by side. It is the one with the most words that decides.",
    ),
    Wrong(
        "only the number of different words",
        distinct_words,
        says="32 different words fit into one wavefront only if each lies in a bank of its own.",
    ),
]
unseen(
    count_wavefronts,
    lambda rng: [Case("more", rng.integers(0, 99, 32), public=False) for _ in range(4)],
)
### END HIDDEN
