"""Pictures of samples: what stands where, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("matplotlib")

from hetlab.errors import InvalidValue
from hetlab.widgets import figures_timing as figures

SAMPLES = st.lists(st.floats(1e-9, 10.0), min_size=1, max_size=30)


def dots(axes):
    return sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() in "osx^")


@settings(max_examples=15, deadline=None)
@given(SAMPLES)
def test_every_sample_is_on_the_picture_the_slow_ones_at_its_top(samples):
    axes = figures.over_time({"f": samples}).axes[0]
    assert dots(axes) == len(samples)
    top = axes.get_ylim()[1]
    assert all(y <= top for line in axes.lines for y in line.get_ydata())


def test_a_rare_slow_sample_does_not_squeeze_the_others():
    axes = figures.over_time({"f": [1.0, 1.1, 1.05, 1.02] * 10 + [100.0]}).axes[0]
    assert axes.get_ylim()[1] < 2
    assert "1 above, up to 100 s" in axes.get_title("left")


def test_samples_of_two_programs_keep_their_order_and_their_medians():
    who, values = [0, 1, 1, 0, 0, 1], [1.0, 2.0, 2.2, 1.1, 1.2, 2.4]
    axes = figures.in_order({"in turn": (who, values)}).axes[0]
    first, second = (line for line in axes.lines if line.get_marker() in "os")
    assert (list(first.get_xdata()), list(first.get_ydata())) == ([0, 3, 4], [1.0, 1.1, 1.2])
    assert (list(second.get_xdata()), list(second.get_ydata())) == ([1, 2, 5], [2.0, 2.2, 2.4])
    assert axes.get_title("left") == "in turn: B seems 100% slower"


@settings(max_examples=15, deadline=None)
@given(SAMPLES, st.data())
def test_the_band_goes_from_the_kth_smallest_to_the_kth_largest(samples, data):
    k = data.draw(st.integers(1, (len(samples) + 1) // 2))
    axes = figures.order_interval(samples, k).axes[0]
    low, high = np.sort(samples)[[k - 1, -k]]
    band = axes.patches[0]
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((low, high))
    assert dots(axes) == len(samples)


def test_intervals_that_miss_are_counted_and_marked():
    axes = figures.intervals([1, 2, 5], [3, 4, 6], truth=3.5).axes[0]
    assert axes.get_title("left") == "3 intervals: 2 miss the median of all samples"
    assert sum(line.get_marker() == "v" for line in axes.lines) == 2


def test_groups_share_one_axis_so_that_widths_can_be_compared():
    draw = np.random.default_rng(1)
    figure = figures.medians({n: draw.normal(1, 0.1 / math.sqrt(n), 500) for n in (1, 4, 16)})
    limits = {panel.get_xlim() for panel in figure.axes}
    assert len(figure.axes) == 3
    assert len(limits) == 1
    assert figure._repr_svg_().lstrip().startswith("<?xml")


REFUSED = [
    lambda: figures.over_time({}),
    lambda: figures.over_time({"f": []}),
    lambda: figures.over_time({"f": [1.0, math.nan]}),
    lambda: figures.in_order({"f": ([0, 0], [1.0, 2.0])}),
    lambda: figures.in_order({"f": ([0, 1, 0], [1.0, 2.0])}),
    lambda: figures.order_interval([1.0, 2.0], 2),
    lambda: figures.order_interval([1.0, 2.0], 0),
    lambda: figures.intervals([1.0], [1.0, 2.0], 1.0),
    lambda: figures.medians({}),
]


@pytest.mark.parametrize("draw", REFUSED)
def test_data_without_a_picture_are_refused_in_words(draw):
    with pytest.raises(InvalidValue, match="must be"):
        draw()
