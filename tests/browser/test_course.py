"""A learner opens the course, reads, moves a slider, runs a kernel, hands in answers."""

from __future__ import annotations

import pytest

# One worker runs them all: they share one JupyterLab.
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("the course in JupyterLab")]

KERNEL = """%load_ext hetlab
import hetlab, numpy as np
from numba import cuda

@cuda.jit
def double(x):
    x[cuda.grid(1)] *= 2

hetlab.profile(double[4, 256], np.ones(1000, np.float32))"""


def test_the_start_page_opens_and_leads_to_every_lesson(open_notebook):
    desk = open_notebook("START_HERE.ipynb")
    links = desk.panel.locator("a", has_text="lesson")
    assert links.count() >= 3
    assert desk.page.get_by_text("news", exact=False).count() == 0, "JupyterLab asks for something"
    desk.run_all()
    assert desk.errors() == []
    assert "01_meet_your_machine" in desk.panel.inner_text()


def test_lesson_01_runs_from_top_to_bottom(open_notebook):
    desk = open_notebook("lessons/01_meet_your_machine.ipynb")
    desk.run_all()
    assert desk.errors() == []
    assert desk.panel.locator(".jp-OutputArea-output svg").count() > 0


def test_a_slider_of_the_roofline_moves_the_picture(open_notebook):
    desk = open_notebook("START_HERE.ipynb")
    cell = desk.cell("hetlab.progress")
    source = "%load_ext hetlab\nimport hetlab\nhetlab.show_roofline(hetlab.peaks(progress=False))"
    desk.write(cell, source)
    desk.run(cell)
    widget = cell.locator(".hetlab-roof")
    widget.wait_for(timeout=60_000)
    said = widget.locator("output").inner_text()
    picture = widget.locator("svg").first.inner_html()
    widget.locator("input[type=range]").first.focus()
    for _ in range(5):
        desk.page.keyboard.press("ArrowRight")
    desk.page.wait_for_timeout(300)
    assert widget.locator("output").inner_text() != said
    assert widget.locator("svg").first.inner_html() != picture


def test_a_kernel_runs_and_its_source_is_annotated(open_notebook):
    desk = open_notebook("START_HERE.ipynb")
    cell = desk.cell("hetlab.progress")
    desk.write(cell, KERNEL)
    text = desk.run(cell)
    assert "out-of-bounds" in text and "x[1000]" in text
    assert "x[cuda.grid(1)] *= 2" in text


def test_a_wrong_and_a_right_answer_get_their_verdicts(open_notebook):
    desk = open_notebook("exercises/03_speed_up_the_cpu.ipynb")
    desk.run(desk.cell("%load_ext hetlab"))
    answer, check = desk.cell("def saxpy"), desk.cell("03_speed_up_the_cpu/saxpy")
    assert "not started" in (desk.run(answer) or "") + desk.run(check)
    loop = "@njit\ndef saxpy(a, x, y):\n    for i in range(x.size):\n        y[i] = "
    desk.write(answer, loop + "a * y[i] + x[i]")
    desk.run(answer)
    assert "x and y swapped" in desk.run(check)
    desk.write(answer, loop + "a * x[i] + y[i]")
    desk.run(answer)
    text = desk.run(check)
    assert "✔" in text and "2 of 2" in text.replace("/", " of ")
