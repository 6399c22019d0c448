"""A notebook is run and judged whatever state it is in; each task gets its row."""

import json
import os
import subprocess
import sys
import tempfile

import psutil
import pytest

from hetlab.errors import NotebookError
from hetlab.tracks.notebooks import read_notebook, task_of, write_notebook
from hetlab.tracks.run import check_notebook

from .tiny_track import LESSON, make_track


@pytest.fixture(scope="module")
def track(tmp_path_factory):
    return make_track(tmp_path_factory.mktemp("a home with 空格") / "track")


def verdicts(track, tmp_path, change=lambda cells: None, name="mine.ipynb", **options):
    """Judge the solution after `change` was done to its cells, by task."""
    notebook = read_notebook(track.lesson(LESSON).solution)
    change({c["id"]: c for c in notebook.cells} | {"all": notebook.cells})
    write_notebook(tmp_path / name, notebook)
    found = check_notebook(tmp_path / name, track=track, **options)
    return {v.task.partition("/")[2]: v for v in found}


def test_the_solution_earns_all_points(track, tmp_path):
    found = verdicts(track, tmp_path)
    assert [v.points for v in found.values()] == [2, 1, 3]
    assert all(v.passed for v in found.values())


def test_the_untouched_exercise_earns_nothing_and_says_so(track):
    found = check_notebook(track.lesson(LESSON).exercise, track=track)
    assert [(v.status, v.points) for v in found] == [("not started", 0)] * 3


def test_stubs_are_recognised_without_metadata_too(track, tmp_path):
    notebook = read_notebook(track.lesson(LESSON).exercise)
    for cell in notebook.cells:
        cell.metadata.clear()
    write_notebook(tmp_path / f"{LESSON}.ipynb", notebook)
    found = check_notebook(tmp_path / f"{LESSON}.ipynb", track=track)
    assert {v.status for v in found} == {"not started"}


def test_an_answer_written_into_the_exercise_itself_is_started(tmp_path):
    """Some write into ``exercises/`` of a released folder, where the stub's own text is gone."""
    track = make_track(tmp_path / "track")
    exercise = track.lesson(LESSON).exercise
    notebook = read_notebook(exercise)
    first = next(c for c in notebook.cells if task_of(c) == ("solution", "double"))
    first.source = "def double(x):\n    return 3 * x"
    write_notebook(exercise, notebook)
    found = check_notebook(exercise, track=track)
    assert [v.status for v in found] == ["failed", "not started", "not started"]
    assert "should be" in found[0].findings[0].text


def test_a_deleted_or_changed_check_cell_is_put_back(track, tmp_path):
    def change(cells):
        cells["all"].remove(cells["check-double"])
        cells["check-count"]["source"] = "print('all tests passed')"

    assert [v.points for v in verdicts(track, tmp_path, change).values()] == [2, 1, 3]


def test_a_cell_that_does_not_compile_is_shown_in_its_tasks_verdict(track, tmp_path):
    def change(cells):
        cells["count"]["source"] = "def count(x):\n    return len(x"

    found = verdicts(track, tmp_path, change)
    assert found["double"].passed and found["last"].passed
    assert found["count"].points == 0 and "SyntaxError" in repr(found["count"])


def test_a_dead_kernel_keeps_the_points_earned_before(track, tmp_path):
    def change(cells):
        cells["count"]["source"] = "import os\nos._exit(0)"

    found = verdicts(track, tmp_path, change)
    assert [v.points for v in found.values()] == [2, 0, 0]
    assert "the kernel died in cell 4" in repr(found["last"])


def test_no_process_and_no_folder_is_left_of_a_check(track, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    before = set(psutil.Process().children(recursive=True))

    def change(cells):
        starts = "import os, subprocess\nsubprocess.Popen(['sleep', '600'])\n"
        cells["start"]["source"] += f"\n{starts}open('pid', 'w').write(str(os.getpid()))"

    found = verdicts(track, tmp_path, change)
    assert sum(v.points for v in found.values()) == 6
    kernel = int((tmp_path / "pid").read_text())
    # The sleeper is nobody's child once the kernel has gone; its process group tells it.
    alive = [p.pid for p in psutil.process_iter() if same_group(p.pid, kernel)]
    assert not alive and set(psutil.Process().children(recursive=True)) <= before
    assert not list((tmp_path / "temporary").iterdir())


def same_group(pid, group):
    try:
        return os.getpgid(pid) == group and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False


def test_an_endless_cell_costs_its_own_task_only(track, tmp_path):
    def change(cells):
        cells["count"]["source"] = "while True: pass"

    found = verdicts(track, tmp_path, change, time_limit=1.0)
    assert [v.points for v in found.values()] == [2, 0, 3]
    assert "did not end within 1 s" in repr(found["count"])


def test_a_cell_that_ignores_the_interrupt_is_ended(track, tmp_path, monkeypatch):
    monkeypatch.setattr("hetlab.tracks.run._GRACE", 0.5)

    def change(cells):
        cells["count"]["source"] = (
            "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
        )

    found = verdicts(track, tmp_path, change, time_limit=1.0)
    assert [v.points for v in found.values()] == [2, 0, 0]
    assert "ignored the interrupt" in repr(found["last"])


def test_printing_without_end_is_stopped_and_the_next_task_graded(track, tmp_path):
    def change(cells):
        cells["count"]["source"] = "while True: print('x' * 10_000)"

    found = verdicts(track, tmp_path, change, time_limit=60.0)
    assert [v.points for v in found.values()] == [2, 0, 3]
    assert "printed without end" in repr(found["count"])


def test_a_warning_on_stderr_costs_nothing(track, tmp_path):
    def change(cells):
        cells["double"]["source"] = (
            "import warnings\nwarnings.warn('careful')\ndef double(x):\n    return x + x"
        )

    assert verdicts(track, tmp_path, change)["double"].points == 2


def test_input_fails_the_same_way_everywhere(track, tmp_path):
    def change(cells):
        cells["double"]["source"] = "def double(x):\n    return int(input()) * x"

    assert verdicts(track, tmp_path, change)["double"].points == 0


def test_a_foreign_notebook_gives_one_line(track, tmp_path):
    notebook = read_notebook(track.lesson(LESSON).solution)
    notebook.cells = notebook.cells[:1]
    notebook.metadata.pop("hetlab", None)
    write_notebook(tmp_path / "diary.ipynb", notebook)
    with pytest.raises(NotebookError, match="belongs to no lesson"):
        check_notebook(tmp_path / "diary.ipynb", track=track)


def hetlab(*arguments, cwd, **env):
    import os

    return subprocess.run(
        [sys.executable, "-m", "hetlab", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )


def test_the_command_prints_a_table_and_exits_with_0_or_1(track):
    done = hetlab("check", track.lesson(LESSON).solution, cwd=track.root)
    assert done.returncode == 0 and "6 of 6 points, 3 of 3 tasks passed" in done.stdout
    done = hetlab("check", track.lesson(LESSON).exercise, cwd=track.root)
    assert done.returncode == 1 and "0 of 6 points" in done.stdout
    assert "YOUR CODE HERE" in done.stdout and "hetlab hint" in done.stdout


def test_the_command_works_in_the_c_locale_and_gives_json(track):
    env = {"LC_ALL": "C", "LANG": "C"}
    done = hetlab("check", track.lesson(LESSON).solution, "--json", cwd=track.root, **env)
    assert done.returncode == 0, done.stderr
    assert [row["points"] for row in json.loads(done.stdout)] == [2, 1, 3]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\x00", b'{"cells": 3}', None])
def test_a_file_that_is_no_notebook_gives_one_clear_line(track, tmp_path, content):
    file = tmp_path / "mine.ipynb"
    if content is not None:
        file.write_bytes(content)
    done = hetlab("check", file, cwd=track.root)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1 and "mine.ipynb" in done.stderr
