"""Count before you write: loads of a tiled product, the order of programs, tensor cores."""

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen

from .common import ceil_div

# ----------------------------------------------------------------------------------- loads


### BEGIN PUBLIC SPEC
def loads_spec(m, n, k, tall, wide):
    total = 0
    for _ in range(0, m, tall):  # each tile of C ...
        for _ in range(0, n, wide):
            total += (tall + wide) * k  # ... takes its rows of A and its columns of B
    return total


### END PUBLIC SPEC
def loads_cases(rng):
    for m, n, k, tall, wide in (
        (64, 64, 64, 1, 1),
        (64, 64, 64, 32, 32),
        (128, 256, 64, 64, 32),
        (100, 70, 30, 32, 16),
        (1, 1, 1, 16, 16),
    ):
        yield Case(f"{m} x {n} x {k}, tiles of {tall} x {wide}", m, n, k, tall, wide)


loads = Task(
    "loads",
    title="Count what a tiled product loads",
    criteria=[Correct(loads_spec, loads_cases, points=2, agree=exact())],
    hints=(
        "How many tiles does C have? How many elements of A and of B does one tile need?",
        "A program loads whole tiles: where the tile sticks out over the edge, count the masked "
        "elements as well.",
        "tiles = ceil(m / tall) * ceil(n / wide); a tile takes tall * k + wide * k elements.",
    ),
)
### BEGIN HIDDEN
loads.wrong += [
    Wrong(
        "rounded down",
        lambda m, n, k, tall, wide: m // tall * (n // wide) * (tall + wide) * k,
        says="The last tiles count as well, even when most of them is masked: round up.",
    ),
    Wrong(
        "each element once",
        lambda m, n, k, tall, wide: m * k + k * n,
        says="That is the least that could be loaded. But each row of A is needed by every tile "
        "to its right: once for each of them.",
    ),
    Wrong(
        "a tile of C times k",
        lambda m, n, k, tall, wide: ceil_div(m, tall) * ceil_div(n, wide) * tall * wide * k,
        says="These are the multiply-adds. The loads are the rows and the columns that take part.",
    ),
]
unseen(
    loads, lambda rng: [Case("another", 1000, 300, int(rng.integers(5, 99)), 64, 48, public=False)]
)
### END HIDDEN


# ----------------------------------------------------------------------------------- place
### BEGIN PUBLIC SPEC
def place_spec(program, down, across, group):
    order = []
    for top in range(0, down, group):
        for column in range(across):
            order += [(row, column) for row in range(top, min(top + group, down))]
    return order[program]


### END PUBLIC SPEC
def place_cases(rng):
    for down, across, group in ((4, 6, 2), (4, 6, 1), (5, 3, 2), (7, 2, 4), (1, 5, 8)):
        for program in sorted(
            {0, 1, min(group, down * across - 1), down * across // 2, down * across - 1}
        ):
            label = f"program {program} of {down} x {across} tiles, groups of {group} rows"
            yield Case(label, program, down, across, group)


place = Task(
    "place",
    title="Order programs in groups",
    criteria=[Correct(place_spec, place_cases, points=3, agree=exact())],
    hints=(
        "A group has group * across tiles. Which group does a program belong to, and how many "
        "programs come before it inside that group?",
        "Inside a group go down first, then to the right: the row is the remainder, the column "
        "the quotient.",
        "The last group may have fewer rows: height = min(group, down - first row of the group). "
        "Divide by height, not by group.",
    ),
)
### BEGIN HIDDEN
place.wrong += [
    Wrong(
        "row after row",
        lambda program, down, across, group: divmod(program, across),
        says="This is the order without groups. Go down `group` rows before you go to the right.",
    ),
    Wrong(
        "the last group has all its rows",
        lambda program, down, across, group: (
            program // (group * across) * group + program % (group * across) % group,
            program % (group * across) // group,
        ),
        says="When down is no multiple of group, the last group has fewer rows. Here programs "
        "would get tiles below the matrix.",
    ),
    Wrong(
        "column after column",
        lambda program, down, across, group: (program % down, program // down),
        says="This goes down the whole matrix. A group stops after `group` rows and goes on to "
        "the right.",
    ),
]


def more_places(rng):
    for program in (0, 17, 59, 65):
        yield Case("another", program, 11, 6, 4, public=False)


unseen(place, more_places)
### END HIDDEN


# -------------------------------------------------------------------------------- mma_work

HEAD = ".visible .entry k(.param .u64 p) {"
TAIL = "ret;\n}"


def ptx_of(*instructions):
    return "\n".join([HEAD, *(f"\t{text};" for text in instructions), TAIL])


#: As the compilers write it; registers are shortened.
MMA = "mma.sync.aligned.{0}.row.col.{1} {{ %r1, %r2, %r3, %r4 }}, {{ %r5 }}, {{ %r6 }}, {{ %r7 }}"


### BEGIN PUBLIC SPEC
def mma_work_spec(ptx):
    shapes = [(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16), (16, 8, 32), (16, 8, 64)]
    return sum(m * n * k * ptx.count(f"mma.sync.aligned.m{m}n{n}k{k}.") for m, n, k in shapes)


### END PUBLIC SPEC
def mma_work_cases(rng):
    half = MMA.format("m16n8k16", "f32.f16.f16.f32")
    tf32 = MMA.format("m16n8k8", "f32.tf32.tf32.f32")
    yield Case("one mma of float16", ptx_of(half))
    yield Case("two of float16", ptx_of("mov.b32 %r1, 0", half, "bar.sync 0", half))
    yield Case("two shapes", ptx_of(tf32, half, tf32))
    yield Case("none", ptx_of("fma.rn.f32 %f1, %f2, %f3, %f1"))


mma_work = Task(
    "mma_work",
    title="Read the tensor cores' work out of the PTX",
    criteria=[Correct(mma_work_spec, mma_work_cases, points=2, agree=exact())],
    hints=(
        "Print the PTX of a small kernel with tl.dot and look for the lines with mma.sync.",
        "The name of the instruction holds three numbers: m16n8k16 multiplies 16 x 16 by 16 x 8.",
        r're.findall(r"\.m(\d+)n(\d+)k(\d+)", ptx) gives the three numbers of each, as text. '
        "Multiply the three, and add up.",
    ),
)
### BEGIN HIDDEN
mma_work.wrong += [
    Wrong(
        "how many instructions",
        lambda ptx: ptx.count("mma.sync"),
        says="This counts the instructions. Each does m x n x k multiply-adds.",
    ),
    Wrong(
        "every one is 16 x 8 x 16",
        lambda ptx: ptx.count("mma.sync") * 16 * 8 * 16,
        says="The shape depends on the type: tf32 has m16n8k8. Read it from each instruction.",
    ),
    Wrong(
        "two operations for each",
        lambda ptx: 2 * mma_work_spec(ptx),
        says="Asked are multiply-adds. Each counts once here, though it is two operations.",
    ),
]


def more_ptx(rng):
    eight = MMA.format("m16n8k32", "s32.s8.s8.s32")
    yield Case("another", ptx_of(*[eight] * int(rng.integers(2, 9))), public=False)


unseen(mma_work, more_ptx)
### END HIDDEN

TASKS = [loads, place, mma_work]
