"""One tiny track for all tests of this folder; nothing writes to it."""

import pytest

from ..tracks.tiny_track import make_track


@pytest.fixture(scope="session")
def track(tmp_path_factory):
    return make_track(tmp_path_factory.mktemp("课程 a") / "track")
