"""A few tasks without a track, and notebooks for them: for attacks and accidents."""

from __future__ import annotations

import numpy as np
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from hetlab.grading import Case, Clean, Correct, Faster, Limits, Task, Within, exact, run_notebook
from hetlab.grading.processes import by_mark
from hetlab.grading.sandbox import Sandbox

SETUP = "import numpy as np\nimport hetlab"
LIMITS = Limits(cell=30.0, notebook=60.0, memory=1 << 30, file=8 << 20, disk=16 << 20, grace=0.5)


def _numbers(rng):
    for n in (1, 4, 50):
        yield Case(f"n = {n}", rng.random(n))
    yield Case("hidden", rng.random(7), public=False)


def slow_sum(x):
    total = 0.0
    for value in x:
        total += value * value
    return total


def _twice(x, out, n):
    out[...] = 2 * x


def _launches(rng):
    for n in (5, 100, 1000):
        x = rng.random(n, dtype=np.float32)
        yield Case(f"n = {n}", x, np.zeros_like(x), np.int32(n), grid=-(-n // 128), block=128)


def tasks() -> dict[str, Task]:
    """``double`` (2 points), ``total`` (1), ``fast`` (1 for right values, 2 for speed), and
    the kernel ``twice`` (2 for right values, 1 without hazards, 1 for little traffic)."""
    sectors = Within("global_load_sectors", lambda case: -(-case.inputs[0].nbytes // 32))
    kernel = [Correct(_twice, _launches, 2, changes=(1,)), Clean(1), sectors]
    right = Correct(slow_sum, _numbers, 1)
    faster = Faster(slow_sum, lambda rng: (rng.random(60_000),), {3: 2}, rounds=3)
    made = [
        Task("double", "Double it", [Correct(lambda x: 2 * x, _numbers, 2, exact())], time_limit=3),
        Task("total", "Add it up", [Correct(lambda x: float(x.sum()), _numbers, 1)], time_limit=1),
        Task("fast", "Add squares quickly", [right, faster], time_limit=5),
        Task("twice", "Double it on the GPU", kernel, time_limit=10),
    ]
    return {task.name: task for task in made}


def notebook(cells, checks=("double",)):
    """A notebook of code cells; ``"CHECK double"`` is a check cell, and those missing follow."""
    made = [new_markdown_cell("# Mine"), new_code_cell(SETUP)]
    cells = [*cells, *(f"CHECK {c}" for c in checks if f"CHECK {c}" not in cells)]
    for source in cells:
        kind, _, name = source.partition(" ")
        if kind == "CHECK":
            call = f'hetlab.check("01_x/{name}", {name})'
            made.append(new_code_cell(call, metadata={"hetlab": {"check": name}}))
        else:
            made.append(new_code_cell(source))
    return new_notebook(cells=made)


def leftovers() -> list[int]:
    """Processes that live on of any sandbox that this process started."""
    return [pid for mark in _marks for pid in by_mark(mark)]


_marks: list[bytes] = []
_init = Sandbox.__init__


def _remembered(self, *given, **named):
    _init(self, *given, **named)
    _marks.append(self._mark.encode())


Sandbox.__init__ = _remembered


def graded(cells, checks=("double",), *, tier=None, limits=LIMITS, seed=77):
    """Run cells and judge the tasks in `checks`."""
    known = tasks()
    chosen = [("01_x", known[name]) for name in checks]
    return run_notebook(notebook(cells, checks), chosen, seed=seed, limits=limits, tier=tier)
