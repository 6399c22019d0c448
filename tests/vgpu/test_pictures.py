"""The pictures say the numbers that they draw, and are well-formed SVG."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.vgpu.pictures import banks_picture, lanes_picture, sectors_picture

SVG = "{http://www.w3.org/2000/svg}"


def parse(svg: str) -> tuple[str, ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return root.find(f"{SVG}title").text, root


def strided(stride, itemsize, start=0):
    return [start + lane * stride * itemsize for lane in range(32)]


# CUDA C++ Best Practices Guide, coalescing: sectors a warp request by stride.
@pytest.mark.parametrize(
    ("itemsize", "stride", "start", "sectors"),
    [(4, 1, 0, 4), (4, 2, 0, 8), (4, 3, 0, 12), (4, 32, 0, 32), (4, 1, 4, 5), (8, 1, 0, 8),
     (8, 3, 0, 24), (16, 1, 0, 16), (16, 1, 8, 17), (1, 1, 0, 1), (1, 1, 16, 2), (4, 0, 0, 1)],
)  # fmt: skip
def test_the_number_of_sectors_is_drawn(itemsize, stride, start, sectors):
    title, root = parse(sectors_picture(strided(stride, itemsize, start), itemsize))
    assert f"32 lanes, {sectors} sector" in title
    boxes = [r for r in root.iter(f"{SVG}rect") if "#E69F00" in r.get("style")]
    assert len(boxes) == sectors


# 32 banks of 4 bytes: wavefronts by stride (equal words are broadcast).
@pytest.mark.parametrize(
    ("itemsize", "table"),
    [
        (4, {0: 1, 1: 1, 2: 2, 3: 1, 4: 4, 8: 8, 16: 16, 17: 1, 32: 32, 33: 1}),
        (8, {0: 2, 1: 2, 2: 4, 3: 2, 4: 8, 8: 16, 16: 32, 17: 2, 32: 32, 33: 2}),
        (16, {0: 4, 1: 4, 2: 8, 3: 4, 4: 16, 8: 32, 16: 32, 17: 4, 32: 32, 33: 4}),
    ],
)
def test_the_number_of_wavefronts_is_drawn(itemsize, table):
    for stride, wavefronts in table.items():
        title, _ = parse(banks_picture(strided(stride, itemsize), itemsize))
        assert title.startswith(f"{wavefronts} wavefront"), (stride, title)
        least = itemsize // 4
        extra = wavefronts - least
        assert (f"{extra} of them" in title) if extra else ("no bank conflict" in title)


def test_inactive_lanes_ask_for_nothing():
    title, _ = parse(sectors_picture([None] * 31 + [64], 4))
    assert title == "1 lane, 1 sector: 4 B asked for, 32 B moved"
    assert parse(banks_picture([None] * 32, 4))[0].startswith("0 wavefronts")


def test_the_share_of_active_lanes_is_drawn():
    title, root = parse(lanes_picture([(3, 0xFFFFFFFF), (4, 0x0000FFFF)]))
    assert title == "24.0 of 32 lanes active on average (75 %)"
    assert {t.text for t in root.iter(f"{SVG}text")} >= {"3", "4"}


@given(
    st.lists(st.none() | st.integers(0, 1 << 40), min_size=0, max_size=32),
    st.sampled_from([1, 2, 4, 8, 16]),
)
def test_any_addresses_give_a_well_formed_picture(addresses, itemsize):
    parse(sectors_picture(addresses, itemsize))
    parse(banks_picture(addresses, itemsize))


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 2**32 - 1)), max_size=60))
def test_any_activity_gives_a_well_formed_picture(steps):
    parse(lanes_picture(steps))
