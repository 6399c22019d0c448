"""The course keeps its promises: what `hetlab track verify` proves, lesson by lesson."""

from pathlib import Path

import pytest

from hetlab.tracks.build import build
from hetlab.tracks.manifest import load_track
from hetlab.tracks.verify import verify

pytest.importorskip("numba")

TRACK = load_track(Path(__file__).parents[2])


def test_every_exercise_is_in_step_with_its_solution():
    assert {
        b.path.name: b.status for b in build(TRACK, check=True) if b.status != "unchanged"
    } == {}


@pytest.mark.parametrize("lesson", [lesson.id for lesson in TRACK.own])
def test_a_lesson_is_verified(lesson):
    report = verify(TRACK, lesson)
    assert report.passed, repr(report)
