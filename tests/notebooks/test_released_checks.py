"""What students get still judges: checks without their hidden parts accept the solution."""

import json
import linecache
from pathlib import Path

import pytest

from hetlab.grading import Correct, Races, judge, open_submission
from hetlab.tracks.manifest import load_track
from hetlab.tracks.release import release
from hetlab.tracks.tasks import load_tasks

pytest.importorskip("numba")

ROOT = Path(__file__).parents[2]
LESSONS = [lesson.id for lesson in load_track(ROOT).own]


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("students") / "track"
    release(load_track(ROOT), folder)
    return load_track(folder)


def solution_of(lesson):
    """The names that the authored notebook defines for its checks, its magics left out."""
    names = {}
    cells = json.loads((ROOT / "solutions" / f"{lesson}.ipynb").read_text("utf-8"))["cells"]
    last = max(i for i, cell in enumerate(cells) if cell["metadata"].get("hetlab", {}).get("check"))
    for cell in cells[:last]:
        if cell["cell_type"] == "code" and not cell["metadata"].get("hetlab", {}).get("check"):
            lines = "".join(cell["source"]).splitlines()
            source = "\n".join(line for line in lines if not line.startswith("%"))
            place = f"{lesson}/{cell['id']}"
            # Compilers that read a kernel's source look here when there is no file.
            linecache.cache[place] = (len(source), None, source.splitlines(True), place)
            exec(compile(source, place, "exec"), names)
    return names


@pytest.mark.parametrize("lesson", LESSONS)
def test_released_checks_can_be_loaded(lesson, released):
    """Nothing that they use was hidden with the answers."""
    assert load_tasks(released, lesson).keys() == load_tasks(load_track(ROOT), lesson).keys()


@pytest.mark.lessons
@pytest.mark.parametrize("lesson", LESSONS)
def test_released_checks_have_all_points_and_accept_the_solution(lesson, released):
    """Timed criteria are left out here: no test asserts a duration."""
    authored, public = load_tasks(load_track(ROOT), lesson), load_tasks(released, lesson)
    assert {n: t.points for n, t in public.items()} == {n: t.points for n, t in authored.items()}
    names = solution_of(lesson)
    for task in public.values():
        assert not task.wrong, f"{task.name} shows its wrong answers"
        task.criteria = [c for c in task.criteria if isinstance(c, Correct | Races)]
        with open_submission({n: names[n] for n in task.hands_in}) as submission:
            verdict = judge(task, submission)
        assert verdict.passed, repr(verdict)


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_task_has_three_hints_and_two_named_misconceptions(lesson):
    for task in load_tasks(load_track(ROOT), lesson).values():
        assert len(task.hints) == 3, task.name
        named = [w.name for w in task.wrong if w.says]
        assert len(named) >= 2 and len(set(named)) == len(named), task.name
