"""Checks of lesson 08: how many warps fit, and how many are needed."""

import itertools
import math

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, exact
from hetlab.vgpu.occupancy import occupancy


### BEGIN HIDDEN
def unseen(task, cases, criterion=0):
    """Add inputs that feedback never shows."""
    judged = task.criteria[criterion]
    known = judged.cases
    judged.cases = lambda rng: itertools.chain(known(rng), cases(rng))


### END HIDDEN
# -------------------------------------------------------------------------- resident_blocks


### BEGIN PUBLIC SPEC
def resident_blocks_spec(threads, registers, shared):
    return occupancy(threads, registers, shared, "8.0").blocks


### END PUBLIC SPEC
def asks(threads, registers, shared, **more):
    label = f"{threads} threads, {registers} registers, {shared} bytes"
    return Case(label, threads, registers, shared, **more)


def resident_blocks_cases(rng):
    # The first ones stand in NVIDIA's own table for compute capability 8.0.
    yield asks(256, 32, 0)
    yield asks(256, 33, 0)
    yield asks(320, 37, 0)
    yield asks(1024, 33, 0)
    yield asks(32, 16, 0)
    yield asks(256, 32, 48 * 1024)
    yield asks(32, 8, 12 * 1024)
    yield asks(100, 40, 1000)
    yield asks(1024, 80, 0)
    yield asks(64, 255, 100 * 1024)


resident_blocks = Task(
    "resident_blocks",
    title="Write an occupancy calculator",
    criteria=[Correct(resident_blocks_spec, resident_blocks_cases, 3, agree=exact(strict=False))],
    hints=(
        "Four resources, each with its own count of blocks; the smallest count is the answer.",
        "Blocks by slots: 32. By warps: 64 // warps. By registers: a warp takes 32 * registers, "
        "rounded up to 256; each quarter holds 16384; count warps, then blocks. By shared memory: "
        "only when the block uses some.",
        "quarter = 16384 // up(32 * registers, 256); by_registers = 4 * quarter // warps; "
        "by_shared = 167936 // up(shared + 1024, 128); warps = -(-threads // 32).",
    ),
    not_checked="other chips than those of compute capability 8.0",
)
### BEGIN HIDDEN


def up(value, step):
    return -(-value // step) * step


def calculator(*, step=256, quarters=True, reserved=1024, slots=32, round_warps=True, max_=False):
    def blocks(threads, registers, shared):
        warps = -(-threads // 32) if round_warps else max(threads // 32, 1)
        each = up(32 * registers, step)
        room = 16384 // each * 4 if quarters else 65536 // each
        by = [slots, 64 // warps, room // warps]
        if shared:
            by.append(167936 // up(shared + reserved, 128))
        return max(by) if max_ else min(by)

    return blocks


resident_blocks.wrong += [
    Wrong(
        "registers are not rounded up",
        calculator(step=1),
        "A warp's registers are handed out in steps of 256: 33 registers a thread take as much "
        "as 40.",
    ),
    Wrong(
        "the four quarters are forgotten",
        calculator(quarters=False),
        "A warp lives in one of four quarters. What is left over in one does not help another.",
    ),
    Wrong(
        "the reserved KiB is forgotten",
        calculator(reserved=0),
        "From each block's shared memory the system takes 1 KiB for itself.",
    ),
    Wrong("no limit of block slots", calculator(slots=10**6), "At most 32 blocks are resident."),
    Wrong(
        "a last, partly filled warp is not counted",
        calculator(round_warps=False),
        "A block of 100 threads has four warps: the last one takes a slot too.",
    ),
    Wrong(
        "the most generous resource decides",
        calculator(max_=True),
        "The scarcest resource decides: take the smallest count.",
    ),
]
unseen(
    resident_blocks,
    lambda rng: [
        asks(int(t), int(r), int(s), public=False)
        for t, r, s in zip(
            rng.integers(1, 1025, 40), rng.integers(1, 256, 40), rng.integers(0, 60_000, 40)
        )
    ],
)
### END HIDDEN


# ------------------------------------------------------------------------------- best_block


### BEGIN PUBLIC SPEC
def best_block_spec(registers, fixed, each):
    warps = {
        threads: occupancy(threads, registers, fixed + each * threads, "8.0").warps
        for threads in range(32, 1025, 32)
        if fixed + each * threads <= 48 * 1024
    }
    most = max(warps.values())
    return min(threads for threads, resident in warps.items() if resident == most)


### END PUBLIC SPEC
def best_block_cases(rng):
    for registers, fixed, each in (
        (32, 0, 0),
        (32, 16384, 0),
        (40, 0, 8),
        (64, 4096, 16),
        (128, 0, 0),
        (32, 0, 96),
        (33, 40000, 4),
    ):
        label = f"{registers} registers, {fixed} bytes and {each} a thread"
        yield Case(label, registers, fixed, each)


best_block = Task(
    "best_block",
    title="Choose the block size that fits best",
    criteria=[Correct(best_block_spec, best_block_cases, 2, agree=exact(strict=False))],
    hints=(
        "There are only 32 block sizes to look at: 32, 64, ..., 1024. Try them all.",
        "What counts is resident warps: resident_blocks times the warps of a block. Blocks that "
        "need more than 48 KiB are left out.",
        "Go from small to large and keep a size only if it has strictly more resident warps than "
        "the best so far.",
    ),
)
### BEGIN HIDDEN


def choose(better, fits=48 * 1024, of="warps", slope=1):
    def best(registers, fixed, each):
        found = None
        for threads in range(32, 1025, 32):
            shared = fixed + slope * each * threads
            if shared > fits:
                continue
            value = getattr(occupancy(threads, registers, shared, "8.0"), of)
            if found is None or better(value, found[0]):
                found = value, threads
        return found[1]

    return best


best_block.wrong += [
    Wrong(
        "the most blocks instead of the most warps",
        choose(lambda a, b: a > b, of="blocks"),
        "Many blocks of few warps may be fewer warps. Count resident warps.",
    ),
    Wrong(
        "the largest of equals",
        choose(lambda a, b: a >= b),
        "Several sizes have as many resident warps. The smallest of them was asked for.",
    ),
    Wrong(
        "shared memory a thread is forgotten",
        choose(lambda a, b: a > b, slope=0),
        "A larger block needs more shared memory here: fixed + each * threads bytes.",
    ),
    Wrong(
        "always 256",
        lambda registers, fixed, each: 256,
        "256 is a good first try. What the kernel needs of the multiprocessor decides.",
    ),
]
unseen(
    best_block,
    lambda rng: [
        Case("more", int(r), int(f), int(e), public=False)
        for r, f, e in zip(
            rng.integers(16, 256, 6), rng.integers(0, 40_000, 6), rng.integers(0, 32, 6)
        )
    ],
)
### END HIDDEN


# ----------------------------------------------------------------------------- warps_to_hide


### BEGIN PUBLIC SPEC
def warps_to_hide_spec(bandwidth, latency, multiprocessors, loads, itemsize):
    flying = bandwidth * latency  # bytes on their way at any moment
    a_warp = 32 * loads * itemsize
    return int(np.ceil(flying / multiprocessors / a_warp))


### END PUBLIC SPEC
def warps_to_hide_cases(rng):
    yield Case("one byte a nanosecond, 100 ns, 1 multiprocessor", 1e9, 101e-9, 1, 1, 4)
    yield Case("an A100, one float a thread", 1.555e12, 206e-9, 108, 1, 4)
    yield Case("an A100, four floats a thread", 1.555e12, 206e-9, 108, 4, 4)
    yield Case("a T4, one double a thread", 3.2e11, 183e-9, 40, 1, 8)
    yield Case("an H200, one byte a thread", 4.8e12, 150e-9, 132, 1, 1)


warps_to_hide = Task(
    "warps_to_hide",
    title="Compute how many warps hide the latency",
    criteria=[Correct(warps_to_hide_spec, warps_to_hide_cases, 2, agree=exact(strict=False))],
    hints=(
        "Little's law: what is on its way = rate times latency.",
        "Divide the bytes on their way by the multiprocessors, then by what one warp has on its "
        "way: 32 lanes, so many loads, so many bytes each. Round up.",
        "math.ceil(bandwidth * latency / multiprocessors / (32 * loads * itemsize)).",
    ),
)
### BEGIN HIDDEN
warps_to_hide.wrong += [
    Wrong(
        "threads instead of warps",
        lambda b, t, m, loads, size: math.ceil(b * t / m / (loads * size)),
        "You counted threads. A warp has 32 of them.",
    ),
    Wrong(
        "the whole chip instead of one multiprocessor",
        lambda b, t, m, loads, size: math.ceil(b * t / (32 * loads * size)),
        "These warps are spread over all multiprocessors.",
    ),
    Wrong(
        "rounded down",
        lambda b, t, m, loads, size: int(b * t / m / (32 * loads * size)),
        "With fewer warps than needed the memory has pauses: round up.",
    ),
    Wrong(
        "more loads need more warps",
        lambda b, t, m, loads, size: math.ceil(b * t / m / (32 * size) * loads),
        "More loads of one thread on their way mean that fewer warps are needed.",
    ),
]
unseen(
    warps_to_hide,
    lambda rng: [Case("more", 9.0e11, 333e-9, 77, 3, 8, public=False)],
)
### END HIDDEN
