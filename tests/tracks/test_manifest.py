"""A manifest's mistakes are named: key, rule, value, file."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import hetlab
from hetlab.errors import TrackError, UnknownName
from hetlab.tracks.manifest import find_track, load_track
from hetlab.tracks.work import open_work

from .conftest import MANIFEST, write_mini


def put(tmp_path, text, encoding="utf-8"):
    (tmp_path / "track.toml").write_bytes(text.encode(encoding))
    return tmp_path


def test_a_track_knows_its_lessons_in_order_and_where_their_files_lie(mini):
    assert [lesson.id for lesson in mini.lessons] == ["01_first", "02_第二课"]
    second = mini.lesson("02_第二课")
    assert (second.minutes, second.points, second.kind) == (20, 3, "core")
    assert second.after == ("01_first",) and second.terms == ("occupancy",)
    assert second.solution.is_file() and second.notebook.is_file() and second.checks.is_file()
    assert not mini.released


def test_the_folder_or_the_file_may_be_named(mini):
    assert load_track(mini.root / "track.toml") == load_track(str(mini.root)) == mini


def test_an_unknown_lesson_lists_the_close_ones(mini):
    with pytest.raises(UnknownName, match="01_first"):
        mini.lesson("01_frist")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "mini"', "", "'track.name' is missing"),
        ('name = "mini"', 'nam = "mini"', "It has 'nam', is that meant"),
        ('name = "mini"', 'name = "a/b"', "track.name must be a short name"),
        ('name = "mini"', "name = 3", "track.name must be"),
        ('title = "A small track"', 'title = "  "', "track.title must be a text"),
        ('version = "1.0"', 'vresion = "1.0"', "no key 'track.vresion'"),
        ('version = "1.0"', 'requires_hetlab = ">=99"', "needs hetlab >=99"),
        ('version = "1.0"', 'requires_hetlab = "new"', "requires_hetlab must be like"),
        ('version = "1.0"', 'include = ["x"]', "must be like"),
        ('version = "1.0"', 'include = ["other:01_x"]', "does not say where it lies"),
        ("minutes = 10", 'minutes = "ten"', "lesson.minutes must be a whole number"),
        ("minutes = 10", "minutes = 0", "at least 1, got 0"),
        ("minutes = 10", "minutes = true", "lesson.minutes must be"),
        ("minutes = 10", "", "'lesson.minutes' is missing"),
        ("points = 2", "points = -1", "lesson.points must be"),
        ("points = 2", 'points = 2\nkind = "extra"', "'core' or 'stretch', got 'extra'"),
        ("points = 2", 'points = 2\nterms = "SIMD"', "lesson.terms must be a list of texts"),
        ("points = 2", 'points = 2\nplatforms = ["beos"]', r"got \['beos'\]"),
        ("points = 2", "points = 2\nminute = 3", "no key 'lesson.minute'"),
        ("points = 2", 'points = 2\nafter = ["02_第二课"]', "in a circle: "),
        ("points = 2", 'points = 2\nafter = ["01_first"]', "01_first after 01_first"),
        ('after = ["01_first"]', 'after = ["01_frist"]', "Did you mean '01_first'"),
        ('id = "01_first"', 'id = "first"', "lesson.id must be like"),
        ('id = "01_first"', 'id = "../01_x"', "lesson.id must be like"),
        ('id = "02_第二课"', 'id = "01_first"', "is there twice"),
        ("[track]", "[tracks]", "'track' is missing"),
        ("[[lesson]]", "[lesson]", "not valid TOML"),
        ("[track]", "[track", "not valid TOML"),
    ],
)
def test_each_mistake_is_one_line_with_the_file(tmp_path, old, new, words):
    put(tmp_path, MANIFEST.replace(old, new, 1))
    with pytest.raises(TrackError, match=words) as error:
        load_track(tmp_path)
    assert "track.toml" in str(error.value) and "\n" not in str(error.value)


def test_a_lesson_before_the_one_it_needs_is_refused(tmp_path):
    first, second = MANIFEST.split("[[lesson]]")[1:]
    head = MANIFEST.split("[[lesson]]")[0]
    put(tmp_path, "[[lesson]]".join([head, second, "\n" + first]))
    with pytest.raises(TrackError, match="'02_第二课' comes before '01_first'"):
        load_track(tmp_path)


def test_a_byte_order_mark_is_fine_and_another_encoding_is_named(tmp_path):
    assert load_track(put(tmp_path, MANIFEST, "utf-8-sig")).name == "mini"
    with pytest.raises(TrackError, match="must be UTF-8 text, got the byte"):
        load_track(put(tmp_path, MANIFEST, "gbk"))


@pytest.mark.parametrize(
    ("spec", "fits"),
    [(">=0.1", True), (">=0.1,<0.2", True), ("~=0.1", True), ("==0.1.0", True), ("!=0.1", False),
     ("<0.1", False), (">0.1.0", False), ("<=0.1", True), ("~=1.0", False)],
)  # fmt: skip
def test_versions_are_compared_as_numbers(tmp_path, monkeypatch, spec, fits):
    monkeypatch.setattr(hetlab, "__version__", "0.1.0.dev3")
    put(tmp_path, MANIFEST.replace('version = "1.0"', f'requires_hetlab = "{spec}"'))
    if fits:
        load_track(tmp_path)
    else:
        with pytest.raises(TrackError, match="needs hetlab"):
            load_track(tmp_path)


def own_track(folder, include, source):
    folder.mkdir()
    return put(
        folder,
        f'[track]\nname = "own"\ntitle = "t"\ninclude = ["{include}"]\n[sources]\nmini = "{source}"'
        '\n[[lesson]]\nid = "03_own"\ntitle = "Own"\nminutes = 1\npoints = 0\n'
        'after = ["02_第二课"]\n',
    )


def test_a_track_takes_over_lessons_of_another(mini, tmp_path):
    own = load_track(own_track(tmp_path / "own", "mini:02_第二课", "../my 课程"))
    assert [(x.id, x.track) for x in own.lessons] == [("02_第二课", "mini"), ("03_own", "own")]
    assert own.lessons[0].root == mini.root and own.lessons[0].after == ()
    assert [x.id for x in own.own] == ["03_own"]


def test_an_include_of_an_unknown_lesson_or_a_wrong_source_is_named(mini, tmp_path):
    with pytest.raises(UnknownName, match="02_第二课"):
        load_track(own_track(tmp_path / "a", "mini:02_第二", "../my 课程"))
    with pytest.raises(TrackError, match="not a lesson track"):
        load_track(own_track(tmp_path / "b", "mini:02_第二课", "../nowhere"))


def test_tracks_that_include_each_other_are_refused(tmp_path):
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / name).mkdir()
        put(tmp_path / name, f'[track]\nname = "{name}"\ntitle = "t"\n'
            f'include = ["{other}:01_x"]\n[sources]\n{other} = "../{other}"\n')  # fmt: skip
    with pytest.raises(TrackError, match="include each other in a circle"):
        load_track(tmp_path / "a")


def test_a_folder_without_a_manifest_says_how_to_make_one(tmp_path):
    with pytest.raises(TrackError, match="hetlab track new"):
        load_track(tmp_path)


def test_a_track_is_found_upwards_by_pointer_and_by_the_environment(mini, tmp_path, monkeypatch):
    deep = mini.root / "notebooks" / "deep"
    deep.mkdir()
    assert find_track(deep) == mini
    from hetlab.tracks.build import build

    build(mini)
    work = tmp_path / "elsewhere" / "my work"
    open_work(mini, work)
    assert find_track(work / "exercises") == mini
    other = load_track(write_mini(tmp_path / "second"))
    monkeypatch.chdir(other.root)
    assert find_track() == other
    monkeypatch.setenv("HETLAB_TRACK", str(mini.root))
    assert find_track() == mini
    monkeypatch.setenv("HETLAB_TRACK", str(tmp_path / "gone"))
    with pytest.raises(TrackError, match="HETLAB_TRACK"):
        find_track()


def test_a_work_folder_inside_another_track_belongs_to_its_own_track(mini, tmp_path):
    from hetlab.tracks.build import build

    build(mini)
    other = write_mini(tmp_path / "second")
    open_work(mini, other / "work")
    assert find_track(other / "work" / "lessons") == mini


def test_chinese_names_work_in_the_plain_c_locale(mini):
    script = (
        "import sys; from hetlab.tracks.manifest import load_track; "
        "print(ascii(load_track(sys.argv[1]).lessons[1].id))"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
    run = subprocess.run(
        [sys.executable, "-c", script, str(mini.root)],
        env={**environment, "LC_ALL": "C"},
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == ascii("02_第二课"), run.stderr
