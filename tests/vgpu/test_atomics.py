"""Atomics return old values in lane order, in every space."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetlab.vgpu.atomics import apply

from .ptxkit import cuda, run_cuda

OPS = ("add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas")


def one_by_one(memory, index, op, values, bits=32):
    """Each thread after the other, with Python's integers."""
    mask, old = (1 << bits) - 1, []
    for k, where in enumerate(index):
        now, x = memory[where], values[0][k]
        old.append(now)
        memory[where] = {
            "add": lambda now=now, x=x: now + x & mask,
            "min": lambda now=now, x=x: min(now, x),
            "max": lambda now=now, x=x: max(now, x),
            "and": lambda now=now, x=x: now & x,
            "or": lambda now=now, x=x: now | x,
            "xor": lambda now=now, x=x: now ^ x,
            "exch": lambda now=now, x=x: x,
            "inc": lambda now=now, x=x: 0 if now >= x else now + 1,
            "dec": lambda now=now, x=x: x if now == 0 or now > x else now - 1,
            "cas": lambda now=now, x=x, k=k: values[1][k] if now == x else now,
        }[op]()
    return old


@settings(max_examples=200, deadline=None)
@given(data=st.data(), op=st.sampled_from(OPS))
def test_any_collisions_give_what_one_thread_after_another_gives(data, op):
    cells = data.draw(st.integers(1, 6))
    n = data.draw(st.integers(1, 60))
    small = st.integers(0, 4)
    number = st.one_of(small, st.integers(0, 2**32 - 1))
    start = data.draw(st.lists(number, min_size=cells, max_size=cells))
    index = data.draw(st.lists(st.integers(0, cells - 1), min_size=n, max_size=n))
    values = [data.draw(st.lists(number, min_size=n, max_size=n)) for _ in range(2)]
    memory = np.array(start, "u4")
    columns = tuple(np.array(v, "u4") for v in (values if op == "cas" else values[:1]))
    got = apply(memory, np.array(index), op, "u32", columns, True)
    want = one_by_one(start, index, op, values)
    assert got.tolist() == want and memory.tolist() == start


def test_float_sums_are_added_in_lane_order():
    x = np.random.default_rng(1).normal(size=1000).astype("f4") * 1e3
    total = np.zeros(1, "f4")
    run_cuda(cuda("atomicAdd(b, a[threadIdx.x]);"), 1, 1000, [x, total, 0])
    want = np.float32(0)
    for v in x:
        want = np.float32(want + v)
    assert total[0] == want


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("kind", ["int", "unsigned", "unsigned long long", "float", "double"])
def test_histograms(space, kind):
    keys = np.random.default_rng(2).integers(0, 10, 4000, dtype="i4")
    counts = np.zeros(
        10, {"int": "i4", "unsigned": "u4", "float": "f4", "double": "f8"}.get(kind, "u8")
    )
    if space == "global":
        body = "int i = blockIdx.x * 256 + threadIdx.x; if (i < n) atomicAdd(h + keys[i], (T)1);"
    else:
        body = """__shared__ T s[10]; int t = threadIdx.x, i = blockIdx.x * 256 + t;
        if (t < 10) s[t] = 0; __syncthreads(); if (i < n) atomicAdd(s + keys[i], (T)1);
        __syncthreads(); if (t < 10) atomicAdd(h + t, s[t]);"""
    source = cuda(body.replace("T", kind), f"const int* keys, {kind}* h, int n")
    run = run_cuda(source.replace(f"{kind}x", "Tx"), 16, 256, [keys, counts, 4000])
    np.testing.assert_array_equal(counts, np.bincount(keys, minlength=10))
    assert run.ok and not run.warnings


def test_compare_and_swap_loops_end_and_old_values_number_the_threads():
    body = """int old = a[0], seen; do { seen = old; old = atomicCAS(a, seen, seen + 1); }
    while (old != seen); o[blockIdx.x * blockDim.x + threadIdx.x] = old;"""
    a, o = np.zeros(1, "i4"), np.zeros(4 * 96, "i4")
    run_cuda(cuda(body, "int* a, int* o"), 4, 96, [a, o])
    assert a[0] == 384
    np.testing.assert_array_equal(np.sort(o), np.arange(384))


def test_half_precision_pairs():
    source = "#include <cuda_fp16.h>\n" + cuda(
        "atomicAdd(h, __floats2half2_rn(1, 2));", "__half2* h"
    )
    h = np.zeros(2, "f2")
    run_cuda(source, 2, 64, [h])
    assert h.tolist() == [128, 256]


def test_global_atomics_have_sectors_of_their_own():
    """One sector for a word that a warp shares, 32 for words 32 bytes apart; none in shared."""
    body = """__shared__ int s; int t = threadIdx.x; if (t == 0) s = 0; __syncthreads();
        atomicAdd(&s, t); atomicMax(h, t); int old = atomicAdd(h + 8 * t, 1);
        __syncthreads(); if (t == 0) h[1] = old + s;"""
    h = np.zeros(8 * 64, np.int32)
    counters = run_cuda(cuda(body, "int* h"), 1, 64, [h]).counters
    assert counters["atomics"] == 6
    assert counters["global_atomic_requests"] == 4
    assert counters["global_atomic_sectors"] == 2 * 1 + 2 * 32
    assert (counters["global_load_sectors"], counters["global_store_sectors"]) == (0, 1)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), space=st.sampled_from(["global", "shared"]))
def test_turns_are_the_most_lanes_of_a_warp_that_meet_at_one_address(data, space):
    n = data.draw(st.integers(1, 100))
    keys = np.array(data.draw(st.lists(st.integers(-1, 5), min_size=n, max_size=n)), "i4")
    here = "h" if space == "global" else "s"
    body = f"""__shared__ int s[6]; int t = threadIdx.x; if (t < 6) s[t] = 0; __syncthreads();
        int k = a[t]; if (k >= 0) atomicAdd({here} + k, 1);"""
    run = run_cuda(cuda(body, "const int* a, int* h"), 1, n, [keys, np.zeros(6, "i4")])
    counters = run.counters
    warps = [[k for k in keys[w : w + 32].tolist() if k >= 0] for w in range(0, n, 32)]
    assert counters["atomics"] == sum(map(bool, warps))
    assert counters["atomic_turns"] == sum(max(map(w.count, w)) for w in warps if w)


def test_a_warp_that_updates_one_word_takes_a_turn_a_lane():
    counters = run_cuda(
        cuda("int i = threadIdx.x; int old = atomicAdd(h, i); h[1 + i] = old;", "int* h"),
        2, 48, [np.zeros(97, "i4")],
    ).counters  # fmt: skip
    assert (counters["atomics"], counters["atomic_turns"]) == (4, 96)
