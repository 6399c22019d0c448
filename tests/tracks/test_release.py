"""A release holds everything but the answers, and an answer anywhere stops it."""

from __future__ import annotations

import base64
import json
import urllib.parse
import zlib

import pytest

from hetlab.errors import TrackError
from hetlab.tracks.leaks import Secret, find_leaks, secrets_of
from hetlab.tracks.manifest import load_track
from hetlab.tracks.notebooks import read_notebook
from hetlab.tracks.release import release
from hetlab.tracks.run import check_notebook

from .conftest import read_json, write_json

ANSWER = "return x + np.float64(1)"
HIDDEN = 'Wrong("one subtracted", lambda x: x - 1, says="You subtracted one."),'


def files(root):
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.fixture
def released(mini, tmp_path):
    release(mini, tmp_path / "for students")
    return load_track(tmp_path / "for students")


def test_a_release_is_a_track_with_lessons_exercises_and_public_checks(mini, released):
    names = {"track.toml", "README.md", ".gitignore"}
    for lesson in ("01_first", "02_第二课"):
        names |= {f"notebooks/{lesson}.ipynb", f"exercises/{lesson}.ipynb", f"checks/{lesson}.py"}
    assert set(files(released.root)) == names
    assert released.released and [x.id for x in released.lessons] == [x.id for x in mini.lessons]
    assert released.lesson("02_第二课").terms == ("occupancy",)
    assert "{{" not in (released.root / "README.md").read_text("utf-8")


def test_it_holds_no_answer_and_nothing_hidden(released):
    everything = b"\n".join(files(released.root).values())
    for secret in (b"float64", b"subtracted", b"forgets_the_one", b"BEGIN HIDDEN", b"BEGIN SOL"):
        assert secret not in everything
    assert b"def spec(x)" in everything


def test_a_student_is_graded_in_a_release(released):
    lesson = released.lesson("01_first")
    assert [v.status for v in check_notebook(lesson.exercise, track=released)] == ["not started"]
    data = read_json(lesson.exercise)
    cell = next(c for c in data["cells"] if c["id"] == "add-one")
    cell["source"] = "def add_one(x):\n    return 1 + x"
    write_json(lesson.exercise, data)
    assert [v.points for v in check_notebook(lesson.exercise, track=released)] == [2]


def test_a_release_is_not_released_or_built_again(released, tmp_path):
    with pytest.raises(TrackError, match="a release already"):
        release(released, tmp_path / "again")


def test_a_folder_with_something_in_it_is_refused_and_an_empty_one_is_fine(mini, tmp_path):
    target = tmp_path / "t"
    target.mkdir()
    (target / "student.ipynb").write_text("work")
    with pytest.raises(TrackError, match="must be new or empty"):
        release(mini, target)
    assert files(target) == {"student.ipynb": b"work"}
    with pytest.raises(TrackError, match="must be new or empty"):
        release(mini, target / "student.ipynb")
    (target / "student.ipynb").unlink()
    release(mini, target)
    assert load_track(target).released


def plant_in_lesson(track, text, cell=0):
    path = track.lesson("02_第二课").notebook
    data = read_json(path)
    data["cells"][cell]["source"] += "\n" + text
    write_json(path, data)


def encodings(answer):
    raw = answer.encode()
    return {
        "as it is": answer,
        "inside a sentence": f"The answer: {answer}; easy.",
        "other blanks": answer.replace(" + ", "+").replace("(", "( "),
        "over two lines": answer.replace(" + ", " + \\\n   ").replace("\\\n", "\n"),
        "html": "".join(f"&#{ord(c)};" for c in answer),
        "percent": urllib.parse.quote(answer),
        "json escapes": "".join(f"\\u{ord(c):04x}" for c in answer),
        "python escapes": "".join(f"\\x{ord(c):02x}" for c in answer),
        "base64": base64.b64encode(raw).decode(),
        "urlsafe base64 in a url": "data:;base64,"
        + base64.urlsafe_b64encode(raw).decode().rstrip("="),
        "hex": raw.hex(),
        "zlib": base64.b64encode(zlib.compress(raw)).decode(),
        "base64 twice": base64.b64encode(base64.b64encode(raw)).decode(),
    }


@pytest.mark.parametrize("how", encodings(""))
@pytest.mark.parametrize("secret", [ANSWER, HIDDEN])
def test_an_answer_in_a_lesson_stops_the_release_however_it_is_written(mini, tmp_path, how, secret):
    plant_in_lesson(mini, encodings(secret)[how])
    with pytest.raises(TrackError, match="would hold an answer") as error:
        release(mini, tmp_path / "out")
    assert "notebooks/02_第二课.ipynb" in str(error.value)
    assert "01_first" in str(error.value)
    assert [p.name for p in tmp_path.iterdir()] == [mini.root.name]  # nothing left behind


def test_an_answer_split_over_the_pieces_of_a_source_is_found(mini, tmp_path):
    path = mini.lesson("02_第二课").notebook
    data = read_json(path)
    data["cells"][0]["source"] = ["return x + np.fl", "oat64(1)\n", "more"]
    write_json(path, data)
    with pytest.raises(TrackError, match="would hold an answer"):
        release(mini, tmp_path / "out")


@pytest.mark.parametrize("place", ["tag", "attachment", "title", "check"])
def test_an_answer_in_metadata_an_attachment_the_manifest_or_a_check_is_found(
    mini, tmp_path, place
):
    path = mini.lesson("02_第二课").notebook
    data = read_json(path)
    if place == "tag":
        data["cells"][0]["metadata"]["tags"] = [ANSWER]
    if place == "attachment":
        picture = base64.b64encode(b"\x89PNG " + ANSWER.encode()).decode()
        data["cells"][0]["attachments"] = {"a.png": {"image/png": picture}}
    write_json(path, data)
    if place == "title":
        text = mini.manifest.read_text("utf-8").replace("A small track", ANSWER)
        mini.manifest.write_text(text, encoding="utf-8")
    if place == "check":
        checks = mini.lesson("02_第二课").checks
        checks.write_text(checks.read_text("utf-8") + f"# {ANSWER}\n", encoding="utf-8")
    with pytest.raises(TrackError, match="would hold an answer"):
        release(load_track(mini.root), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_line_that_the_author_marks_as_public_may_be_seen(mini, tmp_path):
    checks = mini.lesson("01_first").checks
    spec = (
        "### BEGIN PUBLIC SPEC\ndef more(x):\n    return x + np.float64(1)\n### END PUBLIC SPEC\n"
    )
    checks.write_text(checks.read_text("utf-8") + spec, encoding="utf-8")
    release(mini, tmp_path / "out")
    assert ANSWER.encode() in (tmp_path / "out" / "checks" / "01_first.py").read_bytes()


def test_lines_that_give_nothing_away_do_not_stop_a_release(mini, tmp_path):
    path = mini.lesson("01_first").solution
    data = read_json(path)
    trivial = ["# a comment", "", "import numpy as np", "from math import pi", "out = x.copy()",
               "out = np.empty_like(x)", "n = 0", "for i in range(len(x)):", "    pass",
               "return out", "@njit(parallel=True)", "else:"]  # fmt: skip
    body = "\n".join("    " + t for t in trivial)
    cell = next(c for c in data["cells"] if c["id"] == "add-one")
    cell["source"] = f"def add_one(x):\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"
    write_json(path, data)
    plant_in_lesson(mini, body, cell=2)
    assert not [s for s in secrets_of(mini.lesson("01_first")) if "solutions/" in s.place]
    release(mini, tmp_path / "out")


def test_a_longer_name_is_not_the_secret():
    secret = [Secret("total = total + x[i]", "s")]
    assert find_leaks({"a": b"subtotal = total + x[i]"}, secret) == []
    assert find_leaks({"a": b"total = total + x[i]2"}, secret)
    (leak,) = find_leaks({"a": b"\n\n y; total=total+x[ i ]"}, secret)
    assert leak.where == "a, line 3"


def test_all_leaks_are_counted_and_a_tagged_cell_gives_its_lines_away(mini, tmp_path):
    plant_in_lesson(mini, ANSWER, cell=2)
    checks = mini.lesson("01_first").checks
    checks.write_text(checks.read_text("utf-8") + f"# {ANSWER}\n", encoding="utf-8")
    with pytest.raises(TrackError, match="more such line"):
        release(mini, tmp_path / "out")
    path = mini.lesson("02_第二课").notebook
    data = read_json(path)
    data["cells"][2]["metadata"]["tags"] = ["public-spec"]
    write_json(path, data)
    release(mini, tmp_path / "out")


def test_hidden_cells_of_a_lesson_stay_behind(mini, tmp_path):
    path = mini.lesson("01_first").notebook
    data = read_json(path)
    data["cells"][1]["source"] += "\n### BEGIN HIDDEN\nsecret_number = 42\n### END HIDDEN"
    data["cells"][2]["source"] = "### BEGIN HIDDEN\nall_of_it = 'hidden'\n### END HIDDEN"
    write_json(path, data)
    release(mini, tmp_path / "out")
    cells = read_notebook(tmp_path / "out" / "notebooks" / "01_first.ipynb").cells
    assert [c.id for c in cells] == ["title", "setup"] and "secret" not in cells[1].source


def test_a_checks_file_that_breaks_without_its_hidden_regions_is_named(mini, tmp_path):
    checks = mini.lesson("01_first").checks
    source = "def f():\n    ### BEGIN HIDDEN\n    return 1\n    ### END HIDDEN\n"
    checks.write_text(source, encoding="utf-8")
    with pytest.raises(TrackError, match="not Python any more") as error:
        release(mini, tmp_path / "out")
    assert "01_first.py" in str(error.value) and not (tmp_path / "out").exists()


def test_comments_of_the_manifest_stay_at_home(mini, tmp_path):
    text = mini.manifest.read_text("utf-8") + f"# note to myself: {ANSWER}\n"
    mini.manifest.write_text(text, encoding="utf-8")
    release(load_track(mini.root), tmp_path / "out")
    assert b"myself" not in (tmp_path / "out" / "track.toml").read_bytes()


def test_an_included_lesson_becomes_the_releases_own(mini, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    source = json.dumps(str(mini.root), ensure_ascii=False)
    (own / "track.toml").write_text(
        '[track]\nname = "own"\ntitle = "t"\ninclude = ["mini:02_第二课"]\n'
        f"[sources]\nmini = {source}\n",
        encoding="utf-8",
    )
    release(load_track(own), tmp_path / "out")
    track = load_track(tmp_path / "out")
    assert [(x.id, x.track, x.root) for x in track.lessons] == [("02_第二课", "own", track.root)]


def test_a_track_without_lessons_is_not_released(tmp_path):
    (tmp_path / "track.toml").write_text('[track]\nname = "a"\ntitle = "t"\n')
    with pytest.raises(TrackError, match="no lessons to release"):
        release(load_track(tmp_path), tmp_path / "out")


def test_idioms_that_a_lesson_teaches_do_not_stop_a_release_but_most_of_an_answer_does():
    from hetlab.tracks.leaks import most_of_an_answer

    lines = ["part = shared(128)", "part[t] = x[i]", "total += part[k]", "out[b] = total"]
    secrets = [
        Secret(text, f"s, line {i}", "s, line 1", "SOLUTION") for i, text in enumerate(lines)
    ]
    one = find_leaks({"lesson": b"part = shared(128)"}, secrets)
    assert len(one) == 1 and most_of_an_answer(one, secrets) == []
    most = find_leaks({"lesson": "\n".join(lines[:3]).encode()}, secrets)
    assert len(most_of_an_answer(most, secrets)) == 3


def test_what_a_hint_says_is_given_away_on_purpose(mini, tmp_path):
    checks = mini.lesson("01_first").checks
    text = checks.read_text("utf-8")
    assert text.count("hints=") == 1
    checks.write_text(text.replace("hints=(", f'hints=("{ANSWER}",', 1), encoding="utf-8")
    release(load_track(mini.root), tmp_path / "out")
