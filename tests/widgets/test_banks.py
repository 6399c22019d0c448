"""The banks of shared memory: their numbers are the engine's, and the browser draws the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_in_browser import (  # noqa: F401  (fixtures)
    browser,
    luminance,
    open_page,
    picture,
    site,
)
from test_showing import notebook  # noqa: F401

import hetlab
from hetlab.errors import InvalidValue
from hetlab.widgets import Shown, show_banks
from hetlab.widgets.banks import LIMITS, WAYS, Banks, count_wavefronts

WIDTHS, PADDINGS = st.integers(*LIMITS["width"]), st.integers(*LIMITS["padding"])


def by_hand(words):
    """The largest number of different words in one bank."""
    return max(len({w for w in words if w % 32 == bank}) for bank in range(32))


@given(st.lists(st.integers(0, 4000), min_size=32, max_size=32))
def test_any_words_take_as_many_wavefronts_as_the_busiest_bank_has_words(words):
    assert count_wavefronts(words) == by_hand(words)


@pytest.mark.parametrize(
    ("stride", "wavefronts"),
    list(zip((0, 1, 2, 3, 4, 8, 16, 17, 32, 33), (1, 1, 2, 1, 4, 8, 16, 1, 32, 1))),
)
def test_strides_take_the_wavefronts_of_the_programming_guide(stride, wavefronts):
    assert count_wavefronts([stride * lane for lane in range(32)]) == wavefronts


@given(WIDTHS, PADDINGS, st.sampled_from(list(WAYS)))
def test_what_is_said_is_what_the_lanes_read(width, padding, way):
    banks = Banks(width, padding, way)
    tile = np.arange(32 * (width + padding)).reshape(32, width + padding)
    if way == "column":
        assert banks.words == tile[:, 0].tolist()
    assert banks.wavefronts == by_hand(banks.words)
    assert f"{banks.wavefronts} wavefront" in repr(banks)


def test_a_kernel_with_this_tile_has_the_wavefronts_of_the_picture():
    pytest.importorskip("numba_cuda")
    hetlab.use_virtual_gpu()
    for width, padding in ((32, 0), (32, 1), (24, 0)):
        report = hetlab.profile(reader(width + padding)[1, 32], np.zeros(32, np.float32))
        counted = report.counters["shared_load_wavefronts"]
        assert counted == 2 * Banks(width, padding).wavefronts, (width, padding)  # two reads


def reader(columns):
    """A kernel that fills a tile of so many columns and reads the first of them."""
    from numba import cuda, float32

    @cuda.jit
    def read_column(out):
        tile = cuda.shared.array((32, columns), float32)
        lane = cuda.threadIdx.x
        for j in range(columns):
            tile[lane, j] = lane
        cuda.syncthreads()
        out[lane] = tile[lane, 0] + tile[(lane + 1) % 32, 0]

    return read_column


@pytest.mark.parametrize(
    "wrong", [{"width": 0}, {"width": 33}, {"padding": -1}, {"width": 2.5}, {"way": "diagonal"}]
)
def test_a_tile_outside_the_limits_is_refused_with_the_rule(wrong):
    with pytest.raises(InvalidValue, match="must be"):
        show_banks(**wrong)


def test_a_terminal_gets_text_and_a_figure():
    pytest.importorskip("matplotlib")
    shown = show_banks(32, 0)
    assert isinstance(shown, Shown) and "32 wavefronts, 31 of them" in repr(shown)
    assert shown._repr_png_().startswith(b"\x89PNG")
    (axes,) = shown.figure.axes
    assert [t.get_text() for t in axes.texts] == [str(lane) for lane in range(32)]


def test_a_notebook_gets_a_live_widget_that_carries_its_text(notebook):  # noqa: F811
    anywidget = pytest.importorskip("anywidget")
    widget = show_banks(32, 1)
    assert isinstance(widget, anywidget.AnyWidget)
    data, _ = widget._repr_mimebundle_()
    assert "1 wavefront: no bank" in data["text/plain"]


def state(width=32, padding=0, way="column"):
    from hetlab.widgets.live_banks import BanksWidget

    widget = BanksWidget(Banks(width, padding, way))
    return {"banks": widget.banks, "width": width, "padding": padding, "way": way}


@pytest.mark.browser
def test_the_browser_draws_and_says_what_python_counts(open_page):  # noqa: F811
    page = open_page("banks", state())
    for width, padding in ((32, 0), (32, 1), (24, 0), (1, 0), (17, 4), (7, 3)):
        page.evaluate(f"change('width', {width})")
        page.evaluate(f"change('padding', {padding})")
        for way in WAYS:
            page.evaluate(f"change('way', '{way}')")
            banks = Banks(width, padding, way)
            found = page.evaluate("({...document.querySelector('output').dataset})")
            assert int(found["wavefronts"]) == banks.wavefronts
            assert int(found["busiest"]) == banks.wavefronts  # the picture's own count agrees
            assert page.locator("text.lane").count() == len(set(banks.words))


@pytest.mark.browser
def test_the_controls_work_from_the_keyboard_and_are_kept(open_page):  # noqa: F811
    page = open_page("banks", state())
    page.get_by_role("slider").nth(1).focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("[state.padding, saved]") == [1, 1]
    assert "1 wavefront, no bank conflict" in page.locator("output").inner_text()
    page.get_by_role("combobox").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("state.way") == "row"
    controls = page.locator("input, select")
    assert controls.count() == page.locator("[data-lm-suppress-shortcuts]").count() == 3
    page.evaluate("cleanup()")
    assert page.evaluate("Object.values(heard).every((list) => list.length === 0)")


@pytest.mark.browser
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_and_nothing_overflows(open_page, padding, scheme):  # noqa: F811
    page = open_page("banks", state(padding=padding), scheme)
    picture(page, f"banks-{padding}-{scheme}")
    looks_right(page, scheme)


def looks_right(page, scheme):
    """Contrast of WCAG 2.2, level AA, and no text outside of the picture."""
    pairs = page.evaluate(
        """() => { const root = document.querySelector('[class^=hetlab-]');
        const paper = getComputedStyle(root).backgroundColor;
        const plain = [...root.querySelectorAll('.tick, output p')].map((n) =>
          [paper, n.matches('.tick') ? getComputedStyle(n).fill : getComputedStyle(n).color]);
        const marked = [...root.querySelectorAll('svg .lane, svg .stored, svg .thread')].map((n) =>
          [getComputedStyle(n.closest('svg').querySelector(n.matches('.lane')
            ? 'rect[fill="#0072B2"], rect[fill="#D55E00"]' : 'rect[fill="#E69F00"]')).fill,
           getComputedStyle(n).fill]);
        return [[paper, getComputedStyle(root).color], ...plain, ...marked]; }"""
    )
    assert (luminance(pairs[0][0]) < 0.1) == (scheme == "dark")
    for under, ink in pairs:
        high, low = sorted((luminance(under), luminance(ink)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, (under, ink)
    assert page.evaluate("document.documentElement.scrollWidth <= 600")
    outside = page.evaluate(
        """() => { const frame = document.querySelector('svg[role=img]').getBoundingClientRect();
        return [...document.querySelectorAll('svg[role=img] text')].filter((t) => {
          const b = t.getBoundingClientRect();
          return b.left < frame.left - 1 || b.right > frame.right + 1
            || b.top < frame.top - 1 || b.bottom > frame.bottom + 1;
        }).map((t) => t.textContent); }"""
    )
    assert outside == []
