"""A learner's copies are laid out once and then belong to the learner."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hetlab.errors import TrackError
from hetlab.tracks.build import build
from hetlab.tracks.files import StaleCopyError, keep_old, write_atomic
from hetlab.tracks.manifest import find_track, load_track
from hetlab.tracks.notebooks import read_notebook
from hetlab.tracks.work import default_work, find_work, open_work

from .conftest import read_json, write_json, write_mini


@pytest.fixture
def work(built):
    open_work(built, built.root / "work")
    return built.root / "work"


def files(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_work_folder_holds_a_start_page_copies_and_their_base(built, work):
    names = [
        f"{kind}/{i}.ipynb" for kind in ("exercises", "lessons") for i in ("01_first", "02_第二课")
    ]
    expected = ["START_HERE.ipynb", *names]
    assert files(work) == sorted(
        [*expected, *(f".hetlab/base/{n}" for n in expected), ".hetlab/track.json"]
    )
    assert (work / "lessons/01_first.ipynb").read_bytes() == built.lessons[0].notebook.read_bytes()


def test_the_start_page_links_every_lesson_and_says_how_to_check_and_save(work):
    page = "\n".join(c.source for c in read_notebook(work / "START_HERE.ipynb").cells)
    assert "(lessons/01_first.ipynb)" in page
    assert "(exercises/02_%E7%AC%AC%E4%BA%8C%E8%AF%BE.ipynb)" in page
    assert "hetlab.check(" in page and "hetlab save" in page and "hetlab update" in page
    assert "{{" not in page and "A small track" in page


def test_laying_out_again_changes_nothing(built, work):
    before = {p: p.stat().st_mtime_ns for p in work.rglob("*")}
    assert open_work(built, work) == []
    assert {p: p.stat().st_mtime_ns for p in work.rglob("*")} == before


def test_what_the_learner_wrote_stays_and_a_newer_lesson_is_reported(built, work):
    copy = work / "lessons/01_first.ipynb"
    copy.write_text("mine, not even a notebook", encoding="utf-8")
    source = built.lessons[0].notebook
    source.write_text(source.read_text("utf-8").replace("你好", "大家好"), encoding="utf-8")
    actions = open_work(built, work)
    assert [(a.kind, a.file) for a in actions] == [("stale", "lessons/01_first.ipynb")]
    assert copy.read_text("utf-8") == "mine, not even a notebook"


def test_the_start_page_is_renewed_until_the_learner_changes_it(built, work):
    page = work / "START_HERE.ipynb"
    data = read_json(page)
    data["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["3 of 5"]}]
    write_json(page, data)  # run and saved, but not changed
    manifest = built.manifest.read_text("utf-8")
    built.manifest.write_text(manifest.replace("A small track", "A new title"), encoding="utf-8")
    assert [a.file for a in open_work(load_track(built.root), work)] == ["START_HERE.ipynb"]
    assert "A new title" in page.read_text("utf-8")
    data = read_json(page)
    data["cells"][0]["source"] = ["my own list"]
    write_json(page, data)
    built.manifest.write_text(manifest, encoding="utf-8")
    assert open_work(load_track(built.root), work) == []
    assert "my own list" in page.read_text("utf-8")


def test_a_start_page_that_was_there_before_is_the_learners(built, tmp_path):
    page = tmp_path / "w" / "START_HERE.ipynb"
    page.parent.mkdir()
    page.write_text("mine")
    open_work(built, tmp_path / "w")
    assert page.read_text() == "mine"


def test_a_deleted_copy_is_laid_out_afresh(built, work):
    (work / "exercises/01_first.ipynb").unlink()
    assert [(a.kind, a.file) for a in open_work(built, work)] == [
        ("new", "exercises/01_first.ipynb")
    ]


def test_a_track_that_was_not_built_is_named_and_nothing_is_laid_out(mini, tmp_path):
    with pytest.raises(TrackError, match=r"exercises/01_first\.ipynb is missing.*track build"):
        open_work(mini, tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_the_tracks_own_folders_cannot_be_the_work_folder(built):
    for folder in (built.root, built.root / "notebooks", built.root / "exercises" / "x"):
        with pytest.raises(TrackError, match="outside the track's own files"):
            open_work(built, folder)
    file = built.root / "file"
    file.write_text("")
    with pytest.raises(TrackError, match="got a file"):
        open_work(built, file)
    with pytest.raises(TrackError, match="could not make the folder"):
        open_work(built, file / "below")


def test_a_work_folder_of_another_track_is_refused(built, work, tmp_path):
    root = write_mini(tmp_path / "other")
    (root / "track.toml").write_text(
        (root / "track.toml").read_text("utf-8").replace('"mini"', '"other"'), "utf-8"
    )
    other = load_track(root)
    build(other)
    with pytest.raises(TrackError, match="belongs to the track 'mini'"):
        open_work(other, work)


def test_the_work_folder_is_found_from_inside(built, work, monkeypatch):
    assert find_work(work / "lessons") == work
    assert find_work(built.root) is None
    monkeypatch.chdir(built.root)
    assert default_work(built) == work
    monkeypatch.chdir(work / "exercises")
    assert default_work(built) == work and find_track() == built


def test_two_at_once_lay_out_one_work_folder(built):
    work = built.root / "work"
    script = (
        "import sys; from hetlab.tracks.manifest import load_track; "
        "from hetlab.tracks.work import open_work; open_work(load_track(sys.argv[1]), sys.argv[2])"
    )
    runs = [subprocess.Popen([sys.executable, "-c", script, built.root, work]) for _ in range(2)]
    assert [run.wait() for run in runs] == [0, 0]
    assert open_work(built, work) == []
    assert not list(work.rglob("*.tmp"))


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_read_only_folder_gives_a_sentence_and_nothing_half_done(built):
    # root may write anywhere, so an ordinary user tries
    script = (
        "import os, sys\n"
        "from hetlab.errors import TrackError\n"
        "from hetlab.tracks.work import open_work\n"
        "from hetlab.tracks.manifest import load_track\n"
        "track = load_track(sys.argv[1])\n"
        "open_work(track, sys.argv[1] + '/work')  # all imports done while they can be read\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "try: open_work(track, sys.argv[2])\n"
        "except TrackError as error: print(error)\n"
    )
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        root = write_mini(Path(place) / "track")
        build(load_track(root))
        (Path(place) / "locked").mkdir(mode=0o555)
        run = subprocess.run(
            [sys.executable, "-c", script, root, f"{place}/locked/work"],
            capture_output=True,
            text=True,
        )
        assert "could not make the folder: Permission denied" in run.stdout, run.stderr
        assert not any((Path(place) / "locked").iterdir())


def test_a_write_is_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    assert write_atomic(path, b"one") and not write_atomic(path, b"one")
    monkeypatch.setattr(os, "fsync", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(TrackError, match="No space left"):
        write_atomic(path, b"two")
    assert path.read_bytes() == b"one" and [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_write_notices_that_the_file_was_changed_meanwhile(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"saved by JupyterLab just now")
    with pytest.raises(StaleCopyError, match="changed by another program"):
        write_atomic(path, b"merged", expect=b"what was merged")
    assert path.read_bytes() == b"saved by JupyterLab just now"


def test_a_write_follows_a_link_and_keeps_permissions(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link"
    path.write_bytes(b"one")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomic(link, b"two")
    assert link.is_symlink() and path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640


def test_old_copies_get_different_names_and_the_same_bytes_only_one(tmp_path):
    names = {keep_old(tmp_path, "exercises/01_x.ipynb", data) for data in (b"1", b"2", b"2", b"3")}
    assert len(names) == 3
    assert all(p.name.startswith("exercises-01_x.") and p.suffix == ".ipynb" for p in names)
