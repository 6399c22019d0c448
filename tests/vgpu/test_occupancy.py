"""Occupancy agrees with NVIDIA's calculator."""

from __future__ import annotations

import importlib.util
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.errors import InvalidValue, UnknownName
from hetlab.vgpu.occupancy import LIMITS, limits, occupancy

CAPABILITIES = ["7.0", "7.5", "8.0", "8.9", "9.0"]

# Results of NVIDIA's cuda_occupancy.h: threads, registers, shared bytes, then
# (blocks, percent of warps) on each of CAPABILITIES.
CALCULATOR = [
    (256, 32, 0, [(8, 100), (4, 100), (8, 100), (6, 100), (8, 100)]),
    (256, 33, 0, [(6, 75), (4, 100), (6, 75), (6, 100), (6, 75)]),
    (256, 65, 0, [(3, 38), (3, 75), (3, 38), (3, 50), (3, 38)]),
    (128, 37, 0, [(12, 75), (8, 100), (12, 75), (12, 100), (12, 75)]),
    (320, 37, 0, [(4, 63), (3, 94), (4, 63), (4, 83), (4, 63)]),
    (1024, 33, 0, [(1, 50), (1, 100), (1, 50), (1, 67), (1, 50)]),
    (32, 16, 0, [(32, 50), (16, 50), (32, 50), (24, 50), (32, 50)]),
    (256, 32, 48 * 1024, [(2, 25), (1, 25), (3, 38), (2, 33), (4, 50)]),
    (128, 32, 12 * 1024, [(8, 50), (5, 63), (12, 75), (7, 58), (16, 100)]),
    (32, 8, 12 * 1024, [(8, 12), (5, 16), (12, 19), (7, 15), (17, 27)]),
]


@pytest.mark.parametrize(("threads", "registers", "shared", "published"), CALCULATOR)
def test_blocks_and_percent_equal_the_calculators(threads, registers, shared, published):
    for capability, (blocks, percent) in zip(CAPABILITIES, published):
        got = occupancy(threads, registers, shared, capability)
        assert got.blocks == blocks, (capability, got)
        assert abs(got.percent - percent) <= 0.5, (capability, got)


# CUDA C++ Programming Guide, technical specifications: blocks, warps, shared
# KiB, shared KiB a block, granularity.
GUIDE = {
    "7.0": (32, 64, 96, 96, 256),
    "7.5": (16, 32, 64, 64, 256),
    "8.0": (32, 64, 164, 163, 128),
    "8.6": (16, 48, 100, 99, 128),
    "8.9": (24, 48, 100, 99, 128),
    "9.0": (32, 64, 228, 227, 128),
    "12.0": (24, 48, 100, 99, 128),
}


@pytest.mark.parametrize("capability", GUIDE)
def test_limits_are_those_of_the_programming_guide(capability):
    blocks, warps, shared, per_block, step = GUIDE[capability]
    has = limits(capability)
    assert (has.blocks, has.warps, has.shared_granularity) == (blocks, warps, step)
    assert (has.shared, has.shared_per_block) == (shared * 1024, per_block * 1024)
    assert (has.registers, has.registers_per_thread, has.partitions) == (65536, 255, 4)


def test_the_largest_shared_block_fits_and_one_byte_more_does_not():
    for name, has in LIMITS.items():
        assert occupancy(32, 16, has.shared_per_block, name).blocks == 1
        too_much = occupancy(32, 16, has.shared_per_block + 1, name)
        assert too_much.blocks == 0
        assert "shared memory" in str(too_much)


def test_a_block_of_more_than_1024_threads_or_256_registers_cannot_be_resident():
    assert occupancy(1025, 16).blocks == 0
    assert occupancy(64, 256).blocks == 0
    assert "warp slots" in str(occupancy(1025, 16))


@given(
    threads=st.integers(1, 1024),
    registers=st.integers(0, 255),
    shared=st.integers(0, 230_000),
    capability=st.sampled_from(sorted(LIMITS)),
)
def test_more_of_any_resource_never_raises_the_number_of_blocks(
    threads, registers, shared, capability
):
    base = occupancy(threads, registers, shared, capability)
    assert 0 <= base.percent <= 100
    assert base.blocks == min(base.by.values())
    assert occupancy(threads, registers, shared + 512, capability).blocks <= base.blocks
    if registers:
        assert occupancy(threads, registers + 1, shared, capability).blocks <= base.blocks
    assert occupancy(threads + 32, registers, shared, capability).blocks <= base.blocks


def test_the_text_names_what_limits():
    text = str(occupancy(256, 33, 0, "8.0"))
    assert "75 %" in text and "6 blocks" in text and "registers" in text


def test_bad_values_are_named():
    with pytest.raises(InvalidValue, match="threads must be a positive integer, got 0"):
        occupancy(0)
    with pytest.raises(InvalidValue, match="registers must be"):
        occupancy(32, -1)
    with pytest.raises(InvalidValue, match="shared must be"):
        occupancy(32, 0, -1)
    with pytest.raises(UnknownName, match=r"8\.1"):
        occupancy(32, 0, 0, "8.1")


def test_two_thousand_random_kernels_agree_with_nvidias_header(tmp_path):
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations) if spec else []
    headers = [h for root in roots for h in Path(root).glob("cu*/include/cuda_occupancy.h")]
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not headers or not compiler:
        pytest.skip("needs NVIDIA's cuda_occupancy.h and a C compiler")
    program = tmp_path / "oracle"
    source = Path(__file__).with_name("occupancy_oracle.c")
    subprocess.run([compiler, f"-I{headers[0].parent}", source, "-o", program], check=True)
    draw = random.Random(3)
    cases = []
    for _ in range(2000):
        capability = draw.choice(sorted(LIMITS))
        has = LIMITS[capability]
        shared = draw.choice([0, draw.randrange(0, 4096), draw.randrange(0, has.shared_per_block)])
        cases.append((capability, draw.randint(1, 1024), draw.randint(1, 255), shared))
    lines = [
        f"{c.replace('.', ' ')} {LIMITS[c].warps} {LIMITS[c].shared} {LIMITS[c].shared_per_block} "
        f"{threads} {registers} {shared}"
        for c, threads, registers, shared in cases
    ]
    ran = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True)
    answers = [int(line) for line in ran.stdout.split()]
    assert len(answers) == len(cases)
    for (capability, threads, registers, shared), answer in zip(cases, answers):
        got = occupancy(threads, registers, shared, capability)
        assert got.blocks == answer, (got, answer)
