"""Triton's well-known kernels give NumPy's numbers, within what their precision allows."""

# ruff: noqa: E402, E501

from __future__ import annotations

import numpy as np
import pytest

triton = pytest.importorskip("triton")
ml_dtypes = pytest.importorskip("ml_dtypes")

from hetlab.vgpu.frontends.switch import use_virtual_gpu
from hetlab.vgpu.profile import profile, sanitize
from hetlab.vgpu.uninitialised import empty

from . import triton_kernels as kernels

RNG = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def _virtual():
    use_virtual_gpu()


def normal(shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def exact(x):
    return np.asarray(x).astype(np.float64)


@pytest.mark.parametrize("n", [1, 1008, 1000, 4096])
def test_vector_add(n):
    """Elements are added, whatever the length; each byte moves once where masks fit vectors."""
    x, y, out = normal(n), normal(n), empty(n, np.float32)
    report = profile(kernels.add[(triton.cdiv(n, 1024),)], x, y, out, n, B=1024)
    assert report.ok and not report.warnings
    assert np.array_equal(out, x + y)
    if n % 16 == 0:
        assert report.counters["global_load_sectors"] == 2 * n // 8
        assert report.counters["global_store_sectors"] == n // 8


@pytest.mark.parametrize("shape", [(5, 781), (33, 100), (1, 1)])
def test_fused_softmax(shape):
    """Rows sum to 1, also where programs take several rows and the tile is longer than a row."""
    x, out = normal(shape), empty(shape, np.float32)
    rows, columns = shape
    b = triton.next_power_of_2(columns)
    report = sanitize(
        kernels.softmax[(min(rows, 4),)], x, out, columns, columns, columns, rows, B=b
    )
    e = np.exp(exact(x) - exact(x).max(1, keepdims=True))
    assert report.ok and not report.warnings
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("shape", "dtype", "to", "tolerance"),
    [
        ((64, 96, 64), np.float16, np.float16, 2e-2),
        ((65, 33, 47), np.float16, np.float32, 1e-4),
        ((37, 64, 50), ml_dtypes.bfloat16, np.float32, 1e-4),
        ((33, 40, 70), np.float32, np.float32, 5e-2),  # TF32 has 10 bits
        ((64, 32, 96), np.int8, np.int32, 0),
    ],
)
def test_matmul_with_autotune(shape, dtype, to, tolerance):
    """Tiles of tensor cores give the product in each type; int8 is exact."""
    m, n, k = shape
    if dtype is np.int8:
        a, b = (RNG.integers(-128, 128, s).astype(dtype) for s in ((m, k), (k, n)))
    else:
        a, b = normal((m, k), dtype), normal((k, n), dtype)
    c = empty((m, n), to)
    grid = lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)  # noqa: E731
    report = profile(kernels.matmul[grid], a, b, c, m, n, k, k, 1, n, 1, n, 1, ACTIVATION=False)
    assert report.ok and not report.warnings
    np.testing.assert_allclose(exact(c), exact(a) @ exact(b), rtol=1e-3, atol=tolerance)
    if to is np.float32:
        tiles = report.blocks * kernels.matmul.best_config.kwargs["BM"]
        steps = 32 * -(-k // 32)
        assert report.counters["flops_tensor"] == 2 * tiles * 32 * steps


def test_matmul_of_a_transposed_matrix():
    """Strides that the kernel is told make a transposed array an ordinary argument."""
    a, b, c = normal((32, 48), np.float16), normal((64, 48), np.float16).T, empty((32, 64), "f4")
    step = b.strides[1] // b.itemsize
    launch = kernels.matmul[lambda m: (triton.cdiv(32, m["BM"]) * triton.cdiv(64, m["BN"]),)]
    assert sanitize(launch, a, b, c, 32, 64, 48, 48, 1, 1, step, 64, 1, ACTIVATION=True).ok
    want = exact(a) @ exact(b)
    np.testing.assert_allclose(c, np.where(want >= 0, want, 0.01 * want), rtol=1e-3, atol=1e-4)


def test_low_memory_dropout():
    """The seed alone decides what is dropped: about the asked share, the same each time."""
    x, one, two = np.ones(1000, np.float32), np.zeros(1000, "f4"), np.zeros(1000, "f4")
    for out, seed in ((one, 123), (two, 123)):
        kernels.seeded_dropout[(4,)](x, out, 1000, 0.5, seed, B=256)
    assert np.array_equal(one, two) and set(one.tolist()) == {0.0, 2.0}
    assert 400 < np.count_nonzero(one) < 600
    kernels.seeded_dropout[(4,)](x, two, 1000, 0.5, 512, B=256)
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("shape", [(6, 64), (13, 77)])
def test_layer_norm_forward_and_backward(shape):
    """Values and gradients agree with the formulas in double precision; locks make no race."""
    rows, n = shape
    group, b = 4, triton.next_power_of_2(n)
    x, w, bias, dy = normal(shape), normal(n), normal(n), normal(shape)
    y, dx = empty(shape, np.float32), empty(shape, np.float32)
    mean, rstd = empty(rows, np.float32), empty(rows, np.float32)
    launch = kernels.norm_forward[(rows,)]
    assert sanitize(launch, x, y, w, bias, mean, rstd, n, 1e-5, B=b).ok
    d = exact(x) - exact(x).mean(1, keepdims=True)
    r = 1 / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
    hat = d * r
    np.testing.assert_allclose(y, hat * w + bias, rtol=1e-5, atol=1e-5)
    parts_w, parts_b = empty((group, n), np.float32), empty((group, n), np.float32)
    lock = np.zeros(2 * group, np.int32)
    launch = kernels.norm_backward[(rows,)]
    args = (dx, dy, parts_w, parts_b, x, w, mean, rstd, lock, n)
    found = sanitize(launch, *args, B=b, GROUP=group)
    assert found.ok, found
    wg = exact(w) * exact(dy)
    means = (hat * wg).mean(1, keepdims=True), wg.mean(1, keepdims=True)
    np.testing.assert_allclose(dx, (wg - hat * means[0] - means[1]) * r, rtol=1e-4, atol=1e-5)
    for parts, want in ((parts_w, (exact(dy) * hat).sum(0)), (parts_b, exact(dy).sum(0))):
        out = empty(n, np.float32)
        launch = kernels.sum_of_rows[(triton.cdiv(n, 32),)]
        assert sanitize(launch, parts, out, group, n, BM=4, BN=32).ok
        np.testing.assert_allclose(out, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("n", "causal"), [(64, False), (100, True)])
def test_fused_attention(n, causal):
    """Softmax of scores, tile by tile, equals the whole; with a causal mask too."""
    q, k, v = (normal((2, n, 32), np.float16) for _ in range(3))
    out = empty((2, n, 32), np.float16)
    launch = kernels.attention[(triton.cdiv(n, 64), 2)]
    report = sanitize(launch, q, k, v, out, n, 0.2, CAUSAL=causal, D=32, BM=64, BN=32)
    s = exact(q) @ exact(k).swapaxes(1, 2) * 0.2
    if causal:
        s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(2, keepdims=True))
    assert report.ok and not report.warnings
    want = p / p.sum(2, keepdims=True) @ exact(v)
    np.testing.assert_allclose(exact(out), want, rtol=2e-3, atol=2e-3)


def test_grouped_matmul():
    """Three products of different sizes in one launch, over fewer programs than tiles."""
    sizes = np.array([[33, 40, 64], [16, 64, 32], [70, 20, 50]], np.int32)
    a = [normal((m, k), np.float16) for m, n, k in sizes]
    b = [normal((k, n), np.float16) for m, n, k in sizes]
    lengths = np.array([[m * k, k * n, m * n] for m, n, k in sizes])
    places = (np.cumsum(lengths, 0) - lengths).astype(np.int32)
    c = empty(int(lengths[:, 2].sum()), np.float32)
    flat = [np.concatenate([x.reshape(-1) for x in part]) for part in (a, b)]
    assert sanitize(kernels.grouped_matmul[(3,)], *flat, c, sizes, places, 3, B=32).ok
    for (m, n, _), x, y, (*_, at) in zip(sizes, a, b, places):
        got = c[at : at + m * n].reshape(m, n)
        np.testing.assert_allclose(got, exact(x) @ exact(y), rtol=1e-4, atol=1e-3)


def test_libdevice():
    """Functions of NVIDIA's library are the compiler's own code."""
    x, out = RNG.random(777).astype(np.float32), empty(777, np.float32)
    assert sanitize(kernels.arcsine[(4,)], x, out, 777, B=256).ok
    np.testing.assert_allclose(out, np.arcsin(exact(x)), rtol=1e-6)


def test_the_add_kernel_of_the_article_is_found_out():
    """Too few programs leave elements unwritten; too many write one element twice: both are said."""
    n = 1000
    x, y = normal(n), normal(n)
    out = empty(n, np.float32)
    few = sanitize(kernels.many_scalars[(4,)], x, y, out, n, B=256)
    assert few.ok and [w.kind for w in few.warnings] == ["partly-written"]
    assert "Only 16 of the 1,000 elements of out were written" in few.warnings[0].message
    assert few.warnings[0].index == 4
    many = sanitize(kernels.many_scalars[(63,)], x, y, empty(n, np.float32), n, B=16)
    assert [w.kind for w in many.warnings] == ["same-value-store"]
    assert many.warnings[0].message.startswith("Two programs store the same value to out[")
    mended = empty(n, np.float32)
    good = sanitize(kernels.add[(8,)], x, y, mended, n, B=128)
    assert good.ok and not good.warnings and np.array_equal(mended, x + y)
