"""Ten classic CUDA C++ kernels: right, without a hazard, and in the published order.

Numbers asserted as equal follow from the sources by the arithmetic beside them, for one warp as
for all; where only the direction is published, only the direction is asserted.
"""

from __future__ import annotations

import functools
import itertools
import re

import numpy as np
import pytest

import hetlab

pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC is not installed")

from tests.vgpu.classics import CLASSICS, Result, table
from tests.vgpu.classics.kit import source

CASES = [(c, v, n) for c in CLASSICS.values() for v in c.variants for n in c.sizes]


@functools.cache
def shown(name: str, variant: str) -> Result:
    """A run at the size of the table; its whole blocks make the arithmetic short."""
    return CLASSICS[name].run(variant)


def counters(name: str, variant: str, launch: int = 0) -> dict[str, int]:
    return shown(name, variant).launches[launch].counters


def ladder(name: str, counter: str, variants=None) -> list[int]:
    return [counters(name, v)[counter] for v in variants or CLASSICS[name].variants]


def falls(values: list) -> bool:
    return all(after < before for before, after in itertools.pairwise(values))


# -- all of them


def test_there_are_ten():
    assert len(CLASSICS) == 10


@pytest.mark.parametrize(
    ("classic", "variant", "size"), CASES, ids=[f"{c.name}-{v}-{n}" for c, v, n in CASES]
)
def test_every_variant_agrees_with_numpy_on_awkward_sizes_without_a_hazard(classic, variant, size):
    result = classic.run(variant, size)
    assert not result.hazards
    assert result.right


@pytest.mark.parametrize("name", CLASSICS)
def test_every_variant_is_right_at_the_size_of_the_table_and_has_its_row(name):
    variants = CLASSICS[name].variants
    rows = list(table((v, shown(name, v)) for v in variants))
    assert "counted" in rows[0] and "modelled A100" in rows[1]
    for variant, row in zip(variants, rows[2:], strict=True):
        assert row.startswith(variant) and "WRONG" not in row and "hazard" not in row
        instructions = sum(x.counters["instructions"] for x in shown(name, variant).launches)
        assert f"{instructions:,}" in row


WATCHES = {
    "in another order of blocks": functools.partial(hetlab.profile, order_seed=3),
    "without optimisation": functools.partial(hetlab.sanitize, thorough=True),
}


@pytest.mark.parametrize("watch", WATCHES.values(), ids=list(WATCHES))
@pytest.mark.parametrize("name", CLASSICS)
def test_the_last_variant_is_right_and_clean_in_other_ways_of_running(name, watch):
    classic = CLASSICS[name]
    result = classic.run(classic.variants[-1], classic.sizes[-1], watch)
    assert not result.hazards
    assert result.right


BARRIERS = [
    ("reduce", "3 sequential", r"__syncthreads\(\);", "part"),
    ("reduce", "6 unrolled", r"__syncwarp\(\);", "part"),
    ("scan", "Hillis-Steele", r"__syncthreads\(\);", "buffer"),
    ("scan", "Blelloch", r"__syncthreads\(\);", "tree"),
    ("histogram", "shared", r"__syncthreads\(\);", "mine"),
    ("bitonic", "shared", r"__syncthreads\(\);", "part"),
    ("sgemm", "tiled", r"__syncthreads\(\);", "left"),
    ("sgemm", "blocked", r"__syncthreads\(\);", "right"),
    ("nbody", "tiled", r"__syncthreads\(\);", "tile"),
    ("stencil", "tiled", r"__syncthreads\(\);", "tile"),
    ("transpose", "padded", r"__syncthreads\(\);", "tile"),
]


@pytest.mark.parametrize(
    ("name", "variant", "barrier", "array"), BARRIERS, ids=[f"{b[0]}-{b[1]}" for b in BARRIERS]
)
def test_without_its_barriers_a_classic_races(monkeypatch, name, variant, barrier, array):
    from tests.vgpu.classics import kit

    broken = re.sub(barrier, "", source(name))
    monkeypatch.setattr(kit, "source", lambda file: broken)
    monkeypatch.setattr(kit, "_kernel", kit._kernel.__wrapped__)
    kinds = {(h.kind, h.array) for h in CLASSICS[name].run(variant, 70).hazards}
    assert kinds & {("race", array), ("uninitialised-read", array)}, kinds


# -- transpose: 256 x 256 floats in tiles of 32 x 32, so 2,048 rows of 32 floats, one a warp


@pytest.mark.parametrize(
    ("variant", "store_sectors", "wavefronts"),
    [
        # A row of 128 bytes is 4 sectors; a column of 32 floats is 32 of them.
        ("copy", 2048 * 4, 0),
        ("naive", 2048 * 32, 0),
        # 2,048 stores of rows are 1 wavefront each; a column of a tile without padding is one
        # bank, 32 wavefronts, and 32 banks with it.  Published: GROUND_TRUTH.md, section 2.
        ("unpadded", 2048 * 4, 2048 + 2048 * 32),
        ("padded", 2048 * 4, 2048 + 2048),
    ],
)
def test_transpose_moves_what_the_published_table_says(variant, store_sectors, wavefronts):
    c = counters("transpose", variant)
    assert c["global_load_requests"] == c["global_store_requests"] == 2048
    assert c["global_load_sectors"] == 8192
    assert c["global_store_sectors"] == store_sectors
    assert c["shared_load_wavefronts"] + c["shared_store_wavefronts"] == wavefronts
    tiled = variant in ("unpadded", "padded")
    assert c["shared_load_requests"] + c["shared_store_requests"] == (4096 if tiled else 0)
    assert c["shared_bank_conflicts"] == (wavefronts - 4096 if tiled else 0)
    assert c["barriers"] == (64 * 32 if tiled else 0)  # 64 blocks of 32 warps


def test_the_modelled_bound_puts_the_transposes_in_the_published_order():
    """389, 352, 220 and 124 GB/s: copy, padded, tiled, naive."""
    order = ("copy", "padded", "unpadded", "naive")
    times = [shown("transpose", v).modelled for v in order]
    assert times == sorted(times) and times[1] < times[2] < times[3]


# -- Harris' reductions: 65,536 ints in blocks of 128; from the fourth on two ints a thread


STEPS = CLASSICS["reduce"].variants


def test_each_reduction_of_harris_takes_fewer_instructions_than_the_one_before():
    """Published: 2.083, 4.854, 9.741, 17.377, 31.289, 43.996, 62.671 GB/s."""
    assert falls(ladder("reduce", "instructions"))


def test_all_reductions_read_the_same_and_store_one_sum_a_block():
    assert ladder("reduce", "global_load_requests") == [65_536 // 32] * 7
    assert ladder("reduce", "global_load_sectors") == [65_536 // 8] * 7
    blocks = [512, 512, 512, 256, 256, 256, 32]
    assert ladder("reduce", "global_store_requests") == blocks


def test_divergent_branches_of_the_first_three_reductions():
    # Modulo: for s = 1 .. 16 lanes 0, 2s, 4s ... of all 4 warps work: 5 x 4; for s = 32 lane 0
    # of warps 0 and 2; for s = 64 lane 0 of warp 0; and thread 0 alone stores: 24 a block.
    # Otherwise the first threads work: warps split below 32 of them, 16 .. 1: 5, and the store.
    assert ladder("reduce", "divergent_branches", STEPS[:3]) == [512 * 24, 512 * 6, 512 * 6]


def test_bank_conflicts_of_the_first_three_reductions():
    # Strided: 64 threads at a distance of 2 words share a bank by twos: 2 warps x 1 conflict;
    # then 32 at 4, 16 at 8, 8 at 16, 4 at 32: 3 each; 2 at 64: 1; 1: none.  2 + 4 x 3 + 1 = 15
    # for each of two loads and a store.  Modulo: the lanes of a warp are words of different banks.
    assert ladder("reduce", "shared_bank_conflicts", STEPS[:3]) == [0, 512 * 45, 0]


def test_barriers_of_the_reductions():
    # One after the load and one each for s = 64 .. 1, by 4 warps; after "last warp" only s = 64.
    blocks = [512, 512, 512, 256, 256, 256, 32]
    rounds = [8, 8, 8, 8, 2, 2, 2]
    assert ladder("reduce", "barriers") == [b * 4 * r for b, r in zip(blocks, rounds)]


def test_shared_traffic_falls_when_threads_add_while_loading():
    # Stores a block: 4 warps fill it; s = 64 takes 2 warps, the other six steps one: 4 + 2 + 6.
    assert counters("reduce", STEPS[2])["shared_store_requests"] == 512 * 12
    assert counters("reduce", STEPS[3])["shared_store_requests"] == 256 * 12
    # The last warp stores after s = 16 .. 1 reads, 5 + 1 times, all its lanes: 4 + 2 + 6 again.
    assert counters("reduce", STEPS[4])["shared_store_requests"] == 256 * 12
    assert counters("reduce", STEPS[6])["shared_store_requests"] == 32 * 12


# -- scan: 16,384 ints in 64 chunks of 256


def test_blelloch_does_less_work_than_hillis_and_steele():
    """About 2 n additions against n log2 n; GPU Gems 3, chapter 39."""
    assert falls(ladder("scan", "thread_instructions", ("Hillis-Steele", "Blelloch")))
    # Additions, seen as stores of sums.  Hillis-Steele: 8 steps x 256 values, besides the first.
    # Blelloch: 255 up, 255 exchanges of two values down, 256 inputs, and the zero at the root.
    stored = [
        sum(
            s["lanes"]
            for s in shown("scan", v).launches[0].trace.raw.sites
            if s["space"] == "shared" and s["op"] == "store"
        )
        for v in ("Hillis-Steele", "Blelloch")
    ]
    assert stored == [64 * 256 * 9, 64 * (255 + 2 * 255 + 256 + 1)]


def test_free_banks_take_every_conflict_out_of_blelloch():
    # 128 threads at 2 words: 4 warps x 1 conflict; 64 at 4: 2 x 3; 32 at 8: 7; 16 at 16: 7; 8 at
    # 32: 7; 4: 3; 2: 1: 35 for each access; 3 accesses a step up, 4 a step down.
    assert ladder("scan", "shared_bank_conflicts") == [0, 64 * 35 * 7, 0]


# -- histogram: 65,536 bytes, 16 blocks of 256


def test_shared_atomics_leave_256_global_ones_a_block():
    def atomics(variant):
        sites = shown("histogram", variant).launches[0].trace.raw.sites
        count = {"global": 0, "shared": 0}
        for site in sites:
            if site["op"] not in ("load", "store"):
                count[site["space"]] += site["lanes"]
        return count

    assert atomics("global") == {"global": 65_536, "shared": 0}
    assert atomics("shared") == {"global": 16 * 256, "shared": 65_536}
    assert ladder("histogram", "atomics") == [2048, 2048 + 16 * 8]


# -- matrix product of N = 128; a warp is 16 x 2 results


def test_each_sgemm_loads_less():
    # Naive: two loads for each of N^3 / 32 multiplications of a warp.  A tile of 16 or 64 serves
    # as many multiplications.  Two rows of a are 2 sectors, 16 floats of b are 2: 2 a request;
    # a row of a tile is 2 for 16 lanes, so 4 a request.
    n3 = 128**3 // 32
    assert ladder("sgemm", "global_load_requests") == [2 * n3, 2 * n3 // 16, 2 * n3 // 64]
    assert ladder("sgemm", "global_load_sectors") == [4 * n3, 8 * n3 // 16, 8 * n3 // 64]
    assert ladder("sgemm", "global_store_sectors") == [128 * 128 // 8] * 3
    assert ladder("sgemm", "flops") == [2 * 128**3] * 3


def test_registers_feed_two_multiplications_with_each_value_of_shared_memory():
    # Tiled: 2 values a multiplication.  Blocked: 8 values for 16.  Neither has a conflict.
    n3 = 128**3 // 32
    assert ladder("sgemm", "shared_load_wavefronts") == [0, 2 * n3, n3 // 2]
    assert ladder("sgemm", "shared_bank_conflicts") == [0, 0, 0]
    assert falls(ladder("sgemm", "instructions"))


def test_tiled_product_of_64_has_the_published_sectors():
    """GROUND_TRUTH.md, section 2: N = 64, T = 16: 4,096 load sectors, 512 store sectors."""
    (launch,) = CLASSICS["sgemm"].run("tiled", 64).launches
    assert launch.counters["global_load_sectors"] == 4096
    assert launch.counters["global_store_sectors"] == 512


# -- the others


def test_a_warp_a_row_reads_sparse_rows_in_fewer_sectors():
    """Bell and Garland 2008: the scalar kernel's reads are not coalesced."""
    assert falls(ladder("spmv", "global_load_sectors"))
    per_request = [
        counters("spmv", v)["global_load_sectors"] / counters("spmv", v)["global_load_requests"]
        for v in ("scalar", "vector")
    ]
    assert falls(per_request)


def test_a_halo_saves_the_stencil_most_of_its_reads():
    # 256 x 256 points.  Naive: every point, and four neighbours of the 254 x 254 inner ones.
    # Tiled, 32 x 8: every point, and rows on both sides of 31 seams, columns of 7.
    inner, whole = 254 * 254, 256 * 256
    asked = [4 * (whole + 4 * inner), 4 * (whole + 2 * 31 * 256 + 2 * 7 * 256)]
    assert ladder("stencil", "global_load_bytes") == asked
    # Rows of 32 floats are 4 sectors, moved by one float 5, except at the edge of the grid,
    # where one lane less reads.  A column's float is a sector of its own.
    naive = 2048 * 4 + 2 * 2032 * 4 + 2 * 254 * (7 * 5 + 4)
    tiled = 2048 * 4 + 2 * 31 * 8 * 4 + 2 * 7 * 256
    assert ladder("stencil", "global_load_sectors") == [naive, tiled]


def test_bitonic_sort_in_chunks_of_512_reads_global_memory_less():
    # 4,096 = 2^12 values: 12 x 13 / 2 = 78 steps of 64 warps, two values each.  In chunks: one
    # pass for all runs up to 512, then 1 + 2 + 3 steps at 512 and more, and a pass after each run.
    result = [shown("bitonic", v) for v in ("global", "shared")]
    assert [len(r.launches) for r in result] == [78, 1 + 6 + 3]
    requests = [r.counters["global_load_requests"] for r in result]
    assert requests == [78 * 64 * 2, 128 + 6 * 128 + 3 * 128]


def test_tiles_of_bodies_are_read_once_a_block():
    # 512 bodies of 16 bytes, 16 warps.  Naive: each warp reads all, one sector a body, and its
    # own 32, which are 16 sectors.  Tiled: 8 tiles, 16 sectors a warp.
    assert ladder("nbody", "global_load_requests") == [16 * (512 + 1), 16 * (8 + 1)]
    assert ladder("nbody", "global_load_sectors") == [16 * (512 + 16), 16 * 16 * (8 + 1)]


def test_warps_of_compact_points_wait_less_for_each_other():
    steps = shown("mandelbrot", "rows of 32").got
    slowest = (
        steps.reshape(128, 4, 32).max(axis=2).sum(),
        steps.reshape(32, 4, 16, 8).max(axis=(1, 3)).sum(),
    )
    assert falls(list(slowest))  # what the picture says, and so do the counters:
    assert falls(ladder("mandelbrot", "instructions"))
    assert falls(ladder("mandelbrot", "divergent_branches"))
    assert ladder("mandelbrot", "global_store_sectors") == [128 * 128 // 8] * 2
    assert np.array_equal(steps, shown("mandelbrot", "squares of 8 x 4").got)


def test_the_kernels_name_their_own_lines():
    report = shown("transpose", "naive").launches[0]
    assert isinstance(report, hetlab.vgpu.Launch)
    (line,) = [n for n, t in enumerate(source("transpose").splitlines(), 1) if "out[x * rows" in t]
    assert report.lines[("naive.cu", line)]["global_store_sectors"] == 65_536
