"""A copy costs a start and then its bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.errors import InvalidValue, UnknownName
from hetlab.models.transfer import LINKS, Link, link, transfer_seconds, zero_copy_seconds


@pytest.mark.parametrize(
    ("name", "published"), [("PCIe 3", 15.75), ("PCIe 4", 31.5), ("PCIe 5", 63)]
)
def test_a_link_of_sixteen_lanes_has_its_published_bandwidth(name, published):
    """GB/s one way, as PCI-SIG's own table rounds them."""
    assert LINKS[name].bandwidth / 1e9 == pytest.approx(published, rel=2e-3)


@given(size=st.floats(0, 1e12), name=st.sampled_from(sorted(LINKS)))
def test_half_of_the_bandwidth_is_reached_at_latency_times_bandwidth(size, name):
    way = LINKS[name]
    assert transfer_seconds(size, name) == pytest.approx(way.latency + size / way.bandwidth)
    half = way.half_size
    assert half / transfer_seconds(half, way) == pytest.approx(way.bandwidth / 2)


def test_memory_that_is_not_pinned_moves_every_byte_twice():
    own = Link("own", 1e9, 0.0, "for this test")
    assert transfer_seconds(1e9, own) == 1 and transfer_seconds(1e9, own, pinned=False) == 2


def test_zero_copy_wins_below_one_touch_and_loses_above():
    """On a link without latency, to a memory that is much faster: the lines cross at one."""
    own = Link("own", 1e9, 0.0, "for this test")
    direct, copied = zero_copy_seconds(1e9, np.array([0.5, 1, 3]), own, bandwidth=1e15)
    assert np.allclose(direct, [0.5, 1, 3]) and np.allclose(copied, 1)


def test_what_is_not_known_is_refused():
    with pytest.raises(UnknownName, match="PCIe 4"):
        link("PCIe4")
    with pytest.raises(InvalidValue, match="nbytes"):
        transfer_seconds(-1)
    with pytest.raises(InvalidValue, match="bandwidth"):
        zero_copy_seconds(1, 1, bandwidth=0)
    assert "assumed" in repr(LINKS["PCIe 4"])
