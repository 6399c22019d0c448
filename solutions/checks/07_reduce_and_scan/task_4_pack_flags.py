"""Checks of lesson 07: pack_flags."""

import numpy as np

from hetlab.grading import Case, Clean, Correct, Task, Wrong, exact, unseen

from .common import blocks


### BEGIN PUBLIC SPEC
def pack_flags_spec(x, threshold, bits):
    flags = np.zeros(32 * bits.size, bool)
    flags[: x.size] = x > threshold
    bits[...] = np.packbits(flags, bitorder="little").view("<u4")


### END PUBLIC SPEC
def flags_case(rng, n, **more):
    x, bits = rng.random(n, dtype=np.float32), np.zeros(blocks(n, 32), np.uint32)
    threshold = np.float32(0.4)
    return Case(f"n = {n}", x, threshold, bits, grid=blocks(n, 128), block=128, **more)


pack_flags = Task(
    "pack_flags",
    title="Pack 32 answers into one number",
    criteria=[
        Correct(
            pack_flags_spec,
            lambda rng: (flags_case(rng, n) for n in (32, 128, 1, 5, 33, 100, 300)),
            points=2,
            changes=(2,),
            agree=exact(),
        ),
        Clean(points=1),
    ],
    hints=(
        "One instruction gives all lanes of a warp the 32 answers as the bits of one number. "
        "Which one?",
        "ballot_sync waits for all lanes of its mask, so lanes without an element must vote too. "
        "Their vote is no.",
        "vote = i < x.size and x[i] > threshold. answers = cuda.ballot_sync(0xFFFFFFFF, vote). "
        "Lane 0 stores them in bits[i // 32], if the warp has elements.",
    ),
)
### BEGIN HIDDEN
from numba import cuda, uint32  # noqa: E402


@cuda.jit
def highest_bit_first(x, threshold, bits):
    i = cuda.grid(1)
    vote = i < x.size and x[i] > threshold
    answers = cuda.brev(uint32(cuda.ballot_sync(0xFFFFFFFF, vote)))
    if i % 32 == 0 and i < x.size:
        bits[i // 32] = answers


@cuda.jit
def only_voters_come(x, threshold, bits):
    i = cuda.grid(1)
    if i < x.size:
        answers = cuda.ballot_sync(0xFFFFFFFF, x[i] > threshold)
        if i % 32 == 0:
            bits[i // 32] = answers


@cuda.jit
def counted(x, threshold, bits):
    i = cuda.grid(1)
    vote = i < x.size and x[i] > threshold
    answers = cuda.popc(cuda.ballot_sync(0xFFFFFFFF, vote))
    if i % 32 == 0 and i < x.size:
        bits[i // 32] = answers


@cuda.jit
def not_below(x, threshold, bits):
    i = cuda.grid(1)
    vote = i >= x.size or x[i] > threshold
    answers = cuda.ballot_sync(0xFFFFFFFF, vote)
    if i % 32 == 0 and i < x.size:
        bits[i // 32] = answers


pack_flags.wrong += [
    Wrong(
        "the first element in the highest bit",
        highest_bit_first,
        says="Lane 0 belongs to bit 0, the lowest one. The ballot has it there already.",
    ),
    Wrong(
        "lanes without an element stay away",
        only_voters_come,
        says="The vote waits for every lane that its mask names. All 32 must come to it.",
        fails="hazard",
    ),
    Wrong(
        "the number of votes instead of the votes",
        counted,
        says="popc counts the bits. The bits themselves are wanted.",
    ),
    Wrong(
        "lanes without an element vote yes",
        not_below,
        says="Beyond the end of x there is no element above the threshold: these bits are 0.",
    ),
]
unseen(pack_flags, lambda rng: [flags_case(rng, 500, public=False)])
### END HIDDEN
