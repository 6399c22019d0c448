"""The checks of a lesson may be a folder of files that import from one another."""

import pytest

from hetlab.errors import TrackError
from hetlab.grading import judge, open_submission
from hetlab.tracks.manifest import load_track
from hetlab.tracks.release import release
from hetlab.tracks.tasks import load_tasks

from .tiny_track import CHECKS, LESSON, make_track


@pytest.fixture
def split(tmp_path):
    """The tiny track with its checks in three files."""
    root = make_track(tmp_path / "课程").root
    whole = root / "solutions" / "checks" / f"{LESSON}.py"
    whole.unlink()
    head, _, tasks = CHECKS.partition("double =")
    folder = whole.with_suffix("")
    folder.mkdir()
    (folder / "common.py").write_text(head, encoding="utf-8")
    first, _, rest = ("double =" + tasks).partition("count =")
    imports = (
        "from hetlab.grading import Correct, Task, Wrong, exact\nfrom .common import _numbers\n"
    )
    (folder / "a_double.py").write_text(imports + first, encoding="utf-8")
    (folder / "b_rest.py").write_text(imports + "count =" + rest, encoding="utf-8")
    return load_track(root)


def test_tasks_come_in_the_order_of_the_files_and_judge(split):
    tasks = load_tasks(split, LESSON)
    assert list(tasks) == ["double", "count", "last"]
    with open_submission({"double": lambda x: 2 * x}) as submission:
        assert judge(tasks["double"], submission).passed


def test_a_change_in_one_file_is_seen(split):
    load_tasks(split, LESSON)
    file = split.lesson(LESSON).checks / "a_double.py"
    file.write_text(file.read_text("utf-8").replace("Double it", "Twice it"), encoding="utf-8")
    assert load_tasks(split, LESSON)["double"].title == "Twice it"
    assert load_tasks(split, LESSON)["double"].points == 2


def test_an_error_names_its_own_file_and_line(split):
    file = split.lesson(LESSON).checks / "common.py"
    file.write_text("import numpy\n1 / 0\n", encoding="utf-8")
    with pytest.raises(TrackError, match=r"common\.py, line 2"):
        load_tasks(split, LESSON)


def test_a_release_holds_the_public_part_of_each_file(split, tmp_path):
    file = split.lesson(LESSON).checks / "common.py"
    hidden = "\n### BEGIN HIDDEN\nsecret_number = 12345 + 678910\n### END HIDDEN\n"
    file.write_text(file.read_text("utf-8") + hidden, encoding="utf-8")
    release(split, tmp_path / "out")
    released = load_track(tmp_path / "out")
    assert list(load_tasks(released, LESSON)) == ["double", "count", "last"]
    text = "".join(p.read_text("utf-8") for p in released.lesson(LESSON).check_files)
    assert "secret_number" not in text and "_numbers" in text


def test_a_change_in_any_file_makes_an_earlier_verification_void(split):
    from hetlab.tracks import verify as module

    before = module._key(split, split.lesson(LESSON), "")
    file = split.lesson(LESSON).checks / "b_rest.py"
    file.write_text(file.read_text("utf-8") + "# more\n", encoding="utf-8")
    assert module._key(split, split.lesson(LESSON), "") != before
