"""Pictures of lessons 06 and 07: their numbers are those of arithmetic, reports and sources."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetlab.errors import InvalidValue
from hetlab.widgets import figures_reduce, figures_shared
from hetlab.widgets.palette import BLUE, GREEN, PURPLE

pytest.importorskip("matplotlib")


def texts(figure):
    return [t.get_text() for ax in figure.axes for t in ax.texts]


def faces(figure, colour):
    from matplotlib.colors import to_hex

    patches = [p for ax in figure.axes for p in ax.patches]
    return sum(to_hex(p.get_facecolor()) == colour.lower() for p in patches if p.get_fill())


@pytest.mark.parametrize("tile", [1, 2, 4, 8, 16])
def test_tiles_of_t_give_a_quarter_of_t_operations_a_byte(tile):
    figure = figures_shared.matmul_tiles(tile, 16, step=0)
    (says,) = [t for t in texts(figure) if "FLOP" in t]
    assert says.endswith(f"{tile / 4:g} FLOP for each byte loaded")
    assert f"{2 * tile**2} loads" in says and f"{tile**3} multiply-adds" in says
    assert [faces(figure, c) for c in (BLUE, PURPLE, GREEN)] == [tile**2] * 3


def test_through_a_tile_both_ends_are_rows():
    shown = texts(figures_shared.transpose())
    assert [t for t in shown if ":" in t] == [
        "a: reads a row",
        "out: writes a column",
        "a: reads a row",
        "tile: stores a row",
        "tile: reads a column",
        "out: writes a row",
    ]
    assert shown.count("barrier") == 1


def test_without_a_barrier_a_warp_reads_before_its_neighbour_has_stored():
    without, with_one = figures_shared.barrier().axes[:2]
    assert [t.get_text() for t in without.texts] == [f"warp {w} has not stored yet" for w in (1, 3)]
    assert [t.get_text() for t in with_one.texts] == ["barrier"]


class Report:
    def __init__(self, **counters):
        self.counters = counters


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(0, 10**7), min_size=1, max_size=6))
def test_a_ladder_shows_every_count_of_every_step(counts):
    reports = {name: Report(x=n, y=1) for name, n in counts.items()}
    figure = figures_shared.ladder(reports, {"first": "x", "both": ("x", "y")})
    first, both = figure.axes
    assert [t.get_text() for t in first.texts] == [f"{n:,}" for n in counts.values()]
    assert [t.get_text() for t in both.texts] == [f"{n + 1:,}" for n in counts.values()]
    assert [t.get_text() for t in first.get_yticklabels()] == list(counts)


def test_the_recorded_ladder_is_that_of_its_author():
    rates = list(figures_reduce.HARRIS.values())
    assert rates == [2.083, 4.854, 9.741, 17.377, 31.289, 43.996, 62.671]
    shown = texts(figures_reduce.harris())
    # The factors that the slides print beside the rates; they divide seconds, which are rounded.
    for text, factor in zip(shown[1:7], (2.33, 2.01, 1.78, 1.8, 1.41, 1.42)):
        assert f"({factor:.1f} times" in text
    assert f"peak of the memory: {figures_reduce.PEAK:g}" in shown


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=16))
def test_compaction_packs_what_is_above_zero_in_its_order(values):
    figure = figures_reduce.compaction(values)
    shown = texts(figure)
    kept = [str(v) for v in values if v > 0]
    numbers = [t for t in shown if t.lstrip("-").isdigit()]
    flags = [v > 0 for v in values]
    places = np.cumsum(flags) - flags
    assert numbers[: len(values)] == [str(v) for v in values]
    assert numbers[2 * len(values) : 3 * len(values)] == [str(p) for p in places]
    assert numbers[3 * len(values) :] == kept


@pytest.mark.parametrize(
    "call",
    [
        lambda: figures_shared.matmul_tiles(3),
        lambda: figures_shared.matmul_tiles(32),
        lambda: figures_shared.matmul_tiles(4, step=4),
        lambda: figures_shared.transpose(1),
        lambda: figures_shared.ladder({}, {"x": "x"}),
        lambda: figures_reduce.compaction([]),
        lambda: figures_reduce.compaction(range(17)),
    ],
)
def test_bad_input_is_named(call):
    with pytest.raises(InvalidValue, match="must be"):
        call()
