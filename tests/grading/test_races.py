"""A scheduler is judged on machines that go wrong, and never by a real clock."""

from __future__ import annotations

import pytest

from hetlab import sched
from hetlab.grading import Races, Task, Wrong, judge, open_submission


def worlds():
    return [w for w in sched.faulty_machines(2) if w.name in ("a quiet day", "gpu1 dies")]


def greedy(state):
    """Each ready task where it ends first."""
    free, answer = {d: v["free"] for d, v in state["devices"].items()}, []
    for task in state["ready"]:
        ends = {
            d: max(free[d], state["arrives"][task][d]) + s for d, s in state["cost"][task].items()
        }
        best = min(ends, key=ends.get)
        free[best] = ends[best]
        answer.append((task, best))
    return answer


def alone(state):
    return [(task, "cpu0") for task in state["ready"]]


def verdict(function, times=1.5):
    task = Task("decide", "Decide", criteria=[Races(worlds, times=times)])
    task.wrong.append(Wrong("one device", alone, says="Use all.", fails="slow"))
    with open_submission({"decide": function}) as submission:
        return judge(task, submission)


def test_a_good_scheduler_gets_everything():
    found = verdict(greedy)
    assert found.passed and found.points == 4 and "modelled" in repr(found)


def test_a_slow_one_gets_the_points_for_finishing_and_hears_where_it_falls_behind():
    found = verdict(alone)
    assert (found.points, found.status) == (2, "partial")
    assert found.misconception == "one device"
    assert "furthest behind" in repr(found) and "longest piece" in repr(found)


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda state: [], "stalled"),
        (lambda state: None, "stalled"),
        (lambda state: [(t, "gpu0") for t in state["ready"]], "slow"),
        (lambda state: [("nothing", "gpu1")], "impossible"),
        (lambda state: 1 / 0, "raised"),
        (lambda state: state["devices"].clear(), "stalled"),
    ],
)
def test_a_wrong_one_is_rejected_for_its_reason(function, kind):
    found = verdict(function, times=0.9)
    assert [f.kind for f in found.findings] == [kind] and not found.passed


def test_a_stub_is_not_started_and_a_missing_name_is_missing():
    def decide(state):
        raise NotImplementedError("decide is not started")

    assert verdict(decide).status == "not started"
    assert [f.kind for f in verdict(3).findings] == ["missing"]
