"""Pictures of a schedule say what the timeline says."""

import json

import pytest
from schedules import eventful, paper

# The fixtures of the browser.
from test_in_browser import browser, luminance, open_page, picture, site  # noqa: F401

from hetlab.errors import InvalidValue
from hetlab.widgets import schedule_figure, show_schedule
from hetlab.widgets.gantt import gantt_html, gantt_of

sync_api = pytest.importorskip("playwright.sync_api")


def state(timeline):
    from hetlab.widgets.live_schedule import ScheduleWidget

    widget = ScheduleWidget(gantt_of(timeline))
    return {"schedule": json.loads(json.dumps(widget.schedule)), "now": 0.0}


def test_the_text_alternative_states_makespan_busy_devices_and_the_critical_path():
    text = repr(gantt_of(paper()))
    assert "makespan 80 (modelled)" in text
    assert "P3: busy 61%" in text
    assert "Critical path: t1, " in text and "work" in text.splitlines()[-1]


def test_the_figure_has_a_bar_for_every_span_and_transfer():
    timeline = eventful()
    figure = schedule_figure(gantt_of(timeline))
    axes = figure.axes[0]
    assert len(axes.patches) == len(timeline.spans) + len(timeline.transfers)
    labels = [t.get_text() for t in axes.get_yticklabels()]
    assert labels[:4] == ["cpu0", "cpu1", "gpu0", "fpga0"]
    assert figure.axes[1].get_ylabel() == "°C"


def test_the_html_names_every_task_and_escapes_names():
    from hetlab.sched import Machine, TaskGraph, simulate

    graph = TaskGraph("<b>")
    graph.add("<script>", 1)
    text = gantt_html(gantt_of(simulate(graph, Machine.uniform(1), "fifo")))
    assert "<script>" not in text and "&lt;script&gt;" in text


def test_outside_a_notebook_a_schedule_is_a_figure_with_its_text():
    shown = show_schedule(paper())
    assert "makespan 80" in repr(shown) and shown._repr_png_().startswith(b"\x89PNG")
    assert repr(show_schedule(paper().to_dict())) == repr(shown)


def test_anything_else_is_a_sentence():
    with pytest.raises(InvalidValue, match="must be a Timeline"):
        show_schedule([1, 2])


@pytest.mark.browser
def test_arrow_keys_tell_what_a_piece_is_and_why_a_device_was_idle(open_page):  # noqa: F811
    page = open_page("schedule", state(paper()))
    chart, answer = page.locator("svg[role=application]"), page.locator("output")
    chart.focus()
    page.keyboard.press("ArrowRight")
    assert answer.inner_text().startswith("P1 idle, 0 to 9: waiting for another device")
    page.keyboard.press("ArrowRight")
    assert answer.inner_text().startswith("P1 idle, 9 to 27: waiting for data ('t2' waits for")
    page.keyboard.press("End")
    assert "P1 idle, 62 to 80: no more tasks" in answer.inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    assert answer.inner_text() == "t10 on P2, 73 to 80, on the critical path."
    assert page.locator("rect.critical").count() == len(paper().critical_path())


@pytest.mark.browser
def test_zoom_and_play_move_what_is_shown(open_page):  # noqa: F811
    page = open_page("schedule", state(paper()))
    first = page.locator("rect.bar").count()
    page.get_by_label("zoom in").click()
    page.get_by_label("zoom in").click()
    assert page.locator("rect.bar").count() < first
    page.get_by_label("show everything").click()
    assert page.locator("rect.bar").count() == first
    page.get_by_label("play the schedule").click()
    page.wait_for_function("state.now > 1")
    page.get_by_label("play the schedule").click()
    assert page.evaluate("saved") >= 1
    page.evaluate("change('now', 30)")
    assert page.locator("output").inner_text() == "At 30: P1 t2, P2 t6, P3 t5."
    page.evaluate("cleanup()")
    assert page.evaluate("heard['change:now'].length") == 0


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_schedule_reads_in_light_and_dark_and_fits(open_page, scheme):  # noqa: F811
    page = open_page("schedule", state(eventful()), scheme)
    picture(page, f"schedule-{scheme}")
    paper_, ink = page.evaluate(
        """() => { const root = document.querySelector('.hetlab-gantt');
        return [getComputedStyle(root).backgroundColor,
                getComputedStyle(root.querySelector('svg text')).fill]; }"""
    )
    high, low = sorted([luminance(paper_), luminance(ink)], reverse=True)
    assert (luminance(paper_) < 0.1) == (scheme == "dark")
    assert (high + 0.05) / (low + 0.05) >= 4.5
    assert page.evaluate("document.documentElement.scrollWidth <= 600")
