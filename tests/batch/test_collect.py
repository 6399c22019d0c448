"""Submissions are found in any layout, and no student is left out."""

import os
import stat
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.batch.collect import collect, read_one
from hetlab.batch.names import attempt_of, sender
from hetlab.batch.unzip import readable_name
from hetlab.errors import InvalidValue

from .classroom import foreign_zip, lay_out, zipped

LESSONS = ("01_first", "02_第二课")
NB = b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}'


def found(place):
    """Student -> the names of the files found."""
    return {s.name: [f.name for f in s.files] for s in collect(place, LESSONS)}


LAYOUTS = {
    "one file each": {"alice.ipynb": ["alice.ipynb"], "张三.ipynb": ["张三.ipynb"]},
    "files named after the lesson": {
        "01_first_alice.ipynb": ["01_first_alice.ipynb"],
        "张三-01_first (1).ipynb": ["张三-01_first (1).ipynb"],
    },
    "a folder each": {
        "alice/01_first.ipynb": ["01_first.ipynb"],
        "张三/deep/01_first.ipynb": ["deep/01_first.ipynb"],
    },
    "Moodle": {
        "Alice_1234567_assignsubmission_file_/01_first.ipynb": ["01_first.ipynb"],
        "张三_1234568_assignsubmission_file_/01_first.ipynb": ["01_first.ipynb"],
    },
    "Moodle, flat": {
        "alice_1234567_assignsubmission_file_01_first.ipynb": ["01_first.ipynb"],
        "张三_1234568_assignsubmission_file_01_first.ipynb": ["01_first.ipynb"],
    },
    "Canvas": {
        "alice_4711_99887_01_first-1.ipynb": ["01_first-1.ipynb"],
        "张三_LATE_4712_99888_01_first.ipynb": ["01_first.ipynb"],
    },
    "Blackboard": {
        "HW 1_alice_attempt_2026-01-31-23-59-59_01_first.ipynb": ["01_first.ipynb"],
        "HW 1_张三_attempt_2026-02-01-08-00-00_01_first.ipynb": ["01_first.ipynb"],
    },
}


@pytest.mark.parametrize("wrapped", ["folder", "zip", "zip in a folder", "folder in a folder"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_two_students(layout, wrapped, tmp_path):
    files = dict.fromkeys(LAYOUTS[layout], NB)
    if wrapped == "folder":
        place = lay_out(tmp_path / "in", files)
    elif wrapped == "folder in a folder":
        if layout.startswith(("one file", "files named")):
            pytest.skip("two files in one folder are two files of one student")
        place = lay_out(tmp_path / "in", {f"class 3/{k}": v for k, v in files.items()})
    else:
        place = lay_out(tmp_path / "in", {"download.zip": zipped(files)})
        place = place / "download.zip" if wrapped == "zip" else place
    names = {k.lower(): v for k, v in found(place).items()}
    assert names == dict(zip(["alice", "张三"], LAYOUTS[layout].values()))


def test_what_a_platform_says_is_kept(tmp_path):
    files = dict.fromkeys(["wang_LATE_4712_99888_x-2.ipynb", "wang_4713_99889_x.ipynb"], NB)
    one, two = collect(lay_out(tmp_path, files), LESSONS)
    assert (one.name, one.lms, one.id) == ("wang (4712)", "canvas", "4712")
    assert two.name == "wang (4713)"
    assert one.files[0].late and not two.files[0].late
    assert (one.files[0].attempt, two.files[0].attempt) == (3, 1)


def test_numbered_students_stay_apart(tmp_path):
    files = dict.fromkeys(["student-1.ipynb", "student-2.ipynb", "student (3).ipynb"], NB)
    assert set(found(lay_out(tmp_path, files))) == {"student-1", "student-2", "student (3)"}


def test_a_students_own_zip_and_packed_work_are_opened(tmp_path):
    work = {"exercises/01_first.ipynb": NB, "lessons/01_first.ipynb": NB, "START_HERE.ipynb": NB,
            "old/exercises-01_first.1.ipynb": NB, ".hetlab/base/exercises/01_first.ipynb": NB,
            "__MACOSX/exercises/._01_first.ipynb": b"x"}  # fmt: skip
    files = {
        "alice-01_first.zip": zipped(work),
        "bob.zip": zipped({"bob/01_first.ipynb": NB, "bob/data.csv": b"1"}),
        "Carl_12345_assignsubmission_file_/work.zip": zipped(work),
    }
    assert found(lay_out(tmp_path, files)) == {
        "Carl": ["work.zip/exercises/01_first.ipynb"],
        "alice": ["exercises/01_first.ipynb"],
        "bob": ["bob/01_first.ipynb"],
    }


def test_names_in_gbk_and_cp437_are_read(tmp_path):
    path = tmp_path / "class.zip"
    path.write_bytes(
        foreign_zip(
            {
                "王小明的作业/01_first.ipynb".encode("gbk"): NB,
                "Zoë Müller's/01_first.ipynb".encode("cp437"): NB,
            }
        )
    )
    assert set(found(path)) == {"王小明的作业", "Zoë Müller's"}


def test_a_name_on_disk_that_is_not_utf8_is_read(tmp_path):
    lay_out(tmp_path, {os.fsdecode("李雷".encode("gbk")) + "/a.ipynb": NB})
    (student,) = collect(tmp_path, LESSONS)
    assert student.name == "李雷" and read_one(student.files[0]) == (NB, "")


def test_links_and_names_that_lead_out_are_refused_and_named(tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_bytes(NB)
    place = lay_out(tmp_path / "in", {"bob/01_first.ipynb": NB})
    (place / "alice").mkdir()
    (place / "alice" / "01_first.ipynb").symlink_to(secret)
    with zipfile.ZipFile(place / "carl.zip", "w") as z:
        link = zipfile.ZipInfo("01_first.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        z.writestr(link, str(secret))
    with zipfile.ZipFile(place / "dora.zip", "w") as z:
        z.writestr("../../bob/01_first.ipynb", NB)
    people = {s.name: s for s in collect(place, LESSONS)}
    faults = {name: read_one(s.files[0])[1] for name, s in people.items()}
    assert faults["bob"] == ""
    assert faults["alice"] == faults["carl"] == "it is a link, not a file"
    assert faults["dora"] == "its name leads out of the zip"


def test_a_zip_bomb_costs_its_own_row_only(tmp_path):
    files = {"bomb.zip": zipped({"01_first.ipynb": bytes(60 << 20)}), "bob.ipynb": NB}
    people = {s.name: s for s in collect(lay_out(tmp_path, files), LESSONS)}
    assert "from almost nothing" in read_one(people["bomb"].files[0])[1]
    assert read_one(people["bob"].files[0])[1] == ""


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("x.zip", b"PK\x03\x04 broken", "damaged or not a zip"),
        ("x.zip", zipped({}), "the zip is empty"),
        ("x.rar", b"Rar!", "only .zip"),
    ],
)
def test_an_archive_that_cannot_be_read_is_a_row_with_a_reason(name, data, why, tmp_path):
    (student,) = collect(lay_out(tmp_path, {f"alice/{name}": data}), LESSONS)
    assert why in read_one(student.files[0])[1]


def test_students_without_a_notebook_are_there_too(tmp_path):
    place = lay_out(tmp_path, {"alice/report.pdf": b"%PDF", "bob.py": b"x = 1", "list.csv": b"a"})
    (place / "carl").mkdir()
    people = {s.name: (s.files, s.others) for s in collect(place, LESSONS)}
    assert people == {"alice": ([], ["report.pdf"]), "bob": ([], ["bob.py"]), "carl": ([], [])}


def test_renamed_notebooks_are_known_by_what_they_hold(tmp_path):
    files = {"alice/work.ipynb.txt": NB, "bob/answers.json": NB, "carl/notebook": NB,
             "dora/data.json": b"[1]"}  # fmt: skip
    people = found(lay_out(tmp_path, files))
    assert [len(people[n]) for n in ("alice", "bob", "carl", "dora")] == [1, 1, 1, 0]


def test_nothing_to_grade_is_an_error(tmp_path):
    with pytest.raises(InvalidValue, match="at least one submission"):
        collect(tmp_path)
    with pytest.raises(InvalidValue, match="that exists"):
        collect(tmp_path / "nowhere")


@given(st.text(min_size=1, max_size=30), st.booleans())
def test_any_name_at_all_has_a_sender(name, folder):
    who = sender(name, LESSONS, folder=folder)
    assert isinstance(who.name, str) and attempt_of(name) >= 1


@given(st.binary(min_size=1, max_size=40))
def test_any_bytes_at_all_become_a_name_that_can_be_written(raw):
    readable_name(raw).encode("utf-8")
    readable_name(raw.decode("utf-8", "surrogateescape")).encode("utf-8")
