"""Sectors and wavefronts: the tables of the CUDA guides, and whole kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetlab.vgpu.lanes import Addresses, Lanes, batch_shape
from hetlab.vgpu.traffic import least_wavefronts, sectors, wavefronts

from .ptxkit import cuda, run_cuda

KINDS = {1: "unsigned char", 4: "float", 8: "double", 16: "float4"}
# CUDA C++ Best Practices Guide, coalesced access: sectors of 32 bytes a warp request
SECTORS = {
    1: {1: 1, 2: 2, 3: 3, 4: 4, 8: 8, 16: 16, 32: 32},
    4: {1: 4, 2: 8, 3: 12, 4: 16, 8: 32, 16: 32, 32: 32},
    8: {1: 8, 2: 16, 3: 24, 4: 32, 8: 32, 16: 32, 32: 32},
    16: {1: 16, 2: 32, 3: 32, 4: 32, 8: 32, 16: 32, 32: 32},
}
MISALIGNED = {1: 2, 4: 5, 8: 9, 16: 17}
# 32 banks of 4 bytes; 8-byte accesses by half-warps, 16-byte ones by quarter-warps
WAVEFRONTS = {
    4: {0: 1, 1: 1, 2: 2, 3: 1, 4: 4, 8: 8, 16: 16, 17: 1, 32: 32, 33: 1},
    8: {0: 2, 1: 2, 2: 4, 3: 2, 4: 8, 8: 16, 16: 32, 17: 2, 32: 32, 33: 2},
    16: {0: 4, 1: 4, 2: 8, 3: 4, 4: 16, 8: 32, 16: 32, 17: 4, 32: 32, 33: 4},
}


def strided(size: int, stride: int, offset: int = 0):
    """One warp's load and store of elements `stride` apart, as a real kernel."""
    kind = KINDS[size]
    body = f"b[threadIdx.x] = a[threadIdx.x * {stride} + {offset}];"
    a = np.zeros((32 * stride + offset) * size, "u1")
    b = np.zeros(32 * size, "u1")
    return run_cuda(cuda(body, f"const {kind}* a, {kind}* b"), 1, 32, [a, b]).counters


@pytest.mark.parametrize(("size", "stride"), [(e, s) for e in SECTORS for s in SECTORS[e]])
def test_sectors_of_strided_loads(size, stride):
    counters = strided(size, stride)
    assert counters["global_load_requests"] == 1
    assert counters["global_load_sectors"] == SECTORS[size][stride]
    assert counters["global_store_sectors"] == SECTORS[size][1]
    assert counters["global_load_bytes"] == 32 * size


@pytest.mark.parametrize("size", KINDS)
def test_a_load_that_starts_inside_a_sector_touches_one_more(size):
    assert strided(size, 1, 1)["global_load_sectors"] == MISALIGNED[size]


@pytest.mark.parametrize("offset", [8, 16, 24])
def test_an_offset_of_whole_sectors_costs_nothing(offset):
    assert strided(4, 1, offset)["global_load_sectors"] == 4


@pytest.mark.parametrize(
    "index", ["threadIdx.x ^ 13", "31 - threadIdx.x", "(threadIdx.x * 7) % 32"]
)
def test_permuted_lanes_inside_128_bytes_touch_four_sectors(index):
    run = run_cuda(cuda(f"b[threadIdx.x] = a[{index}];"), 1, 32, [np.zeros(32, "f4")] * 2 + [0])
    assert run.counters["global_load_sectors"] == 4


def test_partly_active_lanes_touch_only_their_sectors():
    source = cuda("if (threadIdx.x < 10) b[threadIdx.x] = a[threadIdx.x];")
    counters = run_cuda(source, 1, 32, [np.zeros(32, "f4"), np.zeros(32, "f4"), 0]).counters
    assert (counters["global_load_requests"], counters["global_load_sectors"]) == (1, 2)


@pytest.mark.parametrize(("size", "stride"), [(e, s) for e in WAVEFRONTS for s in WAVEFRONTS[e]])
def test_wavefronts_of_strided_shared_loads(size, stride):
    shape = batch_shape((32, 1, 1), 1)
    a = Addresses(shape.whole, np.arange(32, dtype=np.uint64) * np.uint64(stride * size))
    assert wavefronts(a, 0, size) == WAVEFRONTS[size][stride]
    conflicts = wavefronts(a, 0, size) - least_wavefronts(a, size)
    assert conflicts == WAVEFRONTS[size][stride] - WAVEFRONTS[size][1]


def test_a_public_profile_of_wide_shared_loads():
    """Of 8,844,480 16-byte loads 35,377,920 wavefronts are the least; the rest are conflicts."""
    shape = batch_shape((32, 1, 1), 1)
    lane = np.arange(32, dtype=np.uint64)
    free = Addresses(shape.whole, lane * np.uint64(16))
    worst = Addresses(shape.whole, lane * np.uint64(128))
    n = 8_844_480
    assert n * wavefronts(free, 0, 16) == 35_377_920
    assert n * wavefronts(worst, 0, 16) == 283_023_360
    assert n * (wavefronts(worst, 0, 16) - least_wavefronts(worst, 16)) == 247_645_440


def brute_sectors(slots, addresses, size):
    touched = set()
    for s, a in zip(slots, addresses):
        touched |= {(s // 32, q) for q in range(a // 32, (a + size - 1) // 32 + 1)}
    return len(touched)


def brute_wavefronts(slots, addresses, size):
    width = 32 if size <= 4 else 128 // size
    groups: dict = {}
    for s, a in zip(slots, addresses):
        groups.setdefault(s // width, []).append(a)
    total = 0
    for group in groups.values():
        banks: dict = {}
        for a in group:
            for w in range(a // 4, (a + size - 1) // 4 + 1):
                banks.setdefault(w % 32, set()).add(w)
        total += max(map(len, banks.values()))
    return total


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_pattern_of_any_lanes_counts_as_counted_by_hand(data):
    threads = data.draw(st.sampled_from([32, 64, 96, 40, 1]))
    shape = batch_shape((threads, 1, 1), 2)
    size = data.draw(st.sampled_from([1, 2, 4, 8, 16]))
    existing = shape.whole.all_slots.tolist()
    keep = data.draw(st.lists(st.booleans(), min_size=len(existing), max_size=len(existing)))
    slots = [s for s, k in zip(existing, keep) if k] or existing[:1]
    lanes = shape.whole if slots == existing else Lanes(shape, np.array(slots))
    span = data.draw(st.sampled_from([1, 4, 40, 400]))
    cells = st.integers(0, span)
    places = data.draw(st.lists(cells, min_size=len(slots), max_size=len(slots)))
    if data.draw(st.booleans()):
        places.sort()
    addresses = [p * size for p in places]
    a = Addresses(lanes, np.array(addresses, np.uint64))
    offset = data.draw(st.sampled_from([0, size, 32, 3 * size]))
    moved = [x + offset for x in addresses]
    assert sectors(a, offset, size) == brute_sectors(slots, moved, size)
    assert wavefronts(a, offset, size) == brute_wavefronts(slots, moved, size)


TRANSPOSE = {
    "naive": "b[x * n + y] = a[y * n + x];",
    "tiled": "__shared__ float t[32][32]; t[threadIdx.y][threadIdx.x] = a[y * n + x];"
    "__syncthreads(); x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;"
    "b[y * n + x] = t[threadIdx.x][threadIdx.y];",
}
TRANSPOSE["padded"] = TRANSPOSE["tiled"].replace("[32][32]", "[32][33]")


@pytest.mark.parametrize(
    ("variant", "stores", "wavefronts"),
    [("naive", 65_536, 0), ("tiled", 8_192, 67_584), ("padded", 8_192, 4_096)],
)
def test_the_transpose_ladder(variant, stores, wavefronts):
    """256 x 256 floats in 32 x 32 blocks."""
    a = np.arange(256 * 256, dtype="f4").reshape(256, 256)
    b = np.zeros_like(a)
    head = "int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;"
    run = run_cuda(cuda(head + TRANSPOSE[variant]), (8, 8), (32, 32), [a, b, 256])
    np.testing.assert_array_equal(b, a.T)
    c = run.counters
    assert c["global_load_sectors"] == 8_192
    assert c["global_store_sectors"] == stores
    assert c["shared_load_wavefronts"] + c["shared_store_wavefronts"] == wavefronts
    requests = c["shared_load_requests"] + c["shared_store_requests"]
    assert requests == (0 if variant == "naive" else 4_096)
    assert c["shared_bank_conflicts"] == max(wavefronts - requests, 0)
    assert run.ok and not run.warnings


def test_tiled_matrix_product():
    """N = 64, tile 16: 4,096 load sectors, 512 store sectors, T/4 FLOP a byte."""
    body = """
    __shared__ float s[16][16], t[16][16]; int x = threadIdx.x, y = threadIdx.y; float c = 0;
    for (int k = 0; k < n; k += 16) {
      s[y][x] = a[(blockIdx.y * 16 + y) * n + k + x];
      t[y][x] = b[(k + y) * n + blockIdx.x * 16 + x];
      __syncthreads();
      for (int j = 0; j < 16; j++) c += s[y][j] * t[j][x];
      __syncthreads(); }
    o[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x] = c;"""
    rng = np.random.default_rng(0)
    a, b = rng.random((64, 64), dtype="f4"), rng.random((64, 64), dtype="f4")
    o = np.zeros_like(a)
    source = cuda(body, "const float* a, const float* b, float* o, int n")
    run = run_cuda(source, (4, 4), (16, 16), [a, b, o, 64])
    np.testing.assert_allclose(o, a @ b, rtol=1e-5)
    c = run.counters
    assert (c["global_load_sectors"], c["global_store_sectors"]) == (4_096, 512)
    assert c["flops"] == 2 * 64**3
    assert c["flops"] / (32 * c["global_load_sectors"]) == 16 / 4
    assert run.ok and not run.warnings


def test_lines_carry_the_counts_of_their_instructions_and_sum_to_the_totals():
    source = "\n".join(
        [
            'extern "C" __global__ void k(const float* a, float* b) {',
            "  int i = threadIdx.x;",
            "  float x = a[i * 2];",
            "  b[i] = x + 1;",
            "}",
        ]
    )
    run = run_cuda(source, 1, 64, [np.zeros(128, "f4"), np.zeros(64, "f4")])
    by_line = {line: row for (_, line), row in run.lines.items()}
    assert by_line[3]["global_load_sectors"] == 16
    assert by_line[4]["global_store_sectors"] == 8
    for name, total in run.counters.items():
        assert sum(row.get(name, 0) for row in run.lines.values()) == total


def test_counting_can_be_switched_off():
    run = run_cuda(
        cuda("b[threadIdx.x] = a[threadIdx.x];"), 1, 32, [np.ones(32, "f4")] * 2 + [0], count=False
    )
    assert set(run.counters.values()) == {0} and run.lines == {}
