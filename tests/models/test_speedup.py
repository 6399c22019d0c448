"""Amdahl, Gustafson, Karp and Flatt: published values and the laws between them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.errors import InvalidValue
from hetlab.models import amdahl, amdahl_limit, gustafson, serial_fraction

share = st.floats(0, 1)
count = st.integers(1, 10_000)


def test_five_percent_serial_on_eight_processors():
    assert amdahl(0.05, 8) == pytest.approx(5.9259, abs=5e-5)
    assert amdahl_limit(0.05) == 20
    assert gustafson(0.05, 8) == pytest.approx(7.65)


@pytest.mark.parametrize(
    ("serial", "scaled"),
    # Gustafson 1988: serial fractions of 0.4 to 0.8 percent on 1,024 processors gave 1016 to 1020.
    [(0.004, 1020), (0.008, 1016)],
)
def test_gustafsons_own_speedups(serial, scaled):
    assert gustafson(serial, 1024) == pytest.approx(scaled, abs=0.5)


@given(share, count)
def test_speedups_lie_between_one_and_n(serial, n):
    for law in (amdahl, gustafson):
        assert 1 - 1e-9 <= law(serial, n) <= n * (1 + 1e-9)
    assert amdahl(serial, n) <= amdahl_limit(serial) * (1 + 1e-12)


@given(share, count)
def test_the_two_laws_are_one_law_seen_from_two_runs(serial, n):
    """Gustafson's share s of the time on n is s * G... / (s + (1 - s) n) of the time on one."""
    on_one = serial / (serial + (1 - serial) * n)
    assert amdahl(on_one, n) == pytest.approx(gustafson(serial, n))


@given(share, st.integers(2, 10_000))
def test_karp_and_flatt_invert_amdahl(serial, n):
    assert serial_fraction(amdahl(serial, n), n) == pytest.approx(serial, abs=1e-9)


def test_extremes():
    assert amdahl_limit(0) == math.inf
    assert amdahl(0, 64) == 64
    assert amdahl(1, 64) == gustafson(1, 64) == 1
    np.testing.assert_allclose(amdahl(0.5, [1, 2, 4]), [1, 4 / 3, 1.6])


@pytest.mark.parametrize("law", [amdahl, gustafson])
@pytest.mark.parametrize("serial", [-0.1, 1.1, 5, float("nan"), "5 %", None, True])
def test_a_share_outside_0_to_1_is_refused(law, serial):
    with pytest.raises(InvalidValue, match="serial must be a finite number of at least 0"):
        law(serial, 8)


@pytest.mark.parametrize("n", [0, -1, 0.5, float("inf"), "8"])
def test_fewer_than_one_processor_is_refused(n):
    for law in (amdahl, gustafson):
        with pytest.raises(InvalidValue, match="processors must be a finite number of at least 1"):
            law(0.1, n)
    with pytest.raises(InvalidValue):
        serial_fraction(2, n)
    with pytest.raises(InvalidValue, match="one processor tells nothing"):
        serial_fraction(1, 1)


def test_the_bad_element_of_an_array_is_named():
    with pytest.raises(InvalidValue, match=r"got 3.0 \(element 1\)"):
        amdahl([0.1, 3.0], 8)
