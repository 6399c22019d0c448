"""A learner plays a schedule: the cursor runs, the picture and the sentence follow."""

from __future__ import annotations

import pytest

from hetlab.sched import Machine, simulate
from hetlab.sched.examples import topcuoglu

# One worker runs them all: they share one JupyterLab.
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("a schedule in JupyterLab")]

SHOW = """%load_ext hetlab
import hetlab
from hetlab import sched
from hetlab.sched.examples import topcuoglu
hetlab.show_schedule(sched.simulate(topcuoglu(), sched.Machine.uniform(3), "heft"))"""
# The sentence at each moment of HEFT's schedule as the paper prints it.
MOMENTS = {"At 4": "P3 t1", "At 20": "P2 t4, P3 t3", "At 60": "P1 t8, P2 t9", "At 76": "P2 t10"}


@pytest.fixture
def schedule(open_notebook):
    """The live picture of HEFT's schedule, as JavaScript drew it."""
    desk = open_notebook("START_HERE.ipynb")
    cell = desk.cell("hetlab.progress")
    desk.write(cell, SHOW)
    desk.run(cell)
    widget = cell.locator(".hetlab-gantt")
    widget.wait_for(timeout=60_000)
    widget.scroll_into_view_if_needed()
    assert desk.errors() == []
    return desk.page, widget


def test_play_moves_the_cursor_through_the_schedule_and_stops_at_its_end(schedule, screenshots):
    page, widget = schedule
    said, play = widget.locator("output"), widget.locator("button", has_text="play")
    cursor = widget.locator("input[type=range]")
    line = widget.locator("svg line[stroke='#D55E00']")
    assert "HEFT" in widget.inner_text() and "80" in widget.inner_text()
    copies = len(simulate(topcuoglu(), Machine.uniform(3), "heft").transfers)
    assert widget.locator("svg rect.bar").count() == 10 + copies
    picture, start = widget.locator("svg").first.inner_html(), float(line.get_attribute("x1"))
    play.click()
    widget.locator("button", has_text="pause").wait_for()
    # Ten seconds for the whole schedule: the test waits for what is said, not for a time.
    page.wait_for_function("n => +n.value > 400", arg=cursor.element_handle(), timeout=60_000)
    assert widget.locator("svg").first.inner_html() != picture
    assert float(line.get_attribute("x1")) > start + 100
    assert said.inner_text().startswith("At ")
    page.screenshot(path=screenshots / "schedule-plays.png")
    page.wait_for_function("n => +n.value === 1000", arg=cursor.element_handle(), timeout=60_000)
    widget.locator("button", has_text="play").wait_for()
    assert said.inner_text() == "At 80: no device works."


def test_cursor_keys_and_clicks_say_what_is_there(schedule):
    page, widget = schedule
    bars, said = widget.locator("svg rect.bar"), widget.locator("output")
    cursor = widget.locator("input[type=range]")
    for moment, doing in MOMENTS.items():
        cursor.fill(str(round(1000 * int(moment.split()[1]) / 80)))
        assert said.inner_text() == f"{moment}: {doing}."
    widget.locator("svg").first.focus()
    page.keyboard.press("Home")
    first = said.inner_text()
    page.keyboard.press("ArrowRight")
    assert said.inner_text() != first
    wide = [float(w) for w in bars.evaluate_all("all => all.map(n => n.getAttribute('width'))")]
    page.keyboard.press("+")
    zoomed = [float(w) for w in bars.evaluate_all("all => all.map(n => n.getAttribute('width'))")]
    assert max(zoomed) == pytest.approx(2 * max(wide), rel=0.01)
    widget.locator("button", has_text="all").click()
    widget.locator("svg rect.gap").first.click()
    assert "idle" in said.inner_text()
