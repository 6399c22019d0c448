"""A class for ``hetlab bench grading``: a small track, and what its students hand in.

The four tasks need NumPy alone, so that graders without a virtual GPU can judge them too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hetlab.tracks.build import build
from hetlab.tracks.manifest import Track, load_track
from hetlab.tracks.notebooks import (
    code_cell,
    new_notebook,
    notebook_bytes,
    read_notebook,
    write_notebook,
)

__all__ = ["KINDS", "LESSON", "POINTS", "Handed", "handed_in", "make_track", "plain_tests"]

LESSON = "01_warm_up"
POINTS = {"saxpy": 2, "moving_average": 3, "histogram": 3, "speedup": 2}
SIGNATURES = {
    "saxpy": "a, x, y",
    "moving_average": "x, width",
    "histogram": "x, bins",
    "speedup": "serial, n",
}
RIGHT = {
    "saxpy": "a * x + y",
    "moving_average": 'np.convolve(x, np.ones(width) / width, "valid")',
    "histogram": "np.bincount(x, minlength=bins)",
    "speedup": "1 / (serial + (1 - serial) / n)",
}
# One misconception a task; the checks know each by its name.
WRONG = {
    "saxpy": ("x and y swapped", "a * y + x"),
    "moving_average": ("the ends are kept", 'np.convolve(x, np.ones(width) / width, "same")'),
    "histogram": ("empty bins at the end are lost", "np.bincount(x)"),
    "speedup": ("Gustafson's law", "n - serial * (n - 1)"),
}
CASES = {
    "saxpy": "float(rng.random()), rng.random(n), rng.random(n)",
    "moving_average": "rng.random(n + 3), 1 + n % 3",
    "histogram": "rng.integers(0, 5, n), 8",
    "speedup": "round(float(rng.random()), 3), 2 + n",
}
SIZES = (1, 4, 9, 40)

#: What a student can do, in the shares of a class of twenty.
KINDS = (
    ["solution"] * 6
    + ["untouched"] * 2
    + ["half done"] * 3
    + [f"misconception in {task}" for task in POINTS]
    + ["dead kernel", "endless cell", "endless function", "broken file", "noisy solution"]
)


@dataclass(frozen=True)
class Handed:
    """What one student handed in, and the points that an honest grader gives."""

    student: str
    kind: str
    data: bytes
    points: int


def make_track(root: Path, limit: float) -> Track:
    """Write the track; `limit` is the seconds that one call of a student's function may take."""
    cells = [code_cell("start", "import hetlab\nimport numpy as np")]
    for task in POINTS:
        body = f"    ### BEGIN SOLUTION\n    return {RIGHT[task]}\n    ### END SOLUTION"
        source = f"def {task}({SIGNATURES[task]}):\n{body}"
        role = {"schema_version": 3, "locked": False, "task": False}
        mine = {**role, "grade_id": task, "solution": True, "grade": False}
        cells.append(
            code_cell(task, source, nbgrader=mine, hetlab={"task": task, "language": "python"})
        )
        check = {**role, "grade_id": f"check-{task}", "solution": False, "grade": True}
        check |= {"locked": True, "points": POINTS[task]}
        source = f'hetlab.check("{LESSON}/{task}", {task})'
        cells.append(code_cell(f"check-{task}", source, nbgrader=check, hetlab={"check": task}))
    for folder, kind, shown in (
        ("solutions", "solution", cells),
        ("notebooks", "lesson", cells[:1]),
    ):
        (root / folder).mkdir(parents=True)
        notebook = new_notebook(shown, lesson=LESSON, kind=kind)
        write_notebook(root / folder / f"{LESSON}.ipynb", notebook)
    (root / "solutions" / "checks").mkdir()
    (root / "solutions" / "checks" / f"{LESSON}.py").write_text(_checks(limit), encoding="utf-8")
    (root / "track.toml").write_text(
        '[track]\nname = "bench"\ntitle = "Warm up"\nversion = "0.1.0"\n'
        f'requires_hetlab = ">=0.1"\n\n[[lesson]]\nid = "{LESSON}"\ntitle = "Warm up"\n'
        f"minutes = 5\npoints = {sum(POINTS.values())}\n",
        encoding="utf-8",
    )
    build(load_track(root))
    return load_track(root)


def _checks(limit: float) -> str:
    lines = ["import numpy as np", "from hetlab.grading import Case, Correct, Task, Wrong", ""]
    for task, points in POINTS.items():
        given, (name, body) = SIGNATURES[task], WRONG[task]
        lines += [
            f"def {task}_cases(rng):",
            f"    for n in {SIZES}:",
            f'        yield Case(f"n = {{n}}", {CASES[task]})',
            f"{task} = Task({task!r}, 'Write {task}',",
            f"    [Correct(lambda {given}: {RIGHT[task]}, {task}_cases, {points})],",
            f"    ('Read it again.', 'Try n = 1.', 'Look it up.'), time_limit={limit!r},",
            f"    wrong=[Wrong({name!r}, lambda {given}: {body}, 'Look at the definition.')])",
            "",
        ]
    return "\n".join(lines)


def plain_tests(task: str) -> list[str]:
    """The same checks as plain assertions, which other graders run: statements on `task`."""
    import numpy as np

    rng = np.random.default_rng(7)
    names = {"np": np, "rng": rng}
    function = eval(f"lambda {SIGNATURES[task]}: {RIGHT[task]}", names)
    found = []
    for n in SIZES:
        inputs = eval(f"({CASES[task]})", {**names, "n": n})
        given = ", ".join(map(_literal, inputs))
        due = _literal(function(*inputs))
        found.append(f"np.testing.assert_allclose({task}({given}), {due}, rtol=1e-9)")
    return found


def _literal(value: object) -> str:
    return f"np.array({value.tolist()!r})" if hasattr(value, "tolist") else repr(value)


def handed_in(track: Track, count: int) -> list[Handed]:
    """What `count` students hand in: the kinds in turn, each file a little different."""
    lesson = track.lesson(LESSON)
    found = []
    for number in range(count):
        kind, student = KINDS[number % len(KINDS)], f"student-{number:03d}"
        notebook = read_notebook(lesson.exercise)
        cells = {cell.id: cell for cell in notebook.cells}
        done, points = _answers(kind)
        for task, body in done.items():
            cells[task].source = f"def {task}({SIGNATURES[task]}):  # {student}\n    {body}"
        spoil = _SPOILS.get(kind)
        if spoil:
            spoil(cells, notebook)
        data = notebook_bytes(notebook)
        found.append(Handed(student, kind, data[:700] if kind == "broken file" else data, points))
    return found


def _answers(kind: str) -> tuple[dict[str, str], int]:
    """The bodies that a student wrote, and their honest points."""
    done = {task: f"return {body}" for task, body in RIGHT.items()}
    lost: tuple[str, ...] = ()
    if kind in ("untouched", "broken file"):
        lost = tuple(POINTS)
    elif kind == "half done":
        lost = ("histogram", "speedup")
    elif kind == "dead kernel":  # what was checked before it died counts
        return done, POINTS["saxpy"] + POINTS["moving_average"]
    elif kind in ("endless cell", "endless function"):
        done["histogram"] = "while True: pass"
        return done, sum(POINTS.values()) - POINTS["histogram"]
    elif kind.startswith("misconception"):
        task = kind.split()[-1]
        done[task] = f"return {WRONG[task][1]}"
        return done, sum(POINTS.values()) - POINTS[task]
    for task in lost:
        del done[task]
    return done, sum(POINTS[task] for task in done)


def _die(cells: dict, notebook: object) -> None:
    cells["histogram"].source = "import os\nos._exit(0)\n" + cells["histogram"].source


def _hang(cells: dict, notebook: object) -> None:
    cells["histogram"].source = "while True:\n    pass"


def _noise(cells: dict, notebook: object) -> None:
    cells["saxpy"].source = (
        "import sys, warnings\nwarnings.warn('careful')\nprint('x', file=sys.stderr)\n"
        + cells["saxpy"].source
    )


_SPOILS: dict[str, Callable] = {
    "dead kernel": _die,
    "endless cell": _hang,
    "noisy solution": _noise,
}
