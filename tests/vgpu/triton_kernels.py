"""The kernels that every course of Triton teaches, in our own words."""

# ruff: noqa: E501, PIE808
# fmt: off
# Marks at the ends of lines say where the fault is.

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice

# fmt: off


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, columns, stride_x, stride_out, rows, B: tl.constexpr):
    c = tl.arange(0, B)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        v = tl.load(x + row * stride_x + c, mask=c < columns, other=float("-inf"))
        e = tl.exp(v - tl.max(v, 0))
        tl.store(out + row * stride_out + c, e / tl.sum(e, 0), mask=c < columns)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(configs=[triton.Config({"BM": 32, "BN": 32, "BK": 32, "G": 4}, num_warps=2),
                          triton.Config({"BM": 64, "BN": 32, "BK": 32, "G": 2}, num_warps=4, num_stages=2)],
                 key=["M", "N", "K"])
@triton.jit
def matmul(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, ACTIVATION: tl.constexpr,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pid, down, across = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = pid // (G * across)
    first = group * G
    height = min(down - first, G)
    pm, pn = first + (pid % (G * across)) % height, (pid % (G * across)) // height
    m, n, k = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa = a + (m % M)[:, None] * sam + k[None, :] * sak
    pb = b + k[:, None] * sbk + (n % N)[None, :] * sbn
    total = tl.zeros((BM, BN), tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32)
    for step in range(tl.cdiv(K, BK)):
        left = K - step * BK
        x = tl.load(pa, mask=k[None, :] < left, other=0.0)
        y = tl.load(pb, mask=k[:, None] < left, other=0.0)
        total = tl.dot(x, y, total, out_dtype=total.dtype)
        pa += BK * sak
        pb += BK * sbk
    if ACTIVATION:
        total = leaky_relu(total)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * scm + n[None, :] * scn, total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def seeded_dropout(x, out, n, p, seed, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(tl.rand(seed, at) > p, v / (1 - p), 0.0), mask=at < n)


@triton.jit
def norm_forward(x, y, w, b, means, rstds, n, eps, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / n
    d = tl.where(c < n, v - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(d * d, 0) / n + eps)
    tl.store(means + row, mean)
    tl.store(rstds + row, rstd)
    scaled = d * rstd * tl.load(w + c, mask=c < n) + tl.load(b + c, mask=c < n)
    tl.store(y + row * n + c, scaled, mask=c < n)


@triton.jit
def norm_backward(dx, dy, dw, db, x, w, means, rstds, lock, n, B: tl.constexpr, GROUP: tl.constexpr):
    # Gradients of the weights are collected in a few rows, each behind a lock.
    row, c = tl.program_id(0), tl.arange(0, B)
    mine = row % GROUP
    g = tl.load(dy + row * n + c, mask=c < n, other=0.0)
    rstd = tl.load(rstds + row)
    hat = tl.where(c < n, (tl.load(x + row * n + c, mask=c < n, other=0.0) - tl.load(means + row)) * rstd, 0.0)
    wg = tl.load(w + c, mask=c < n, other=0.0) * g
    tl.store(dx + row * n + c, (wg - (hat * tl.sum(hat * wg, 0) + tl.sum(wg, 0)) / n) * rstd, mask=c < n)
    while tl.atomic_cas(lock + mine, 0, 1) == 1:
        pass
    used = tl.load(lock + GROUP + mine)
    part_w, part_b = g * hat, g
    if used == 0:
        tl.atomic_xchg(lock + GROUP + mine, 1)
    else:
        part_w += tl.load(dw + mine * n + c, mask=c < n)
        part_b += tl.load(db + mine * n + c, mask=c < n)
    tl.store(dw + mine * n + c, part_w, mask=c < n)
    tl.store(db + mine * n + c, part_b, mask=c < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock + mine, 0)


@triton.jit
def sum_of_rows(parts, out, rows, n, BM: tl.constexpr, BN: tl.constexpr):
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, rows, BM):
        r = first + tl.arange(0, BM)
        total += tl.load(parts + r[:, None] * n + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < n), other=0.0)
    tl.store(out + c, tl.sum(total, 0), mask=c < n)


@triton.jit
def attention(q, k, v, out, n, scale, CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1) * n * D
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    query = tl.load(q + head + m[:, None] * D + d[None, :], mask=m[:, None] < n, other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    below, total = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    end = min(n, (tl.program_id(0) + 1) * BM) if CAUSAL else n
    for first in range(0, end, BN):
        j = first + tl.arange(0, BN)
        keys = tl.load(k + head + j[None, :] * D + d[:, None], mask=j[None, :] < n, other=0.0)
        s = tl.dot(query, keys) * scale
        seen = (j[None, :] < n) & (j[None, :] <= m[:, None]) if CAUSAL else (j[None, :] < n) & (m[:, None] >= 0)
        s = tl.where(seen, s, float("-inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p, old = tl.exp(s - new[:, None]), tl.exp(top - new)
        values = tl.load(v + head + j[:, None] * D + d[None, :], mask=j[:, None] < n, other=0.0)
        total = tl.dot(p.to(values.dtype), values, total * old[:, None])
        below, top = below * old + tl.sum(p, 1), new
    tl.store(out + head + m[:, None] * D + d[None, :], (total / below[:, None]).to(out.dtype.element_ty), mask=m[:, None] < n)


@triton.jit
def grouped_matmul(a, b, c, sizes, places, GROUPS, B: tl.constexpr):
    # Several products of different sizes in one launch; programs share the tiles of all of them.
    tile, before = tl.program_id(0), 0
    for g in range(GROUPS):
        M, N, K = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        pa, pb, pc = a + tl.load(places + 3 * g), b + tl.load(places + 3 * g + 1), c + tl.load(places + 3 * g + 2)
        tiles = tl.cdiv(M, B) * tl.cdiv(N, B)
        while tile >= before and tile < before + tiles:
            at = tile - before
            m = at // tl.cdiv(N, B) * B + tl.arange(0, B)
            n = at % tl.cdiv(N, B) * B + tl.arange(0, B)
            total = tl.zeros((B, B), tl.float32)
            for first in range(0, K, B):
                k = first + tl.arange(0, B)
                x = tl.load(pa + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
                y = tl.load(pb + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
                total = tl.dot(x, y, total)
            tl.store(pc + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))
            tile += tl.num_programs(0)
        before += tiles


@triton.jit
def arcsine(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, libdevice.asin(tl.load(x + at, mask=at < n)), mask=at < n)


@triton.jit
def many_scalars(x, y, out, n, B: tl.constexpr):
    # The add kernel of an article: programs loop over how many they are, one element at a time.
    first = tl.program_id(0) * B
    for i in range(0, tl.num_programs(0)):
        if first + i < n:
            v = tl.load(x + first + i) + tl.load(y + first + i)
            tl.store(out + first + i, v)


@triton.jit
def descriptor_copy(source, target, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.program_id(0) * M, tl.program_id(1) * N
    target.store([r, c], source.load([r, c]) + 1)
