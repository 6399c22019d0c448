"""The class that graders are compared on, and how what they did is counted."""

import json
from collections import Counter

import numpy as np
import pytest

from hetlab.bench import _grading_class as made
from hetlab.bench import grading
from hetlab.bench._grading_peers import Graded, Otter, watched


@pytest.fixture(scope="module")
def track(tmp_path_factory):
    return made.make_track(tmp_path_factory.mktemp("bench") / "track", 5.0)


def test_the_plain_tests_of_a_task_accept_its_solution_and_reject_its_misconception():
    for task, given in made.SIGNATURES.items():
        for body, right in ((made.RIGHT[task], True), (made.WRONG[task][1], False)):
            names = {"np": np, task: eval(f"lambda {given}: {body}", {"np": np})}
            held = []
            for line in made.plain_tests(task):
                try:
                    exec(line, names)
                    held.append(True)
                except (AssertionError, ValueError):
                    held.append(False)
            assert all(held) == right, task


def test_a_class_is_mixed_and_every_student_has_honest_points(track):
    handed = made.handed_in(track, 40)
    kinds = Counter(h.kind for h in handed)
    assert set(kinds) == set(made.KINDS) and kinds["solution"] == 12
    points = {h.kind: h.points for h in handed}
    assert points["solution"] == points["noisy solution"] == 10
    assert points["untouched"] == points["broken file"] == 0
    assert points["half done"] == points["dead kernel"] == 5
    with pytest.raises(ValueError):
        json.loads(next(h.data for h in handed if h.kind == "broken file"))


def test_a_missing_row_and_a_wrong_one_are_not_right(track):
    handed = made.handed_in(track, 3)
    done = Graded(1.0, 1, {handed[0].student: 10, handed[1].student: 9})
    assert done.right(handed) == (1, ["solution", "solution"])


def test_what_takes_too_long_is_ended_with_all_that_it_started(tmp_path):
    import sys

    import psutil

    code = (
        "import subprocess, sys, time, pathlib\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "pathlib.Path('pid').write_text(str(p.pid)); time.sleep(60)"
    )
    _, peak, status = watched([sys.executable, "-c", code], tmp_path, {}, 1.5)
    assert status == -1 and peak > 1 << 20
    pid = int((tmp_path / "pid").read_text())
    # Dead, though perhaps nobody has asked yet how it ended.
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_peer_that_is_not_there_is_a_sentence(track):
    with pytest.raises(LookupError, match="cannot import otter"):
        Otter("/nowhere/python", track, 5.0)


@pytest.mark.soak
def test_hetlab_gives_the_whole_class_its_honest_points(capsys):
    assert grading.main(["--students", "20", "--rounds", "0", "--cell-limit", "5"]) == 0
    assert "20 of 20 rows right" in capsys.readouterr().out
