"""The files around the code keep their promises."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(
    p for d in ("notebooks", "exercises", "solutions") for p in (ROOT / d).glob("*.ipynb")
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_a_notebook_in_the_track_carries_no_outputs(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    dirty = [c["id"] for c in cells if c.get("outputs") or c.get("execution_count") is not None]
    assert not dirty, f"clear the outputs of {dirty}"


def test_every_dependency_of_the_installed_extras_is_pinned():
    pinned = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    pinned = {re.sub(r"[-_.]+", "-", name).lower() for name in pinned}
    project = PROJECT["project"]
    wanted = list(project["dependencies"])
    for extra, needs in project["optional-dependencies"].items():
        wanted += needs if extra != "gpu" else []  # CuPy needs a GPU machine to be tried
    for line in wanted:
        name = re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", line)[0]).lower()
        assert name in pinned | {"hetlab"}, f"{name} has no line in constraints.txt"


def test_the_readme_names_only_lessons_and_make_targets_that_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"`make (\w+)", readme)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"
    for lesson in set(re.findall(r"\b\d{2}_\w+", readme)):
        assert (ROOT / "notebooks" / f"{lesson}.ipynb").exists(), lesson
    for link in re.findall(r"\]\((?!http)([^)#]+)", readme):
        assert (ROOT / link).exists(), link


def test_git_ignores_what_a_learner_and_the_tools_write():
    names = ["work/exercises/x.ipynb", ".venv/x", ".hetlab/verify.json", "tests/__pycache__/x"]
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    done = subprocess.run(
        ["git", "check-ignore", *names], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == names
