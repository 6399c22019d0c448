"""Sums and scans step by step: right at every size, with the published number of additions."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_banks import looks_right
from test_in_browser import browser, open_page, picture, site  # noqa: F401  (fixtures)
from test_showing import notebook  # noqa: F401

from hetlab.errors import InvalidValue, UnknownName
from hetlab.widgets import Shown, show_steps
from hetlab.widgets.array_steps import ALGORITHMS, Steps

ARRAYS = st.sampled_from([2, 4, 8, 16]).flatmap(
    lambda n: st.tuples(*[st.integers(0, 99) for _ in range(n)])
)
SUMS = [name for name in ALGORITHMS if name.startswith("sum")]


@given(ARRAYS, st.sampled_from(SUMS))
def test_every_sum_ends_in_the_first_element(values, name):
    assert Steps(name, values).steps[-1].after[0] == sum(values)


@given(ARRAYS)
def test_hillis_and_steele_scan_inclusively_and_blelloch_exclusively(values):
    totals = tuple(itertools.accumulate(values))
    assert Steps("scan: Hillis-Steele", values).steps[-1].after == totals
    assert Steps("scan: Blelloch", values).steps[-1].after == (0, *totals[:-1])


@given(ARRAYS, st.sampled_from(list(ALGORITHMS)))
def test_in_a_step_no_element_is_stored_by_two_threads(values, name):
    for step in Steps(name, values).steps:
        stored = [move.into for move in step.moves]
        assert len(stored) == len(set(stored))


@given(ARRAYS)
def test_the_number_of_additions_and_steps_is_the_published_one(values):
    """Hillis and Steele 1986; Blelloch 1990: a tree up and a tree down."""
    n, levels = len(values), int(math.log2(len(values)))

    def cost(name):
        steps = Steps(name, values).steps
        return sum(s.additions for s in steps), len(steps)

    for name in ("sum: interleaved", "sum: strided", "sum: sequential"):
        assert cost(name) == (n - 1, levels)
    assert cost("sum: shuffles") == (n * levels, levels)
    assert cost("scan: Hillis-Steele") == (n * levels - n + 1, levels)
    assert cost("scan: Blelloch") == (2 * (n - 1), 2 * levels + 1)


def test_the_text_tells_which_threads_work_in_how_many_warps():
    one = Steps("sum: interleaved")
    assert "threads 0, 4, 8, 12 in 4 of 4 warps of 4 lanes: 4 of 16 lanes work" in one.told(2)
    assert "threads 0 to 3 in 1 of 4 warps of 4 lanes: 4 of 4 lanes work" in (
        Steps("sum: sequential").told(2)
    )
    assert "in 1 of 1 warp of 16 lanes: 16 of 16" in Steps("sum: shuffles").told(1)
    assert "the last element becomes 0" in repr(Steps("scan: Blelloch"))


def test_another_algorithm_or_length_is_refused():
    with pytest.raises(UnknownName, match="scan: Blelloch"):
        show_steps("scan: Bleloch")
    with pytest.raises(InvalidValue, match="must be"):
        Steps("sum: shuffles", (1, 2, 3))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_terminal_gets_text_and_a_figure_with_every_value(name):
    pytest.importorskip("matplotlib")
    shown = show_steps(name)
    assert isinstance(shown, Shown) and shown._repr_png_().startswith(b"\x89PNG")
    texts = [t.get_text() for t in shown.figure.axes[0].texts]
    for value in Steps(name).steps[-1].after:
        assert str(value) in texts


def test_a_notebook_gets_a_live_widget_that_carries_its_text(notebook):  # noqa: F811
    anywidget = pytest.importorskip("anywidget")
    widget = show_steps("scan: Hillis-Steele")
    assert isinstance(widget, anywidget.AnyWidget)
    data, _ = widget._repr_mimebundle_()
    assert "So far 49 additions" in data["text/plain"]


def state(algorithm="sum: interleaved", step=1):
    from hetlab.widgets.live_steps import StepsWidget

    return {
        "steps": StepsWidget(Steps(algorithm)).steps,
        "algorithm": algorithm,
        "step": step,
    }


@pytest.mark.browser
def test_the_slider_goes_through_the_steps_that_python_computed(open_page):  # noqa: F811
    page = open_page("array_steps", state("scan: Blelloch"))
    slider, answer = page.get_by_role("slider"), page.locator("output")
    steps = Steps("scan: Blelloch")
    slider.focus()
    page.keyboard.press("Home")
    assert answer.inner_text() == steps.told(0)
    for k, step in enumerate(steps.steps, 1):
        page.keyboard.press("ArrowRight")
        assert answer.inner_text() == steps.told(k)
        label = page.locator("svg[role=img]").get_attribute("aria-label")
        assert label.endswith(f"The array: {', '.join(map(str, step.after))}.")
    assert slider.get_attribute("aria-valuetext") == "9 of 9"
    controls = page.locator("input, select")
    assert controls.count() == page.locator("[data-lm-suppress-shortcuts]").count() == 2


@pytest.mark.browser
def test_another_algorithm_begins_at_its_first_step(open_page):  # noqa: F811
    page = open_page("array_steps", state("scan: Blelloch", 9))
    page.get_by_role("combobox").select_option("sum: shuffles")
    assert page.evaluate("[state.algorithm, state.step]") == ["sum: shuffles", 1]
    assert page.locator(".tick").all_text_contents() == ["warp 0"]
    assert page.locator(".stored").count() == 16
    page.evaluate("cleanup()")
    assert page.evaluate("Object.values(heard).every((list) => list.length === 0)")


@pytest.mark.browser
@pytest.mark.parametrize(("name", "step"), [("scan: Blelloch", 9), ("sum: shuffles", 4)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_and_nothing_overflows(open_page, name, step, scheme):  # noqa: F811
    page = open_page("array_steps", state(name, step), scheme)
    picture(page, f"steps-{name[-4:]}-{scheme}")
    looks_right(page, scheme)
