"""Numbers with their unit: three digits, the right prefix, nothing surprising."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.units import binary_bytes, quantity, ratio, seconds


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (18.4e9, "18.4 GB/s"),
        (0.99999999e9, "1.00 GB/s"),
        (9.9999, "10.0 B/s"),
        (999.6, "1.00 kB/s"),
        (0, "0 B/s"),
        (-2.5e6, "-2.50 MB/s"),
        (1.5e-7, "150 nB/s"),
        (3e15, "3000 TB/s"),
        (math.nan, "unknown"),
        (math.inf, "infinite B/s"),
    ],
)
def test_a_quantity_has_three_digits_and_a_prefix(value, text):
    assert quantity(value, "B/s") == text


@given(st.floats(1e-12, 1e14))
def test_what_is_printed_is_the_value_to_half_a_percent(value):
    number, _, unit = quantity(value, "s").partition(" ")
    scale = {"p": 1e-12, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    assert float(number) * scale.get(unit.removesuffix("s"), 1) == pytest.approx(value, rel=5.1e-3)


def test_times_sizes_and_ratios():
    assert seconds(1.8e-3) == "1.80 ms"
    assert [binary_bytes(n) for n in (0, 512, 32768, 1.5 * 2**30)] == [
        "0 B",
        "512 B",
        "32 KiB",
        "1.5 GiB",
    ]
    assert [ratio(r) for r in (0.5, 3.456, 34.56, 345.6, math.inf)] == [
        "0.50x",
        "3.46x",
        "34.6x",
        "346x",
        "unknown",
    ]
