"""The map of the course shows each lesson once, and names the next step."""

from __future__ import annotations

import html.parser

from hetlab.tracks.course_map import Stage, map_html, next_step
from hetlab.tracks.progress import progress


def stage(lesson, points, of=10, after=(), part="A", **more):
    title = more.pop("title", lesson[3:])
    return Stage(lesson, title, part, points, of, 30, tuple(after), **more)


def test_a_lesson_that_was_begun_comes_before_a_new_one():
    stages = [stage("01_a", 10), stage("02_b", 0), stage("03_c", 4)]
    assert next_step(stages) == "Go on with 03_c: 4 of 10 points so far."


def test_the_next_lesson_is_one_whose_prerequisites_are_done():
    stages = [stage("01_a", 10), stage("02_b", 0, after=["09_x"]), stage("03_c", 0, after=["01_a"])]
    assert next_step(stages).startswith("Next: 03_c")
    assert next_step([stage("01_a", 0, after=["07_y"])]).startswith("Next: 01_a")


def test_the_end_of_a_course_is_said():
    assert next_step([stage("01_a", 10), stage("02_text_only", 0, of=0)]) == (
        "Every point of this course is yours."
    )


class Outline(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.meters, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.open.append(tag)
        if tag == "a":
            self.links.append(attrs["href"])
        if tag == "meter":
            self.meters.append((attrs["value"], attrs["max"], attrs["aria-label"]))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_map_links_to_the_learners_copies_and_escapes_titles():
    stages = [stage("01_小课", 3, title="<b>&", part="<i>"), stage("02_b", 0, stretch=True)]
    text = map_html(stages, "A note.")
    outline = Outline(text)
    assert outline.links[:2] == [
        "lessons/01_%E5%B0%8F%E8%AF%BE.ipynb",
        "exercises/01_%E5%B0%8F%E8%AF%BE.ipynb",
    ]
    assert outline.meters == [("3", "10", "3 of 10 points"), ("0", "10", "0 of 10 points")]
    assert outline.open == [] and "&lt;b&gt;&amp;" in text and "<i>" not in text
    assert "3 of 20 points. A note." in text and "extra" in text


def test_words_stand_beside_colours():
    text = map_html([stage("01_a", 10), stage("02_b", 1), stage("03_c", 0)])
    assert all(mark in text for mark in "✔◐○")


def test_progress_says_the_next_step(mini, monkeypatch):
    monkeypatch.setenv("HETLAB_TRACK", str(mini.root))
    assert "Next: 01_first, about 10 minutes." in repr(progress(mini))
    assert progress(mini)._repr_html_().count('class="card"') == 2
