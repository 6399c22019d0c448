"""The order in which threads advance, where they wait, and how launches end."""

from __future__ import annotations

import numpy as np
import pytest

from hetlab.vgpu.launch import LaunchError
from hetlab.vgpu.ptx import PtxError

from .ptxkit import cuda, numba_ptx, run_cuda, run_ptx


def ints(n):
    return np.zeros(n, "i4")


def kinds(run):
    return sorted({h.kind for h in run.hazards})


def test_a_divergent_power_stores_with_whole_warps():
    """``c[i] = a[i] ** b[i]`` branches many ways; all lanes meet again before the store."""
    numba = pytest.importorskip("numba")
    pytest.importorskip("numba.cuda")
    from numba import cuda as nc

    def power(a, b, c):
        i = nc.grid(1)
        if i < a.size:
            c[i] = a[i] ** b[i]

    text = numba_ptx(power, (numba.float32[::1],) * 3)
    rng = np.random.default_rng(0)
    a = rng.choice(np.array([0, 1, -1, 2.5, -3, np.inf, np.nan], "f4"), 4096)
    b = rng.choice(np.array([0, 1, 2, -1.5, 3, np.inf, np.nan], "f4"), 4096)
    c = np.zeros(4096, "f4")
    run = run_ptx(text, 16, 256, [a, b, c], numba=True)
    assert run.counters["global_store_requests"] == 128
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(c, a.astype("f8") ** b, rtol=1e-6)


LOCKS = {
    "one thread a block": (
        "while (atomicCAS(l, 0, 1)) {} __threadfence(); c[0] += 1; __threadfence();"
        "atomicExch(l, 0);",
        4,
        1,
        4,
    ),
    "each lane of two warps": (
        "bool done = false; while (!done) if (atomicCAS(l, 0, 1) == 0) { __threadfence();"
        "c[0] += 1; __threadfence(); atomicExch(l, 0); done = true; }",
        2,
        64,
        128,
    ),
    "a block, with barriers": (
        "if (threadIdx.x == 0) while (atomicCAS(l, 0, 1)) {} __syncthreads(); __threadfence();"
        "if (threadIdx.x == 0) c[0] += 1; __threadfence(); __syncthreads();"
        "if (threadIdx.x == 0) atomicExch(l, 0);",
        6,
        64,
        6,
    ),
}


@pytest.mark.parametrize("name", LOCKS)
def test_locks_end_and_protect(name):
    body, grid, block, want = LOCKS[name]
    lock, count = ints(1), ints(1)
    run = run_cuda(cuda(body, "int* l, volatile int* c"), grid, block, [lock, count])
    assert (count[0], lock[0]) == (want, 0)
    assert run.ok


@pytest.mark.parametrize(("grid", "block"), [(2, 32), (100, 256)])
def test_blocks_may_wait_for_a_flag_of_a_later_block(grid, block):
    body = """
    if (blockIdx.x == gridDim.x - 1) { d[threadIdx.x] = 2 * threadIdx.x; __threadfence();
      __syncthreads(); if (threadIdx.x == 0) atomicExch(f, 1); }
    else { if (threadIdx.x == 0) while (atomicAdd(f, 0) == 0) {} __syncthreads(); __threadfence();
      o[blockIdx.x * blockDim.x + threadIdx.x] = d[threadIdx.x] + 1; }"""
    flag, d, o = ints(1), ints(block), ints(grid * block)
    run = run_cuda(cuda(body, "int* f, int* d, int* o"), grid, block, [flag, d, o])
    assert run.ok
    want = np.tile(2 * np.arange(block) + 1, grid - 1)
    np.testing.assert_array_equal(o[: (grid - 1) * block], want)


def test_a_grid_barrier_works_in_a_cooperative_launch_and_is_refused_otherwise():
    source = "#include <cooperative_groups.h>\n" + cuda(
        "int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = i;"
        "cooperative_groups::this_grid().sync(); o[i] = a[n - 1 - i];",
        "int* a, int* o, int n",
    )
    a, o = ints(16384), ints(16384)
    run = run_cuda(source, 64, 256, [a, o, 16384], cooperative=True)
    assert run.ok
    np.testing.assert_array_equal(o, np.arange(16384)[::-1])
    assert kinds(run_cuda(source, 64, 256, [a, o, 16384])) == ["trap"]
    with pytest.raises(LaunchError, match="must fit the GPU"):
        run_cuda(source, 1024, 1024, [a, o, 16384], cooperative=True)


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_news_travels_through_a_third_block_but_not_between_unrelated_locks(seed):
    wait = "while (atomicAdd(f + {0}, 0) == 0) {{}} __threadfence();".format
    tell = "__threadfence(); atomicExch(f + {0}, 1);".format
    relay = f"""if (threadIdx.x) return;
    if (blockIdx.x == 0) {{ d[0] = 7; {tell(0)} }}
    if (blockIdx.x == 1) {{ {wait(0)} {tell(1)} }}
    if (blockIdx.x == 2) {{ {wait(1)} d[1] = d[0]; }}"""
    d = ints(2)
    run = run_cuda(cuda(relay, "int* f, int* d"), 3, 32, [ints(2), d], order_seed=seed)
    assert run.ok and d.tolist() == [7, 7], run.hazards
    locks = """if (threadIdx.x) return; int* l = f + blockIdx.x;
    while (atomicCAS(l, 0, 1)) {} __threadfence(); d[0] += 1; __threadfence(); atomicExch(l, 0);"""
    run = run_cuda(cuda(locks, "int* f, int* d"), 2, 32, [ints(2), ints(1)], order_seed=seed)
    assert set(kinds(run)) == {"race"}


def test_a_grid_barrier_of_cooperative_groups_is_right_or_refused_with_a_sentence():
    source = """#include <cooperative_groups.h>
    extern "C" __global__ void k(int* a, int* o) { auto g = cooperative_groups::this_grid();
      int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
      a[i] = i; g.sync(); o[i] = a[(i + blockDim.x) % n]; }"""
    o = ints(256)
    assert run_cuda(source, 4, 64, [ints(256), o], cooperative=True, order_seed=1).ok
    assert o.tolist() == np.roll(np.arange(256), -64).tolist()
    (found,) = run_cuda(source, 4, 64, [ints(256), o]).hazards
    assert found.kind == "trap" and "needs a cooperative launch" in found.message
    with pytest.raises(LaunchError, match="wait for each other"):
        run_cuda(source, 4, 64, [ints(256), o], cooperative=True, sample=0.5)


def test_the_last_block_reads_what_the_others_published():
    body = """
    __shared__ float s[256]; __shared__ bool last; int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? x[i] : 0; __syncthreads();
    for (int h = 128; h; h /= 2) { if (t < h) s[t] += s[t + h]; __syncthreads(); }
    if (t == 0) { p[blockIdx.x] = s[0]; __threadfence();
      last = atomicAdd(&ticket, 1) == gridDim.x - 1; }
    __syncthreads();
    if (last && t == 0) { float y = 0;
      for (int b = 0; b < gridDim.x; b++) y += __ldcg(p + b); o[0] = y; }
    """
    source = "__device__ unsigned ticket;\n" + cuda(body, "float* x, float* p, float* o, int n")
    x, p, o = np.ones(10_000, "f4"), np.zeros(40, "f4"), np.zeros(1, "f4")
    run = run_cuda(source, 40, 256, [x, p, o, 10_000])
    assert o[0] == 10_000 and run.ok
    unfenced = run_cuda(source.replace("__threadfence();", ""), 40, 256, [x, p, o, 10_000])
    assert kinds(unfenced) == ["race"]


DIVERGENT = {
    "two barriers in two branches": "if (t < 32) __syncthreads();"
    "else { o[t] = 2; __syncthreads(); o[t] = 3; }",
    "a barrier in a divergent loop": "for (int i = 0; i < t % 3; i++) __syncthreads();",
    "a return before the barrier": "if (t > 40) return; __syncthreads(); o[t] = 1;",
    "a full-mask shuffle split over two branches": "if (t & 1) o[t] = __shfl_sync(~0, t, 0) + 1;"
    "else o[t] = __shfl_sync(~0, 3 * t, 2) * 5;",
    "a mask that leaves out the caller": "o[t] = __shfl_sync(0xffff, t, 0);",
}


@pytest.mark.parametrize("name", DIVERGENT)
def test_divergent_synchronisation_is_reported_and_ends(name):
    body = "int t = threadIdx.x;" + DIVERGENT[name]
    run = run_cuda(cuda(body, "int* o"), 1, 64, [ints(64)])
    assert kinds(run) == ["divergent-barrier"]
    hazard = run.hazards[0]
    assert hazard.threads and hazard.lines and hazard.message.endswith(".")


def test_a_named_barrier_between_two_halves_of_a_block():
    body = """__shared__ int s[64]; int t = threadIdx.x;
    if (t < 64) { s[t] = t; asm volatile("bar.arrive 1, 128;" ::: "memory"); }
    else { asm volatile("bar.sync 1, 128;" ::: "memory"); o[t - 64] = s[127 - t]; }"""
    o = ints(64)
    run = run_cuda(cuda(body, "int* o"), 1, 128, [o])
    np.testing.assert_array_equal(o, np.arange(64)[::-1])
    assert "deadlock" not in kinds(run) and "divergent-barrier" not in kinds(run)


BAR = 'asm volatile("bar.{} {}, {};" ::: "memory");'.format
HANDOVER = {
    "in turn": (
        BAR("arrive", 1, 64) + BAR("sync", 2, 64),
        BAR("sync", 1, 64),
        BAR("arrive", 2, 64),
    ),
    "one barrier in two branches": (BAR("sync", 1, 64) * 2, BAR("sync", 1, 64), BAR("sync", 1, 64)),
    "nobody waits for the reader": (BAR("sync", 1, 64), BAR("sync", 1, 64), ""),
    "nobody waits for the writer": ("", BAR("sync", 1, 32), ""),
}


@pytest.mark.parametrize("name", HANDOVER)
def test_a_named_barrier_orders_the_warps_that_come_to_it_and_no_others(name):
    stored, before, after = HANDOVER[name]
    body = f"""__shared__ int s[32]; int t = threadIdx.x, l = t & 31;
    for (int k = 0; k < 4; k++)
        if (t < 32) {{ s[l] = k * 100 + l; {stored} }}
        else {{ {before} o[32 * k + l] = s[31 - l]; {after} }}"""
    o = ints(128)
    run = run_cuda(cuda(body, "int* o"), 1, 64, [o])
    if name.startswith("nobody"):
        assert set(kinds(run)) == {"race"}
    else:
        assert run.ok, run.hazards
        assert o.tolist() == [100 * k + 31 - i for k in range(4) for i in range(32)]


def test_a_block_has_sixteen_barriers():
    bar = 'asm volatile("bar.sync {};" ::: "memory"); o[threadIdx.x] = 1;'.format
    assert run_cuda(cuda(bar(15), "int* o"), 1, 64, [ints(64)]).ok
    with pytest.raises(PtxError, match="barriers 0 to 15, not 16"):
        run_cuda(cuda(bar(16), "int* o"), 1, 64, [ints(64)])


def test_barrier_reductions_combine_all_threads_of_a_block():
    body = """int t = threadIdx.x;
    o[3 * (blockIdx.x * blockDim.x + t)] = __syncthreads_count(t % 3 == 0);
    o[3 * (blockIdx.x * blockDim.x + t) + 1] = __syncthreads_and(t < n);
    o[3 * (blockIdx.x * blockDim.x + t) + 2] = __syncthreads_or(t == 70 && blockIdx.x);"""
    o = ints(3 * 200)
    assert run_cuda(cuda(body, "int* o, int n"), 2, 100, [o, 100]).ok
    o = o.reshape(2, 100, 3)
    assert (o[:, :, 0] == 34).all() and (o[:, :, 1] == 1).all()
    assert (o[0, :, 2] == 0).all() and (o[1, :, 2] == 1).all()


def test_lanes_shuffle_vote_match_and_reduce():
    body = """int t = threadIdx.x;
    o[t] = __shfl_down_sync(~0, t, 3); o[64 + t] = __shfl_xor_sync(~0, t, 5, 8);
    o[128 + t] = __shfl_sync(~0, t, t * 3, 16); o[192 + t] = __shfl_up_sync(~0, t, 2);
    o[256 + t] = __ballot_sync(~0, t % 5 == 0); o[320 + t] = __match_any_sync(~0, t % 3);
    o[384 + t] = __reduce_add_sync(~0, t); o[448 + t] = __reduce_max_sync(~0, -t);"""
    o = ints(512)
    run = run_cuda(cuda(body, "int* o"), 1, 64, [o])
    assert run.ok
    t, o = np.arange(64), o.reshape(8, 64)
    lane, base = t % 32, t // 32 * 32
    np.testing.assert_array_equal(o[0], np.where(lane + 3 < 32, t + 3, t))
    np.testing.assert_array_equal(o[1], t ^ 5)
    np.testing.assert_array_equal(o[2], base + lane // 16 * 16 + (t * 3) % 16)
    np.testing.assert_array_equal(o[3], np.where(lane >= 2, t - 2, t))
    bits = [sum((w + k) % 5 == 0 and 1 << k for k in range(32)) for w in (0, 32)]
    np.testing.assert_array_equal(o[4].view("u4"), np.repeat(np.array(bits, "u4"), 32))
    same = [sum((w + k) % 3 == x % 3 and 1 << k for k in range(32)) for x, w in zip(t, base)]
    np.testing.assert_array_equal(o[5].view("u4"), np.array(same, "u4"))
    np.testing.assert_array_equal(o[6], np.repeat([sum(range(32)), sum(range(32, 64))], 32))
    np.testing.assert_array_equal(o[7], np.repeat([0, -32], 32))


def test_a_shuffle_reduction_sums_lanes_zero_to_31_to_496():
    body = """int v = threadIdx.x;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0, v, d); o[threadIdx.x] = v;"""
    o = ints(32)
    assert run_cuda(cuda(body, "int* o"), 1, 32, [o]).ok and o[0] == 496


def test_tiles_of_a_warp_synchronise_each_for_itself():
    body = """unsigned mine = 0xffu << (threadIdx.x & 24); int v = threadIdx.x;
    if (threadIdx.x & 8) v += __shfl_xor_sync(mine, v, 4); else v += __shfl_xor_sync(mine, v, 1);
    __syncwarp(mine); v += __shfl_xor_sync(mine, v, 2); o[threadIdx.x] = v;"""
    o, t = ints(64), np.arange(64)
    run = run_cuda(cuda(body, "int* o"), 1, 64, [o])
    once = t + (t ^ np.where(t & 8, 4, 1))
    assert run.ok and o.tolist() == (once + once[t ^ 2]).tolist(), run.hazards
    wrong = body.replace("<< (threadIdx.x & 24)", "<< (threadIdx.x + 8 & 24)")
    assert kinds(run_cuda(cuda(wrong, "int* o"), 1, 64, [ints(64)])) == ["divergent-barrier"]


def test_endless_loops_end_with_a_sentence():
    spin = run_cuda(cuda("while (o[0] == 0) {} o[1] = 1;", "volatile int* o"), 1, 64, [ints(2)])
    assert kinds(spin) == ["deadlock"]
    assert spin.hazards[0].array == "a" and spin.hazards[0].index == 0
    body = "int i = 0; while (n) { i = i * 3 + n; if (i == -1) o[1] = i; } o[0] = i;"
    loop = run_cuda(cuda(body, "int* o, int n"), 1, 64, [ints(2), 2], step_budget=2_000)
    assert kinds(loop) == ["deadlock"] and "2000 steps" in loop.hazards[0].message


def test_a_long_loop_that_looks_at_memory_is_no_deadlock():
    body = """int k = 0; while (true) { if (atomicAdd(a, 0) > n) break; __threadfence(); k++;
      if (k > 300) break; } o[blockIdx.x * blockDim.x + threadIdx.x] = k;"""
    a, o = ints(1), ints(96 * 100)
    run = run_cuda(cuda(body, "int* a, int* o, int n"), 100, 96, [a, o, 5], count=False)
    assert run.ok and (o == 301).all()


def test_a_back_off_that_grows_lets_a_later_block_release_the_lock():
    body = """if (blockIdx.x < gridDim.x - 1) { unsigned ns = 8;
      while (atomicAdd(f, 0) == 0) { __nanosleep(ns); if (ns < 1u << 20) ns += 3; } }
    else { atomicExch(f, 1); } o[blockIdx.x * blockDim.x + threadIdx.x] = 1;"""
    flag, o = ints(1), ints(64 * 300)
    run = run_cuda(cuda(body, "int* f, int* o"), 300, 64, [flag, o])
    assert run.ok and o.all()


@pytest.mark.parametrize("block", [1, 5, 31, 32, 33, 100, 256, 1000])
@pytest.mark.parametrize("grid", [1, 7, 300])
def test_blocks_of_any_size_run_every_thread_once(grid, block):
    o = ints(grid * block)
    body = "atomicAdd(o + blockIdx.x * blockDim.x + threadIdx.x, 1 + threadIdx.x);"
    run = run_cuda(cuda(body, "int* o"), grid, block, [o])
    np.testing.assert_array_equal(o, np.tile(1 + np.arange(block), grid))
    assert run.counters["atomics"] == grid * -(-block // 32)
    assert run.counters["thread_instructions"] % (grid * block) == 0


def test_indices_of_three_dimensions():
    body = """int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    o[b * 60 + t] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * threadIdx.x
      + 10000 * threadIdx.y + 100000 * threadIdx.z;"""
    o = ints(24 * 60)
    assert run_cuda(cuda(body, "int* o"), (2, 3, 4), (3, 4, 5), [o]).ok
    z, y, x, c, b, a = np.meshgrid(*map(np.arange, (4, 3, 2, 5, 4, 3)), indexing="ij")
    want = x + 10 * y + 100 * z + 1000 * a + 10_000 * b + 100_000 * c
    np.testing.assert_array_equal(o, want.ravel())


def test_order_and_sample_choose_the_blocks():
    body = "int i = blockIdx.x * 32 + threadIdx.x; o[i] = atomicAdd(o + gridDim.x * 32, 1) + 1;"
    source = cuda(body, "int* o")
    first, again, other = ints(32 * 600 + 1), ints(32 * 600 + 1), ints(32 * 600 + 1)
    run_cuda(source, 600, 32, [first], order_seed=1)
    run_cuda(source, 600, 32, [again], order_seed=1)
    run_cuda(source, 600, 32, [other], order_seed=2)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any() and (np.sort(first)[1:-1] == np.sort(other)[1:-1]).all()
    sampled = ints(32 * 600 + 1)
    run = run_cuda(source, 600, 32, [sampled], sample=0.02)
    assert (run.blocks, run.blocks_run) == (600, 12)
    assert (sampled[:-1].reshape(600, 32)[:, 0] > 0).sum() == 12


def test_a_seed_changes_the_order_of_warps_within_a_block():
    body = """__shared__ int last; int t = threadIdx.x;
        last = t; __syncthreads(); o[t] = last;
        atomicAdd(o + 256, 1); __syncthreads(); if (t < 100) o[257 + t] = o[t] & 31;"""
    source, lasts, counters = cuda(body, "int* o"), {}, []
    for seed in (None, 1, 2, 3, 4, 5, 1):
        o = ints(357)
        run = run_cuda(source, 1, 256, [o], order_seed=seed)
        assert len(set(o[:256].tolist())) == 1 and o[256] == 256 and (o[257:] == o[0] & 31).all()
        assert kinds(run) == ["race"]
        assert lasts.setdefault(seed, int(o[0])) == o[0]
        counters.append({k: run.counters[k] for k in ("instructions", "barriers", "atomics")})
    assert len(set(lasts.values())) > 2 and all(c == counters[0] for c in counters)


@pytest.mark.parametrize(
    ("grid", "block", "shared"),
    [
        (1, 2048, 0),
        (1, (16, 16, 8), 0),
        (1, 32, 400_000),
        (0, 32, 0),
        ((1, 70_000), 32, 0),
        (1, -1, 0),
    ],
)
def test_launches_that_no_gpu_accepts_are_refused(grid, block, shared):
    with pytest.raises(LaunchError):
        run_cuda(cuda("o[0] = 1;", "int* o"), grid, block, [ints(1)], dynamic_shared=shared)


def test_printf_and_assertions():
    body = (
        r'printf("t %d %5.2f %s %lld%%\n", threadIdx.x, threadIdx.x / 2., "hi", 1234567890123LL);'
    )
    run = run_cuda(cuda(body, "int* o"), 1, 2, [ints(1)])
    assert run.printf == ["t 0  0.00 hi 1234567890123%\n", "t 1  0.50 hi 1234567890123%\n"]
    wide = r'printf("%*d|%-*d|%.*f|%c", 6, 42, 4, 7, 2, 3.14159, 33);'
    assert run_cuda(cuda(wide, "int* o"), 1, 1, [ints(1)]).printf == ["    42|7   |3.14|!"]
    trap = run_cuda(cuda("if (o[0] == 0) __trap(); o[0] = 1;", "int* o"), 1, 2, [o := ints(1)])
    assert kinds(trap) == ["trap"] and o[0] == 0
