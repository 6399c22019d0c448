"""Notebooks of any origin become one shape; what cannot be read becomes one line."""

from __future__ import annotations

import json

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.errors import NotebookError
from hetlab.tracks.notebooks import (
    lesson_of,
    normal_source,
    notebook_bytes,
    read_notebook,
    source_hash,
    task_of,
    write_notebook,
)

from .conftest import check_cell, code, notebook, solution_cell, text, write_json


@pytest.fixture
def path(tmp_path):
    return tmp_path / "作业 1.ipynb"


def test_nbformat_3_is_brought_up_to_date(path):
    cells = [
        {"cell_type": "heading", "level": 1, "source": ["T"], "metadata": {}},
        {"cell_type": "code", "input": ["a = 1\n", "b"], "language": "python", "outputs": []},
    ]
    write_json(path, {"nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]})
    got = read_notebook(path)
    assert [(c.cell_type, c.source) for c in got.cells] == [
        ("markdown", "# T"),
        ("code", "a = 1\nb"),
    ]
    assert (got.nbformat, got.nbformat_minor) == (4, 5)
    nbformat.validate(got)


def test_44_with_ids_keeps_them_and_45_without_gets_ids_that_stay_the_same(path):
    cells = [code("keep-me", "a"), text("x", "b"), {**code("x", "c")}, code("bad id!", "d")]
    data = notebook(cells)
    data["nbformat_minor"] = 4
    del cells[1]["id"]
    write_json(path, data)
    first = [c.id for c in read_notebook(path).cells]
    assert first[0] == "keep-me" and first[2] == "x"
    assert len(set(first)) == 4
    assert [c.id for c in read_notebook(path).cells] == first


def test_a_duplicate_id_belongs_to_the_first_cell(path):
    write_json(path, notebook([code("a", "1"), code("a", "2"), code("b", "3")]))
    got = [c.id for c in read_notebook(path).cells]
    assert got[0] == "a" and got[1] not in ("a", "b") and got[2] == "b"
    assert [c.id for c in read_notebook(path).cells] == got, "nbformat itself would draw by lot"


@pytest.mark.parametrize(
    "kernel", [{}, {"name": "python3"}, {"name": "p", "language": None}, None, 3]
)
def test_a_kernel_without_a_language_speaks_python(path, kernel):
    data = notebook([])
    data["metadata"] = {"kernelspec": kernel}
    write_json(path, data)
    assert read_notebook(path).metadata.kernelspec.language == "python"
    assert read_notebook(path).metadata.language_info.name == "python"


def test_a_byte_order_mark_and_utf16_are_read(path):
    raw = json.dumps(notebook([text("a", "异构")]), ensure_ascii=False)
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_bytes(raw.encode(encoding))
        assert read_notebook(path).cells[0].source == "异构"


def bad(data: object) -> bytes:
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b" \n\xef\xbb\xbf", "the file is empty"),
        (b"\0" * 64, "the file is empty"),
        (b"{", "not valid JSON"),
        (b"print(1)", "not valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"<<<<<<< HEAD\n{}", "unfinished git merge"),
        ("异构".encode("gbk"), "not UTF-8"),
        (b"\x89PNG\r\n\x1a\n", "not UTF-8"),
        (bad([]), "not a notebook"),
        (bad({}), "not a notebook"),
        (bad("text"), "not a notebook"),
        (bad({"nbformat": 4}), "no list of cells"),
        (bad({"nbformat": 4, "cells": {}}), "no list of cells"),
        (bad({"nbformat": True, "cells": []}), "not a notebook"),
        (bad({"nbformat": 9, "cells": []}), "nbformat 9"),
        (bad({"nbformat": 4, "cells": [3]}), "cell 1 is damaged"),
        (
            bad({"nbformat": 4, "cells": [{"cell_type": "shell", "source": ""}]}),
            "cell 1 is damaged",
        ),
        (bad({"nbformat": 4, "cells": [{"cell_type": "code", "source": 5}]}), "source is not text"),
        (bad({"nbformat": 4, "cells": [{"cell_type": "code", "source": [5]}]}), "damaged"),
        (bad({"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [{}]}]}), "damaged"),
        (bad({"nbformat": 3, "worksheets": [5]}), "damaged"),
        (bad({"nbformat": 2, "worksheets": [{"cells": 5}]}), "damaged"),
    ],
)
def test_what_is_not_a_notebook_gives_one_clear_line(path, data, words):
    path.write_bytes(data)
    with pytest.raises(NotebookError, match=words) as error:
        read_notebook(path)
    assert "\n" not in str(error.value) and "作业 1.ipynb" in str(error.value)


def test_a_missing_file_and_a_folder_give_one_clear_line(tmp_path):
    with pytest.raises(NotebookError, match="there is no such file"):
        read_notebook(tmp_path / "gone.ipynb")
    with pytest.raises(NotebookError, match="it is a folder"):
        read_notebook(tmp_path)
    with pytest.raises(NotebookError):
        read_notebook(str(tmp_path / "a\0b"))


@given(st.binary(max_size=80))
def test_random_bytes_never_give_another_error(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "random.ipynb"
    path.write_bytes(data)
    with pytest.raises(NotebookError):
        read_notebook(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["cell_type", "source", "metadata", "outputs", "id", "attachments", "data"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.sampled_from([3, 4]),
    st.lists(
        st.fixed_dictionaries(
            {"cell_type": st.sampled_from(["code", "markdown", "raw"])},
            optional={
                "source": json_values,
                "metadata": json_values,
                "outputs": json_values,
                "id": json_values,
                "attachments": json_values,
                "execution_count": json_values,
                "input": json_values,
            },
        ),
        max_size=3,
    ),
    json_values,
)
def test_any_json_in_a_notebooks_frame_is_read_or_refused_in_one_line(
    tmp_path_factory, major, cells, metadata
):
    path = tmp_path_factory.getbasetemp() / "frame.ipynb"
    frame = {"cells": cells} if major == 4 else {"worksheets": [{"cells": cells}]}
    path.write_text(json.dumps({"nbformat": major, "metadata": metadata, **frame}))
    try:
        got = read_notebook(path)
    except NotebookError as error:
        assert "\n" not in str(error)
    else:
        nbformat.validate(got)
        assert len({c.id for c in got.cells}) == len(got.cells)


def test_writing_gives_utf8_with_a_newline_and_can_leave_outputs_out(path):
    cells = [code("a", "'异构'")]
    cells[0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "hi"}]
    cells[0]["execution_count"] = 4
    write_json(path, notebook(cells))
    got = read_notebook(path)
    write_notebook(path, got, outputs=False)
    raw = path.read_bytes()
    assert "异构".encode() in raw and raw.endswith(b"}\n") and b"hi" not in raw
    assert got.cells[0].outputs, "the notebook that was passed keeps its outputs"
    assert read_notebook(path).cells[0].execution_count is None


def test_half_a_surrogate_pair_survives_a_round_trip(path):
    write_json(path, notebook([]))
    path.write_text(json.dumps(notebook([code("a", "x = '\ud83d'")])))
    path.write_bytes(notebook_bytes(read_notebook(path)))
    assert read_notebook(path).cells[0].source == "x = '\ud83d'"
    assert len(source_hash("\ud83d")) == 16


@given(st.text(max_size=40).map(lambda s: s.replace("\r", "")))
def test_the_hash_of_a_source_does_not_depend_on_line_ends_or_blanks_at_ends(source):
    assert source_hash(source.replace("\n", "\r\n")) == source_hash(source)
    assert normal_source(normal_source(source)) == normal_source(source)


def test_a_cells_role_is_known_from_either_metadata(path):
    cells = [solution_cell("add_one", ""), check_cell("01_x", "add_one", 2), code("c", "")]
    cells.append(solution_cell("add_one", "", "add_one-2"))
    del cells[3]["metadata"]["hetlab"]
    del cells[1]["metadata"]["hetlab"]
    write_json(path, notebook(cells))
    roles = [task_of(c) for c in read_notebook(path).cells]
    assert roles == [("solution", "add_one"), ("check", "add_one"), None, ("solution", "add_one")]


def test_the_lesson_is_known_from_metadata_then_the_name_then_the_checks():
    checks = nbformat.from_dict(notebook([code("a", "hetlab.check('05_e/t', t)")]))
    named = nbformat.from_dict(notebook([], lesson="03_c"))
    bare = nbformat.from_dict(notebook([]))
    assert lesson_of(named, "04_d.ipynb") == "03_c"
    assert lesson_of(bare, "x/04_d (1).ipynb") == "04_d"
    assert lesson_of(bare, "04_d-Copy1.ipynb") == "04_d"
    assert lesson_of(bare, "old/exercises-02_第二课.20260101-101010.ipynb") == "02_第二课"
    assert lesson_of(checks, "homework.ipynb") == "05_e"
    assert lesson_of(checks, "04_d.ipynb", known=("05_e",)) == "05_e"
    assert lesson_of(bare, "homework.ipynb") is None
