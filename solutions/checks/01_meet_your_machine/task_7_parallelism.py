"""Checks of lesson 01: parallelism."""

import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen


### BEGIN PUBLIC SPEC
def parallelism_spec(program):
    size = len(program)
    after = np.zeros((size, size), bool)  # after[i, j]: step i must wait for step j
    for i, (_, needs) in enumerate(program):
        after[i, list(needs)] = True
    for _ in range(size):
        after |= after @ after
    free = ~(after | after.T | np.eye(size, dtype=bool))
    pairs = [(program[i][0], program[j][0]) for i, j in np.argwhere(free)]
    if not pairs:
        return "none"
    return "data" if all(a == b for a, b in pairs) else "task"


### END PUBLIC SPEC
def parallelism_cases(rng):
    yield Case("no step", [])
    yield Case("one step", [("read", [])])
    yield Case("a chain", [("read", []), ("scale", [0]), ("write", [1])])
    yield Case("four of the same kind", [("scale", [])] * 4)
    yield Case("two different jobs", [("shrink", []), ("check", [])])
    fan = [("read", []), ("scale", [0]), ("scale", [0]), ("scale", [0]), ("join", [1, 2, 3])]
    yield Case("read, three times scale, join", fan)
    diamond = [("read", []), ("blur", [0]), ("edges", [0]), ("join", [1, 2])]
    yield Case("read, blur and edges, join", diamond)
    yield Case("a chain of the same steps", [("scale", [])] + [("scale", [i]) for i in range(4)])
    apart = [("scale", []), ("scale", [0]), ("scale", []), ("join", [1, 2])]
    yield Case("the third does not need the second", apart)
    late = [("read", []), ("scale", [0]), ("join", [1]), ("check", [0])]
    yield Case("one step aside of a chain", late)
    far = [("scale", []), ("scale", []), ("check", [1])]
    yield Case("the third step does not need the first", far)
    for k in (5, 8, 12):
        yield Case(f"{k} random steps", random_program(rng, k))


def random_program(rng, k):
    names = ["scale", "blur", "check"][: int(rng.integers(1, 4))]
    program = []
    for i in range(k):
        needs = sorted(int(j) for j in range(i) if rng.random() < 0.4)
        program.append((names[int(rng.integers(len(names)))], needs))
    return program


parallelism = Task(
    "parallelism",
    title="Say which parallelism is in a program",
    criteria=[Correct(parallelism_spec, parallelism_cases, points=3, agree=exact())],
    hints=(
        "Two steps can run at the same time when neither waits for the other, directly or "
        "through steps in between.",
        "For each step collect all steps before it: those it needs, and all that are before "
        "those. Steps need only earlier ones, so one walk through the list is enough.",
        "Keep a list of sets. The set of a step holds its needs and everything in the sets of "
        "those needs. Then look at every pair j < i where j is not in the set of i, and compare "
        "the names of their operations.",
    ),
)
### BEGIN HIDDEN


def from_pairs(program, ordered, over_all=False):
    pairs = [(j, i) for i in range(len(program)) for j in range(i) if not ordered(j, i)]
    if not pairs:
        return "none"
    names = [name for name, _ in program]
    different = len(set(names)) > 1 if over_all else any(names[i] != names[j] for j, i in pairs)
    return "task" if different else "data"


def all_before(program):
    before = []
    for _, needs in program:
        before.append(set(needs).union(*(before[j] for j in needs)))
    return before


def direct_only(program):
    return from_pairs(program, lambda j, i: j in program[i][1])


def names_anywhere(program):
    before = all_before(program)
    return from_pairs(program, lambda j, i: j in before[i], over_all=True)


def adjacent_pairs(program):
    before = all_before(program)
    return from_pairs(program, lambda j, i: j in before[i] or i - j > 1)


def any_need(program):
    if any(needs for _, needs in program) or len(program) < 2:
        return "none"
    return "data" if len({name for name, _ in program}) == 1 else "task"


def turned(program):
    told = parallelism_spec(program)
    return {"data": "task", "task": "data"}.get(told, told)


parallelism.wrong += [
    Wrong(
        "only direct needs are seen",
        direct_only,
        says="If c needs b and b needs a, then c must wait for a as well.",
    ),
    Wrong(
        "different operations anywhere",
        names_anywhere,
        says="Compare only operations of steps that can run at the same time.",
    ),
    Wrong(
        "only neighbours in the list compared",
        adjacent_pairs,
        says="Steps that stand far apart in the list can run at the same time, too.",
    ),
    Wrong(
        "one need makes it a chain",
        any_need,
        says="A program with some needs may still have steps that do not wait for each other.",
    ),
    Wrong(
        "data and task exchanged",
        turned,
        says="The same operation on many data is data parallelism; different jobs are tasks.",
    ),
]
unseen(
    parallelism,
    lambda rng: [Case("more", random_program(rng, k), public=False) for k in (6, 9, 15)],
)
### END HIDDEN
