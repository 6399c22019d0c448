"""Exercises are generated from solutions, hold no answer, and come out the same every time."""

from __future__ import annotations

import pytest

from hetlab.errors import TrackError
from hetlab.tracks.build import build
from hetlab.tracks.manifest import load_track
from hetlab.tracks.notebooks import is_untouched, read_notebook, source_hash

from .conftest import check_cell, code, read_json, solution_cell, text, write_json

LESSON = "01_first"


def edit(track, change, lesson=LESSON):
    """Change the JSON of a solution notebook in place."""
    path = track.lesson(lesson).solution
    data = read_json(path)
    change(data["cells"])
    write_json(path, data)


def exercise_cell(track, cell_id):
    notebook = read_notebook(track.lesson(LESSON).exercise)
    return next(c for c in notebook.cells if c.id == cell_id)


def test_the_answer_is_replaced_by_a_stub_at_its_indentation(built):
    cell = exercise_cell(built, "add-one")
    assert cell.source.split("\n") == [
        "def add_one(x):",
        "    '''Add one to every element of x.'''",
        "    # YOUR CODE HERE",
        '    raise NotImplementedError("add_one is not started")',
        "",
    ]
    assert "float64" not in built.lesson(LESSON).exercise.read_text("utf-8")


def test_an_untouched_cell_is_recognised_by_its_hash_and_an_edited_one_is_not(built):
    cell = exercise_cell(built, "add-one")
    assert cell.metadata.hetlab.stub == source_hash(cell.source)
    assert is_untouched(cell)
    cell.source = cell.source.replace("\n", "  \r\n") + "\n\n"  # what editors do on their own
    assert is_untouched(cell)
    cell.source += "\nx = 1"
    assert not is_untouched(cell)


@pytest.mark.parametrize(
    ("language", "stub"),
    [
        ("tvm", '    raise NotImplementedError("add_one is not started")'),
        ("triton", '    tl.static_assert(False, "add_one is not started")'),
        ("cuda_cpp", '    #error "add_one is not started"'),
    ],
)
def test_each_language_has_its_own_stub(mini, language, stub):
    edit(mini, lambda cells: cells[3]["metadata"]["hetlab"].update(language=language))
    build(mini)
    assert stub in exercise_cell(mini, "add-one").source.split("\n")


def test_building_twice_gives_the_same_bytes_and_says_unchanged(mini):
    assert [b.status for b in build(mini)] == ["written", "written"]
    before = mini.lesson(LESSON).exercise.read_bytes()
    assert [b.status for b in build(mini)] == ["unchanged", "unchanged"]
    assert mini.lesson(LESSON).exercise.read_bytes() == before
    assert before.endswith(b"}\n")


def test_check_writes_nothing_and_reports_what_is_stale_or_left_over(built):
    exercise = built.lesson(LESSON).exercise
    exercise.write_bytes(exercise.read_bytes().replace(b"add_one", b"add_two"))
    before = exercise.read_bytes()
    stray = built.root / "exercises" / "09_gone.ipynb"
    stray.write_text("{}")
    found = {b.lesson: b.status for b in build(built, check=True)}
    assert found == {LESSON: "stale", "02_第二课": "unchanged", "09_gone": "orphan"}
    assert exercise.read_bytes() == before


def test_hidden_text_and_cells_for_the_author_alone_stay_behind(mini):
    def change(cells):
        cells.insert(1, text("note", "### BEGIN HIDDEN\nwhy: secret reasons\n### END HIDDEN"))
        cells[2]["source"] += "\n### BEGIN HIDDEN\nsecret = 42\n### END HIDDEN\nshown = 1"

    edit(mini, change)
    build(mini)
    exercise = mini.lesson(LESSON).exercise.read_text("utf-8")
    assert "secret" not in exercise and "shown = 1" in exercise and '"note"' not in exercise


def test_metadata_of_the_authors_editor_is_left_out(mini):
    edit(mini, lambda cells: cells[3]["metadata"].update(ExecuteTime={"end": "now"}, tags=["t"]))
    build(mini)
    assert set(exercise_cell(mini, "add-one").metadata) == {"hetlab", "nbgrader", "tags"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c[3].update(source="### BEGIN SOLUTION\nx"), "without its END SOLUTION"),
        (lambda c: c[3].update(source="x\n### END SOLUTION"), "without its BEGIN"),
        (
            lambda c: c[3].update(
                source="### BEGIN SOLUTION\n### BEGIN HIDDEN\n### END HIDDEN\n### END SOLUTION"
            ),
            "stands inside",
        ),
        (lambda c: c[3].update(source="# BEGIN SOLUTION\nx\n# END SOLUTION"), "must be like"),
        (lambda c: c[3].update(source="### BEGIN SOLUTON\nx"), "must be like"),
        (lambda c: c[3].update(source="def add_one(x): return x + 1"), "must have its answer"),
        (lambda c: c[3]["metadata"].clear(), "whose metadata names its task"),
        (lambda c: c[3]["metadata"]["hetlab"].update(language="fortran"), "language of a task"),
        (lambda c: c.pop(4), "has no check cell"),
        (lambda c: c.pop(3), "has no solution cell"),
        (lambda c: c[4].update(source='hetlab.check("01_first/other", f)'), "must call"),
        (lambda c: c[4]["metadata"]["nbgrader"].update(points=7), "lesson.points must be the sum"),
        (lambda c: c[4]["metadata"]["nbgrader"].update(points="2"), "must be a whole number"),
        (lambda c: c.append({**check_cell(LESSON, "add_one", 0), "id": "again"}), "used twice"),
        (lambda c: c[1].update(id="add-one"), "is cell 2's too"),
        (lambda c: c[1].pop("id"), "has no id"),
        (lambda c: c[1].update(execution_count=3), "must have no outputs"),
        (
            lambda c: c[1].update(
                outputs=[{"output_type": "stream", "name": "stdout", "text": "x"}]
            ),
            "must have no outputs",
        ),
    ],
)
def test_a_mistake_names_the_cell_and_the_file_and_nothing_is_written(mini, change, words):
    edit(mini, change)
    with pytest.raises(TrackError, match=words) as error:
        build(mini)
    assert f"{LESSON}.ipynb" in str(error.value)
    assert "\n" not in str(error.value)
    assert not (mini.root / "exercises").exists()


def test_a_notebook_of_another_lesson_is_refused(mini):
    path = mini.lesson(LESSON).solution
    path.write_bytes(mini.lesson("02_第二课").solution.read_bytes())
    with pytest.raises(TrackError, match=r"hetlab\.lesson must be '01_first', got '02_第二课'"):
        build(mini)


def test_one_task_may_have_several_solution_cells(mini):
    second = solution_cell("add_one", "### BEGIN SOLUTION\ny = 1\n### END SOLUTION", "add_one-2")
    edit(mini, lambda cells: cells.insert(4, second))
    build(mini)
    assert (
        'raise NotImplementedError("add_one is not started")'
        in exercise_cell(mini, "add_one-2".replace("_", "-")).source
    )


def test_a_missing_solution_notebook_is_named(mini):
    mini.lesson(LESSON).solution.unlink()
    with pytest.raises(TrackError, match="there is no such file"):
        build(mini)


def test_a_released_track_has_nothing_to_build(mini):
    import shutil

    shutil.rmtree(mini.root / "solutions")
    with pytest.raises(TrackError, match="released track"):
        build(load_track(mini.root))


def test_a_cell_may_hold_cpp_behind_python_comments(mini):
    source = 'src = """\n  // ### BEGIN SOLUTION\n  y[i] = a;\n  // ### END SOLUTION\n"""'
    edit(mini, lambda c: (c[3].update(source=source),
                          c[3]["metadata"]["hetlab"].update(language="cuda_cpp")))  # fmt: skip
    build(mini)
    assert exercise_cell(mini, "add-one").source == (
        'src = """\n  // YOUR CODE HERE\n  #error "add_one is not started"\n"""'
    )


def test_plain_cells_pass_through(mini):
    edit(mini, lambda cells: cells.append(code("extra", "a = '''\x0c'''\n")))
    build(mini)
    assert exercise_cell(mini, "extra").source == "a = '''\x0c'''\n"
