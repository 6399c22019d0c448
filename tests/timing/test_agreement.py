"""When do two results count as the same?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hetlab.timing.agreement import disagreement


@given(arrays(np.float32, st.integers(1, 200), elements=st.floats(-1e3, 1e3, width=32)))
def test_sums_in_another_order_agree(x):
    forwards = np.float32(0)
    for v in x:
        forwards += v
    scale = np.abs(x).sum()
    both = [np.array([scale, total], np.float32) for total in (x.sum(), forwards)]
    assert disagreement(*both) == ""


@pytest.mark.parametrize(
    ("expected", "got", "says"),
    [
        (np.arange(4), np.array([0, 1, 9, 3]), r"result[2] is 9, not 2 (1 of 4 differ)"),
        (np.ones((2, 3)), np.ones((3, 2)), "shape (3, 2), not (2, 3)"),
        (1.0, 1.0 + 1e-9, "result is"),
        (np.float32(1), np.float32(1.001), "result is"),
        ([1, [2, 3]], [1, [2, 4]], "result[1][1] is 4, not 3"),
        ({"a": 1}, {"b": 1}, "keys"),
        ((1, 2), (1,), "holds 1 items, not 2"),
        (None, 0, "result is 0, not None"),
        ("yes", "no", "'no', not 'yes'"),
        (np.array([np.nan, 1]), np.array([np.nan, np.nan]), "result[1] is nan"),
        (np.array([np.inf]), np.array([-np.inf]), "result[0] is -inf"),
        (1, True + 1, "result is 2, not 1"),
    ],
)
def test_what_differs_is_named(expected, got, says):
    assert says in disagreement(expected, got)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (None, None),
        (np.array([np.nan, np.inf]), np.array([np.nan, np.inf])),
        (np.ones(3, np.float32), np.ones(3) * (1 + 1e-6)),
        ((1, 2.0), [1, 2.0]),
        (np.zeros(0), np.zeros(0)),
        ("same", "same"),
        (1 + 2j, 1 + 2j),
    ],
)
def test_what_is_the_same_agrees(expected, got):
    assert disagreement(expected, got) == ""
