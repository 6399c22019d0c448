"""The pages and tables: escaped, complete, and without anything hidden."""

import csv
import io
import re

import pytest

from hetlab.batch.batch import Batch, Options
from hetlab.batch.job import Answer
from hetlab.batch.ledger import slug
from hetlab.batch.pages import feedback_page, summary_page
from hetlab.batch.report import write_reports
from hetlab.batch.tables import Row, grades_csv, lms_csv, table
from hetlab.grading import Case, Correct, Task, exact, judge, open_submission

from ..tracks.tiny_track import LESSON
from .classroom import by_eye, handed_in, lay_out


def row(name="alice", points=2, lms="", lms_id="", reason="", verdict=None):
    tasks = {"01_a/t": {"verdict": verdict, "points": points, "of": 3}} if verdict else {}
    record = {
        "student": name, "lms": lms, "lms_id": lms_id, "hetlab": "0.1", "seed": 1, "notes": [],
        "lessons": {"01_a": {"file": "a.ipynb", "notes": []}}, "tasks": tasks,
    }  # fmt: skip
    told = (reason,) if reason else ()
    return Row(name, points, 3, {"01_a/t": points}, "none", reason, told=told, record=record)


def cells(data):
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r=1", "|x"])
def test_no_cell_of_a_table_is_a_formula(start):
    (line,) = cells(table([[start, "fine", -1]]))
    assert line[0].startswith("'") and line[1:] == ["fine", "-1"]


def test_a_spreadsheet_sees_chinese_and_line_breaks_stay_in_their_cell():
    data = grades_csv([row("张三", reason='a\nb, "c"')], {"01_a/t": 3})
    assert data.startswith(b"\xef\xbb\xbf")
    assert cells(data)[1] == ["张三", "2", "3", "2", "none", 'a b, "c"']


def test_each_platform_gets_the_columns_that_it_imports():
    rows = [row("Wang", 2.5, "x", "4711")]
    assert cells(lms_csv(rows, "moodle", "T"))[1][:3] == ["Participant 4711", "Wang", "2.5"]
    assert cells(lms_csv(rows, "canvas", "T"))[0][-1] == "T"
    assert cells(lms_csv(rows, "canvas", "T"))[2] == ["Wang", "4711", "", "", "", "2.5"]
    assert cells(lms_csv(rows, "blackboard", "T"))[1] == ["4711", "2.5"]


EVIL = '<script>alert("x")</script>'


def test_what_a_student_wrote_is_text_and_never_markup():
    verdict = {
        "task": "01_a/t", "status": "failed", "misconception": "", "says": "", "look": "",
        "proof": "", "title": "",
        "findings": [{"title": EVIL, "points": 0, "of": 3, "passed": False, "text": EVIL,
                      "kind": EVIL, "details": [EVIL]}],
    }  # fmt: skip
    one = row(f"{EVIL}", reason=EVIL, verdict=verdict)
    one.record["notes"] = [EVIL]
    one.record["lessons"]["01_a"]["file"] = EVIL
    for page in (
        feedback_page(one, EVIL, {"01_a/t": 3}),
        summary_page([one], EVIL, {"01_a/t": 3}, {"01_a/t": EVIL}),
    ):
        text = page.decode()
        assert "<script" not in text and "&lt;script&gt;" in text
        assert "http" not in text.replace("http-equiv", "")  # nothing is fetched


def test_feedback_never_shows_a_hidden_expectation():
    secret = 918273645

    def spec(x):
        return x + secret

    def inputs(rng):
        yield Case("seen", 0)
        yield Case("unseen", 5150, public=False)

    task = Task("t", "T", [Correct(spec, inputs, 3, exact())])
    answer = {"t": lambda x: x + secret if x == 0 else 0}
    with open_submission(answer) as submission:
        verdict = judge(task, submission, lesson="01_a").to_json()
    assert verdict["findings"][0]["passed"] is False
    page = feedback_page(row(verdict=verdict), "T", {"01_a/t": 3}).decode()
    assert "a hidden input" in page
    assert not re.search(rf"{secret}|{secret + 5150}|5150", page)


def test_what_is_to_be_looked_at_is_for_the_instructor_alone(track, tmp_path):
    place = lay_out(tmp_path / "in", {"a.ipynb": handed_in(track)})

    def odd(jobs):
        from dataclasses import replace

        for job, answer in by_eye(jobs):
            yield job, replace(answer, incidents=("cell 2 starts a process",), reason="it died")

    batch = Batch(place, track, tmp_path / "out", Options(tier="none"))
    batch.run(batch.prepare(), odd)
    (one,) = write_reports(batch)
    assert one.reason == "it died; to look at: cell 2 starts a process"
    page = (tmp_path / "out" / "feedback" / "a.html").read_text("utf-8")
    assert "it died" in page and "starts a process" not in page


def test_the_summary_counts_how_tasks_fail(track, tmp_path):
    wrong = {"double": "x * x"}
    files = {"a.ipynb": handed_in(track), "b.ipynb": handed_in(track, wrong)}
    place = lay_out(tmp_path / "in", files)

    def named(jobs):
        for job, answer in by_eye(jobs):
            from dataclasses import replace

            mistaken = [
                replace(v, misconception="squared") if not v.passed and "double" in v.task else v
                for v in answer.verdicts
            ]
            yield job, Answer(tuple(mistaken), sandbox="none")

    batch = Batch(place, track, tmp_path / "out", Options(tier="none"))
    batch.run(batch.prepare(), named)
    write_reports(batch)
    text = (tmp_path / "out" / "summary.html").read_text("utf-8")
    assert "1 passed, 1 failed" in text  # double
    assert "1 passed, 1 not started" in text  # count
    assert re.search(rf'{LESSON}/double</code></td><td><b>squared</b></td><td class="n">1<', text)
    for link in re.findall(r'href="([^"]+)"', text):
        from urllib.parse import unquote

        assert (tmp_path / "out" / unquote(link)).is_file()
    assert (tmp_path / "out" / "feedback" / f"{slug('a')}.html").is_file()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_fit_their_window_in_light_and_dark(scheme, tmp_path):
    from pathlib import Path

    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = Path("/usr/bin/chromium")
    if not chromium.exists():
        pytest.skip("there is no Chromium here")
    long = row("w" * 90, reason="r" * 200)
    (tmp_path / "f.html").write_bytes(feedback_page(long, "T", {"01_a/t": 3}))
    (tmp_path / "s.html").write_bytes(
        summary_page([long], "T", {"01_a/t": 3}, {"01_a/t": "t" * 90})
    )
    with sync_api.sync_playwright() as p:
        browser = p.chromium.launch(
            executable_path=str(chromium), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(color_scheme=scheme, viewport={"width": 420, "height": 800})
        papers = set()
        for name in ("f", "s"):
            page.goto(f"file://{tmp_path / name}.html")
            wide = "document.documentElement.scrollWidth <= innerWidth"
            assert page.evaluate(wide)
            papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        browser.close()
    assert papers == {"rgb(255, 255, 255)" if scheme == "light" else "rgb(21, 23, 26)"}
