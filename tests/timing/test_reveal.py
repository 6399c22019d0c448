"""reveal: kind, exact, and never a reason for a notebook to stop."""

import math

import pytest
from clocks import Hand
from hypothesis import given
from hypothesis import strategies as st

from hetlab.errors import InvalidValue
from hetlab.timing import compare, measure, reveal


def measurement(seconds=2e-3):
    hand = Hand()
    return measure(hand.work(seconds), clock=hand.clock, samples=20)


@pytest.mark.parametrize(
    ("guess", "says"),
    [
        (2.0, "Exactly right"),
        (2.2, "Very close: 10.0 % too high."),
        (1.8, "Very close: 10.0 % too low."),
        (1.0, "Close: 2.0 times too low."),
        (14, "7.0 times too high, within a power of ten."),
        (0.01, "200 times too low."),
        (0, "two positive numbers"),
        (-3, "two positive numbers"),
    ],
)
def test_a_sentence_says_how_far_and_which_way(guess, says):
    assert says in reveal(guess, measurement(), "ms").says


def test_no_prediction_still_shows_the_measurement():
    text = repr(reveal(None, measurement(), "ms"))
    assert "No prediction yet" in text
    assert "2.00 ms" in text
    assert "measured" in text


@pytest.mark.parametrize("guess", ["3", "three ms", [3], True, math.nan, math.inf, 3j, object()])
def test_a_prediction_that_is_no_number_gets_a_sentence_and_no_exception(guess):
    shown = reveal(guess, 2.0, "ms")
    assert "is not a number; write one in ms" in shown.says
    assert "2.00 ms" in repr(shown)
    assert math.isnan(shown.ratio)


def test_units_are_converted():
    m = measurement()
    assert reveal(2000, m, "µs").ratio == pytest.approx(1)
    assert reveal(2000, m, "us").ratio == pytest.approx(1)
    assert reveal(0.5, m.rate(1e6, "B/s"), "GB/s").ratio == pytest.approx(1)


@pytest.mark.parametrize("unit", ["", "GB/s", "xs", "minutes"])
def test_a_unit_that_does_not_fit_is_refused(unit):
    with pytest.raises(InvalidValue, match="unit must be 's' with an SI prefix"):
        reveal(1, measurement(), unit)


def test_a_ratio_of_a_comparison_is_a_finding_and_the_comparison_is_not():
    hand = Hand()
    c = compare({"a": hand.work(4e-3), "b": hand.work(2e-3)}, clock=hand.clock, rounds=10)
    assert reveal(3, c.speedup("b"), "x").ratio == pytest.approx(1.5)
    with pytest.raises(InvalidValue, match=r"comparison\.speedup"):
        reveal(3, c, "x")


@given(st.floats(1e-9, 1e9), st.floats(1e-9, 1e9))
def test_the_direction_is_always_right(guess, actual):
    says = reveal(guess, actual, "ms").says
    if "Exactly right" in says:
        assert abs(guess / actual - 1) < 1e-3
    else:
        assert ("too high" in says) == (guess > actual)
        assert ("too low" in says) == (guess < actual)
