"""A batch gives one row a student, goes on where it was killed, and writes the same bytes."""

import csv
import io
import json
import random
import signal
import subprocess
import sys
import time

import pytest

from hetlab.batch.batch import Batch, Options
from hetlab.batch.job import clean
from hetlab.batch.ledger import Ledger, slug
from hetlab.batch.plan import seed_of
from hetlab.batch.report import write_reports
from hetlab.errors import HetlabError
from hetlab.grading import Finding, Verdict

from ..tracks.tiny_track import LESSON, make_track
from .classroom import RIGHT, by_eye, contents, handed_in, lay_out


def run(track, submissions, out, runner=by_eye, **options):
    """One run without kernels; its rows by student."""
    batch = Batch(submissions, track, out, Options(tier="none", **options))
    with batch.ledger.locked():
        jobs = batch.prepare()
        batch.run(jobs, runner)
        rows = write_reports(batch)
    return batch, {r.student: r for r in rows}


def grades(out):
    text = (out / "grades.csv").read_bytes().decode("utf-8-sig")
    return {r["student"]: r for r in csv.DictReader(io.StringIO(text))}


@pytest.fixture
def classroom(track, tmp_path):
    wrong = {**RIGHT, "double": "x * x"}
    return lay_out(
        tmp_path / "in",
        {
            "alice/a.ipynb": handed_in(track),
            "张三/b.ipynb": handed_in(track, wrong),
            "=cmd|'calc'!A0/c.ipynb": handed_in(track, {}),
            "broken/d.ipynb": b'{"cells": [',
            "empty/e.ipynb": b"",
            "pdf/report.pdf": b"%PDF",
        },
    )


def test_one_row_a_student_whatever_they_handed_in(track, classroom, tmp_path):
    run(track, classroom, tmp_path / "out")
    rows = grades(tmp_path / "out")
    head = ["student", "points", "max_points", *(f"{LESSON}/{t}" for t in RIGHT)]
    assert list(rows["alice"]) == [*head, "sandbox", "reason"]
    points = {name: row["points"] for name, row in rows.items()}
    assert points == {"alice": "6", "张三": "4", "'=cmd|'calc'!A0": "0", "broken": "0",
                      "empty": "0", "pdf": "0"}  # fmt: skip
    assert "not valid JSON" in rows["broken"]["reason"]
    assert "the file is empty" in rows["empty"]["reason"]
    assert "report.pdf" in rows["pdf"]["reason"]
    assert not rows["alice"]["reason"] and rows["alice"]["sandbox"] == "none"


def test_a_run_that_is_cut_short_goes_on_and_ends_in_the_same_bytes(track, classroom, tmp_path):
    run(track, classroom, tmp_path / "whole")

    def dies_after_one(jobs):
        yield from list(by_eye(jobs))[:1]
        raise KeyboardInterrupt

    left = []
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            run(track, classroom, tmp_path / "cut", dies_after_one)
        left.append(len(Batch(classroom, track, tmp_path / "cut", Options(tier="none")).prepare()))
    assert left == [2, 1, 0]
    run(track, classroom, tmp_path / "cut")
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_only_what_changed_is_graded_again(track, classroom, tmp_path):
    out = tmp_path / "out"
    assert run(track, classroom, out)[0].progress.done == 3
    assert run(track, classroom, out)[0].progress.done == 0
    (classroom / "张三" / "b.ipynb").write_bytes(handed_in(track))
    batch, rows = run(track, classroom, out)
    assert batch.progress.done == 1 and rows["张三"].points == 6
    assert run(track, classroom, out, secret=7)[0].progress.done == 3


def test_a_failure_of_the_grader_is_told_apart_and_tried_again(track, classroom, tmp_path):
    from hetlab.batch.job import Answer

    def fails(jobs):
        yield from ((job, Answer(fault="the grader failed: out of memory")) for job in jobs)

    batch, rows = run(track, classroom, tmp_path / "out", fails)
    assert batch.progress.faults == 3
    assert rows["alice"].reason == "the grader failed: out of memory"
    assert run(track, classroom, tmp_path / "out")[1]["alice"].points == 6


def test_regrading_one_task_leaves_the_others_and_shows_the_difference(classroom, tmp_path):
    track = make_track(tmp_path / "own")
    out = tmp_path / "out"
    run(track, classroom, out)

    def kinder(jobs):
        assert {job.tasks for job in jobs} == {("double",)}
        for job, answer in by_eye(jobs):
            full = Finding("right values", 2, 2, True)
            yield job, type(answer)((Verdict(f"{LESSON}/double", "passed", (full,)),))

    run(track, classroom, out, kinder, regrade=f"{LESSON}/double")
    text = (out / f"regrade-{LESSON}-double.csv").read_text("utf-8-sig").splitlines()
    assert text[0] == "student,before,after,difference"
    assert {"张三,0,2,2", "alice,2,2,0"} <= set(text)
    rows = grades(out)
    assert rows["张三"]["points"] == "6" and rows["张三"][f"{LESSON}/last"] == "3"


def test_a_regrading_that_was_killed_still_knows_the_points_from_before(track, classroom, tmp_path):
    out, task = tmp_path / "out", f"{LESSON}/double"
    run(track, classroom, out)

    def dies(jobs):
        yield from list(by_eye(jobs))[:1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(track, classroom, out, dies, regrade=task)
    run(track, classroom, out, regrade=task)
    text = (out / f"regrade-{LESSON}-double.csv").read_text("utf-8-sig")
    assert "alice,2,2,0" in text and "张三,0,0,0" in text


def test_a_humans_word_is_the_last(track, classroom, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "overrides.csv").write_text(
        f"student,task,points,why\n张三,{LESSON}/double,1.5,half right\npdf,,3,shown in class\n",
        encoding="utf-8",
    )
    run(track, classroom, out)
    rows = grades(out)
    assert rows["张三"]["points"] == "5.5" and "half right" in rows["张三"]["reason"]
    assert rows["pdf"]["points"] == "3" and "shown in class" in rows["pdf"]["reason"]
    stored = json.loads((out / "students" / f"{slug('张三')}.json").read_text("utf-8"))
    assert stored["tasks"][f"{LESSON}/double"]["points"] == 0  # what was judged stays on record
    assert "decided by hand" in (out / "feedback" / f"{slug('张三')}.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("student,points\na,1\n", "lack the column 'task'"),
        (f"student,task,points\na,{LESSON}/dubble,1\n", "Did you mean"),
        ("student,task,points\na,,many\n", "line 2"),
        ("student,task,points\na,,-1\n", "0 or more"),
    ],
)
def test_a_mistake_in_the_overrides_names_its_line(text, why, track, classroom, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "overrides.csv").write_text(text, encoding="utf-8")
    with pytest.raises(HetlabError, match=why):
        run(track, classroom, tmp_path / "out")


def test_the_last_attempt_that_can_be_read_counts(track, tmp_path):
    place = lay_out(
        tmp_path / "in",
        {
            "wang_LATE_4712_1001_x.ipynb": handed_in(track, {}),
            "wang_LATE_4712_1001_x-1.ipynb": handed_in(track),
            "wang_LATE_4712_1001_x-2.ipynb": b"{",
        },
    )
    _, rows = run(track, place, tmp_path / "out")
    row = rows["wang"]
    assert row.points == 6 and row.late and "handed in late" in row.reason
    assert "3 files" in row.record["notes"][0] and "x-1.ipynb" in row.record["notes"][0]


def test_late_work_keeps_what_the_instructor_says(track, tmp_path):
    name = "HW 1_wang_attempt_2026-02-01-00-00-01_x.ipynb"
    place = lay_out(tmp_path / "in", {name: handed_in(track)})
    batch = Batch(place, track, tmp_path / "out", Options(tier="none", due="2026-01-31-23-59-59"))
    batch.run(batch.prepare(), by_eye)
    (row,) = write_reports(batch, late_keeps=80)
    assert row.points == 4.8 and "80 % of 6" in row.reason
    assert (tmp_path / "out" / "lms-blackboard.csv").read_text("utf-8-sig").splitlines()[1] == (
        "wang,4.8"
    )


def test_each_student_gets_inputs_of_their_own_the_same_every_time():
    assert seed_of(0, "alice") == seed_of(0, "alice") != seed_of(0, "bob")
    assert seed_of(0, "alice") != seed_of(1, "alice")


def test_a_second_run_on_the_same_folder_is_refused(tmp_path):
    ledger = Ledger(tmp_path / "out")
    with (
        ledger.locked(),
        pytest.raises(HetlabError, match="another run"),
        Ledger(tmp_path / "out").locked(),
    ):
        pass


def test_what_no_two_runs_share_is_taken_out_of_a_verdict():
    text = "3.1 times the speed of NumPy's (2.9 to 3.3 in 9 rounds; this time 3 ms; measured)"
    details = ("line 3 of f:  /tmp/hetlab-x1y2z3/home/a.py <function f at 0x7f00aa00bb00>",)
    verdict = Verdict("a/b", "passed", (Finding("fast", 2, 2, True, text, "speed", details),))
    cleaned, measured = clean(verdict)
    assert cleaned.findings[0].text == "as fast as asked (measured)"
    assert cleaned.findings[0].details == ("line 3 of f:  .../home/a.py <function f at 0x...>",)
    assert text in measured[0]


def test_names_that_differ_have_files_that_differ_on_every_system():
    names = ["alice", "Alice", "ALICE", "a/b", "a:b", "张三", ".", "", "x" * 300, "con "]
    assert len({slug(name).casefold() for name in names}) == len(names)
    assert all(len(slug(n).encode()) < 200 for n in names)


def command(track, place, out, *more):
    words = ["grade", place, "--track", track.root, "--out", out, "--weak-sandbox", *more]
    return [sys.executable, "-m", "hetlab", *map(str, words)]


@pytest.mark.soak
def test_real_notebooks_killed_at_random_end_in_the_bytes_of_an_undisturbed_run(track, tmp_path):
    def dies(notebook):
        notebook.cells[3].source = "import os\nos._exit(0)"

    place = lay_out(
        tmp_path / "in",
        {
            "alice.ipynb": handed_in(track),
            "dead.ipynb": handed_in(track, change=dies),
            "张三.ipynb": handed_in(track, {**RIGHT, "double": "x * x"}),
        },
    )
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    done = subprocess.run(
        command(track, place, whole, "--jobs", "1"), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    rows = grades(whole)
    assert {n: r["points"] for n, r in rows.items()} == {"alice": "6", "dead": "2", "张三": "4"}
    assert "the kernel died in cell 4" in rows["dead"]["reason"]
    chance = random.Random(5)
    for _ in range(5):
        process = subprocess.Popen(command(track, place, cut), stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(1.0, 4.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(command(track, place, cut), check=True, capture_output=True)
    assert contents(cut) == contents(whole)


@pytest.mark.soak
def test_eight_gradings_at_once_equal_eight_in_a_row(track, tmp_path):
    """SEEN_IN_PUBLIC 34: two gradings at once got into each other's way."""
    place = lay_out(
        tmp_path / "in",
        {
            "alice.ipynb": handed_in(track),
            "张三.ipynb": handed_in(track, {**RIGHT, "double": "x * x"}),
            "loops.ipynb": handed_in(track, {**RIGHT, "count": "[1 for _ in iter(int, 1)]"}),
        },
    )
    for number in range(8):
        subprocess.run(command(track, place, tmp_path / f"row-{number}"), check=True)
    at_once = [
        subprocess.Popen(command(track, place, tmp_path / f"once-{number}")) for number in range(8)
    ]
    assert [process.wait() for process in at_once] == [0] * 8
    first = contents(tmp_path / "row-0")
    assert {n: r["points"] for n, r in grades(tmp_path / "row-0").items()} == {
        "alice": "6",
        "loops": "5",
        "张三": "4",
    }
    for number in range(8):
        assert contents(tmp_path / f"row-{number}") == first
        assert contents(tmp_path / f"once-{number}") == first
