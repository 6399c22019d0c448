"""A new track with a new lesson is complete, keeps its promises at once, and overwrites nothing."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from hetlab.errors import HetlabError, TrackError, UnknownName
from hetlab.tracks.build import build
from hetlab.tracks.manifest import load_track
from hetlab.tracks.notebooks import read_notebook
from hetlab.tracks.scaffold import add_lesson, new_track
from hetlab.tracks.tasks import load_tasks
from hetlab.tracks.templates import filled
from hetlab.tracks.verify import verify


@pytest.fixture
def track(tmp_path):
    return new_track(tmp_path / "我的 track", 'A "quoted" title')


def files(root):
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_a_new_track_loads_and_has_no_lessons(track):
    assert (track.name, track.title, track.lessons) == ("我的-track", 'A "quoted" title', ())
    workflow = ".github/workflows/verify.yml"
    assert set(files(track.root)) == {"track.toml", "README.md", ".gitignore", workflow}
    assert b"hetlab track verify" in files(track.root)[workflow]


def test_the_workflow_installs_all_that_verify_needs(track):
    pin = runpy.run_path(str(Path(__file__).parents[2] / "binder" / "pin.py"))
    workflow = (track.root / ".github/workflows/verify.yml").read_text("utf-8")
    (extra,) = re.findall(r'pip install "hetlab\[(\w+)\]"', workflow)
    assert {"nbval", "nbclient", "triton"} <= pin["needed"]("hetlab", frozenset({extra}), set())


@pytest.mark.soak
def test_two_lessons_can_be_added_and_verify_at_once(track):
    add_lesson(track, "01_first")
    add_lesson(load_track(track.root), "02_第二课", "Say it twice: $x \\ {y}")
    track = load_track(track.root)
    assert [lesson.title for lesson in track.lessons] == ["First", "Say it twice: $x \\ {y}"]
    report = verify(track, "02_第二课")  # every step, for real; the other is the same text
    assert report.passed and not report.lessons[0].findings, report
    assert len(report.lessons[0].done) == 7


def test_a_lesson_from_the_scaffold_has_three_hints_and_three_misconceptions(track):
    add_lesson(track, "01_first")
    (task,) = load_tasks(load_track(track.root), "01_first").values()
    assert len(task.hints) == 3 and len(task.wrong) == 3 and task.points == 3


def test_its_notebooks_follow_the_rules_they_teach(track):
    add_lesson(track, "01_first")
    lesson = load_track(track.root).lesson("01_first")
    for path in (lesson.notebook, lesson.solution, lesson.exercise):
        notebook = read_notebook(path)
        assert "{{" not in path.read_text("utf-8")
        assert notebook.metadata.hetlab.lesson == "01_first"
        assert not [c for c in notebook.cells if c.get("outputs")]
    assert [b.status for b in build(load_track(track.root), check=True)] == ["unchanged"]


def test_the_authors_comments_in_the_manifest_stay(track):
    text = track.manifest.read_text("utf-8") + "# my own note\n"
    track.manifest.write_text(text, encoding="utf-8")
    add_lesson(load_track(track.root), "01_first")
    assert track.manifest.read_text("utf-8").startswith(text.rstrip())


@pytest.mark.parametrize("name", ["first", "1_x", "../01_x", "01_a/b", "", "01-x", "01_x\n"])
def test_a_name_that_is_none_is_refused(track, name):
    before = files(track.root)
    with pytest.raises(HetlabError, match="must be like"):
        add_lesson(track, name)
    assert files(track.root) == before


@pytest.mark.parametrize("title", ["a\nb", "\x00", "\x1b[31m"])
def test_a_title_is_one_line_of_text(track, tmp_path, title):
    with pytest.raises(HetlabError, match="one line of text"):
        add_lesson(track, "01_x", title)
    with pytest.raises(HetlabError, match="one line of text"):
        new_track(tmp_path / "other", title)
    assert not (tmp_path / "other").exists()


def test_nothing_is_overwritten(track):
    with pytest.raises(TrackError, match=r"track\.toml exists already"):
        new_track(track.root)
    add_lesson(track, "01_first")
    track = load_track(track.root)
    before = files(track.root)
    with pytest.raises(TrackError, match="has a lesson '01_first' already"):
        add_lesson(track, "01_first")
    (track.root / "exercises" / "02_x.ipynb").write_text("mine")
    with pytest.raises(TrackError, match=r"exercises/02_x\.ipynb exists already"):
        add_lesson(track, "02_x")
    (track.root / "exercises" / "02_x.ipynb").unlink()
    assert files(track.root) == before


def test_a_failure_half_way_leaves_the_track_as_it_was(track):
    text = track.manifest.read_text("utf-8") + "lesson = []\n"  # [[lesson]] cannot follow
    track.manifest.write_text(text.replace("[sources]", ""), encoding="utf-8")
    before = files(track.root)
    with pytest.raises(TrackError):
        add_lesson(track, "01_first")
    assert files(track.root) == before


def test_a_field_without_a_value_is_a_mistake_of_ours_and_is_said():
    assert filled("a {{x}} {y} {{z}}", {"x": "{{z}}", "z": "1"}) == "a {{z}} {y} 1"
    with pytest.raises(UnknownName, match="titel"):
        filled("{{titel}}", {"title": "x"})
