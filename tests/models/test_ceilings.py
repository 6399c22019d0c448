"""The roofline against published values and its own defining properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.errors import InvalidValue, UnknownName
from hetlab.models import Roofline, bound_of, ridge_point, roofline

positive = st.floats(1e-3, 1e15)


@pytest.mark.parametrize(
    ("name", "peak", "bandwidth", "ridge"),
    [
        # Williams, Waterman, Patterson 2009: ridge points of figure 3 (peak and STREAM-able GB/s).
        ("Opteron X2", 17.6e9, 15.0e9, 1.17),
        # Peaks and bandwidths of data sheets, FP32.
        ("T4", 8.1e12, 320e9, 25.3),
        ("V100", 15.7e12, 900e9, 17.4),
        ("A100 40 GB", 19.5e12, 1555e9, 12.5),
        ("H100 SXM", 66.9e12, 3352e9, 20.0),
        ("RTX 4090", 82.6e12, 1008e9, 81.9),
    ],
)
def test_ridge_points_of_known_chips(name, peak, bandwidth, ridge):
    assert ridge_point(peak, bandwidth) == pytest.approx(ridge, rel=0.01)


def test_a_naive_matmul_on_a_v100_is_bound_by_memory():
    """0.25 FLOP/B ignoring caches gives 225 GFLOP/s of 15.7 TFLOP/s."""
    assert roofline(0.25, 15.7e12, 900e9) == pytest.approx(225e9)
    assert bound_of(0.25, 15.7e12, 900e9) == "memory"


@given(positive, positive, positive)
def test_attainable_is_below_both_roofs_and_touches_one(intensity, peak, bandwidth):
    got = roofline(intensity, peak, bandwidth)
    assert got <= peak
    assert got <= bandwidth * intensity
    assert got == (peak if bound_of(intensity, peak, bandwidth) == "compute" else got)
    assert got in (peak, bandwidth * intensity)


def test_arrays_broadcast_and_numbers_stay_numbers():
    assert isinstance(roofline(1, 2, 3), float)
    got = roofline(np.array([0.1, 1, 10]), 5, 2)
    np.testing.assert_allclose(got, [0.2, 2, 5])
    assert roofline(np.ones((2, 1)), np.ones(3), 1).shape == (2, 3)
    assert roofline(0, 5, 2) == 0


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), "1", None, True, [1, -2], 1j])
def test_values_outside_the_domain_are_refused_by_name(bad):
    with pytest.raises(InvalidValue, match="intensity must be a finite number of at least 0"):
        roofline(bad, 1, 1)
    with pytest.raises(InvalidValue, match="peak must be a finite number above 0"):
        ridge_point(bad, 1)


def test_several_ceilings_choose_the_highest_unless_named():
    roof = Roofline({"DRAM": 20e9, "L2": 200e9}, {"all cores": 100e9, "one core": 12e9})
    assert roof.attainable(0.1) == pytest.approx(20e9)
    assert roof.attainable(0.1, bandwidth="DRAM") == pytest.approx(2e9)
    assert roof.binding(0.1, bandwidth="DRAM") == "DRAM"
    assert roof.binding(1, "one core", "DRAM") == "one core"
    assert roof.ridge("one core", "DRAM") == pytest.approx(0.6)
    with pytest.raises(UnknownName, match="DRAM"):
        roof.attainable(1, bandwidth="DRAMM")
    for bad in ({}, {"x": 0}, {"x": "fast"}, 3):
        with pytest.raises(InvalidValue, match="bandwidths"):
            Roofline(bad, {"y": 1})
    assert "ridge point" in repr(roof)
