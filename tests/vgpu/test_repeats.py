"""What is kept of repeated addresses and intervals changes no count and hides no race."""

from __future__ import annotations

import numpy as np
import pytest

from hetlab.vgpu import repeats
from hetlab.vgpu.lanes import Lanes, batch_shape
from hetlab.vgpu.numerics import f16_to_f32
from hetlab.vgpu.tensor import mma
from hetlab.vgpu.tensor_runs import product

from .ptxkit import cuda, run_cuda

TURNS = """
__shared__ float tile[128]; int i = threadIdx.x; float x = a[i];
for (int t = 0; t < n; t++) {
  tile[i] = x + t;
  if (t != b[0]) __syncthreads();
  x = tile[(i + 37) % 128];
  __syncthreads();
}
a[i] = x;"""


def turns(blocks: int, missing: int):
    """Turns of a loop that touch the same elements; in one of them the barrier is left out."""
    a = np.arange(128, dtype=np.float32)
    kernel = cuda(TURNS, "float* a, const int* b, int n")
    return run_cuda(kernel, (blocks,), (128,), [a, np.array([missing], np.int32), 9]), a


@pytest.fixture(autouse=True)
def _nothing_kept():
    repeats._kept.cache_clear()


@pytest.mark.parametrize("missing", [0, 3, 8])
def test_a_barrier_left_out_in_one_turn_is_found_among_turns_that_look_alike(missing):
    """Before, between and after turns in order; again when a launch without a race came first."""
    first, _ = turns(1, missing)
    kinds = [h.kind for h in first.hazards]
    assert "race" in kinds and all(h.space == "shared" for h in first.hazards)
    repeats._kept.cache_clear()
    clean, _ = turns(1, 99)
    again, _ = turns(1, missing)
    assert not clean.hazards and [h.message for h in again.hazards] == [
        h.message for h in first.hazards
    ]


def test_what_is_kept_changes_neither_counts_nor_results():
    """The second launch finds all it needs; one of other blocks does not take it for its own."""
    first, a = turns(1, 99)
    second, b = turns(1, 99)
    assert first.counters == second.counters and np.array_equal(a, b)
    more, _ = turns(3, 99)
    for name in ("shared_load_requests", "shared_load_wavefronts", "shared_store_wavefronts"):
        assert more.counters[name] == 3 * first.counters[name], name


def test_what_is_kept_stays_within_its_room(monkeypatch):
    """Full, it starts anew, and the numbers of what it held are never given again."""
    monkeypatch.setattr(repeats, "_ROOM", 100)
    kept, whole = repeats.Repeats(), batch_shape((32, 1, 1), 1).whole
    found = [kept.addresses(whole, np.full(32, 4 * k, np.uint32)) for k in range(5)]
    assert len(kept.known) < 5 and len({a.serial for a in found}) == 5
    assert kept.addresses(whole, np.full(32, 16, np.uint32)) is found[-1]


def test_every_half_becomes_the_single_of_its_value():
    """All 65,536 of them: subnormals, zeros of both signs, infinities, not-a-numbers."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]
    assert np.array_equal(
        f16_to_f32(finite).view(np.uint32), finite.astype(np.float32).view(np.uint32)
    )
    np.testing.assert_array_equal(f16_to_f32(halves), halves.astype(np.float32))


FORMS = [((16, 8, 16), "f16", "f32"), ((16, 8, 8), "tf32", "f32"), ((16, 8, 32), "s8", "s32"),
         ((8, 8, 4), "f64", "f64")]  # fmt: skip


@pytest.mark.parametrize("warps", ["whole", "some lanes"])
@pytest.mark.parametrize(("shape", "kind", "sum_"), FORMS, ids=lambda x: str(x))
def test_a_run_of_products_is_the_single_ones_after_each_other(shape, kind, sum_, warps):
    """Two by two results, two steps along K each, of small whole numbers: every order is exact."""
    m, n, k = shape
    block = batch_shape((64, 1, 1), 2)
    lanes = block.whole if warps == "whole" else Lanes(block, np.delete(np.arange(128), [5, 40]))
    rng = np.random.default_rng(k)
    each = {"f16": ("f2", 2), "tf32": ("f4", 1), "s8": ("i1", 4), "f64": ("f8", 1)}[kind]
    word, inner = {"f64": ("f8", m * k // 32)}.get(kind, ("u4", m * k // (32 * each[1])))

    def fragment(registers: int) -> tuple:
        size = lanes.n * each[1]
        made = [rng.integers(-4, 5, size).astype(each[0]).view(word) for _ in range(registers)]
        return tuple(made)

    a = [fragment(inner) for _ in range(4)]
    b = [fragment(inner * n // m) for _ in range(4)]
    code = {"f32": "f4", "s32": "i4", "f64": "f8"}[sum_]
    start = [
        tuple(rng.integers(-9, 9, lanes.n).astype(code) for _ in range(m * n // 32))
        for _ in range(4)
    ]
    lines = ((0, 1), (2, 3))
    results = tuple((i // 2, i % 2, start[i]) for i in range(4))
    kinds = (sum_, kind, kind, sum_)
    got = product(lanes, shape, kinds, False, tuple(a), tuple(b), lines, lines, results)
    want = []
    for row, column, c in results:
        for x, y in zip(lines[row], lines[column]):
            c = mma(lanes, shape, kinds, False, a[x], b[y], c)
        want += c
    assert len(got) == len(want)
    for x, y in zip(got, want):
        assert x.dtype == y.dtype and np.array_equal(x, y)
