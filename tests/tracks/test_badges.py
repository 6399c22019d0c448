"""A badge opens one lesson, at one tag."""

from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner

from hetlab.cli import main
from hetlab.errors import InvalidValue
from hetlab.tracks.badges import badges
from hetlab.tracks.manifest import load_track
from hetlab.tracks.work import open_work


def links(text):
    return [part.split(")")[0] for part in text.split("](")[1:]]


def test_a_binder_link_opens_the_copy_that_the_image_holds(built, tmp_path):
    found = [u for u in links(badges(built, "someone/course", "v1.0")) if "/v2/gh/" in u]
    assert len(found) == len(built.own)
    open_work(built, tmp_path / "work")
    for url, lesson in zip(found, built.own):
        parts = urlsplit(url)
        assert parts.path == "/v2/gh/someone/course/v1.0"
        (opened,) = parse_qs(parts.query)["urlpath"]
        place = tmp_path / opened.removeprefix("lab/tree/")
        assert place.is_file() and place.stem == lesson.id


def test_a_tag_with_a_slash_stays_one_part_of_the_path(built):
    assert "/course/release%2F1?urlpath" in badges(built, "someone/course", "release/1")


@pytest.mark.parametrize(
    ("repository", "tag"), [("course", "v1"), ("a/b/c", "v1"), ("a/b", ""), ("a/b", "v 1")]
)
def test_what_cannot_stand_in_a_link_is_refused(built, repository, tag):
    with pytest.raises(InvalidValue):
        badges(built, repository, tag)


def test_the_command_prints_the_table(built, monkeypatch):
    monkeypatch.chdir(built.root)
    result = CliRunner().invoke(main, ["track", "badges", "someone/course", "--tag", "v1.0"])
    assert result.exit_code == 0
    assert result.output == badges(load_track(built.root), "someone/course", "v1.0")
