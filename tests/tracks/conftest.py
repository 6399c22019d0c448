"""A small track on disk, written out by hand so that tests do not lean on the scaffold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hetlab.tracks.manifest import load_track

MANIFEST = """
[track]
name = "mini"
title = "A small track"
version = "1.0"

[[lesson]]
id = "01_first"
title = "Meet the first lesson"
minutes = 10
points = 2

[[lesson]]
id = "02_第二课"
title = "Go on to the second lesson"
minutes = 20
points = 3
after = ["01_first"]
terms = ["occupancy"]
"""

CHECKS = """
import numpy as np

from hetlab.grading import Case, Correct, Task, Wrong


def spec(x):
    return x + 1


def cases(rng):
    for n in (0, 1, 5):
        yield Case(f"n = {n}", rng.random(n))


### BEGIN HIDDEN
def forgets_the_one(x):
    return x.copy()
### END HIDDEN


add_one = Task(
    "add_one",
    title="Add one",
    criteria=[Correct(spec, cases, points=POINTS)],
    wrong=[
        ### BEGIN HIDDEN
        Wrong("nothing added", forgets_the_one, says="Nothing was added."),
        Wrong("one subtracted", lambda x: x - 1, says="You subtracted one."),
        ### END HIDDEN
    ],
    hints=("Look at the sign.", "Add a number to the array.", "x + ..."),
)
"""


def code(cell_id: str, source: str, **metadata) -> dict:
    return {
        "cell_type": "code",
        "id": cell_id,
        "metadata": metadata,
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def text(cell_id: str, source: str, **metadata) -> dict:
    return {"cell_type": "markdown", "id": cell_id, "metadata": metadata, "source": source}


def notebook(cells: list[dict], **hetlab) -> dict:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": kernel, "hetlab": hetlab},
        "cells": cells,
    }


def solution_cell(task: str, source: str, grade_id: str = "", language: str = "python") -> dict:
    grader = {
        "schema_version": 3,
        "grade_id": grade_id or task,
        "solution": True,
        "grade": False,
        "locked": False,
        "task": False,
    }
    own = {"task": task, "language": language}
    return code((grade_id or task).replace("_", "-"), source, nbgrader=grader, hetlab=own)


def check_cell(lesson: str, task: str, points: int) -> dict:
    grader = {
        "schema_version": 3,
        "grade_id": f"check-{task}",
        "solution": False,
        "grade": True,
        "locked": True,
        "task": False,
        "points": points,
    }
    call = f'hetlab.check("{lesson}/{task}", {task})'
    return code(f"check-{task.replace('_', '-')}", call, nbgrader=grader, hetlab={"check": task})


ANSWER = """def add_one(x):
    '''Add one to every element of x.'''
    ### BEGIN SOLUTION
    return x + np.float64(1)
    ### END SOLUTION
"""


def write_json(path: Path, data: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return path


def read_json(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def lesson_cells(lesson: str) -> list[dict]:
    return [
        text("title", f"# {lesson}\n\n你好: a lesson with text."),
        code("setup", "import hetlab\nimport numpy as np"),
        code("try", "x = np.arange(3)\nx + 1"),
    ]


def write_lesson(root: Path, lesson: str, points: int) -> None:
    write_json(
        root / "notebooks" / f"{lesson}.ipynb",
        notebook(lesson_cells(lesson), lesson=lesson, kind="lesson"),
    )
    cells = [
        text("intro", f"# Exercises of {lesson}"),
        code("setup", "import hetlab\nimport numpy as np"),
        text("task-add", "Write `add_one`."),
        solution_cell("add_one", ANSWER),
        check_cell(lesson, "add_one", points),
    ]
    write_json(
        root / "solutions" / f"{lesson}.ipynb", notebook(cells, lesson=lesson, kind="solution")
    )
    checks = root / "solutions" / "checks" / f"{lesson}.py"
    checks.parent.mkdir(parents=True, exist_ok=True)
    checks.write_text(CHECKS.replace("POINTS", str(points)), encoding="utf-8")


def write_mini(root: Path) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "track.toml").write_text(MANIFEST, encoding="utf-8")
    write_lesson(root, "01_first", 2)
    write_lesson(root, "02_第二课", 3)
    return root


@pytest.fixture
def mini(tmp_path, monkeypatch):
    """A track of two lessons, not built yet, in a folder with a blank and Chinese in its name."""
    monkeypatch.delenv("HETLAB_TRACK", raising=False)
    return load_track(write_mini(tmp_path / "my 课程"))


@pytest.fixture
def built(mini):
    """The same track with its exercises generated."""
    from hetlab.tracks.build import build

    build(mini)
    return mini
