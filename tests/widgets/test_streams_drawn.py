"""Timelines of streams as pictures; two texts side by side; what a transfer costs, drawn."""

import re

import pytest
from test_in_browser import browser, open_page, picture, site  # noqa: F401

import hetlab
from hetlab.errors import InvalidValue
from hetlab.models.streams import StreamTimeline, chunked
from hetlab.widgets import draw_streams as figures
from hetlab.widgets.streams import show_streams, stories_of


def stories():
    return stories_of(2**25, 2e-3, (1, 4, 16), "PCIe 4")


def streams_state():
    pytest.importorskip("anywidget")
    from hetlab.widgets.live_streams import StreamsWidget

    widget = StreamsWidget(stories())
    return {"stories": widget.stories, "chunk": 1, "lanes": 3, "pinned": True}


def test_every_choice_has_the_timeline_of_the_model():
    for state in stories().states:
        line = chunked(2**25, 2e-3, state.chunks, state.streams, pinned=state.pinned)
        assert state.line.pieces == line.pieces
    assert len(stories().states) == 3 * 3 * 2
    with pytest.raises(InvalidValue, match="chunks"):
        stories_of(1, 1, (0,), "PCIe 4")


def test_outside_of_a_notebook_the_text_lists_the_choices():
    assert "4 chunks in 3 streams, pinned: 2.55 ms (modelled)" in repr(show_streams(chunks=(1, 4)))


def test_the_svg_has_a_bar_a_piece_a_text_and_marks_hazards():
    line = StreamTimeline()
    line.stream("a").copy_in(1e6, "x<y")
    line.stream("b").kernel(1e-3, "f", reads=["x<y"])
    html = figures.timeline_html(line)
    assert html.count("<rect") == 2 + 3 and "x&lt;y" in html and "x<y" not in html
    assert "with no order between" in html
    assert re.search(r"<title>2 streams over PCIe 4", html)


def test_a_notebook_shows_a_timeline_as_a_picture():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    from hetlab.widgets.display import register

    shell = InteractiveShell.instance()
    try:
        register(shell)
        data, _ = shell.display_formatter.format(chunked(1e6, 1e-3, 2))
    finally:
        InteractiveShell.clear_instance()
    assert "<svg" in data["text/html"] and "2 streams over PCIe 4" in data["text/plain"]


def test_figures_say_what_the_models_say():
    pytest.importorskip("matplotlib")
    figure = figures.stories_figure(stories())
    assert [len(ax.patches) for ax in figure.axes] == [3, 48]
    rates = figures.transfers(["PCIe 4"]).axes[0]
    assert "half at 307.7 KiB" in rates.texts[0].get_text()
    direct, copied = (line.get_ydata() for line in figures.touches(1e8).axes[0].lines[:2])
    assert direct[1] < copied[1] and direct[3] > copied[3]


def test_side_by_side_marks_the_lines_that_differ():
    both = hetlab.side_by_side(CUDA="a\ncudaFree(x);\nb", HIP="a\nhipFree(x);\nb")
    assert both.differing == 1 and both.rows[1] == ("cudaFree(x);", "hipFree(x);", False)
    assert "* cudaFree(x); | hipFree(x);" in repr(both)
    assert both._repr_html_().count("border-left") == 2
    with pytest.raises(InvalidValue, match="texts"):
        hetlab.side_by_side(a="x")


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_choice_of_streams_and_chunks_moves_the_timeline(open_page, scheme):  # noqa: F811
    page = open_page("streams", streams_state(), scheme)
    bars = page.locator("svg rect")
    assert bars.count() == 12
    page.locator("input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    assert bars.count() == 48 and page.evaluate("state.chunk") == 2
    said = page.locator("output")
    assert said.inner_text().startswith("16 chunks in 3 streams, pinned: 2.15 ms")
    page.locator("input[type=checkbox]").uncheck()
    page.locator("select").select_option("1")
    assert said.inner_text().startswith("16 chunks in 1 stream, not pinned")
    assert page.evaluate("[state.lanes, state.pinned]") == [1, False]
    page.evaluate("change('lanes', 2)")
    assert said.inner_text().startswith("16 chunks in 2 streams")
    picture(page, f"streams_{scheme}")
    page.evaluate("cleanup()")
    assert page.evaluate("Object.values(heard).every((list) => list.length === 0)")
