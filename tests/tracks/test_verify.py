"""Verification finds each way in which a track can break its promises, and names it."""

from __future__ import annotations

import os
import shutil

import pytest

import hetlab.tracks.verify as verify_module
from hetlab.errors import TrackError, UnknownName
from hetlab.tracks.build import build
from hetlab.tracks.manifest import load_track
from hetlab.tracks.reading import prose, words
from hetlab.tracks.report import LessonReport
from hetlab.tracks.verify import verify

from .conftest import code, read_json, text, write_json

LESSON = "01_first"


def look(track, step, lesson=LESSON):
    """The findings of one step: each takes seconds, all together take ten."""
    report = LessonReport(lesson)
    verify_module._look(step, report, track, track.lesson(lesson), lambda step: None)
    return report.findings


@pytest.fixture
def quick(monkeypatch):
    """Only the steps that start no process, for tests of what stands around the steps."""
    steps = {name: verify_module.STEPS[name] for name in ("exercise in step", "text")}
    monkeypatch.setattr(verify_module, "STEPS", steps)


def edit_lesson(track, change, lesson=LESSON):
    path = track.lesson(lesson).notebook
    data = read_json(path)
    change(data["cells"])
    write_json(path, data)


def edit_solution(track, change):
    path = track.lesson(LESSON).solution
    data = read_json(path)
    change(data["cells"])
    write_json(path, data)
    build(track)


def edit_checks(track, old, new):
    path = track.lesson(LESSON).checks
    source = path.read_text("utf-8")
    assert old in source
    path.write_text(source.replace(old, new), encoding="utf-8")
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 10**9))  # not the module loaded before


def test_a_result_is_kept_while_the_content_is_the_same(built, quick):
    told = []
    first = verify(built, progress=lambda lesson, step: told.append((lesson, step)))
    assert first.passed and not any(r.cached for r in first.lessons), first
    assert all(len(r.done) == 2 and not r.findings for r in first.lessons), first
    assert ("02_第二课", "text") in told
    again = verify(built, progress=lambda *step: told.append("again"))
    assert again.passed and all(r.cached for r in again.lessons) and "again" not in told
    edit_lesson(built, lambda cells: cells.append(text("more", "More.")))
    third = verify(built)
    assert [r.cached for r in third.lessons] == [False, True]


def test_an_exercise_out_of_step_is_named(built):
    path = built.lesson(LESSON).exercise
    path.write_text(path.read_text("utf-8").replace("Exercises", "exercises"), encoding="utf-8")
    (found,) = look(built, "exercise in step")
    assert "not what its solution gives" in found.text and "01_first.ipynb" in found.where
    path.unlink()
    assert "not what its solution gives" in look(built, "exercise in step")[0].text


def test_a_solution_that_does_not_pass_is_named(built):
    edit_solution(built, lambda c: c[3].update(source=c[3]["source"].replace("1)", "2)")))
    (found,) = look(built, "solution scores 100 %")
    assert found.rule == "solution" and "gets 0 of 2 points" in found.text


def test_an_untouched_exercise_that_earns_points_is_named(built):
    # the answer stands outside of the region, and below it
    helper = code("helper", "def add_one(x):\n    return x + 1")
    edit_solution(built, lambda cells: cells.insert(4, helper))
    (found,) = look(built, "untouched exercise scores 0")
    assert found.rule == "untouched" and "must be 'not started' with 0 points" in found.text


def test_a_wrong_answer_that_passes_is_named(built):
    edit_checks(built, "lambda x: x - 1", "lambda x: 1 + x")
    (found,) = look(built, "wrong answers rejected")
    assert found.rule == "wrong answers" and "'one subtracted'" in found.text
    assert "it passes" in found.text


def test_a_wrong_answer_rejected_for_another_reason_is_named(built):
    edit_checks(built, "lambda x: x - 1", "lambda x: x.copy()")
    (found,) = look(built, "wrong answers rejected")
    assert "'one subtracted'" in found.text and "names 'nothing added'" in found.text


def test_a_check_that_accepts_a_generic_cheat_is_named(built):
    edit_checks(built, "for n in (0, 1, 5):", "for n in (1,):")  # one input: a constant will do
    found = look(built, "wrong answers rejected")
    assert any("the answer to the first input" in f.text for f in found)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("points=2", "points=3", "worth 3 points, its check cell 2"),
        ('"add_one",\n', '"add_two",\n', "has no Task"),
        ('hints=("Look at the sign.", ', "hints=(", "must have three hints, got 2"),
        (
            '        Wrong("one subtracted", lambda x: x - 1, says="You subtracted one."),\n',
            "",
            "at least two misconceptions, got 1",
        ),
        ("import numpy as np", "import numpyy as np", "do not run"),
        ("def spec(x):", "def spec(x:", "do not run"),
    ],
)
def test_checks_that_do_not_fit_are_named_with_their_file(built, old, new, words):
    edit_checks(built, old, new)
    found = look(built, "points add up")
    assert any(words in f.text for f in found), found
    assert "01_first.py" in found[0].where


def test_a_lesson_that_fails_or_is_missing_is_named_with_its_cell(built):
    edit_lesson(built, lambda cells: cells.append(code("oops", "1 / 0")))
    (found,) = look(built, "lesson runs from top to bottom")
    assert found.text == (
        "the lesson does not run: code cell 3 (oops): ZeroDivisionError: division by zero"
    )
    built.lesson(LESSON).notebook.unlink()
    assert any("No such file" in f.text for f in look(built, "lesson runs from top to bottom"))


def test_outputs_in_a_lesson_are_named(built):
    edit_lesson(built, lambda cells: cells[2].update(execution_count=1))
    assert "must have no outputs" in look(built, "text")[0].text


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        (text("t", "High Occupancy is good."), True),
        (text("t", "High preoccupancy is good."), False),
        (text("t", "See [this](http://x.org/occupancy) and `occupancy`."), False),
        (code("t", "x = 1  # mind the occupancy"), True),
        (code("t", "occupancy = 1"), False),
        (code("t", "%time 1\n# occupancy\n'''"), True),
    ],
)
def test_a_term_before_its_lesson_is_named(built, cell, found):
    def change(cells):
        cells.insert(1, {**cell, "source": cell["source"].replace("\n'''", "")})

    edit_lesson(built, change)
    rules = [f.rule for f in look(built, "text")]
    assert rules == (["terms"] if found else [])


def test_a_chinese_term_is_found_inside_running_text(mini):
    manifest = mini.manifest.read_text("utf-8").replace('["occupancy"]', '["占用率"]')
    mini.manifest.write_text(manifest, encoding="utf-8")
    track = load_track(mini.root)
    build(track)
    edit_lesson(track, lambda cells: cells.insert(0, text("t", "这里的占用率很高")))
    assert [f.rule for f in look(track, "text")] == ["terms"]
    edit_lesson(track, lambda cells: cells.pop(0))
    edit_lesson(track, lambda cells: cells.insert(0, text("t", "占用率")), "02_第二课")
    assert look(track, "text") == [] and look(track, "text", "02_第二课") == []


def test_long_cells_are_warnings_only(built):
    edit_lesson(built, lambda cells: cells.append(code("long", "\n".join(["x = 1"] * 16))))
    edit_lesson(built, lambda cells: cells.append(text("prose", "word " * 121)))
    found = look(built, "text")
    assert {f.level for f in found} == {"warning"}
    assert [f.text.partition(",")[0] for f in found] == ["16 lines of code", "121 words of prose"]


def test_words_are_counted_in_scripts_with_and_without_blanks():
    assert words("one two-three") == 3 and words("异构计算 GPU") == 3
    assert prose(type("C", (), {"cell_type": "raw", "source": "x"})) == ""


def test_a_lesson_is_run_on_a_copy(built):
    edit_lesson(built, lambda cells: cells.append(code("w", "open('left.txt', 'w').close()")))
    assert look(built, "lesson runs from top to bottom") == []
    assert not list(built.root.rglob("left.txt"))


def test_a_release_that_would_be_refused_is_a_warning(built, quick):
    answer = text("t", "return x + np.float64(1)")
    edit_lesson(built, lambda cells: cells.append(answer), "02_第二课")
    report = verify(built)
    assert report.passed and [f.rule for r in report.lessons for f in r.findings] == ["release"]


def test_an_empty_track_an_unknown_lesson_and_a_release_are_not_green(mini, tmp_path):
    with pytest.raises(UnknownName, match="01_first"):
        verify(mini, "01_frist")
    (tmp_path / "track.toml").write_text('[track]\nname = "e"\ntitle = "t"\n')
    assert not verify(load_track(tmp_path)).passed
    shutil.rmtree(mini.root / "solutions")
    with pytest.raises(TrackError, match="released track"):
        verify(mini)


def test_where_the_exercise_is_out_of_step_nothing_else_is_tried(built):
    built.lesson(LESSON).exercise.unlink()
    (report,) = verify(built, LESSON).lessons
    assert not report.passed and report.done == [] and len(report.findings) == 1


def test_a_damaged_cache_is_ignored(built, quick):
    place = built.root / ".hetlab" / "verify.json"
    place.parent.mkdir()
    for junk in ("{", '{"lessons": 3}', '{"lessons": {"01_first": {"key": 1}}}'):
        place.write_text(junk)
        assert verify(built, LESSON).passed
        place.write_text(junk)
