"""``hetlab.empty`` knows what nobody has written, and never blames data."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetlab
from hetlab.vgpu import uninitialised
from hetlab.vgpu.uninitialised import written

DTYPES = ["f4", "f8", "i4", "i8", "f2", "i2", "u1", "c8", "?"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_new_array_is_wholly_unwritten(dtype):
    array = hetlab.empty(1000, dtype)
    assert array.shape == (1000,) and array.dtype == dtype
    assert not written(array).any()


@given(st.integers(1, 200), st.integers(0, 199), st.integers(0, 199))
def test_exactly_the_elements_that_the_host_wrote_are_written(n, low, high):
    array = hetlab.empty(n, "f4")
    array[low:high] = 0
    expected = np.zeros(n, bool)
    expected[low:high] = True
    assert np.array_equal(written(array), expected.repeat(4))


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_that_was_filled_is_never_blamed(dtype):
    for value in [0, 1] * 50 if dtype == "?" else range(100):
        array = hetlab.empty(64, dtype)
        array[...] = value
        assert written(array) is None or written(array).all()


def test_a_view_sees_its_own_part_and_other_arrays_are_data():
    array = hetlab.empty((4, 8), "f4")
    array[2] = 1
    assert written(array[2]).all() and not written(array[3]).any()
    assert written(np.empty(10)) is None and written(np.zeros(3)) is None
    assert written(array.copy()) is None


def test_a_dead_array_is_forgotten():
    array = hetlab.empty(10)
    key = id(array)
    assert key in uninitialised._marks
    del array
    gc.collect()
    assert key not in uninitialised._marks


def test_scalars_and_nothing_are_allowed():
    assert hetlab.empty(()).shape == ()
    assert hetlab.empty(0).size == 0 and written(hetlab.empty(0)) is None
