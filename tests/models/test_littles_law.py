"""Little's law: what is on its way is rate times latency."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.errors import InvalidValue
from hetlab.models import in_flight, reached_rate

positive = st.floats(1e-9, 1e12)


def test_a_pipe_of_200_ns_and_one_byte_a_nanosecond_holds_200_bytes():
    assert in_flight(1e9, 200e-9) == pytest.approx(200)


@given(rate=positive, latency=positive)
def test_what_must_be_on_its_way_is_just_enough(rate, latency):
    """With so much on its way the peak is reached, with half of it half of the peak."""
    flying = in_flight(rate, latency)
    assert reached_rate(flying, latency, rate) == pytest.approx(rate)
    assert reached_rate(flying / 2, latency, rate) == pytest.approx(rate / 2)
    assert reached_rate(flying * 2, latency, rate) == pytest.approx(rate)


def test_arrays_go_element_by_element():
    assert np.allclose(reached_rate(np.array([0, 100, 900]), 1.0, 500.0), [0, 100, 500])


@pytest.mark.parametrize("arguments", [(-1, 1), (1, -1), ("fast", 1)])
def test_numbers_out_of_range_are_refused(arguments):
    with pytest.raises(InvalidValue):
        in_flight(*arguments)


def test_no_latency_makes_no_rate():
    with pytest.raises(InvalidValue, match="latency"):
        reached_rate(1, 0, 1)
