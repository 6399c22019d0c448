"""A page without a kernel shows a widget's picture, and fetches no loader for it."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from test_in_browser import browser  # noqa: F401  (a fixture)

from hetlab.bench._gallery import GALLERY, notebook
from hetlab.widgets import showing
from hetlab.widgets.still import choose_pictures

pytest.importorskip("anywidget")
pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]
SETTING = ROOT / "hetlab" / "widgets" / "nbconvert.json"
VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.mark.parametrize("name", GALLERY)
def test_every_widget_carries_a_picture_and_its_words(name, monkeypatch):
    monkeypatch.setattr(showing, "in_notebook", lambda: True)
    data, metadata = GALLERY[name]()._repr_mimebundle_()
    assert VIEW in data
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert metadata["image/png"]["alt"] == data["text/plain"]


def test_the_picture_shows_the_controls_where_they_stand(monkeypatch):
    monkeypatch.setattr(showing, "in_notebook", lambda: True)
    widget = GALLERY["banks"]()
    before, _ = widget._repr_mimebundle_()
    widget.padding = 1
    after, _ = widget._repr_mimebundle_()
    assert "no bank conflict" in after["text/plain"] or "1 wavefront" in after["text/plain"]
    assert after["image/png"] != before["image/png"]


def test_widgets_of_other_libraries_stay_as_they_are():
    from nbformat import v4

    view, plain = {VIEW: {"model_id": "a"}}, {"text/plain": "Widget()"}
    other = v4.new_output("display_data", {**view, **plain})
    ours = v4.new_output("display_data", {**view, **plain, "image/png": "AAAA"})
    state = {"widgets": {"application/vnd.jupyter.widget-state+json": {}}}

    def page(*outputs):
        return v4.new_notebook(
            cells=[v4.new_code_cell("", outputs=list(outputs))], metadata={**state}
        )

    left, _ = choose_pictures(page(other, ours), {})
    assert [VIEW in output.data for output in left.cells[0].outputs] == [True, False]
    assert "widgets" in left.metadata
    left, _ = choose_pictures(page(ours), {})
    assert "widgets" not in left.metadata


def test_the_course_installs_the_setting():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    shared = wheel["targets"]["wheel"]["shared-data"]
    assert shared["hetlab/widgets/nbconvert.json"] == "etc/jupyter/jupyter_nbconvert_config.json"


@pytest.mark.browser
def test_nbconvert_writes_a_page_that_shows_pictures_without_a_network(browser, tmp_path):  # noqa: F811
    pytest.importorskip("nbconvert")
    page_notebook = notebook()
    page_notebook.cells = [c for c in page_notebook.cells if c.id in ("access", "time")]
    nbformat.write(page_notebook, tmp_path / "page.ipynb")
    (tmp_path / "jupyter_nbconvert_config.json").write_text(SETTING.read_text())
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_PATH": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "page.ipynb"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    context = browser.new_context(offline=True)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    pictures = page.evaluate("[...document.images].map(i => [i.naturalWidth, i.alt])")
    context.close()
    assert len(pictures) == 2
    assert all(width > 400 for width, _ in pictures)
    assert "8 sectors, 4 would be enough" in pictures[1][1]
    # What nbconvert's own template asks for has nothing to do with widgets.
    assert [url for url in asked if "widget" in url or "html-manager" in url] == []
