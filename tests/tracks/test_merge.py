"""An update brings the track's changes and loses no word of the learner's."""

from __future__ import annotations

import copy
import shutil
import subprocess
import sys

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetlab.errors import TrackError
from hetlab.tracks.build import build
from hetlab.tracks.manifest import load_track
from hetlab.tracks.merge import merge, update
from hetlab.tracks.notebooks import normal_source, read_notebook
from hetlab.tracks.work import open_work

from .conftest import code, read_json, text, write_json

EXERCISE = "exercises/01_first.ipynb"
LESSON = "lessons/01_first.ipynb"
ANSWER = "def add_one(x):\n    return x + 1  # 我的答案"


def make(*cells):
    """A notebook of (id, source) pairs; an id that begins with m is markdown."""
    made = [(text if i.startswith("m") else code)(i, s) for i, s in (c[:2] for c in cells)]
    return nbformat.from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made})


def shown(notebook):
    return [(c.id, c.source) for c in notebook.cells if not c.id.startswith("note-")]


def merged(base, mine, theirs):
    return merge(base, copy.deepcopy(mine), theirs).notebook


A, B, C, D = ("a", "a = 1"), ("b", "b = 2"), ("c", "c = 3"), ("d", "d = 4")


def test_what_only_the_track_changed_is_taken_and_old_outputs_go():
    mine = make(A, B)
    mine.cells[0].execution_count = 1
    mine.cells[1].execution_count = 2
    out = merged(make(A, B), mine, make(("a", "a = 9"), B, C))
    assert shown(out) == [("a", "a = 9"), B, C]
    assert [c.execution_count for c in out.cells] == [None, 2, None]


def test_what_only_the_learner_changed_is_kept():
    out = merged(make(A, B), make(("a", "mine"), B), make(A, ("b", "b = 5")))
    assert shown(out) == [("a", "mine"), ("b", "b = 5")]


def test_where_both_changed_a_cell_the_learners_stays_and_the_new_one_is_shown_below():
    out = merged(make(A, B), make(("a", "mine"), B), make(("a", "a = '```'"), B))
    assert out.cells[0].source == "mine"
    assert "````python\na = '```'\n````" in out.cells[1].source
    assert out.cells[1].cell_type == "markdown"
    assert shown(out)[1] == B


def test_added_cells_stay_between_their_neighbours_and_new_ones_come_behind_theirs():
    mine = make(("x", "1"), A, ("y", "2"), ("z", "3"), B)
    out = merged(make(A, B), mine, make(A, C, B, D))
    assert shown(out) == [("x", "1"), A, C, ("y", "2"), ("z", "3"), B, D]


def test_a_lesson_that_was_reordered_takes_the_new_order_and_added_cells_move_along():
    mine = make(A, ("x", "1"), B, C)
    out = merged(make(A, B, C), mine, make(C, B, A))
    assert shown(out) == [C, B, A, ("x", "1")]


def test_the_learners_own_order_stays_while_the_track_keeps_its_order():
    out = merged(make(A, B, C), make(C, A, B), make(A, ("b", "new"), C))
    assert shown(out) == [C, A, ("b", "new")]


def test_a_deleted_cell_stays_deleted_and_a_dropped_one_goes():
    out = merged(make(A, B, C), make(A, C), make(A, B))
    assert shown(out) == [A]


def test_a_dropped_cell_that_the_learner_changed_is_kept_with_a_note_and_not_graded():
    base, mine = make(A, B), make(A, ("b", "mine"))
    for notebook in (base, mine):
        notebook.cells[1].metadata = nbformat.from_dict({"hetlab": {"task": "b"}})
    out = merged(base, mine, make(A))
    assert [c.source for c in out.cells[:2]] == ["a = 1", "mine"]
    assert out.cells[1].metadata == {"hetlab": {"was": "b"}}
    assert "no longer has" in out.cells[2].source


def test_a_deleted_check_or_task_cell_is_put_back():
    theirs = make(A, B)
    theirs.cells[1].metadata = nbformat.from_dict({"hetlab": {"check": "b"}})
    assert shown(merged(theirs, make(A), theirs)) == [A, B]


def test_cells_whose_ids_another_tool_dropped_are_found_again():
    base = make(
        A, ("b", "def f(x):\n    raise NotImplementedError"), ("m1", "A long sentence of text.")
    )
    mine = make(("x", "a = 1"), ("y", "def f(x):\n    y = x\n    return 2 * y"),
                ("mz", "A long sentence of the text."), ("w", "print('own')"))  # fmt: skip
    theirs = make(("a", "a = 10"), base.cells[1].values() and ("b", base.cells[1].source), C)
    out = merged(base, mine, theirs)
    ids = dict(shown(out))
    assert ids["a"] == "a = 10"
    assert ids["b"].endswith("return 2 * y")
    assert "A long sentence of the text." in ids.values()
    assert ids["w"] == "print('own')" and ids["c"] == "c = 3"


def test_an_answer_that_was_cut_and_pasted_is_known_by_its_task():
    base, mine = make(A, ("b", "stub"), C), make(("new", "answer"), A, C)
    for cell in (base.cells[1], mine.cells[0]):
        cell.metadata = nbformat.from_dict({"hetlab": {"task": "b"}})
    out = merged(base, mine, base)
    assert shown(out) == [("b", "answer"), A, C]


cell_text = st.text("ab1= \n你", max_size=8)
ids = st.sampled_from(["a", "b", "c", "d", "m1", "m2", "n1", "n2"])
cells = st.lists(st.tuples(ids, cell_text), max_size=7, unique_by=lambda c: c[0])


@st.composite
def histories(draw):
    """A base and two descendants of it: edits, deletions, additions, moves, lost ids."""
    base = draw(cells)

    def descend(fresh):
        out = []
        for i, s in draw(st.permutations(base) if draw(st.booleans()) else st.just(base)):
            step = draw(st.sampled_from(["keep", "keep", "edit", "delete", "rename"]))
            if step != "delete":
                new = draw(cell_text) if step == "edit" else s
                out.append((f"{fresh}{i}" if step == "rename" and fresh == "r" else i, new))
        for i, s in draw(cells):
            if i not in [o[0] for o in out]:
                out.insert(draw(st.integers(0, len(out))), (i, s))
        return make(*out)

    return make(*base), descend("r"), descend("t")


@settings(max_examples=300, deadline=None)
@given(histories())
def test_no_text_of_the_learners_is_ever_lost(history):
    base, mine, theirs = history
    out = merged(base, mine, theirs)
    # An oracle of its own: what the learner wrote is every text that the base does not hold.
    given_text = {normal_source(c.source) for c in base.cells}
    left = [normal_source(c.source) for c in out.cells]
    for cell in mine.cells:
        source = normal_source(cell.source)
        assert source in left or source in given_text
    by_id = {c.id: c for c in base.cells}
    for cell in mine.cells:  # and every cell whose text differs from the one it started as
        if cell.id in by_id and normal_source(by_id[cell.id].source) != normal_source(cell.source):
            assert normal_source(cell.source) in left
    assert len({c.id for c in out.cells}) == len(out.cells)
    nbformat.validate(out)


@settings(max_examples=200, deadline=None)
@given(histories())
def test_merging_twice_changes_nothing_even_after_a_crash_between_the_two_writes(history):
    base, mine, theirs = history
    out = merged(base, mine, theirs)
    assert merged(theirs, out, theirs) == out
    stayed = {c.id for c in base.cells} & {c.id for c in theirs.cells} & {c.id for c in out.cells}
    if stayed:  # else the copy looks like one whose ids a tool has thrown away
        assert [c.id for c in merged(base, out, theirs).cells] == [c.id for c in out.cells]


@settings(max_examples=100, deadline=None)
@given(histories())
def test_a_learner_who_changed_nothing_gets_exactly_the_new_version(history):
    base, _, theirs = history
    out = merged(base, base, theirs)
    assert shown(out) == shown(theirs)


@pytest.fixture
def work(built):
    folder = built.root / "work"
    open_work(built, folder)
    return folder


def answer(work, source=ANSWER):
    data = read_json(work / EXERCISE)
    cell = next(c for c in data["cells"] if c["id"] == "add-one")
    cell["source"] = source
    data["cells"].insert(2, code("own", "my_note = '不要丢'"))
    write_json(work / EXERCISE, data)


def change_track(track):
    """Reorder the exercise, reword it, and drop nothing."""
    path = track.lesson("01_first").solution
    data = read_json(path)
    cells = data["cells"]
    data["cells"] = [
        cells[0],
        cells[2],
        cells[1],
        cells[3],
        text("more", "More to read."),
        cells[4],
    ]
    data["cells"][0]["source"] = "# New title"
    write_json(path, data)
    build(track)


def test_update_carries_the_answer_over_and_keeps_the_old_copy(built, work):
    answer(work)
    before = (work / EXERCISE).read_bytes()
    change_track(built)
    actions = update(work)
    sources = [c.source for c in read_notebook(work / EXERCISE).cells]
    assert sources[0] == "# New title" and ANSWER in sources and "More to read." in sources
    assert "my_note = '不要丢'" in sources
    old = list((work / "old").iterdir())
    assert [p.read_bytes() for p in old] == [before]
    assert {a.kind for a in actions} >= {"updated", "kept", "added"}
    assert all(a.file == EXERCISE for a in actions)


def test_updating_twice_changes_nothing(built, work):
    answer(work)
    change_track(built)
    update(work)
    state = {p: p.read_bytes() for p in work.rglob("*") if p.is_file()}
    assert update(work) == []
    assert {p: p.read_bytes() for p in work.rglob("*") if p.is_file()} == state


def test_an_update_without_news_touches_no_file(built, work):
    answer(work)
    before = (work / EXERCISE).stat().st_mtime_ns
    assert update(work) == []
    assert (work / EXERCISE).stat().st_mtime_ns == before
    assert not (work / "old").exists()


def test_a_broken_copy_is_left_alone_and_said(built, work):
    (work / EXERCISE).write_text("{ half", encoding="utf-8")
    change_track(built)
    assert [a.kind for a in update(work)] == ["unreadable"]
    assert (work / EXERCISE).read_text("utf-8") == "{ half"


def test_without_its_base_copies_a_work_folder_still_keeps_every_answer(built, work):
    answer(work)
    shutil.rmtree(work / ".hetlab" / "base")
    change_track(built)
    update(work)
    assert ANSWER in [c.source for c in read_notebook(work / EXERCISE).cells]


def test_a_notebook_saved_without_ids_gets_them_back(built, work):
    answer(work)
    data = read_json(work / EXERCISE)
    data["nbformat_minor"] = 4
    for cell in data["cells"]:
        del cell["id"]
        cell["metadata"] = {}
    write_json(work / EXERCISE, data)
    change_track(built)
    update(work)
    found = {c.id: c for c in read_notebook(work / EXERCISE).cells}
    assert found["add-one"].source == ANSWER
    assert found["add-one"].metadata.hetlab.task == "add_one"
    assert found["check-add-one"].metadata.nbgrader.points == 2


def test_a_new_lesson_of_the_track_is_laid_out(built, work):
    shutil.rmtree(work / "lessons")
    assert {a.kind for a in update(work)} == {"new"}
    assert (work / LESSON).is_file()


def test_a_folder_that_is_no_work_folder_is_refused(tmp_path):
    with pytest.raises(TrackError, match="not a work folder"):
        update(tmp_path)


def test_two_updates_at_once_end_like_one(built, work):
    answer(work)
    change_track(built)
    script = f"from hetlab.tracks.merge import update; update({str(work)!r})"
    runs = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]
    assert [run.wait() for run in runs] == [0, 0]
    sources = [c.source for c in read_notebook(work / EXERCISE).cells]
    assert sources.count(ANSWER) == 1 and sources.count("More to read.") == 1
    assert update(work) == []
    assert not list(work.rglob("*.tmp"))


def test_the_work_folder_may_move_with_its_track(built, work):
    answer(work)
    moved = built.root.with_name("other place")
    shutil.move(built.root, moved)
    change_track(load_track(moved))
    assert "updated" in {a.kind for a in update(moved / "work")}
