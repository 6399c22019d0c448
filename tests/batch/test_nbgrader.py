"""nbgrader takes the exported course and gives honest work the scores that hetlab gives.

nbgrader needs an environment of its own.  Name it in HETLAB_NBGRADER, or make it beside the
checkout's own: ``python -m venv .venv-nbgrader`` and install nbgrader 0.9, numpy, psutil, rich and
click there.
"""

import csv
import os
import subprocess
from pathlib import Path

import nbformat
import pytest

from hetlab.batch.nbgrader import export_course
from hetlab.errors import TrackError
from hetlab.tracks.check import NoPoints, check
from hetlab.tracks.notebooks import read_notebook, task_of
from hetlab.tracks.run import check_notebook

from ..tracks.tiny_track import LESSON, make_track
from .classroom import RIGHT, handed_in, lay_out

ROOT = Path(__file__).parents[2]
ENVIRONMENT = Path(os.environ.get("HETLAB_NBGRADER", ROOT / ".venv-nbgrader"))


def nbgrader(course, *arguments):
    """Run nbgrader in its own environment, with this hetlab."""
    path = os.pathsep.join([str(ENVIRONMENT / "bin"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    environment.pop("HETLAB_TRACK", None)
    done = subprocess.run(
        [str(ENVIRONMENT / "bin" / "nbgrader"), *arguments], cwd=course, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


def without_check(notebook):
    notebook.cells = [c for c in notebook.cells if c.id != "check-double"]


def with_a_warning(notebook):
    notebook.cells[
        1
    ].source = "import warnings\ndef double(x):\n    warnings.warn('careful')\n    return 2 * x"


def that_is_always_equal(notebook):
    notebook.cells[1].source = (
        "class Any:\n    __eq__ = lambda self, other: True\n    __len__ = lambda self: 0\n"
        "def double(x):\n    return Any()"
    )


@pytest.mark.skipif(
    not (ENVIRONMENT / "bin" / "nbgrader").exists(),
    reason=f"there is no nbgrader in {ENVIRONMENT.name} (HETLAB_NBGRADER names another)",
)
def test_nbgrader_gives_the_scores_that_hetlab_gives(track, tmp_path):
    course = tmp_path / "course"
    export_course(track, course)
    nbgrader(course, "generate_assignment", LESSON)
    work = {
        "right": handed_in(track),
        "wrong": handed_in(track, {**RIGHT, "double": "x * x"}),
        "raises": handed_in(track, {**RIGHT, "last": "1 / 0"}),
        "untouched": handed_in(track, {}),
        "nothing": handed_in(track, dict.fromkeys(RIGHT, "None")),
        "nocheck": handed_in(track, change=without_check),
        "warns": handed_in(track, change=with_a_warning),
        "equal": handed_in(track, change=that_is_always_equal),
        "张三": handed_in(track, {"count": "len(x)"}),
    }
    files = {f"{name}/{LESSON}/{LESSON}.ipynb": data for name, data in work.items()}
    lay_out(course / "submitted", files)
    nbgrader(course, "autograde", LESSON)
    nbgrader(course, "export", "--to", "grades.csv")
    with (course / "grades.csv").open(encoding="utf-8") as lines:
        theirs = {r["student_id"]: float(r["raw_score"]) for r in csv.DictReader(lines)}
    ours = {
        name: sum(v.points for v in check_notebook(course / "submitted" / file, track=track))
        for name, file in zip(work, files)
    }
    assert theirs == ours
    assert ours["right"] == ours["nocheck"] == ours["warns"] == 6
    assert ours["untouched"] == ours["nothing"] == 0 < ours["张三"] < ours["equal"] == 4


def test_the_course_holds_no_answer_and_every_task_is_graded_by_nbgraders_metadata(track, tmp_path):
    export_course(track, tmp_path / "course")
    source = read_notebook(tmp_path / "course" / "source" / LESSON / f"{LESSON}.ipynb")
    points = {
        role[1]: cell.metadata.nbgrader.points
        for cell in source.cells
        if (role := task_of(cell)) and role[0] == "check"
    }
    assert points == {"double": 2, "count": 1, "last": 3}
    text = nbformat.writes(source)
    assert "BEGIN SOLUTION" not in text and "2 * x" not in text
    assert not list((tmp_path / "course").rglob(f"solutions/{LESSON}.ipynb"))


def test_exporting_again_leaves_what_others_wrote(tmp_path):
    track = make_track(tmp_path / "track")
    course = tmp_path / "course"
    export_course(track, course)
    theirs = lay_out(course, {"submitted/a/x.ipynb": b"mine", "nbgrader_config.py": b"# my own"})
    export_course(track, course)
    assert (theirs / "submitted/a/x.ipynb").read_bytes() == b"mine"
    assert (theirs / "nbgrader_config.py").read_bytes() == b"# my own"
    with pytest.raises(TrackError, match="new, empty or an earlier export"):
        export_course(track, tmp_path / "track")


def test_under_nbgrader_a_check_is_points_or_an_exception_and_writes_nothing(
    track, monkeypatch, capfd
):
    monkeypatch.setenv("HETLAB_TRACK", str(track.root))
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert check(f"{LESSON}/double", lambda x: 2 * x) == 2
    with pytest.raises(NoPoints, match="0 of 2 points"):
        check(f"{LESSON}/double", lambda x: x)

    def warns(x):
        import warnings

        warnings.warn("careful", stacklevel=1)
        return 2 * x

    assert check(f"{LESSON}/double", warns) == 2
    assert capfd.readouterr().err == ""
