"""The course keeps its promises: what `hetlab track verify` proves, lesson by lesson."""

from pathlib import Path

import pytest

import hetlab.tracks.verify as verify_module
from hetlab.tracks.build import build
from hetlab.tracks.manifest import load_track
from hetlab.tracks.verify import verify

pytest.importorskip("numba")

TRACK = load_track(Path(__file__).parents[2])


def test_every_exercise_is_in_step_with_its_solution():
    assert {
        b.path.name: b.status for b in build(TRACK, check=True) if b.status != "unchanged"
    } == {}


LESSONS = [lesson.id for lesson in TRACK.own]
#: Verified whole each time; `hetlab track verify` and `make soak` do all.
WHOLE = ("21_schedule_many_devices",)
LONG = ("wrong answers rejected", "untouched exercise scores 0", "lesson runs from top to bottom")


@pytest.mark.lessons
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_is_in_order_and_its_solution_scores_everything(lesson, monkeypatch):
    if lesson not in WHOLE:
        kept = {k: v for k, v in verify_module.STEPS.items() if k not in LONG}
        monkeypatch.setattr(verify_module, "STEPS", kept)
        monkeypatch.setattr(verify_module, "_keep", lambda *a: None)  # half a proof is none
    report = verify(TRACK, lesson, fresh=True)
    assert report.passed, repr(report)


@pytest.mark.soak
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_is_verified(lesson):
    report = verify(TRACK, lesson)
    assert report.passed, repr(report)
