"""The documentation builds, its commands work, and its glossary knows every word of the lessons."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hetlab.tracks.manifest import load_track

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "pages"


def test_the_site_builds_without_a_warning_and_fetches_nothing(tmp_path):
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    command += ["-f", str(ROOT / "docs" / "mkdocs.yml"), "-d", str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    for page in (tmp_path / "site").glob("*.html"):
        loaded = re.findall(
            r'<(?:script|link|img)\b[^>]*(?:src|href)="(https?:[^"]+)', page.read_text("utf-8")
        )
        assert [u for u in loaded if "canonical" not in u] == [], page.name


def test_every_page_is_in_the_navigation():
    pages = {p.name for p in PAGES.glob("*.md")}
    assert set(re.findall(r"\b(\w+\.md)\b", (ROOT / "docs" / "mkdocs.yml").read_text())) == pages


def commands(page):
    """The lines of the first block of commands on a page."""
    text = (PAGES / page).read_text("utf-8")
    return re.search(r"```\n(.*?)```", text, re.S)[1].strip().splitlines()


def test_a_lesson_is_added_by_the_commands_on_the_page(tmp_path):
    """All but `verify`, which tests/tracks runs on the same scaffold."""
    lines = [line for line in commands("lessons.md") if line != "hetlab track verify"]
    assert len(lines) == 5
    script = 'set -e\nhetlab() { "$PYTHON" -m hetlab "$@"; }\n' + "\n".join(lines)
    environment = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "for-students" / "exercises" / "02_scale_a_vector.ipynb").is_file()


def test_the_task_on_the_page_is_a_task_that_judges():
    from hetlab.grading import judge, mutants, open_submission

    text = (PAGES / "lessons.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    names = {}
    exec(compile(blocks[-1], "lessons.md", "exec"), names)
    task = names["scale"]
    with open_submission({"scale": lambda a, x: a * x}) as submission:
        assert judge(task, submission).passed
    for wrong in [*task.wrong, *mutants(task)]:
        given = wrong.function if isinstance(wrong.function, dict) else {"scale": wrong.function}
        with open_submission(given) as submission:
            assert not judge(task, submission).passed, wrong.name


def test_the_glossary_has_every_term_once_in_order_with_its_chinese_name():
    rows = re.findall(
        r"^\| (.+?) \| (.+?) \| (.+?) \|$", (PAGES / "glossary.md").read_text("utf-8"), re.M
    )
    rows = [r for r in rows if r[0] != "word"]
    words = [r[0] for r in rows]
    assert words == sorted(set(words), key=str.lower)
    taught = {term for lesson in load_track(ROOT).lessons for term in lesson.terms}
    assert taught - set(words) == set()
    assert all(re.search(r"[\u4e00-\u9fff]", chinese) for _, chinese, _ in rows)
