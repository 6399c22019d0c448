"""A saved work folder comes back whole, and no file can do harm by being restored."""

from __future__ import annotations

import json
import stat
import zipfile

import pytest

from hetlab.errors import TrackError
from hetlab.tracks import archive
from hetlab.tracks.archive import restore, save
from hetlab.tracks.files import digest
from hetlab.tracks.work import open_work


@pytest.fixture
def work(built):
    work = built.root / "work"
    open_work(built, work)
    (work / "notes 我的.md").write_text("一二三", encoding="utf-8")
    (work / ".hetlab" / "progress.json").write_text('{"01_first/add_one": 2}')
    (work / ".ipynb_checkpoints").mkdir()
    (work / ".ipynb_checkpoints" / "x.ipynb").write_text("junk")
    return work


def state(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def test_save_and_restore_give_the_same_folder_without_caches_and_the_pointer(work, tmp_path):
    seen = []
    zipped = save(work, tmp_path / "out dir" / "存档.zip", progress=seen.append)
    restore(zipped, tmp_path / "back")
    expected = state(work)
    del expected[".ipynb_checkpoints/x.ipynb"], expected[".hetlab/track.json"]
    assert state(tmp_path / "back") == expected and sorted(seen) == sorted(expected)


def test_by_default_the_file_lies_in_the_work_folder_and_is_not_packed_again(work):
    first, second = save(work), save(work)
    assert first.parent == work and first != second
    with zipfile.ZipFile(second) as z:
        assert not [n for n in z.namelist() if n.endswith(".zip")]


def test_saving_never_overwrites(work, tmp_path):
    (tmp_path / "a.zip").write_text("precious")
    with pytest.raises(TrackError, match="not overwritten"):
        save(work, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_text() == "precious"


def test_restoring_moves_what_differs_to_old_first(work, tmp_path):
    zipped = save(work, tmp_path / "a.zip")
    (work / "notes 我的.md").write_text("newer", encoding="utf-8")
    (work / "extra.txt").write_text("stays")
    actions = {a.file: a.kind for a in restore(zipped, work)}
    assert actions.pop("notes 我的.md") == "updated"
    assert set(actions.values()) == {"unchanged"}
    assert (work / "notes 我的.md").read_text("utf-8") == "一二三"
    assert [p.read_text("utf-8") for p in (work / "old").iterdir()] == ["newer"]
    assert (work / "extra.txt").read_text() == "stays"


def test_a_file_cut_off_anywhere_or_with_a_flipped_byte_changes_nothing(work, tmp_path):
    data = save(work, tmp_path / "a.zip").read_bytes()
    (work / "notes 我的.md").write_text("newer", encoding="utf-8")
    before, bad = state(work), tmp_path / "bad.zip"
    for cut in (0, 1, 30, len(data) // 3, len(data) // 2, len(data) - 30, len(data) - 1):
        bad.write_bytes(data[:cut])
        with pytest.raises(TrackError) as error:
            restore(bad, work)
        assert "\n" not in str(error.value) and state(work) == before
    for at in range(0, len(data), max(1, len(data) // 150)):
        bad.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        try:
            restore(bad, tmp_path / "target")
        except TrackError:
            continue
        # a byte that means nothing (a date, a version): then all files must be right
        restored = state(tmp_path / "target")
        with zipfile.ZipFile(tmp_path / "a.zip") as z:
            assert all(restored[n] == z.read(n) for n in z.namelist() if n != "hetlab-work.json")


def test_what_is_not_there_or_not_a_zip_is_one_sentence(work, tmp_path):
    (tmp_path / "text.zip").write_text("hello")
    for name, words in (("gone.zip", "no such file"), ("text.zip", "not a zip"), (".", "a folder")):
        with pytest.raises(TrackError, match=words):
            restore(tmp_path / name, work)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as z:
        z.writestr("a.txt", "x")
    with pytest.raises(TrackError, match="not one of a work folder"):
        restore(tmp_path / "other.zip", work)


def hostile(path, entries, contents=None):
    """A zip with a list of contents that fits whatever it holds."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for info, data in entries:
            z.writestr(info, data)
        hashes = {getattr(i, "filename", i): digest(d) for i, d in entries}
        z.writestr("hetlab-work.json", json.dumps(contents or {"files": hashes}))
    return path


def link(name, target):
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info, target


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([("../evil.txt", b"x")], "leads out"),
        ([("a/../../evil.txt", b"x")], "leads out"),
        ([("a/./b", b"x")], "leads out"),
        ([("/etc/evil", b"x")], "not a plain relative path"),
        ([("C:/evil", b"x")], "begins with a drive"),
        ([("a\\..\\..\\evil", b"x")], "not a plain relative path"),
        ([("a\nb", b"x")], "not a plain relative path"),
        ([("x" * 300, b"x")], "too long"),
        ([("evil. ", b"x")], "ends with a blank or a dot"),
        ([link("a", b"/etc/passwd")], "is a link"),
        ([link("a", b"/tmp"), ("a/evil", b"x")], "is a link"),
        ([("a", b"x"), ("A", b"y")], "there twice"),
        ([("a", b"x"), ("a/b", b"y")], "also a file"),
        ([("zeros", bytes(40 << 20))], "from almost nothing"),
    ],
)
def test_hostile_entries_are_refused_and_nothing_is_written(tmp_path, entries, words):
    work = tmp_path / "deep" / "work"
    work.mkdir(parents=True)
    with pytest.raises(TrackError, match=words):
        restore(hostile(tmp_path / "bad.zip", entries), work)
    assert [p.name for p in tmp_path.iterdir()] == ["bad.zip", "deep"] or state(
        tmp_path / "deep"
    ) == {}
    assert state(tmp_path).keys() == {"bad.zip"}


def test_a_bomb_of_many_entries_or_bytes_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_FILES", 10)
    with pytest.raises(TrackError, match="more than 10"):
        restore(hostile(tmp_path / "a.zip", [(str(i), b"") for i in range(11)]), tmp_path / "w")
    monkeypatch.setattr(archive, "MOST_BYTES", 1 << 20)
    many = [(f"{i}x", bytes(1 << 18)) for i in range(5)]
    with pytest.raises(TrackError, match="more than 1 MiB"):
        restore(hostile(tmp_path / "b.zip", many), tmp_path / "w")
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize(
    "contents", [[], {"files": 3}, {"files": {"b": "0"}}, {"files": {"a": "0"}}, {"x": 1}]
)
def test_a_list_of_contents_that_does_not_fit_is_refused(tmp_path, contents):
    with pytest.raises(TrackError, match=r"list of contents|is damaged"):
        restore(hostile(tmp_path / "a.zip", [("a", b"x")], contents or [1]), tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_restoring_does_not_write_through_links_of_the_work_folder(work, tmp_path):
    zipped = save(work, tmp_path / "a.zip")
    outside = tmp_path / "outside"
    outside.mkdir()
    target = tmp_path / "w"
    target.mkdir()
    (target / "lessons").symlink_to(outside)
    with pytest.raises(TrackError, match="a link or a file stands"):
        restore(zipped, target)
    assert not any(outside.iterdir()) and [p.name for p in target.iterdir()] == ["lessons"]
    (target / "lessons").unlink()
    (tmp_path / "mine.md").write_text("linked", encoding="utf-8")
    (target / "notes 我的.md").symlink_to(tmp_path / "mine.md")
    restore(zipped, target)
    assert (tmp_path / "mine.md").read_text() == "linked"
    assert (target / "notes 我的.md").read_text("utf-8") == "一二三"


def test_a_folder_in_the_way_of_a_file_is_said(work, tmp_path):
    zipped = save(work, tmp_path / "a.zip")
    (tmp_path / "w" / "START_HERE.ipynb").mkdir(parents=True)
    with pytest.raises(TrackError, match="a folder stands"):
        restore(zipped, tmp_path / "w")


def test_what_could_not_be_restored_is_not_saved(work, tmp_path, monkeypatch):
    (work / "bad\nname").write_text("x")
    with pytest.raises(TrackError, match="Rename it"):
        save(work, tmp_path / "a.zip")
    (work / "bad\nname").unlink()
    monkeypatch.setattr(archive, "MOST_BYTES", 1000)
    with pytest.raises(TrackError, match="the largest file is"):
        save(work, tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists() and not list(tmp_path.glob(".hetlab*"))


def test_a_large_empty_array_can_be_saved_and_restored(work, tmp_path):
    (work / "zeros.bin").write_bytes(bytes(40 << 20))
    restore(save(work, tmp_path / "a.zip"), tmp_path / "w")
    assert (tmp_path / "w" / "zeros.bin").stat().st_size == 40 << 20


def test_links_are_not_packed(work, tmp_path):
    (work / "link").symlink_to("/etc/passwd")
    (work / "loop").symlink_to(work)
    with zipfile.ZipFile(save(work, tmp_path / "a.zip")) as z:
        assert not [n for n in z.namelist() if n.startswith(("link", "loop"))]
