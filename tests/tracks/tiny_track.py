"""A small track made on the spot: three tasks, real notebooks."""

from pathlib import Path

from hetlab.tracks.build import build
from hetlab.tracks.manifest import load_track
from hetlab.tracks.notebooks import code_cell, new_notebook, write_notebook

LESSON = "01_小课"
CHECKS = """
import numpy as np
from hetlab.grading import Case, Correct, Task, Wrong, exact


def _numbers(rng):
    for n in (0, 1, 4):
        yield Case(f"n = {n}", rng.integers(0, 9, n))


double = Task("double", "Double it", [Correct(lambda x: 2 * x, _numbers, 2, exact())],
              ("a", "b", "c"), wrong=[Wrong("squared", lambda x: x * x, "You squared.")])
count = Task("count", "Count them", [Correct(lambda x: len(x), _numbers, 1, exact())], time_limit=2)
largest = Correct(lambda x: int(max(x, default=-1)), _numbers, 3, exact())
last = Task("last", "Find the largest", [largest])
"""
ANSWERS = {"double": "2 * x", "count": "len(x)", "last": "int(max(x, default=-1))"}
POINTS = {"double": 2, "count": 1, "last": 3}


def solution_cell(task: str, body: str):
    source = f"def {task}(x):\n    ### BEGIN SOLUTION\n    return {body}\n    ### END SOLUTION"
    grader = {"schema_version": 3, "grade_id": task, "solution": True, "grade": False}
    grader |= {"locked": False, "task": False}
    hetlab = {"task": task, "language": "python"}
    return code_cell(task, source, nbgrader=grader, hetlab=hetlab)


def check_cell(task: str):
    grader = {"schema_version": 3, "grade_id": f"check-{task}", "solution": False, "grade": True}
    grader |= {"locked": True, "task": False, "points": POINTS[task]}
    source = f'hetlab.check("{LESSON}/{task}", {task})'
    return code_cell(f"check-{task}", source, nbgrader=grader, hetlab={"check": task})


def make_track(root: Path):
    """Write the track's files and load it."""
    cells = [code_cell("start", "import hetlab\nimport numpy as np\n%load_ext hetlab")]
    for task, body in ANSWERS.items():
        cells += [solution_cell(task, body), check_cell(task)]
    for folder, kind in (("solutions", "solution"), ("notebooks", "lesson")):
        (root / folder).mkdir(parents=True)
        mine = cells if kind == "solution" else cells[:1]
        notebook = new_notebook(mine, lesson=LESSON, kind=kind)
        write_notebook(root / folder / f"{LESSON}.ipynb", notebook)
    (root / "solutions" / "checks").mkdir()
    (root / "solutions" / "checks" / f"{LESSON}.py").write_text(CHECKS, encoding="utf-8")
    (root / "track.toml").write_text(
        '[track]\nname = "tiny"\ntitle = "Tiny"\nversion = "0.1.0"\nrequires_hetlab = ">=0.1"\n\n'
        f'[[lesson]]\nid = "{LESSON}"\ntitle = "Try it"\nminutes = 5\npoints = 6\n',
        encoding="utf-8",
    )
    track = load_track(root)
    build(track)
    return load_track(root)
