"""Estimates are bounds by arithmetic, and always say that they are modelled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.errors import InvalidValue, UnknownName
from hetlab.vgpu.estimate import estimate, nvidia

# FP32 TFLOP/s of the data sheets.
SHEETS = {"T4": 8.1, "V100": 15.7, "A100": 19.5, "H100": 66.9, "RTX 4090": 82.6}


@pytest.mark.parametrize("name", SHEETS)
def test_peak_rates_are_those_of_the_data_sheets(name):
    assert nvidia(name).peak_fp32 / 1e12 == pytest.approx(SHEETS[name], abs=0.06)


def test_a_big_vector_add_is_bound_by_memory_at_the_data_sheets_bandwidth():
    n = 1 << 26
    counters = {
        "global_load_sectors": 2 * n * 4 // 32,
        "global_store_sectors": n * 4 // 32,
        "global_load_requests": 2 * n // 32,
        "instructions": n // 32 * 20,
    }
    got = estimate(counters, n // 256, 256, "A100", registers=16)
    assert got.limiter == "memory"
    assert got.seconds == pytest.approx(12 * n / 1555e9)
    assert "modelled, not measured" in str(got)
    assert got.to_dict()["label"] == "modelled"


def test_bank_conflicts_move_the_bound_to_shared_memory():
    counters = {"shared_load_wavefronts": 32 * 10**6, "instructions": 10**6}
    got = estimate(counters, 1080, 256, "A100")
    assert got.limiter == "shared memory"
    assert got.seconds == pytest.approx(32e6 / (108 * 1.41e9))


def test_one_block_uses_one_multiprocessor():
    counters = {"instructions": 10**6}
    one = estimate(counters, 1, 1024, "A100").bounds["issue"]
    many = estimate(counters, 108, 1024, "A100").bounds["issue"]
    assert one == pytest.approx(108 * many)


def test_names_are_forgiving_and_unknown_ones_list_the_close():
    assert nvidia("rtx4090").name == "RTX 4090"
    with pytest.raises(UnknownName, match="'A100'"):
        nvidia("A10")
    with pytest.raises(InvalidValue, match="runs PTX"):
        nvidia("MI300X")


def test_a_block_that_fits_nowhere_is_refused():
    with pytest.raises(InvalidValue, match="occupancy 0 %"):
        estimate({}, 1, 1024, "T4", registers=128)


@given(
    st.dictionaries(
        st.sampled_from(["instructions", "global_load_sectors", "shared_load_wavefronts", "flops"]),
        st.integers(0, 10**12),
    ),
    st.integers(1, 10**6),
    st.integers(1, 1024),
)
def test_more_work_never_shortens_a_bound(counters, blocks, threads):
    base = estimate(counters, blocks, threads)
    more = estimate({k: 2 * v + 1 for k, v in counters.items()}, blocks, threads)
    assert all(more.bounds[name] >= value >= 0 for name, value in base.bounds.items())
