"""When answers agree, and how a difference is told."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from hetlab.grading import close, exact
from hetlab.grading.agree import show
from hetlab.grading.wire import Opaque

f32 = nps.arrays(np.float32, nps.array_shapes(max_dims=2, min_side=0))


@given(f32)
def test_an_array_agrees_with_its_copy_nan_and_infinity_included(a):
    assert exact()(a, a.copy()) is None
    assert close()(a, a.copy()) is None


@given(f32.filter(lambda a: a.size), st.data())
def test_the_first_wrong_index_is_named(a, data):
    at = data.draw(st.integers(0, a.size - 1))
    b = a.copy()
    b.reshape(-1)[at] = 1.0 if not np.isfinite(a.reshape(-1)[at]) else np.inf
    found = close()(a, b)
    index = ", ".join(map(str, np.unravel_index(at, a.shape)))
    assert found.kind == "value" and found.path == f"[{index}]" and found.wrong == 1


@given(st.floats(1e-30, 1e30), st.integers(1, 8))
def test_units_in_the_last_place_are_counted_in_the_answers_precision(x, n):
    a = np.array([x], np.float32)
    b = a.copy()
    for _ in range(n):
        b = np.nextafter(b, np.float32(np.inf), dtype=np.float32)
    # Stepping over a power of two doubles the size of a step.
    assert close(ulps=2 * n)(a, b) is None
    assert close(ulps=0)(a, b).kind == "value"


@pytest.mark.parametrize(
    ("expected", "got", "kind"),
    [
        (np.zeros(3), None, "nothing"),
        (1.0, None, "nothing"),
        (np.zeros(3), [0, 0, 0], "type"),
        (np.zeros(3), Opaque("generator"), "type"),
        (np.zeros(3), np.zeros(4), "shape"),
        (np.zeros((3, 1)), np.zeros(3), "shape"),
        (np.zeros(3, np.float32), np.zeros(3), "dtype"),
        (np.zeros(3, np.int32), np.zeros(3, np.float32), "dtype"),
        ((1, 2), (1, 2, 3), "length"),
        ((1, 2), 3, "type"),
        (True, 1, "type"),
        (1, True, "type"),
        ("memory", "Memory", "value"),
        ("memory", 3, "type"),
        ({"a": 1}, {"b": 1}, "value"),
        ({"a": 1}, [1], "type"),
        (3.0, "3.0", "type"),
        (3.0, [[1], [2, 3]], "type"),
        (0.0, float("nan"), "value"),
        (2**70, 2**70 + 1, "type"),
    ],
)
def test_each_way_to_differ_has_a_name(expected, got, kind):
    found = close()(expected, got)
    assert found and found.kind == kind
    assert found.sentence("f(...)")


@pytest.mark.parametrize(
    ("expected", "got"),
    [(3, 3.0), (np.float32(0.5), 0.5), ([1, 2], (1, 2)), (np.bool_(True), True), (None, None)],
)
def test_what_a_person_calls_equal_agrees(expected, got):
    assert close()(expected, got) is None


def test_a_hidden_input_shows_no_value():
    found = exact()(np.array([1234.5, 7.0]), np.array([99.25, 7.0]))
    text = found.sentence("f(...)", public=False)
    assert "1234.5" not in text and "99.25" not in text and "1 of 2" in text


def test_values_are_shown_short():
    assert show(np.zeros((100, 3), np.float32)) == "float32 array of shape (100, 3)"
    assert show(np.float32(0.1)) == "0.1"
    assert len(show("x" * 500)) < 100
