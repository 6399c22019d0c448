"""Offsets and masks; programs that take a tile of their own."""

import numpy as np
import triton
import triton.language as tl

from hetlab.grading import Case, Clean, Correct, Task, Within, Wrong, exact, unseen

from .common import FLOAT32, tiles

# ------------------------------------------------------------------------------------ tile


### BEGIN PUBLIC SPEC
def tile_spec(program, block, n):
    at = np.array([program * block + lane for lane in range(block)])
    return at, np.array([i < n for i in at])


### END PUBLIC SPEC
def tile_cases(rng):
    for program, block, n in ((0, 8, 20), (2, 8, 20), (1, 4, 8), (3, 16, 20), (0, 1, 1)):
        yield Case(f"program {program}, BLOCK = {block}, n = {n}", program, block, n)


tile = Task(
    "tile",
    title="Compute a tile's offsets and its mask",
    criteria=[Correct(tile_spec, tile_cases, points=2, agree=exact(strict=False))],
    hints=(
        "Program 0 takes the first block elements. Where does program 1 begin?",
        "np.arange(block) is 0, 1, 2, ... Add the beginning to all of them at once.",
        "at = program * block + np.arange(block); the mask is at < n.",
    ),
)
### BEGIN HIDDEN
tile.wrong += [
    Wrong(
        "the beginning is the program's number",
        lambda program, block, n: (program + np.arange(block), program + np.arange(block) < n),
        says="Program 1 would begin one element after program 0, and the tiles would overlap. "
        "Each program begins a whole tile after the one before.",
    ),
    Wrong(
        "one element too many",
        lambda program, block, n: (
            program * block + np.arange(block),
            program * block + np.arange(block) <= n,
        ),
        says="Offsets count from 0: offset n is already outside.",
    ),
]
unseen(tile, lambda rng: [Case("another", 5, 32, int(rng.integers(161, 190)), public=False)])
### END HIDDEN


# ------------------------------------------------------------------------------------- add


### BEGIN PUBLIC SPEC
def add_spec(x, y, out, n):
    out[:n] = x[:n] + y[:n]


### END PUBLIC SPEC
def add_cases(rng):
    for n in (1, 128, 1000, 997):
        x, y = rng.normal(size=(2, n)).astype(np.float32)
        yield Case(f"n = {n}, BLOCK = 128", x, y, np.zeros_like(x), n, **tiles(n, 128))


def add_sectors(case):
    return -(-4 * case.inputs[3] // 32)


add = Task(
    "add",
    title="Repair an add kernel",
    criteria=[
        Correct(add_spec, add_cases, points=1, agree=FLOAT32, changes=(2,)),
        Clean(),
        Within("global_load_sectors", lambda case: 2 * add_sectors(case), points=1, times=1.25),
        Within("global_store_sectors", add_sectors, points=1, times=1.25),
    ],
    hints=(
        "The report says how many elements were written. How many turns does the draft's loop "
        "make, and how many should it make?",
        "The work of a program is its own tile. How many programs there are has nothing to do "
        "with it. And a tile needs no loop: tl.arange gives all its offsets at once.",
        "at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK). Load both tiles and store their "
        "sum, each with mask=at < n.",
    ),
)
### BEGIN HIDDEN


@triton.jit
def add_over_programs(x, y, out, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    for i in range(tl.num_programs(0)):
        if first + i < n:
            total = tl.load(x + first + i) + tl.load(y + first + i)
            tl.store(out + first + i, total)


@triton.jit
def add_one_by_one(x, y, out, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    for i in range(BLOCK):
        if first + i < n:
            total = tl.load(x + first + i) + tl.load(y + first + i)
            tl.store(out + first + i, total)


@triton.jit
def add_unmasked(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) + tl.load(y + at))


@triton.jit
def add_first_tile(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n)
    tl.store(out + at, total, mask=at < n)


add.wrong += [
    Wrong(
        "the draft as it was",
        add_over_programs,
        says="The loop runs over the number of programs. With few programs most of each tile is "
        "never written; with very many, programs write into the tiles of others.",
    ),
    Wrong(
        "one element at a time",
        add_one_by_one,
        says="Right, but a load of one element moves a whole sector, and the program waits for "
        "each. Load the whole tile with tl.arange.",
        fails="traffic",
    ),
    Wrong(
        "no mask",
        add_unmasked,
        says="The last tile sticks out over the end of the arrays. Give both loads and the store "
        "mask=at < n.",
        fails="hazard",
    ),
    Wrong(
        "every program takes the first tile",
        add_first_tile,
        says="tl.arange starts from 0 in every program. Add tl.program_id(0) * BLOCK.",
    ),
]


def more_sums(rng):
    x, y = rng.normal(size=(2, 650)).astype(np.float32)
    yield Case("another n", x, y, np.zeros_like(x), 650, public=False, **tiles(650, 128))


unseen(add, more_sums)
### END HIDDEN

TASKS = [tile, add]
