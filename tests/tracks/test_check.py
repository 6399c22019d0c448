"""What a learner calls in a notebook: check, hint, progress."""

import json

import pytest

from hetlab.errors import HetlabError, UnknownName
from hetlab.tracks.check import NoPoints, check, hint
from hetlab.tracks.progress import progress, progress_file

from .tiny_track import LESSON, make_track


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A work folder beside its track, with the learner in it."""
    make_track(tmp_path / "track")
    folder = tmp_path / "我的工作"
    (folder / ".hetlab").mkdir(parents=True)
    pointer = json.dumps({"track": "../track"})
    (folder / ".hetlab" / "track.json").write_text(pointer, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("HETLAB_TRACK", raising=False)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    return folder


def test_points_are_remembered_and_the_best_are_kept(work):
    assert check(f"{LESSON}/double", lambda x: 2 * x).points == 2
    assert check(f"{LESSON}/double", lambda x: 3 * x).points == 0
    assert "2 of 6" in repr(progress())
    data = json.loads(progress_file().read_text(encoding="utf-8"))
    assert data["tasks"][f"{LESSON}/double"]["last"] == 0


@pytest.mark.parametrize("name", ["dubble", f"{LESSON}/dubble", "01_course/double", "Double"])
def test_an_unknown_name_lists_the_close_ones(work, name):
    with pytest.raises(UnknownName, match=f"{LESSON}/double"):
        check(name, lambda x: x)


def test_the_wrong_number_of_functions_shows_the_right_call(work):
    with pytest.raises(HetlabError, match=r'hetlab\.check\("01_小课/double", double\)'):
        check(f"{LESSON}/double")


def test_hints_come_in_three_steps_and_stay_at_the_last(work):
    assert [hint(f"{LESSON}/double").text for _ in range(4)] == ["a", "b", "c", "c"]
    assert hint(f"{LESSON}/double", step=1).text == "a"


def test_in_the_tracks_own_folder_the_work_beside_it_is_meant(work, monkeypatch):
    """Somebody in a terminal at the top of the checkout asks for hints and progress."""
    track = work.parent / "track"
    (track / "work" / ".hetlab").mkdir(parents=True)
    (track / "work" / ".hetlab" / "track.json").write_text('{"track": ".."}', encoding="utf-8")
    monkeypatch.chdir(track / "work")
    check(f"{LESSON}/double", lambda x: 2 * x)
    monkeypatch.chdir(track)
    assert "2 of 6" in repr(progress())
    assert [hint(f"{LESSON}/double").text for _ in range(2)] == ["a", "b"]


def test_under_nbgrader_the_value_is_the_points_and_none_is_an_exception(work, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert check(f"{LESSON}/double", lambda x: 2 * x) == 2
    with pytest.raises(NoPoints, match="should be"):
        check(f"{LESSON}/double", lambda x: 3 * x)


def test_a_damaged_progress_file_stops_nobody_and_is_kept(work):
    progress_file().write_text("{ half", encoding="utf-8")
    check(f"{LESSON}/double", lambda x: 2 * x)
    assert "2 of 6" in repr(progress())
    kept = list(progress_file().parent.glob("progress.damaged-*"))
    assert [k.read_text() for k in kept] == ["{ half"]


def test_outside_a_work_folder_nothing_is_written(tmp_path, monkeypatch):
    track = make_track(tmp_path / "track")
    before = sorted(p for p in track.root.rglob("*") if "__pycache__" not in p.parts)
    monkeypatch.chdir(track.root)
    assert check(f"{LESSON}/double", lambda x: 2 * x).passed
    assert before == sorted(p for p in track.root.rglob("*") if "__pycache__" not in p.parts)
