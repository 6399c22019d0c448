"""What a chip of an older compute capability lacks, read out of the PTX; and the challenge."""

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen

from .a_place import place_chain

#: NVIDIA, Parallel Thread Execution ISA, "Target ISA Notes" of each instruction.
NEEDS = {
    "atom.add.f64": "6.0",
    "ldmatrix": "7.5",
    "mma.sync": "7.0",
    "cp.async": "8.0",
    ".bf16": "8.0",
    "setmaxnreg": "9.0",
    "wgmma": "9.0",
}


def ptx_of(*lines):
    return "\n".join([".version 8.0", ".target sm_90", *(f"\t{line};" for line in lines)])


### BEGIN PUBLIC SPEC
def number(capability):
    major, _, minor = capability.partition(".")
    return 100 * int(major) + int(minor)


def lacks_spec(ptx, capability, needs):
    found = []
    for word in needs:
        if word in ptx and number(needs[word]) > number(capability):
            found.append(word)
    return sorted(found)


### END PUBLIC SPEC
def lacks_cases(rng):
    copy = "cp.async.cg.shared.global [%r1], [%rd1], 16"
    multiply = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1}, {%r1}, {%r2}, {%f1}"
    plain = "fma.rn.f32 %f1, %f2, %f3, %f1"
    yield Case("nothing special", ptx_of(plain), "5.2", NEEDS)
    yield Case("a chip that has it all", ptx_of(copy, multiply), "9.0", NEEDS)
    yield Case("a chip of 7.5", ptx_of(copy, multiply), "7.5", NEEDS)
    yield Case("a chip of 6.1", ptx_of(copy, multiply, plain), "6.1", NEEDS)
    yield Case("a chip of 10.0", ptx_of("wgmma.fence.sync.aligned", copy), "10.0", NEEDS)


lacks = Task(
    "lacks",
    title="Find what an older chip lacks",
    criteria=[Correct(lacks_spec, lacks_cases, points=3, agree=exact())],
    hints=(
        "For each word of the table: does it stand in the PTX, and did the chip come before it?",
        'Compare capabilities as numbers. What is "10.0" < "9.0"?',
        'tuple(int(part) for part in "10.0".split(".")) gives (10, 0), and tuples compare as they '
        "should.",
    ),
)
### BEGIN HIDDEN


def as_text(ptx, capability, needs):
    return sorted(word for word, first in needs.items() if word in ptx and first > capability)


def whole_table(ptx, capability, needs):
    return sorted(word for word, first in needs.items() if number(first) > number(capability))


def strictly(ptx, capability, needs):
    have = number(capability)
    return sorted(word for word, first in needs.items() if word in ptx and number(first) >= have)


lacks.wrong += [
    Wrong(
        "capabilities compared as text",
        as_text,
        says='As text, "10.0" comes before "9.0". Compare numbers.',
    ),
    Wrong(
        "the whole table",
        whole_table,
        says="Only words that stand in this PTX count.",
    ),
    Wrong(
        "the first capability that has it is left out",
        strictly,
        says="A chip of exactly the capability in the table has the instruction.",
    ),
]
unseen(
    lacks,
    lambda rng: [
        Case("another", ptx_of("ldmatrix.sync", "atom.add.f64 %fd1"), "6.0", NEEDS, public=False)
    ],
)
### END HIDDEN

TASKS = [lacks, place_chain]
