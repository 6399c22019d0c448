"""A sandbox is what its tier says, and says why it is not a stronger one."""

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hetlab.errors import HetlabError, InvalidValue
from hetlab.grading import Limits, Tier, probe, run_notebook, tier_named
from hetlab.grading import bubblewrap as bubble
from hetlab.grading.lending import Lent
from hetlab.grading.suspicions import suspicions
from hetlab.grading.tiers import TIERS
from hetlab.tracks.manifest import load_track
from hetlab.tracks.notebooks import read_notebook, task_of
from hetlab.tracks.tasks import load_tasks

from .attacks.kernels import RIGHT
from .sandbox_tasks import LIMITS, graded, leftovers, notebook, slow_sum, tasks

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
DOUBLE = "def double(x): return 2 * x"
FAST = "def fast(x): return float(np.einsum('i,i->', x, x))"


def test_every_tier_that_works_here_gives_honest_work_its_points():
    for name in TIERS[TIERS.index(probe().name) :]:
        got = graded([DOUBLE], tier=name)
        assert got.points == 2 and got.sandbox == name and not got.incidents and not got.notes


def test_host_code_and_kernels_are_graded_by_what_the_worker_saw():
    twice = "twice = hetlab.raw_kernel(code, 'twice')"
    got = graded([RIGHT, twice], ("twice",))
    assert got.points == 4, got
    assert "125 global load sectors" in repr(got.verdicts[0])
    assert not leftovers()


def test_the_seed_decides_the_inputs_and_the_verdict_names_it():
    first, again, other = (graded(["def double(x): return x"], seed=s) for s in (5, 5, 6))
    assert first.verdicts == again.verdicts != other.verdicts
    assert "inputs of seed 5" in " ".join(repr(first.verdicts[0]).split())


def test_a_task_is_judged_where_its_check_cell_stands():
    cells = [DOUBLE, "CHECK double", "def double(x): return x"]
    assert graded(cells).points == 2


def test_an_unknown_tier_is_refused():
    with pytest.raises(InvalidValue, match="bubblewrap or rlimit or none"):
        run_notebook(notebook([]), [], tier="docker")


def test_a_stronger_tier_than_there_is_is_refused_with_the_remedy(monkeypatch):
    weak = Tier("rlimit", "bubblewrap is not installed", "Install it.")
    monkeypatch.setattr("hetlab.grading.tiers.probe", lambda: weak)
    with pytest.raises(HetlabError, match=r"bubblewrap is not installed.*Install it"):
        tier_named("bubblewrap")
    assert "not installed" in str(weak) and not weak.strong


@pytest.mark.parametrize(
    ("files", "said", "remedy"),
    [
        ({}, "setting up uid map: Permission denied", "ask who looks after it"),
        ({"apparmor_restrict_unprivileged_userns": "1"}, "loopback", "/etc/apparmor.d/bwrap"),
        ({"max_user_namespaces": "0"}, "namespace failed", "max_user_namespaces=10000"),
        ({"unprivileged_userns_clone": "0"}, "failed", "unprivileged_userns_clone=1"),
    ],
)
def test_where_bubblewrap_is_forbidden_the_remedy_is_named(monkeypatch, files, said, remedy):
    monkeypatch.setattr(bubble.shutil, "which", lambda name: "/usr/bin/bwrap")
    monkeypatch.setattr(bubble, "_in_container", lambda: False)
    monkeypatch.setattr(bubble, "_reads", lambda path: files.get(path.rsplit("/", 1)[1], ""))
    assert remedy in bubble.remedy(said)
    monkeypatch.setattr(bubble, "_in_container", lambda: True)
    if not files:
        assert "docker run --security-opt" in bubble.remedy(said)
    monkeypatch.setattr(bubble.shutil, "which", lambda name: None)
    assert "apt install bubblewrap" in bubble.remedy(said)


def test_a_limit_of_nothing_is_refused():
    with pytest.raises(InvalidValue, match="memory must be above 0"):
        Limits(memory=0)


def test_a_sandbox_that_does_not_start_is_the_machines_fault_and_is_said(monkeypatch):
    monkeypatch.setattr("hetlab.grading.sandbox.sys.executable", "/bin/false")
    with pytest.raises(HetlabError, match=r"the sandbox .* did not start"):
        graded([DOUBLE], tier=Tier("none"))


def test_lent_memory_shows_what_was_changed_and_nothing_else():
    inputs = (np.arange(5000.0), np.zeros(5000), 3, np.arange(4))
    lent = Lent(inputs)
    assert lent.after() == {} and [len(plan) for plan in lent.plan] == [3, 3, 1, 1]
    lent._seen(lent.plan[1][0], np.dtype(float), (5000,))[7] = 1
    changed = lent.after()
    assert list(changed) == [1] and changed[1][7] == 1
    lent.close()


@pytest.mark.parametrize(
    "source",
    [DOUBLE, "import numpy as np\nx = np.ones(3)\nx[0] = 2\nprint(x)", "y = x.T\n%timeit y"],
)
def test_an_ordinary_cell_is_not_suspicious(source):
    assert suspicions(source) == []


@pytest.mark.soak
def test_the_reference_against_itself_gets_the_same_verdict_50_times_under_load():
    """Four processes keep every core busy meanwhile."""
    burner = [sys.executable, "-c", "while True: pass"]
    load = [subprocess.Popen(burner) for _ in range(4)]
    source = inspect.getsource(slow_sum).replace("slow_sum", "fast")
    try:
        found = {(g.points, g.reason) for g in (graded([source], ("fast",)) for _ in range(50))}
    finally:
        for one in load:
            one.kill()
            one.wait()
    assert found == {(1, "")}


@pytest.mark.soak
def test_the_solution_of_a_lesson_about_speed_gets_the_same_verdict_50_times_under_load():
    """The timed tasks of lesson 03, while two processes keep two cores busy."""
    track, name = load_track(Path(__file__).parents[2]), "03_speed_up_the_cpu"
    known = load_tasks(track, name)
    timed = {n: t for n, t in known.items() if any(c.kind == "speed" for c in t.criteria)}
    solution = read_notebook(track.lesson(name).solution)
    solution.cells = [
        c for c in solution.cells if c.id == "setup" or (task_of(c) or ("", ""))[1] in timed
    ]
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        given = [(name, task) for task in timed.values()]
        found = [run_notebook(solution, given) for _ in range(50)]
    finally:
        for one in load:
            one.kill()
            one.wait()
    most = tuple(task.points for task in timed.values())
    assert {tuple(v.points for v in g.verdicts) for g in found} == {most}


def test_a_function_that_is_fast_earns_the_points_of_speed():
    if not probe().strong:
        pytest.skip("a call costs too much in the weaker tiers for a ratio of three")
    known = tasks()["fast"]
    known.criteria[1].rounds = 9
    got = run_notebook(notebook([FAST], ("fast",)), [("01_x", known)], limits=LIMITS)
    assert got.points == 3, got
