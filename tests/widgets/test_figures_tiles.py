"""Pictures of tiles say how many offsets there are, and how many of them are masked off."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetlab.errors import InvalidValue
from hetlab.widgets import figures_tiles as figures


def _text(figure) -> str:
    return "\n".join(t.get_text() for ax in figure.axes for t in ax.texts)


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 40), st.sampled_from([4, 8, 16]))
def test_the_tiles_cover_the_array_and_the_rest_is_masked_off(n, block):
    """Programs times block is at least n; the difference is what the picture calls masked off."""
    text = _text(figures.tiles(n, block))
    programs = (n + block - 1) // block
    assert f"{programs} programs x {block} = {programs * block} offsets for {n} elements" in text
    spare = programs * block - n
    assert (f"{spare} masked off" if spare else "none masked off") in text


def test_a_row_begins_at_its_number_times_the_stride_not_the_columns():
    """Row 2 of a matrix of 5 columns, 7 apart, begins at 14."""
    text = _text(figures.row_tile(3, 5, 7, 8, row=2))
    assert "row 2 begins at 2 x 7 = 14" in text
    assert "5 kept by the mask (blue), 3 masked off" in text
    assert "1 of those outside the array" in text


@pytest.mark.parametrize(
    "draw",
    [
        lambda: figures.tiles(20, 6),
        lambda: figures.tiles(0, 8),
        lambda: figures.tiles(64, 1),
        lambda: figures.row_tile(3, 5, 4, 8),
        lambda: figures.row_tile(3, 5, 5, 8, row=3),
        lambda: figures.row_tile(9, 5, 5, 8),
    ],
)
def test_impossible_tiles_are_refused_with_a_sentence(draw):
    """A block must be a power of two, a stride at least the columns, a row one of the rows."""
    with pytest.raises(InvalidValue):
        draw()
