"""A leaderboard of one's own runs is ordered by counts, kept, and never takes a faulty run."""

import numpy as np
import pytest

pytest.importorskip("numba_cuda")
import hetlab
from hetlab.errors import InvalidValue
from hetlab.tracks.leaderboard import _without_file, leaderboard

hetlab.use_virtual_gpu()
from numba import cuda  # noqa: E402


@cuda.jit
def copy(x, out, stride):
    i = cuda.grid(1)
    if i * stride < x.size:
        out[i * stride] = x[i * stride]


@cuda.jit
def careless(x, out):
    out[cuda.grid(1)] = x[0]


def run(stride=1):
    x = np.ones(128, np.float32)
    return hetlab.profile(copy[1, 128], x, np.zeros_like(x), stride)


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A work folder around the current one."""
    monkeypatch.setattr(
        "hetlab.tracks.leaderboard.progress_file", lambda: tmp_path / ".hetlab" / "progress.json"
    )
    return tmp_path


def test_the_best_run_comes_first_and_the_newest_is_marked(work):
    first = leaderboard("04/x", run(1), "side by side")
    assert first.latest == 1 and "first run" in first.says
    board = leaderboard("04/x", run(8), "every eighth")
    assert [row["sectors"] for row in board.rows] == [32, 32]
    board = leaderboard("04/x", run(8), "every eighth", by="requests")
    assert [row["note"] for row in board.rows] == ["every eighth", "side by side"]
    assert board.latest == 1 and "best run so far, 25% of the second" in board.says
    assert "1 <" in repr(board) and "<table" in board._repr_html_()


def test_runs_may_be_ordered_by_their_modelled_time_and_the_board_says_so(work):
    leaderboard("06/x", run(1), "more requests")
    board = leaderboard("06/x", run(8), "fewer", by="estimate")
    times = [row["estimate"] for row in board.rows]
    assert times == sorted(times)
    assert "ordered by estimate (modelled)" in repr(board)
    assert "wavefronts" not in repr(board)  # no attempt has any


def test_a_board_is_kept_in_the_work_folder_and_the_same_run_stands_there_once(work):
    leaderboard("04/x", run(), "a")
    leaderboard("04/x", run(), "a")
    assert (work / ".hetlab" / "leaderboards.json").exists()
    assert len(leaderboard("04/x").rows) == 1
    assert leaderboard("04/other").says == "No run yet."


def test_a_run_with_a_hazard_is_not_entered(work):
    x = np.ones(8, np.float32)
    faulty = hetlab.profile(careless[1, 32], x, np.zeros_like(x))
    board = leaderboard("04/x", faulty, "no guard")
    assert board.rows == () and "has hazards" in board.says


def test_without_a_work_folder_it_lasts_as_long_as_the_kernel(monkeypatch):
    monkeypatch.setattr("hetlab.tracks.leaderboard.progress_file", lambda: None)
    monkeypatch.setattr("hetlab.tracks.leaderboard._without_file", {})
    leaderboard("04/x", run(), "a")
    assert len(leaderboard("04/x").rows) == 1
    assert "04/x" not in _without_file


def test_a_damaged_board_begins_anew(work):
    leaderboard("04/x", run(), "before")
    (work / ".hetlab" / "leaderboards.json").write_text('{"boards": 3')
    assert len(leaderboard("04/x", run()).rows) == 1


def test_only_a_profile_can_be_entered(work):
    x = np.ones(8, np.float32)
    uncounted = hetlab.sanitize(copy[1, 32], x, np.zeros_like(x), 1)
    with pytest.raises(InvalidValue, match=r"hetlab\.profile"):
        leaderboard("04/x", uncounted)
    with pytest.raises(InvalidValue, match="sectors"):
        leaderboard("04/x", by="beauty")


def test_races_of_schedulers_have_a_board_of_their_own(work):
    from hetlab.sched import Race

    leaderboard("22/race", Race("a", {"quiet": 2.0, "hot": 8.0}), "first", by="ratio")
    board = leaderboard("22/race", Race("b", {"quiet": 2.0, "hot": 2.0}), "second", by="ratio")
    assert [(row["note"], row["worst"]) for row in board.rows] == [("second", 2.0), ("first", 8.0)]
    assert "ordered by ratio (modelled)" in repr(board) and "<table" in board._repr_html_()
    failed = leaderboard("22/race", Race("c", {"quiet": 1.0}, {"quiet": "stalled"}), by="ratio")
    assert len(failed.rows) == 2 and "did not finish" in failed.says
    with pytest.raises(InvalidValue):
        leaderboard("22/race", Race("a", {"quiet": 2.0}))
