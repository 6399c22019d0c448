"""What an instructor types, and what they are told when it cannot be done."""

import json

import pytest
from click.testing import CliRunner

import hetlab.grading.tiers as tiers
from hetlab.batch import commands
from hetlab.batch.batch import Batch, Options
from hetlab.batch.gradescope import results
from hetlab.batch.job import Job
from hetlab.batch.pool import run_here
from hetlab.batch.report import write_reports
from hetlab.cli import main
from hetlab.errors import HetlabError
from hetlab.tracks.release import release

from ..tracks.tiny_track import LESSON
from .classroom import by_eye, handed_in, lay_out


def run(*words):
    done = CliRunner().invoke(main, list(map(str, words)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


@pytest.fixture
def place(track, tmp_path):
    return lay_out(tmp_path / "in", {"alice.ipynb": handed_in(track)})


def test_a_weak_sandbox_stops_with_a_sentence_before_anything_runs(
    track, place, tmp_path, monkeypatch
):
    weak = tiers.Tier("rlimit", "bubblewrap is not installed", "Install it.")
    monkeypatch.setattr(tiers, "probe", lambda: weak)
    code, text = run("grade", place, "--track", track.root, "--out", tmp_path / "out")
    assert code == 2 and "--weak-sandbox" in text and "Install it." in text
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--due", "tomorrow"], "--due must be a time like"),
        (["--regrade", "01_小课/dubble"], "Did you mean"),
        (["--lesson", "09_nothing"], "there is no lesson"),
        (["--dask", "tcp://127.0.0.1:1"], "no Dask scheduler answered"),
    ],
)
def test_a_wrong_call_is_one_line_and_writes_no_grades(words, why, track, place, tmp_path):
    out = tmp_path / "out"
    code, text = run("grade", place, "--track", track.root, "--out", out, "--weak-sandbox", *words)
    assert code == 2 and why in text and not (out / "grades.csv").exists()


def test_a_released_track_does_not_grade(track, place, tmp_path):
    release(track, tmp_path / "released")
    code, text = run("grade", place, "--track", tmp_path / "released", "--weak-sandbox")
    assert code == 2 and "no hidden checks" in text


def test_a_due_time_is_compared_as_blackboard_writes_it():
    assert commands._time("2026-01-31T23:59") == "2026-01-31-23-59-59"
    assert commands._time("2026-01-31") == "2026-01-31-23-59-59"


def test_gradescope_gets_a_test_a_task(track, place, tmp_path):
    batch = Batch(place, track, tmp_path / "out", Options(tier="none"))
    batch.run(batch.prepare(), by_eye)
    write_reports(batch)
    found = json.loads(json.dumps(results(tmp_path / "out")))
    assert found["score"] == 6
    assert {t["name"]: (t["score"], t["max_score"]) for t in found["tests"]} == {
        f"{LESSON}/double": (2, 2), f"{LESSON}/count": (1, 1), f"{LESSON}/last": (3, 3),
    }  # fmt: skip
    with pytest.raises(HetlabError, match="one student"):
        results(tmp_path / "nothing")


def test_a_grader_that_fails_costs_its_own_row(track):
    """The row says whose fault it is, and the others are graded."""
    bad = Job("a", LESSON, {"cells": 3}, ("double",), 1, "none", {})
    worse = Job("b", "09_nothing", {}, ("double",), 1, "none", {})
    answers = dict(
        (job.student, answer) for job, answer in run_here([bad, worse], track.root, count=2)
    )
    assert all(a.fault.startswith("the grader failed") for a in answers.values())
    (answer,) = (a for _, a in run_here([bad], track.root / "nowhere", count=1))
    assert "the grader failed" in answer.fault
