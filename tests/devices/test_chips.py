"""Published figures: against tables typed in from elsewhere, and against each other."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetlab.devices import chip
from hetlab.devices.chips import _plain, chips
from hetlab.errors import HetlabError, UnknownName

# SMs (CUs), boost clock in MHz, FP32 in TFLOP/s, memory in GB/s, L2 in MB: a table made
# independently of chips.toml, from data sheets.
TABLE = {
    "T4": (40, 1590, 8.1, 320, 4),
    "V100": (80, 1530, 15.7, 900, 6),
    "A100 40GB": (108, 1410, 19.5, 1555, 40),
    "A100 80GB": (108, 1410, 19.5, 2039, 40),
    "H100 SXM": (132, 1980, 66.9, 3352, 50),
    "H200": (132, 1980, 66.9, 4800, 50),
    "RTX 4090": (128, 2520, 82.6, 1008, 72),
    "MI300X": (304, 2100, 163.4, 5300, None),
}


@pytest.mark.parametrize("name", TABLE)
def test_figures_are_those_of_the_table(name):
    c = chip(name)
    sms, clock, tflops, bandwidth, l2 = TABLE[name]
    assert c.units == sms
    assert c.clock == clock * 1e6
    assert c.bandwidth == pytest.approx(bandwidth * 1e9, rel=1e-3)
    assert round(c.peak_fp32 / 1e12, 1) == tflops
    if l2:
        assert c.value("last_level_cache") == l2 * 2**20


GPUS = [c for c in chips().values() if c.kind == "gpu"]
NVIDIA = [c for c in GPUS if c.vendor == "NVIDIA"]


@pytest.mark.parametrize("c", GPUS, ids=lambda c: c.name)
def test_the_modelled_peak_is_the_published_one(c):
    """Units x lanes x 2 x clock, to the digits that are printed."""
    assert c.peak_fp32 == pytest.approx(c.value("fp32"), rel=6e-3)


def test_the_peak_of_a_systolic_array_is_its_cells_times_two_times_clock():
    c = chip("TPU v4")
    cells = c.units * c.value("matrix_lanes")
    assert cells * 2 * c.clock == pytest.approx(c.value("matrix_bf16"), rel=2e-3)


@pytest.mark.parametrize(
    ("name", "channels", "transfers"),
    [("EPYC 9654", 12, 4800e6), ("Xeon Platinum 8480+", 8, 4800e6), ("BlueField-2", 1, 3200e6)],
)
def test_memory_bandwidth_is_channels_times_eight_bytes_times_transfers(name, channels, transfers):
    assert chip(name).bandwidth == channels * 8 * transfers


# CUDA Programming Guide, technical specifications per compute capability:
# blocks, warps, shared KiB, shared KiB a block, granularity.
LIMITS = {
    "7.0": (32, 64, 96, 96, 256),
    "7.5": (16, 32, 64, 64, 256),
    "8.0": (32, 64, 164, 163, 128),
    "8.9": (24, 48, 100, 99, 128),
    "9.0": (32, 64, 228, 227, 128),
}


@pytest.mark.parametrize("c", NVIDIA, ids=lambda c: c.name)
def test_limits_of_a_multiprocessor_are_those_of_the_programming_guide(c):
    m = c.limits
    blocks, warps, shared, block, step = LIMITS[c.capability]
    assert (m.warp, m.warps, m.blocks) == (32, warps, blocks)
    assert (m.shared, m.shared_per_block) == (shared * 1024, block * 1024)
    assert m.shared_granularity == step
    assert (m.registers, m.registers_per_thread, m.register_granularity) == (65536, 255, 256)
    assert m.shared_reserved == (1024 if c.capability >= "8.0" else 0)


def test_limits_agree_with_those_of_the_occupancy_calculator():
    occupancy = pytest.importorskip("hetlab.vgpu.occupancy")
    for c in chips().values():
        theirs = occupancy.LIMITS.get(c.capability)
        if theirs:
            assert (c.limits.warps, c.limits.blocks) == (theirs.warps, theirs.blocks)
            assert c.limits.shared_per_block == theirs.shared_per_block
            assert c.limits.shared_reserved == theirs.reserved


def test_all_kinds_of_processors_are_there():
    kinds = {}
    for c in chips().values():
        kinds.setdefault(c.kind, set()).add(c.vendor)
    assert set(kinds) == {"cpu", "gpu", "tpu", "npu", "fpga", "dpu"}
    assert len(kinds["gpu"]) >= 3
    assert len(kinds["cpu"]) >= 3
    assert len(chips()) >= 12


@pytest.mark.parametrize("c", chips().values(), ids=lambda c: c.name)
def test_each_figure_has_a_unit_and_a_source_and_the_text_shows_it(c):
    text = repr(c)
    for figure in c.figures.values():
        assert figure.value > 0 and figure.unit
        assert figure.source.title and figure.source.year >= 2015
        assert figure.citation in text
        assert ("not read again" in figure.citation) is not figure.confirmed


def test_no_source_is_unused():
    text = Path(chips.__wrapped__.__code__.co_filename).with_name("chips.toml").read_text()
    head, _, body = text.partition("[limits.")
    for key in re.findall(r"^([\w-]+) = \{ title", head, re.M):
        assert f'"{key}"' in body, key


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a100", "A100 40GB"),
        ("NVIDIA H200", "H200"),
        ("Tesla T4", "T4"),
        ("Tesla V100-SXM2-16GB", "V100"),
        ("NVIDIA A100-SXM4-80GB", "A100 80GB"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("nvidia geforce rtx 4090", "RTX 4090"),
        ("AMD Instinct MI300X", "MI300X"),
        ("H100-SXM", "H100 SXM"),
        ("tpu V4", "TPU v4"),
        ("m2", "Apple M2"),
    ],
)
def test_names_are_found_as_people_and_drivers_write_them(name, found):
    assert chip(name).name == found
    assert chip(chip(name)).name == found


def test_an_unknown_name_lists_close_ones():
    with pytest.raises(UnknownName, match="MI300X"):
        chip("MI300")
    with pytest.raises(UnknownName, match="The known ones are"):
        chip("")


@given(st.text())
def test_any_other_name_is_refused_with_the_same_error(name):
    if _plain(name) not in {_plain(n) for c in chips().values() for n in (c.name, *c.aliases)}:
        with pytest.raises(UnknownName):
            chip(name)


def test_no_two_chips_share_a_name():
    names = [n for c in chips().values() for n in {_plain(n) for n in (c.name, *c.aliases)}]
    assert len(names) == len(set(names))


def test_a_broken_table_says_which_field(tmp_path, monkeypatch):
    from hetlab.devices import chips as module

    text = module._FILE.read_text().replace('kind = "gpu"', 'sort = "gpu"', 1)
    (tmp_path / "chips.toml").write_text(text)
    monkeypatch.setattr(module, "_FILE", tmp_path / "chips.toml")
    with pytest.raises(HetlabError, match="sort"):
        module.chips.__wrapped__()


def test_what_is_frozen_stays_as_it_is():
    with pytest.raises(AttributeError):
        chip("T4").year = 1
    with pytest.raises(TypeError):
        chip("T4").figures["clock"] = 1
