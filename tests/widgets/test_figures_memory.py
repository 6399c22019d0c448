"""Pictures of memory: what is drawn is what is counted."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from hetlab.errors import InvalidValue
from hetlab.widgets import figures_memory as figures
from hetlab.widgets.access import Access


def texts(figure):
    return [t.get_text() for ax in figure.axes for t in ax.texts]


@pytest.mark.parametrize(
    ("choice", "sectors"),
    [((1, 0, 4), 4), ((2, 1, 4), 8), ((32, 0, 8), 32), ((1, 1, 16), 17), ((0, 3, 1), 1)],
)
def test_a_request_is_drawn_with_its_lanes_and_its_sectors(choice, sectors):
    (ax,) = figures.access(*choice).axes
    orange = [p for p in ax.patches if p.get_facecolor()[:3] == (230 / 255, 159 / 255, 0)]
    assert len(orange) == sectors
    assert f"{sectors} sector" in ax.get_title(loc="left")
    assert sum(t.isdigit() for t in texts(ax.figure)) == 32


def test_the_curve_over_strides_is_what_each_request_costs():
    (ax,) = figures.sectors_by_stride(sizes=(1, 8), offset=1).axes
    for line, size in zip(ax.lines, (1, 8)):
        counts = [Access(stride, 1, size).sectors for stride in range(33)]
        assert np.array_equal(line.get_ydata(), counts)


def test_both_layouts_hold_the_same_elements_and_mark_the_same_field():
    figure = figures.layouts(fields=("x", "y", "m"), count=4, wanted="m")
    names = [t for t in texts(figure) if len(t) == 2]
    first, second = names[:12], names[12:]
    assert first == [f"{f}{i}" for i in range(4) for f in "xym"]
    assert second == [f"{f}{i}" for f in "xym" for i in range(4)]
    marked = [p for p in figure.axes[0].patches if p.get_facecolor()[3] > 0]
    assert len(marked) == 8


def test_a_transpose_reads_neighbours_and_writes_elements_a_row_apart():
    figure = figures.transposed(rows=6, columns=8, lanes=4)
    marked = [p for p in figure.axes[0].patches if p.get_facecolor()[3] > 0]
    assert len(marked) == 8
    numbers = [int(t) for t in texts(figure) if t.isdigit()]
    assert sorted(numbers) == sorted([*range(48), *range(48)])
    assert "written: 6 elements apart" in texts(figure)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: figures.access(stride=40),
        lambda: figures.sectors_by_stride(sizes=()),
        lambda: figures.layouts(fields=()),
        lambda: figures.layouts(wanted="q"),
        lambda: figures.layouts(count=9),
        lambda: figures.transposed(rows=1),
        lambda: figures.transposed(lanes=9),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(draw):
    with pytest.raises(InvalidValue, match="must be"):
        draw()
