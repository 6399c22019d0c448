"""Counting by hand: sectors of a request, the pitch of a row, a transpose before it runs."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, exact

from .common import unseen

# ----------------------------------------------------------------------------------- sectors


### BEGIN PUBLIC SPEC
def sectors_spec(addresses, size):
    touched = set()
    for address in addresses.tolist():
        for byte in range(address, address + size):
            touched.add(byte // 32)
    return len(touched)


### END PUBLIC SPEC
def sectors_cases(rng):
    lanes = np.arange(32)
    yield Case("one lane, 4 bytes", np.array([100]), 4)
    yield Case("32 neighbours of 4 bytes", 4 * lanes, 4)
    yield Case("the same, one element further", 4 * lanes + 4, 4)
    yield Case("stride 2", 8 * lanes, 4)
    yield Case("every lane the same 8 bytes", np.full(32, 64), 8)
    yield Case("neighbours, shuffled", 4 * rng.permutation(32), 4)
    yield Case("stride 32, 1 byte", 32 * lanes, 1)
    yield Case("one lane across a boundary", np.array([30]), 4)
    yield Case("8 bytes each, all across boundaries", 64 * lanes[:5] + 28, 8)
    yield Case("5 lanes anywhere", rng.integers(0, 300, 5), 2)


sectors = Task(
    "sectors",
    title="Count the sectors of a request",
    criteria=[Correct(sectors_spec, sectors_cases, points=3, agree=exact(strict=False))],
    hints=(
        "In which sector does byte 100 lie? And the bytes 30 to 33?",
        "The first byte of a lane lies in sector address // 32. Its last byte, at address + size - "
        "1, may lie in the next one. Count the different sectors.",
        "Put address // 32 and (address + size - 1) // 32 of all lanes into one set, or into "
        "np.union1d; its length is the answer.",
    ),
)
### BEGIN HIDDEN
sectors.wrong += [
    Wrong(
        "only the first byte of each lane",
        lambda addresses, size: len(set((addresses // 32).tolist())),
        says="An element may begin in one sector and end in the next. Look at its last byte, too.",
    ),
    Wrong(
        "bytes asked for, divided by 32",
        lambda addresses, size: -(-len(addresses) * size // 32),
        says="That is the least that so many bytes could need. What counts is where they lie.",
    ),
    Wrong(
        "from the first sector to the last",
        lambda addresses, size: int((addresses.max() + size - 1) // 32 - addresses.min() // 32 + 1),
        says="Sectors in between, in which no lane wants a byte, are not moved.",
    ),
    Wrong(
        "lines of 128 bytes",
        lambda addresses, size: len(
            np.union1d(addresses // 128, (addresses + size - 1) // 128),
        ),
        says="128 bytes are a cache line. A request moves sectors of 32 bytes.",
    ),
]
unseen(
    sectors,
    lambda rng: [
        Case(f"hidden {size}", rng.integers(0, 2000, 32), size, public=False) for size in (1, 4, 16)
    ],
)
### END HIDDEN


# ------------------------------------------------------------------------------------- pitch


### BEGIN PUBLIC SPEC
def pitch_spec(columns, itemsize):
    elements = columns
    while elements * itemsize % 32:
        elements += 1
    return elements


### END PUBLIC SPEC
def pitch_cases(rng):
    for columns, itemsize in (
        (1, 4),
        (8, 4),
        (9, 4),
        (1001, 4),
        (5, 16),
        (100, 1),
        (7, 3),
        (9, 12),
    ):
        yield Case(f"{columns} columns of {itemsize} bytes", columns, itemsize)
    yield Case("3 columns of 32 bytes", 3, 32)


pitch = Task(
    "pitch",
    title="Compute the pitch of a matrix",
    criteria=[Correct(pitch_spec, pitch_cases, points=2, agree=exact(strict=False))],
    hints=(
        "How many float32 fill a sector? How many pixels of 3 bytes fill whole sectors?",
        "If a step of s elements is a whole number of sectors, every multiple of s is good. The "
        "smallest s is 32 divided by the greatest common divisor of 32 and itemsize.",
        "s = 32 // gcd(32, itemsize); round columns up to a multiple of s.",
    ),
)
### BEGIN HIDDEN
pitch.wrong += [
    Wrong(
        "the pitch in bytes",
        lambda columns, itemsize: pitch_spec(columns, itemsize) * itemsize,
        says="That is the length of the row in bytes; elements are asked for.",
    ),
    Wrong(
        "a multiple of 32 elements",
        lambda columns, itemsize: -(-columns // 32) * 32,
        says="A sector has 32 bytes, not 32 elements. Less is enough.",
    ),
    Wrong(
        "the row rounded up, the rest cut off",
        lambda columns, itemsize: -(-columns * itemsize // 32) * 32 // itemsize,
        says="Where the item size does not divide 32, a row of whole elements must be a multiple "
        "of 32 bytes: check 9 columns of 12 bytes.",
    ),
]
unseen(pitch, lambda rng: [Case("hidden", int(rng.integers(50, 99)), 6, public=False)])
### END HIDDEN
