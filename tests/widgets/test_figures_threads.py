"""Pictures of threads: every cell, every line and every refused number."""

import itertools

import pytest

pytest.importorskip("matplotlib")
from hetlab.errors import InvalidValue
from hetlab.widgets import figures_threads as figures


def texts(figure):
    return [t.get_text() for ax in figure.axes for t in ax.texts]


def filled(figure):
    """Cells that are not white."""
    patches = [p for ax in figure.axes for p in ax.patches]
    return [p for p in patches if p.get_facecolor()[3] > 0]


def test_every_thread_is_a_cell_and_those_without_an_element_are_white():
    figure = figures.threads(n=20, block=8)
    assert len(figure.axes[0].patches) == 24
    assert len(filled(figure)) == 20
    assert "3 x 8 = 24 threads for 20 elements\n4 without an element (white)" in texts(figure)


def test_too_few_blocks_leave_elements_without_a_thread():
    assert "2 x 4 = 8 threads for 10 elements\n2 elements without a thread" in texts(
        figures.threads(10, 4, 2)
    )


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (6, 10), (24, 24)])
def test_the_blocks_over_an_image_cover_every_pixel(rows, columns):
    figure = figures.rectangle(rows, columns, (4, 4))
    assert len(filled(figure)) == rows * columns
    threads = 16 * -(-rows // 4) * -(-columns // 4)
    assert len(figure.axes[0].patches) == threads
    assert f"{threads} threads, {threads - rows * columns} outside (white)" in texts(figure)[-3]


def test_each_pattern_draws_a_line_for_each_access():
    lines = {"map": 16, "zip": 24, "stencil": 30, "gather": 16, "scatter": 16}
    for kind, count in lines.items():
        (ax,) = figures.pattern(kind).axes
        assert len(ax.lines) == count, kind
    assert texts(figures.pattern("scatter")).count("2x") == 2
    assert len(figures.pattern().axes) == 6


def test_an_addition_is_lost_unless_one_thread_ends_before_the_other_begins():
    for order in {"".join(o) for o in itertools.permutations("000111")}:
        expected = 7 if order in ("000111", "111000") else 6
        assert figures.race_result(order) == expected
        said = [t for t in texts(figures.race(order)) if "addition" in t]
        assert said == [
            f"{expected}: " + {7: "both additions counted", 6: "one addition is lost"}[expected]
        ]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: figures.threads(0, 8),
        lambda: figures.threads(8, 17),
        lambda: figures.threads(8, 8, 20),
        lambda: figures.rectangle(25, 3),
        lambda: figures.rectangle(5, 3, (0, 4)),
        lambda: figures.pattern("sort"),
        lambda: figures.race("0101"),
        lambda: figures.warps(0),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(draw):
    with pytest.raises(InvalidValue, match="must be"):
        draw()


def test_a_figure_shows_itself_as_svg_that_fits_the_page():
    for figure in (figures.threads(5, 4), figures.race(), figures.warps(2, 9, 1)):
        assert 'style="max-width:100%' in figure._repr_svg_()
