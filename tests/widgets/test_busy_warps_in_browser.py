"""The widgets of warps in a real browser: what they say is what Python says."""

import pytest
from test_in_browser import browser, open_page, picture, site  # noqa: F401

from hetlab.vgpu.occupancy import KIB, occupancy
from hetlab.widgets.lockstep import lockstep
from hetlab.widgets.slots import slots_of

pytest.importorskip("anywidget")
pytestmark = pytest.mark.browser


def lockstep_state():
    from hetlab.widgets.live_lockstep import LockstepWidget

    rule = lockstep(lambda i, g: i // g % 2 == 0, g=(1, 2, 4, 8, 16, 32, 64))
    widget = LockstepWidget(rule)
    return {"lockstep": widget.lockstep, "stop": widget.stop}


def occupancy_state():
    from hetlab.widgets.live_occupancy import OccupancyWidget

    widget = OccupancyWidget(slots_of(256, 40, 12 * KIB, "8.0"))
    names = ("tables", "threads", "registers", "shared", "capability")
    return {name: getattr(widget, name) for name in names}


def test_the_slider_of_a_rule_draws_each_lane_and_says_the_steps(open_page):  # noqa: F811
    page = open_page("lockstep", lockstep_state())
    slider = page.locator("input")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert page.locator("output").inner_text().startswith("g = 32: 8 steps in all")
    assert slider.get_attribute("aria-valuetext") == "g = 32"
    active = page.locator("svg rect:not([fill=none])").count()
    assert active == 2 * 32 * 4
    assert page.evaluate("state.stop") == 5 and page.evaluate("saved") > 0
    picture(page, "lockstep")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_rule_without_a_slider_has_a_picture_and_no_control(open_page, scheme):  # noqa: F811
    from hetlab.widgets.live_lockstep import LockstepWidget

    widget = LockstepWidget(lockstep(lambda i: i % 5))
    page = open_page("lockstep", {"lockstep": widget.lockstep, "stop": 0}, scheme)
    assert page.locator("input").count() == 0
    assert "this rule" in page.locator("svg").get_attribute("aria-label")
    picture(page, f"lockstep_{scheme}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_calculator_follows_its_sliders(open_page, scheme):  # noqa: F811
    page = open_page("occupancy", occupancy_state(), scheme)
    expected = occupancy(256, 40, 12 * KIB, "8.0")
    assert f"Occupancy {expected.percent:.0f} %" in page.locator("output").inner_text()
    assert "Limited by registers." in page.locator("output").inner_text()
    page.locator("input").nth(0).focus()
    page.keyboard.press("End")
    expected = occupancy(1024, 40, 12 * KIB, "8.0")
    assert f"{expected.warps} of 64 warp slots" in page.locator("output").inner_text()
    picture(page, f"occupancy_{scheme}")


def test_another_chip_has_other_limits(open_page):  # noqa: F811
    page = open_page("occupancy", occupancy_state())
    page.locator("input").nth(2).fill("150")
    page.locator("select").select_option("7.5")
    kib = 64  # the most that a T4 has
    expected = occupancy(256, 40, kib * KIB, "7.5")
    said = page.locator("output").inner_text()
    assert f"{expected.warps} of 32 warp slots" in said and page.evaluate("saved") > 0
    page.evaluate("change('registers', 255)")
    assert "Limited by registers" in page.locator("output").inner_text()
    page.evaluate("cleanup()")
    assert page.evaluate("Object.values(heard).every((list) => list.length === 0)")
