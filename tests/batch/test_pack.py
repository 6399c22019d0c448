"""What `hetlab pack` makes is what `hetlab grade` takes."""

import zipfile

import pytest
from click.testing import CliRunner

from hetlab.batch.batch import Batch, Options
from hetlab.batch.pack import lesson_named, pack
from hetlab.batch.report import write_reports
from hetlab.cli import main
from hetlab.errors import InvalidValue, TrackError, UnknownName
from hetlab.tracks.work import open_work

from ..tracks.tiny_track import LESSON
from .classroom import by_eye, handed_in


@pytest.fixture
def work(track, tmp_path):
    open_work(track, tmp_path / "my work")
    exercise = tmp_path / "my work" / "exercises" / f"{LESSON}.ipynb"
    exercise.write_bytes(handed_in(track, {"double": "2 * x", "count": "len(x"}))
    return tmp_path / "my work"


def test_packed_work_is_graded_under_the_learners_name(track, work, tmp_path):
    done = pack(track, work, (LESSON,), "张三")
    assert done.file.name == f"张三-{LESSON}.zip"
    assert done.started == {LESSON: (2, 3)}
    assert [w.partition(": ")[2].partition(":")[0] for w in done.warnings] == [
        "not started", "cell 4 does not compile",
    ]  # fmt: skip
    place = tmp_path / "in"
    place.mkdir()
    done.file.rename(place / done.file.name)
    batch = Batch(place, track, tmp_path / "out", Options(tier="none"))
    batch.run(batch.prepare(), by_eye)
    (row,) = write_reports(batch)
    assert (row.student, row.points) == ("张三", 2)


def test_the_zip_holds_no_outputs_and_nothing_else_of_the_folder(track, work):
    (work / "diary.txt").write_text("private")
    with zipfile.ZipFile(pack(track, work, (), "a").file) as z:
        assert z.namelist() == [f"exercises/{LESSON}.ipynb", "hetlab-pack.json"]
        assert z.testzip() is None


def test_a_lesson_may_be_named_by_its_beginning(track):
    assert lesson_named(track, "01") == LESSON
    with pytest.raises(UnknownName):
        lesson_named(track, "07")


@pytest.mark.parametrize("name", ["", "a/b", "..", "c:d"])
def test_a_name_that_cannot_be_part_of_a_file_name_is_refused(name, track, work):
    with pytest.raises(InvalidValue):
        pack(track, work, (), name)


def test_an_exercise_that_cannot_be_read_is_not_packed(track, work):
    (work / "exercises" / f"{LESSON}.ipynb").write_bytes(b"{")
    with pytest.raises(TrackError, match="not valid JSON"):
        pack(track, work, (LESSON,), "a")


def test_the_command_says_what_is_not_started_and_which_file_to_hand_in(work, monkeypatch):
    monkeypatch.delenv("HETLAB_TRACK", raising=False)
    done = CliRunner().invoke(main, ["pack", "01", "--name", "李雷", "--work", str(work)])
    assert done.exit_code == 0, done.output
    assert "2 of 3 tasks" in done.output and "not started: last" in done.output
    assert f"李雷-{LESSON}.zip" in done.output
