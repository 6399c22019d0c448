"""Warps in branches and loops, the occupancy calculator, turns and Little's law as pictures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetlab.errors import InvalidValue, UnknownName
from hetlab.vgpu.occupancy import KIB, LIMITS, occupancy
from hetlab.widgets.lockstep import lockstep
from hetlab.widgets.showing_warps import show_lockstep, show_occupancy
from hetlab.widgets.slots import curve, slots_of, tables


def one_by_one(answers, then, other):
    """Steps and active lanes of warps, lane by lane: the slow and plain way."""
    steps = active = 0
    for w in range(0, len(answers), 32):
        row = answers[w : w + 32]
        if isinstance(row[0], bool):
            steps += then * any(row) + other * (not all(row))
            active += sum(then if yes else other for yes in row)
        else:
            steps += max(row)
            active += sum(row)
    return steps, active


@settings(max_examples=60, deadline=None)
@given(
    answers=st.one_of(
        st.lists(st.booleans(), min_size=64, max_size=64),
        st.lists(st.integers(0, 12), min_size=64, max_size=64),
    ),
    then=st.integers(1, 6),
    other=st.integers(1, 6),
)
def test_steps_and_active_lanes_are_those_of_each_lane_on_its_own(answers, then, other):
    (stop,) = lockstep(lambda i: answers[i], then=then, other=other).stops
    steps, active = one_by_one(answers, then, other)
    assert stop.steps == steps
    assert sum(walk.active for walk in stop.walks) == active
    assert stop.lanes == pytest.approx(active / steps if steps else 0)


def test_a_slider_gives_a_stop_for_each_value():
    data = lockstep(lambda i, g: i // g % 2 == 0, g=(1, 16, 32))
    assert [s.label for s in data.stops] == ["g = 1", "g = 16", "g = 32"]
    assert [s.steps for s in data.stops] == [16, 16, 8]
    assert "g = 32: 8 steps in all, on average 32.0 of 32 lanes active (100 %)" in repr(data)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"rule": lambda i: i / 2}, "rule"),
        ({"rule": lambda i: i > 3 if i % 2 else 4}, "rule"),
        ({"rule": lambda i: -1}, "turns"),
        ({"rule": lambda i: 100}, "turns"),
        ({"rule": lambda i: True, "warps": 9}, "warps"),
        ({"rule": lambda i: True, "then": 0}, "then"),
        ({"rule": lambda i, a: True, "a": (1,), "b": (2,)}, "slider"),
    ],
)
def test_a_rule_or_number_that_makes_no_picture_is_named(arguments, named):
    with pytest.raises(InvalidValue, match=named):
        lockstep(**arguments)


def test_the_model_of_a_loop_agrees_with_the_steps_that_the_virtual_gpu_counts():
    """A warp makes one request a turn, as many as its longest lane has turns."""
    pytest.importorskip("numba_cuda")
    import hetlab

    hetlab.use_virtual_gpu()
    from numba import cuda

    @cuda.jit
    def loop(turns, step, out):
        i = cuda.grid(1)
        n = turns[i]
        while n > 0:  # the compiler does not know the step, so it cannot unroll the loop
            cuda.atomic.add(out, i, 1)
            n -= step[0]

    turns = np.random.default_rng(1).integers(0, 13, 64)
    report = hetlab.profile(loop[1, 64], turns, np.ones(1, np.int64), np.zeros(64, np.int64))
    (stop,) = lockstep(lambda i: int(turns[i])).stops
    assert report.counters["atomics"] == stop.steps


@settings(max_examples=200, deadline=None)
@given(
    name=st.sampled_from(sorted(LIMITS)),
    warps=st.integers(1, 32),
    registers=st.integers(1, 255),
    kib=st.integers(0, 227),
)
def test_the_calculators_tables_give_what_occupancy_gives(name, warps, registers, kib):
    """The widget takes the least of three tables; that is all that JavaScript computes."""
    table = tables()[name]
    kib = min(kib, len(table["shared"]) - 1)
    by = [table["blocks"], table["warps"] // warps, table["registers"][registers - 1] // warps]
    blocks = min([*by, table["shared"][kib]] if kib else by)
    assert blocks == occupancy(32 * warps, registers, kib * KIB, name).blocks


def test_a_curve_passes_through_the_point_where_the_calculator_stands():
    slots = slots_of(256, 40, 12 * KIB, "8.0")
    for vary in ("threads", "registers", "shared"):
        assert dict(curve(slots, vary))[getattr(slots, vary)] == slots.occupancy.percent
    with pytest.raises(InvalidValue, match="vary"):
        curve(slots, "blocks")


def test_what_no_block_may_have_is_refused_by_its_name():
    for arguments, named in (
        ((2000, 32, 0, "8.0"), "threads"),
        ((32, 256, 0, "8.0"), "registers"),
        ((32, 32, 200 * KIB, "8.0"), "shared"),
    ):
        with pytest.raises(InvalidValue, match=named):
            slots_of(*arguments)
    with pytest.raises(UnknownName):
        slots_of(32, 32, 0, "3.5")


def test_outside_of_a_notebook_the_text_says_the_same():
    assert "limited by registers" in repr(show_occupancy(256, 40))
    assert "registers   alone would allow 6 blocks  <- limits" in repr(show_occupancy(256, 40))
    assert "16 steps in all" in repr(show_lockstep(lambda i: i % 2 == 0))


def test_figures_draw_what_they_are_given():
    pytest.importorskip("matplotlib")
    from hetlab.widgets import figures_warps as figures

    walks = lockstep(lambda i, g: i // g % 2 == 0, g=(1, 2, 4, 8, 16, 32, 64))
    titles = [a.get_title() for a in figures.lockstep_figure(walks).axes[:6]]
    assert titles[0].startswith("g = 1\n16.0") and titles[-1].startswith("g = 64\n32.0")
    assert figures.turns([3] * 32).axes[0].get_title("left") == "one request of 32 lanes: 32 turns"
    assert figures.turns(range(5)).axes[0].get_title("left") == "one request of 5 lanes: 1 turn"
    assert len(figures.little(loads=(1, 2)).axes[0].lines) == 3
    assert "75 %" in figures.occupancy_figure(slots_of(256, 40, 0, "8.0"))._suptitle.get_text()
    with pytest.raises(InvalidValue, match="keys"):
        figures.turns([])
    with pytest.raises(InvalidValue, match="loads"):
        figures.little(loads=(0,))


def test_the_curve_of_littles_law_bends_where_the_law_says():
    """An A100: 1555 GB/s x 290 cycles / 1.41 GHz, over 108 multiprocessors and 128 B a warp."""
    from hetlab.widgets import figures_warps as figures

    rate = figures.little("A100", loads=(1,)).axes[0].lines[1].get_ydata()
    first = int(np.argmax(rate >= 1555e9))
    assert first == int(np.ceil(1555e9 * 290 / 1.41e9 / 108 / 128)) == 24
