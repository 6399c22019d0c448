"""Cells are matched by id, then by content; what a tool or a student did to them is undone."""

import json

import nbformat
import pytest

from hetlab.batch.matching import lesson_by_content, match, read_bytes
from hetlab.errors import NotebookError
from hetlab.tracks.notebooks import notebook_bytes, read_notebook, task_of

from ..tracks.tiny_track import LESSON
from .classroom import handed_in


def matched(track, change=lambda notebook: None, **options):
    exercise = read_notebook(track.lesson(LESSON).exercise)
    data = handed_in(track, change=change, **options)
    return match(read_bytes(data, "x.ipynb"), exercise, track.lesson(LESSON))


def roles(result):
    return [task_of(c) for c in result.notebook.cells if task_of(c)]


WHOLE = [(kind, task) for task in ("double", "count", "last") for kind in ("solution", "check")]


def test_an_ordinary_notebook_passes_through(track):
    result = matched(track)
    assert roles(result) == WHOLE
    assert (result.notes, result.unmatched, result.missing, result.untouched) == ((), "", (), ())


def test_metadata_that_was_stripped_is_put_back(track):
    def strip(notebook):
        for cell in notebook.cells:
            cell.metadata.clear()

    assert roles(matched(track, strip)) == WHOLE


def test_cells_without_ids_and_metadata_are_known_by_what_they_define(track):
    def strip(notebook):
        for i, cell in enumerate(notebook.cells):
            cell.metadata.clear()
            cell.id = f"colab{i}"

    assert roles(matched(track, strip)) == WHOLE


def test_metadata_that_the_student_wrote_counts_for_nothing(track):
    def forge(notebook):
        for cell in notebook.cells:
            if cell.id == "double":
                cell.metadata["hetlab"] = {"check": "last"}
                cell.metadata["nbgrader"] = {"grade": True, "grade_id": "last", "points": 99}

    assert roles(matched(track, forge)) == WHOLE


def test_a_missing_check_is_put_back_and_a_changed_one_replaced(track):
    def change(notebook):
        cells = {c.id: c for c in notebook.cells}
        notebook.cells.remove(cells["check-double"])
        cells["check-count"].source = "print('all tests passed')"

    result = matched(track, change)
    assert roles(result) == WHOLE
    assert "print" not in json.dumps(result.notebook)
    assert [n.partition(" was ")[2][:7] for n in result.notes] == ["missing", "changed"]


def test_a_missing_solution_cell_is_named(track):
    result = matched(track, lambda n: n.cells.pop(1))
    assert result.missing == ("double",) and "double is missing" in result.notes[0]


def test_a_retyped_solution_cell_is_run_as_code(track):
    def retype(notebook):
        cell = notebook.cells[1]
        notebook.cells[1] = nbformat.v4.new_raw_cell(cell.source, id=cell.id)

    result = matched(track, retype)
    assert result.notebook.cells[1].cell_type == "code"
    assert "was a raw cell" in result.notes[0]


def test_an_answer_in_a_cell_of_ones_own_counts_up_to_its_check(track):
    def move(notebook):
        stub = notebook.cells[1]
        mine = nbformat.v4.new_code_cell("def double(x):\n    return 2 * x", id="mine")
        stub.source = read_notebook(track.lesson(LESSON).exercise).cells[1].source
        notebook.cells.insert(2, mine)

    result = matched(track, move)
    order = [c.id for c in result.notebook.cells]
    assert order.index("double") < order.index("mine") < order.index("check-double")
    assert "double" not in result.untouched


def test_stubs_are_untouched(track):
    assert matched(track, answers={"count": "len(x)"}).untouched == ("double", "last")


def test_a_duplicated_cell_is_said(track):
    def copy(notebook):
        again = nbformat.from_dict(notebook.cells[1])
        again.id, again.source = "again", "def double(x):\n    return 3 * x"
        notebook.cells.insert(2, again)

    assert "second cell of task double" in matched(track, copy).notes[0]


def test_a_notebook_of_something_else_is_unmatched(track):
    other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(1)")])
    exercise = read_notebook(track.lesson(LESSON).exercise)
    assert match(other, exercise, track.lesson(LESSON)).unmatched.startswith("unmatched")


def old_format(notebook, minor):
    data = json.loads(notebook_bytes(notebook))
    data["nbformat_minor"] = minor
    if minor == 5:
        for cell in data["cells"]:
            del cell["id"]
    return json.dumps(data).encode()


def test_nbformat_3_and_44_with_ids_and_45_without_are_matched(track):
    exercise = read_notebook(track.lesson(LESSON).exercise)
    plain = read_bytes(handed_in(track), "x")
    three = nbformat.v3.writes_json(nbformat.convert(read_bytes(handed_in(track), "x"), 3))
    for data in (old_format(plain, 4), old_format(plain, 5), three.encode()):
        notebook = read_bytes(data, "renamed.ipynb")
        assert lesson_by_content(notebook, "renamed.ipynb", {LESSON: exercise}) == LESSON
        assert roles(match(notebook, exercise, track.lesson(LESSON))) == WHOLE


def test_the_lesson_is_found_without_any_name(track):
    exercise = read_notebook(track.lesson(LESSON).exercise)
    notebook = read_bytes(handed_in(track), "x")
    notebook.metadata.pop("hetlab", None)
    notebook.cells = [c for c in notebook.cells if not c.id.startswith("check")]
    for i, cell in enumerate(notebook.cells):
        cell.metadata.clear()
        cell.id = f"z{i}"
    assert lesson_by_content(notebook, "final.ipynb", {LESSON: exercise}) == LESSON


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"\0" * 64, "empty"),
        (b'{"cells": [', "not valid JSON"),
        ('{"cells": "作业"}'.encode("gbk"), "not UTF-8"),
        (b"[1, 2]", "not a notebook"),
        (b'{"nbformat": 5, "cells": []}', "nbformat 5"),
    ],
)
def test_what_cannot_be_read_is_one_line_without_a_path_of_this_machine(data, why):
    with pytest.raises(NotebookError, match=why) as caught:
        read_bytes(data, "作业.ipynb")
    assert "作业.ipynb" in str(caught.value) and "/tmp" not in str(caught.value)


def test_null_bytes_behind_a_whole_notebook_do_not_matter(track):
    assert read_bytes(handed_in(track) + b"\0" * 512, "x").cells


def test_utf16_and_a_byte_order_mark_are_read(track):
    text = handed_in(track).decode()
    assert read_bytes(text.encode("utf-16"), "x") == read_bytes(text.encode("utf-8-sig"), "x")
