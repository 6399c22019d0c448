"""Warps that hide latency: text, figure, and the browser's schedule beside Python's."""

import itertools

import pytest
from test_in_browser import (  # noqa: F401  (fixtures)
    browser,
    luminance,
    open_page,
    picture,
    site,
)
from test_showing import notebook  # noqa: F401

from hetlab.errors import InvalidValue
from hetlab.models.latency import busy_share, issue_cycles, warps_needed
from hetlab.widgets import Shown
from hetlab.widgets.showing_gpu import show_warps
from hetlab.widgets.warps import Warps


def test_a_terminal_gets_text_and_a_figure():
    pytest.importorskip("matplotlib")
    shown = show_warps(2, 9, 1)
    assert isinstance(shown, Shown)
    assert "warp 0      al........al" in repr(shown)
    assert "idle in 12 of the first 24 cycles" in repr(shown)
    assert "from 5 warps on" in repr(shown)
    assert shown._repr_png_().startswith(b"\x89PNG")


def test_a_long_latency_is_told_without_a_row_of_letters():
    assert "warp 0" not in repr(Warps(3, 290, 4))
    assert "from 59 warps on" in repr(Warps(3, 290, 4))


def test_numbers_beyond_the_sliders_are_refused():
    with pytest.raises(InvalidValue, match="from 1 to 16"):
        show_warps(17)
    with pytest.raises(InvalidValue, match="latency"):
        show_warps(4, 2.5)


def test_a_notebook_gets_a_live_widget_that_carries_its_text(notebook):  # noqa: F811
    anywidget = pytest.importorskip("anywidget")
    widget = show_warps(2, 9, 1)
    assert isinstance(widget, anywidget.AnyWidget)
    widget.warps = 5
    data, _ = widget._repr_mimebundle_()
    assert "No cycle is lost: 5 warps" in data["text/plain"]


def state(**values):
    from hetlab.widgets.live_warps import WarpsWidget

    widget = WarpsWidget(Warps(2, 9, 1))
    names = ("fixed", "warps", "latency", "work", "cycle")
    return {**{name: getattr(widget, name) for name in names}, **values}


@pytest.mark.browser
def test_the_browser_schedules_as_the_model_does(open_page):  # noqa: F811
    page = open_page("warps", state())
    for warps, latency, work in itertools.product((1, 3, 16), (4, 17, 400), (0, 5, 30)):
        page.evaluate(
            f"change('warps', {warps}); change('latency', {latency}); change('work', {work})"
        )
        told = page.evaluate("({...document.querySelector('output').dataset})")
        cycles = Warps(warps, latency, work).cycles
        ran = issue_cycles(warps, latency, work, cycles)
        assert told["chosen"] == " ".join(map(str, ran.chosen))
        assert int(told["idle"]) == ran.idle
        assert int(told["needed"]) == warps_needed(latency, work)
        assert float(told["share"]) == pytest.approx(busy_share(warps, latency, work))


@pytest.mark.browser
def test_the_picture_can_be_stepped_through_from_the_keyboard(open_page):  # noqa: F811
    page = open_page("warps", state())
    answer = page.locator("output")
    page.get_by_role("button", name="One cycle").focus()
    page.keyboard.press("Enter")
    assert "Cycle 0: warp 0 issues arithmetic" in answer.inner_text()
    for _ in range(4):
        page.keyboard.press("Enter")
    assert "every warp waits for memory, the scheduler is idle" in answer.inner_text()
    assert "Idle in 1 of the first 5 cycles" in answer.inner_text()
    page.get_by_role("slider", name="warps to choose from").focus()
    page.keyboard.press("End")
    assert page.evaluate("[state.warps, state.cycle, saved]") == [16, -1, 1]
    assert "No cycle is lost" in answer.inner_text()
    assert page.locator("rect.idle").count() == 0
    assert page.locator("input:not([data-lm-suppress-shortcuts])").count() == 0


@pytest.mark.browser
def test_play_runs_to_the_end_and_stops(open_page):  # noqa: F811
    page = open_page("warps", state())
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.get_by_role("button", name="Play").wait_for()
    assert page.evaluate("state.cycle") == Warps(2, 9, 1).cycles
    page.evaluate("cleanup()")
    assert page.evaluate("Object.values(heard).every((list) => list.length === 0)")


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("values", [{}, {"warps": 16, "latency": 290, "work": 12}])
def test_text_stands_out_and_nothing_overflows(open_page, values, scheme):  # noqa: F811
    page = open_page("warps", state(**values), scheme)
    picture(page, f"warps-{len(values)}-{scheme}")
    paper, *inks = (
        luminance(colour)
        for colour in page.evaluate(
            """() => { const root = document.querySelector('.hetlab-warps');
            return [getComputedStyle(root).backgroundColor, getComputedStyle(root).color,
              getComputedStyle(root.querySelector('svg[role=img] text')).fill,
              getComputedStyle(root.querySelector('.key')).color]; }"""
        )
    )
    assert (paper < 0.1) == (scheme == "dark")
    for ink in inks:
        high, low = max(paper, ink), min(paper, ink)
        assert (high + 0.05) / (low + 0.05) >= 4.5  # WCAG 2.2, level AA
    assert page.evaluate("document.documentElement.scrollWidth <= 600")
    outside = page.evaluate(
        """() => [...document.querySelectorAll('svg[role=img] text')].filter((t) => {
          const b = t.getBoundingClientRect();
          const frame = t.closest('svg').getBoundingClientRect();
          return b.left < frame.left - 1 || b.right > frame.right + 1
            || b.top < frame.top - 1 || b.bottom > frame.bottom + 1;
        }).map((t) => t.textContent)"""
    )
    assert outside == []
