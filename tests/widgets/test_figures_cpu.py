"""Pictures for the CPU lesson: what they show is right, and bad input gets a sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.errors import InvalidValue
from hetlab.widgets import figures_cpu

pytest.importorskip("matplotlib")


def texts(figure):
    return [t.get_text() for ax in figure.axes for t in ax.texts]


def faces(figure, colour, panel=0):
    from matplotlib.colors import to_hex

    patches = figure.axes[panel].patches
    return sum(to_hex(p.get_facecolor()) == colour.lower() for p in patches if p.get_fill())


@given(st.integers(1, 70), st.integers(1, 200), st.integers(1, 32))
def test_a_walk_moves_whole_lines_and_only_those_it_touches(stride, count, per_line):
    """Against a walk that is carried out step by step on an array of lines."""
    used, moved = figures_cpu.walk(stride, count, per_line)
    touched, i = np.zeros(count, bool), 0
    while i < count:
        touched[i] = True
        i += stride
    assert used == set(np.flatnonzero(touched))
    for line in range(0, count, per_line):
        inside = set(range(line, min(line + per_line, count)))
        assert inside <= moved if inside & used else not inside & moved


@pytest.mark.parametrize(("bits", "itemsize", "count"), [(128, 4, 4), (512, 4, 16), (256, 8, 4)])
def test_the_vector_has_register_bits_by_element_bits_lanes(bits, itemsize, count):
    figure = figures_cpu.lanes(bits, itemsize)
    assert len(figure.axes[0].patches) == 3 * (1 + count)
    assert any(f"{count} lanes of {8 * itemsize} bits" in t for t in texts(figure))


def test_the_picture_of_cache_lines_says_what_share_is_used():
    shown = texts(figures_cpu.cache_lines((1, 16, 32)))
    assert [t for t in shown if t.startswith("uses")] == [
        "uses 64 of 64 moved",
        "uses 4 of 64 moved",
        "uses 2 of 32 moved",
    ]


@pytest.mark.parametrize(
    ("tile", "loads"), [(1, "2 loads for 1 multiply-add: 2 each"), (4, "8 loads for 16")]
)
def test_a_larger_tile_needs_fewer_loads_for_each_multiply_add(tile, loads):
    figure = figures_cpu.tiles(tile)
    assert any(t.startswith(loads) for t in texts(figure))
    assert faces(figure, figures_cpu.USED, panel=1) == tile * tile


def test_the_strip_is_all_right_after_the_last_step_and_its_halo_is_gone():
    """Four columns a row: the strip's rows in every step, the halo shrinks by two rows a step."""
    figure = figures_cpu.strip(rows=5, steps=2)
    legend = 1
    assert faces(figure, figures_cpu.USED) == 3 * 5 * 4 + legend
    assert faces(figure, figures_cpu.MOVED) == (4 + 2) * 4 + legend


def test_the_staircase_marks_only_caches_inside_its_range():
    figure = figures_cpu.staircase(
        [2**12, 2**16, 2**20], [3e11, 2e11, 1e11], {"L1": 2**15, "L2": None, "L3": 2**25}
    )
    assert texts(figure) == [" L1 32 KiB"]
    assert list(figure.axes[0].lines[0].get_ydata()) == [300, 200, 100]


def test_a_figure_displays_itself_without_pyplot():
    """Its SVG is what a notebook shows; no global state of pyplot is needed."""
    assert "<svg" in figures_cpu.picture(np.eye(3))._repr_svg_()


@pytest.mark.parametrize(
    "call",
    [
        lambda: figures_cpu.lanes(100, 8),
        lambda: figures_cpu.cache_lines((0,)),
        lambda: figures_cpu.cache_lines(()),
        lambda: figures_cpu.tiles(9),
        lambda: figures_cpu.strip(0, 1),
        lambda: figures_cpu.staircase([], []),
        lambda: figures_cpu.staircase([1, 2], [1]),
        lambda: figures_cpu.picture(np.zeros(3)),
        lambda: figures_cpu.picture(np.zeros((0, 3))),
    ],
)
def test_bad_input_is_named(call):
    with pytest.raises(InvalidValue, match="must be"):
        call()
