"""Sectors of a request: the published table, an oracle in plain Python, and the browser."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_in_browser import (  # noqa: F401  (fixtures)
    browser,
    luminance,
    open_page,
    picture,
    site,
)
from test_showing import notebook  # noqa: F401

from hetlab.errors import InvalidValue
from hetlab.widgets import Shown
from hetlab.widgets.access import ORDERS, SIZES, Access, count_sectors, sector_table
from hetlab.widgets.showing_gpu import show_access

CHOICES = st.builds(
    Access,
    st.integers(0, 32),
    st.integers(0, 31),
    st.sampled_from(SIZES),
    st.sampled_from(sorted(ORDERS)),
)


# Arithmetic from the coalescing chapter of NVIDIA's CUDA C++ Best Practices Guide.
@pytest.mark.parametrize(
    ("size", "by_stride", "misaligned"),
    [
        (1, (1, 2, 3, 4, 8, 16, 32), 2),
        (4, (4, 8, 12, 16, 32, 32, 32), 5),
        (8, (8, 16, 24, 32, 32, 32, 32), 9),
        (16, (16, 32, 32, 32, 32, 32, 32), 17),
    ],
)
def test_strides_and_misalignment_cost_what_the_published_rule_says(size, by_stride, misaligned):
    strides = (1, 2, 3, 4, 8, 16, 32)
    assert tuple(Access(s, 0, size).sectors for s in strides) == by_stride
    assert Access(1, 1, size).sectors == misaligned


def test_a_permutation_or_idle_lanes_within_the_same_bytes_change_nothing():
    for order in ORDERS:
        assert Access(1, 8, 4, order).sectors == 4


@settings(deadline=None)  # the first example makes the whole table
@given(CHOICES)
def test_a_request_moves_each_sector_that_holds_a_byte_asked_for(access):
    touched = {
        (address + byte) // 32
        for address in access.addresses
        if address is not None
        for byte in range(access.size)
    }
    assert access.sectors == len(touched)
    assert access.least <= access.sectors
    place = access.offset % (32 // access.size)
    assert sector_table()[access.order][str(access.size)][access.stride][place] == len(touched)


def test_any_addresses_can_be_counted():
    assert count_sectors([0, 31, None, 64], 1) == 2
    assert count_sectors([30], 4) == 2  # one element across a boundary
    with pytest.raises(InvalidValue, match="1 to 32 lanes"):
        count_sectors([None], 4)


def test_a_terminal_gets_text_and_a_figure():
    pytest.importorskip("matplotlib")
    shown = show_access(stride=2, offset=1)
    assert isinstance(shown, Shown)
    assert "8 sectors, 4 would be enough: 128 B asked for, 256 B moved, 50 %" in repr(shown)
    assert shown._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("wrong", [{"stride": 33}, {"offset": -1}, {"size": 3}, {"order": "odd"}])
def test_what_no_control_reaches_is_refused(wrong):
    with pytest.raises(InvalidValue, match=next(iter(wrong))):
        show_access(**wrong)


def test_a_notebook_gets_a_live_widget_that_carries_its_text(notebook):  # noqa: F811
    anywidget = pytest.importorskip("anywidget")
    widget = show_access()
    assert isinstance(widget, anywidget.AnyWidget)
    widget.stride = 32
    data, _ = widget._repr_mimebundle_()
    assert "32 sectors, 4 would be enough" in data["text/plain"]


def state(**values):
    from hetlab.widgets.live_access import AccessWidget

    widget = AccessWidget(Access())
    names = ("fixed", "stride", "offset", "size", "order")
    return {**{name: getattr(widget, name) for name in names}, **values}


@pytest.mark.browser
def test_what_is_drawn_is_what_was_counted(open_page):  # noqa: F811
    page = open_page("access", state())
    for stride, offset, size, order in [
        (1, 0, 4, "in order"),
        (0, 5, 8, "reversed"),
        (3, 7, 1, "shuffled"),
        (32, 31, 16, "every second lane"),
        (5, 2, 2, "in order"),
        (32, 0, 4, "in order"),
    ]:
        page.evaluate(
            f"change('stride', {stride}); change('offset', {offset}); change('size', {size});"
            f"change('order', '{order}')"
        )
        access = Access(stride, offset, size, order)
        told = page.evaluate("({...document.querySelector('output').dataset})")
        assert int(told["counted"]) == int(told["drawn"]) == access.sectors
        assert int(told["asked"]) == access.asked
        assert page.locator("rect.sector").count() == access.sectors
        assert page.locator("rect.lane").count() == 32 - 16 * (order == "every second lane")
        assert page.locator("output").inner_text() == f"{access.verdict} (counted)"


@pytest.mark.browser
def test_the_controls_work_from_the_keyboard(open_page):  # noqa: F811
    page = open_page("access", state())
    page.get_by_role("slider", name="stride").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("[state.stride, saved]") == [2, 1]
    assert "8 sectors" in page.locator("output").inner_text()
    page.get_by_label("bytes of an element").select_option("1")
    assert page.evaluate("state.size") == 1
    assert "2 sectors" in page.locator("output").inner_text()
    page.get_by_role("combobox", name="lanes").select_option("shuffled")
    assert page.evaluate("state.order") == "shuffled"
    assert page.locator("input:not([data-lm-suppress-shortcuts])").count() == 0
    page.evaluate("cleanup()")
    assert page.evaluate("Object.values(heard).every((list) => list.length === 0)")


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("values", [{}, {"stride": 3, "offset": 3}, {"stride": 32, "offset": 31}])
def test_text_stands_out_and_nothing_overflows(open_page, values, scheme):  # noqa: F811
    page = open_page("access", state(**values), scheme)
    picture(page, f"access-{values.get('stride', 1)}-{scheme}")
    paper, *inks = (
        luminance(colour)
        for colour in page.evaluate(
            """() => { const root = document.querySelector('.hetlab-access');
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
