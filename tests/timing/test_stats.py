"""The statistics against exact counting, scipy-free oracles and simulation with a fixed seed."""

import math
import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.errors import InvalidValue
from hetlab.timing.stats import drift, fewest, median_interval, quartile_spread, two_modes


@pytest.mark.parametrize(
    ("n", "confidence", "rank"),
    # D'Agostino and Stephens, and every table of the sign test: lower order statistic for n.
    [(6, 0.95, 1), (8, 0.99, 1), (10, 0.95, 2), (15, 0.99, 3), (20, 0.95, 6), (30, 0.99, 8)],
)
def test_interval_ends_are_the_tabulated_order_statistics(n, confidence, rank):
    samples = [float(i) for i in range(1, n + 1)]
    random.Random(n).shuffle(samples)
    assert median_interval(samples, confidence) == (rank, n + 1 - rank)


@pytest.mark.parametrize("n", range(1, 13))
@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95, 0.99])
def test_coverage_by_counting_all_sign_patterns_is_enough_and_the_next_rank_is_not(n, confidence):
    """The median lies at 0; each sample is below or above it with equal chance."""

    def coverage(k):
        inside = sum(k <= sum(signs) <= n - k for signs in product((0, 1), repeat=n))
        return inside / 2**n

    low, _ = median_interval([float(i) for i in range(1, n + 1)], confidence)
    if math.isinf(low):
        assert coverage(1) < confidence
        assert n < fewest(confidence)
    else:
        assert coverage(int(low)) >= confidence - 1e-12
        assert int(low) + 1 > (n + 1) // 2 or coverage(int(low) + 1) < confidence


def test_many_samples_do_not_overflow():
    low, high = median_interval([float(i) for i in range(5000)], 0.99)
    # Normal approximation: 2500 -+ 2.576 * sqrt(5000) / 2
    assert abs(low - 2408) <= 3
    assert abs(high - 2591) <= 3


@given(st.lists(st.floats(0.001, 1000), min_size=8, max_size=60))
def test_interval_holds_the_median(samples):
    low, high = median_interval(samples, 0.99)
    assert low <= sorted(samples)[len(samples) // 2] <= high


@pytest.mark.parametrize("bad", [0, 1, -0.5, 99, "0.9", float("nan"), None])
def test_a_confidence_that_is_no_probability_is_refused(bad):
    with pytest.raises(InvalidValue, match="confidence must be"):
        median_interval([1.0], bad)


def test_no_samples_are_refused():
    with pytest.raises(InvalidValue, match="samples must be"):
        median_interval([], 0.99)


SHAPES = {
    "normal": lambda r: 1 + 0.02 * r.gauss(0, 1),
    "uniform": lambda r: 1 + 0.2 * r.random(),
    "exponential tail": lambda r: 1 + 0.05 * r.expovariate(1),
    "lognormal": lambda r: math.exp(0.3 * r.gauss(0, 1)),
    "rare outliers": lambda r: 1 + 0.01 * r.random() + 5 * (r.random() < 0.03),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_one_level_is_not_called_two(shape):
    draw = random.Random(5)
    found = [two_modes([SHAPES[shape](draw) for _ in range(60)]) for _ in range(200)]
    assert sum(f is not None for f in found) <= 4


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_two_levels_are_found_with_their_share(share):
    draw = random.Random(6)
    samples = [
        (1.3 if i < share * 100 else 1.0) * (1 + 0.01 * draw.gauss(0, 1)) for i in range(100)
    ]
    draw.shuffle(samples)
    low, high, found = two_modes(samples)
    assert abs(low - 1.0) < 0.01
    assert abs(high - 1.3) < 0.01
    assert found == pytest.approx(share)


def test_equal_samples_have_no_modes_no_drift_no_spread():
    assert two_modes([2.0] * 50) is None
    assert drift([2.0] * 50) == 0
    assert quartile_spread([2.0] * 50) == 0


def test_a_slope_is_drift_and_noise_is_not():
    draw = random.Random(7)
    noise = [1 + 0.05 * draw.gauss(0, 1) for _ in range(90)]
    assert drift(noise) == 0
    assert drift([x * (1 + 0.3 * i / 90) for i, x in enumerate(noise)]) == pytest.approx(
        0.2, abs=0.05
    )
    assert drift([x * (1 - 0.3 * i / 90) for i, x in enumerate(noise)]) < -0.1


def test_wide_noise_is_seldom_called_drift():
    draw = random.Random(8)
    found = [drift([math.exp(0.4 * draw.gauss(0, 1)) for _ in range(60)]) for _ in range(300)]
    assert sum(f != 0 for f in found) <= 3  # one in a thousand expected
