"""Integer instructions against Python's integers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from .ptxkit import ptx_of, run_ptx

EDGES = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF]
EDGES += [0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF]


def values(bits: int, n: int, seed: int):
    rng = random.Random(seed)
    pool = [e & ((1 << bits) - 1) for e in EDGES]
    out = [rng.choice(pool) if rng.random() < 0.5 else rng.getrandbits(bits) for _ in range(n)]
    return np.array(out, f"u{bits // 8}")


def apply(instruction: str, types: tuple[str, ...], result: str, columns, extra: str = ""):
    """Run ``instruction`` with ``D`` as result and ``A``, ``B``, ``C``, ``E`` as sources."""
    prefix = {16: "%h", 32: "%r", 64: "%rd"}
    n = len(columns[0])
    body = ["mov.u32 %r50, %tid.x;", "cvt.u64.u32 %rd50, %r50;"]
    text = instruction
    for k, (t, letter) in enumerate(zip(types, "ABCE")):
        bits = int(t[1:])
        reg = f"{prefix[max(bits, 16)]}{k + 1}"
        body += [
            f"ld.param.u64 %rd40, [p{k}];",
            f"mul.lo.u64 %rd41, %rd50, {bits // 8};",
            "add.u64 %rd40, %rd40, %rd41;",
            f"ld.global.{t} {reg}, [%rd40];",
        ]
        text = text.replace(letter, reg)
    bits = int(result[1:])
    text = text.replace("D", f"{prefix[max(bits, 16)]}10")
    body += [
        text,
        "ld.param.u64 %rd40, [out];",
        f"mul.lo.u64 %rd41, %rd50, {bits // 8};",
        "add.u64 %rd40, %rd40, %rd41;",
        f"st.global.{result} [%rd40], {prefix[max(bits, 16)]}10;",
    ]
    params = ", ".join([f".param .u64 p{k}" for k in range(len(types))] + [".param .u64 out"])
    out = np.zeros(n, f"u{bits // 8}")
    run = run_ptx(ptx_of("\n".join(body), params), 1, n, [*columns, out])
    assert run.hazards == []
    return [int(x) for x in out]


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


def trunc_div(a: int, b: int) -> int:
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def number(t: str):
    bits = int(t[1:])
    return (lambda x: signed(int(x), bits)) if t[0] == "s" else int


TWO = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "mul.lo": lambda a, b, w: a * b,
    "mul.hi": lambda a, b, w: (a * b) >> w,
    "div": lambda a, b, w: trunc_div(a, b) if b else -1,
    "rem": lambda a, b, w: a - b * trunc_div(a, b) if b else a,
    "min": lambda a, b, w: min(a, b),
    "max": lambda a, b, w: max(a, b),
}


@pytest.mark.parametrize("t", ["s16", "u16", "s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("op", TWO)
def test_arithmetic_wraps_around(op, t):
    bits, n = int(t[1:]), 320
    a, b = values(bits, n, 1), values(bits, n, 2)
    got = apply(f"{op}.{t} D, A, B;", (t, t), t, (a, b))
    value = number(t)
    want = [TWO[op](value(x), value(y), bits) & ((1 << bits) - 1) for x, y in zip(a, b)]
    assert got == want


@pytest.mark.parametrize("t", ["s16", "u16", "s32", "u32"])
def test_wide_products_and_sums_keep_all_bits(t):
    bits, n = int(t[1:]), 256
    wide = f"{t[0]}{2 * bits}"
    a, b, c = values(bits, n, 3), values(bits, n, 4), values(2 * bits, n, 5)
    value, mask = number(t), (1 << 2 * bits) - 1
    assert apply(f"mul.wide.{t} D, A, B;", (t, t), wide, (a, b)) == [
        value(x) * value(y) & mask for x, y in zip(a, b)
    ]
    got = apply(f"mad.wide.{t} D, A, B, C;", (t, t, wide), wide, (a, b, c))
    assert got == [value(x) * value(y) + int(z) & mask for x, y, z in zip(a, b, c)]


@pytest.mark.parametrize("t", ["s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("half", ["lo", "hi"])
def test_multiply_add(t, half):
    bits, n = int(t[1:]), 200
    a, b, c = values(bits, n, 6), values(bits, n, 7), values(bits, n, 8)
    got = apply(f"mad.{half}.{t} D, A, B, C;", (t, t, t), t, (a, b, c))
    value = number(t)
    want = []
    for x, y, z in zip(a, b, c):
        product = value(x) * value(y)
        product = product >> bits if half == "hi" else product
        want.append(product + int(z) & ((1 << bits) - 1))
    assert got == want


@pytest.mark.parametrize("bits", [32, 64])
def test_carry_chains_make_wider_additions_and_subtractions(bits):
    n, u = 256, f"u{bits}"
    r = "%r" if bits == 32 else "%rd"
    a, b, c, e = (values(bits, n, s) for s in range(9, 13))
    args = ((u, u, u, u), u, (a, b, c, e))
    mask = (1 << bits) - 1

    def joined(low, high):
        return [int(x) | int(y) << bits for x, y in zip(low, high)]

    x, y = joined(a, b), joined(c, e)
    high = apply(f"add.cc.{u} {r}20, A, C; addc.{u} D, B, E;", *args)
    assert high == [(p + q) >> bits & mask for p, q in zip(x, y)]
    high = apply(f"sub.cc.{u} {r}20, A, C; subc.{u} D, B, E;", *args)
    assert high == [(p - q) >> bits & mask for p, q in zip(x, y)]
    third = apply(f"add.cc.{u} {r}20, A, C; addc.cc.{u} {r}21, B, E; addc.{u} D, 0, 0;", *args)
    assert third == [(p + q) >> 2 * bits for p, q in zip(x, y)]
    high = apply(f"mad.lo.cc.{u} {r}20, A, B, C; madc.hi.{u} D, A, B, E;", *args)
    want = [(int(p) * int(q) + z) >> bits & mask for p, q, z in zip(a, b, joined(c, e))]
    assert high == want


def test_saturating_addition_stops_at_the_ends():
    a, b = values(32, 256, 13), values(32, 256, 14)
    for op, f in (("add", int.__add__), ("sub", int.__sub__)):
        got = apply(f"{op}.sat.s32 D, A, B;", ("s32", "s32"), "s32", (a, b))
        want = [
            max(-(2**31), min(2**31 - 1, f(signed(int(x), 32), signed(int(y), 32)))) & 0xFFFFFFFF
            for x, y in zip(a, b)
        ]
        assert got == want


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_shifts_beyond_the_width_give_zero_or_the_sign(bits):
    n = 256
    a = values(bits, n, 15)
    pick = [0, 1, 5, 15, 16, 31, 32, 40, 63, 64, 200, 2**31, 2**32 - 1]
    b = np.array([random.Random(k).choice(pick) for k in range(n)], "u4")
    mask = (1 << bits) - 1
    shl = apply(f"shl.b{bits} D, A, B;", (f"b{bits}", "u32"), f"b{bits}", (a, b))
    assert shl == [(int(x) << int(y)) & mask if y < bits else 0 for x, y in zip(a, b)]
    shr = apply(f"shr.u{bits} D, A, B;", (f"u{bits}", "u32"), f"u{bits}", (a, b))
    assert shr == [int(x) >> int(min(y, 200)) for x, y in zip(a, b)]
    sar = apply(f"shr.s{bits} D, A, B;", (f"s{bits}", "u32"), f"s{bits}", (a, b))
    assert sar == [signed(int(x), bits) >> int(min(y, 200)) & mask for x, y in zip(a, b)]


@pytest.mark.parametrize("mode", ["wrap", "clamp"])
@pytest.mark.parametrize("side", ["l", "r"])
def test_funnel_shift(side, mode):
    n = 256
    a, b = values(32, n, 16), values(32, n, 17)
    c = np.array([k % 70 for k in range(n)], "u4")
    got = apply(f"shf.{side}.{mode}.b32 D, A, B, C;", ("b32", "b32", "u32"), "b32", (a, b, c))
    want = []
    for x, y, s in zip(a.tolist(), b.tolist(), c.tolist()):
        s = s & 31 if mode == "wrap" else min(s, 32)
        both = y << 32 | x
        want.append((both << s >> 32 if side == "l" else both >> s) & 0xFFFFFFFF)
    assert got == want


@pytest.mark.parametrize("bits", [32, 64])
def test_bit_counts_and_reversal(bits):
    a = values(bits, 256, 18)
    t = f"b{bits}"
    assert apply(f"popc.{t} D, A;", (t,), "u32", (a,)) == [int(x).bit_count() for x in a]
    assert apply(f"clz.{t} D, A;", (t,), "u32", (a,)) == [bits - int(x).bit_length() for x in a]
    got = apply(f"brev.{t} D, A;", (t,), t, (a,))
    assert got == [int(f"{int(x):0{bits}b}"[::-1], 2) for x in a]
    for sign in "us":
        got = apply(f"bfind.{sign}{bits} D, A;", (f"{sign}{bits}",), "u32", (a,))
        want = []
        for x in a.tolist():
            x = ~x & ((1 << bits) - 1) if sign == "s" and x >> (bits - 1) else x
            want.append((x.bit_length() - 1) & 0xFFFFFFFF)
        assert got == want


@pytest.mark.parametrize("t", ["u32", "s32", "u64", "s64"])
def test_bit_field_extract(t):
    bits, n = int(t[1:]), 400
    rng = random.Random(19)
    a = values(bits, n, 19)
    pick = [0, 1, 4, 8, 31, 32, 33, 63, 64, 100, 255]
    p = np.array([rng.choice(pick) for _ in range(n)], "u4")
    q = np.array([rng.choice(pick) for _ in range(n)], "u4")
    got = apply(f"bfe.{t} D, A, B, C;", (t, "u32", "u32"), t, (a, p, q))
    want = []
    for x, pos, length in zip(a.tolist(), p.tolist(), q.tolist()):
        # PTX ISA, bfe: the pseudo-code, bit by bit
        msb = bits - 1
        if t[0] == "u" or length == 0:
            fill = 0
        else:
            fill = x >> min(pos + length - 1, msb) & 1
        d = 0
        for k in range(bits):
            inside = k < length and pos + k <= msb
            d |= (x >> (pos + k) & 1 if inside else fill) << k
        want.append(d)
    assert got == want


@pytest.mark.parametrize("bits", [32, 64])
def test_bit_field_insert(bits):
    n, t = 400, f"b{bits}"
    rng = random.Random(20)
    a, b = values(bits, n, 21), values(bits, n, 22)
    pick = [0, 1, 4, 8, 31, 32, 33, 63, 64, 100, 255]
    p = np.array([rng.choice(pick) for _ in range(n)], "u4")
    q = np.array([rng.choice(pick) for _ in range(n)], "u4")
    got = apply(f"bfi.{t} D, A, B, C, E;", (t, t, "u32", "u32"), t, (a, b, p, q))
    want = []
    for f, d, pos, length in zip(a.tolist(), b.tolist(), p.tolist(), q.tolist()):
        for k in range(length):
            if pos + k < bits:
                d = d & ~(1 << pos + k) | (f >> k & 1 if k < bits else 0) << pos + k
        want.append(d)
    assert got == want


def test_every_table_of_three_input_logic():
    a, b, c = (values(32, 64, s) for s in (23, 24, 25))
    for table in (0, 1, 0x96, 0xE8, 0xCA, 0x80, 0xFE, 0x3C, 0xFF):
        got = apply(f"lop3.b32 D, A, B, C, {table};", ("b32",) * 3, "b32", (a, b, c))
        want = [
            sum(
                (table >> ((x >> k & 1) << 2 | (y >> k & 1) << 1 | (z >> k & 1)) & 1) << k
                for k in range(32)
            )
            for x, y, z in zip(a.tolist(), b.tolist(), c.tolist())
        ]
        assert got == want


def test_byte_permute_with_sign_replication():
    a, b, c = values(32, 256, 26), values(32, 256, 27), values(32, 256, 28)
    got = apply("prmt.b32 D, A, B, C;", ("b32",) * 3, "b32", (a, b, c))
    want = []
    for x, y, s in zip(a.tolist(), b.tolist(), c.tolist()):
        pool, d = (y << 32 | x).to_bytes(8, "little"), 0
        for k in range(4):
            nibble = s >> 4 * k & 15
            byte = pool[nibble & 7]
            byte = (255 if byte & 128 else 0) if nibble & 8 else byte
            d |= byte << 8 * k
        want.append(d)
    assert got == want


def test_dot_products_of_bytes():
    a, b, c = values(32, 200, 29), values(32, 200, 30), values(32, 200, 31)
    for ta, tb in (("s32", "s32"), ("u32", "u32"), ("s32", "u32"), ("u32", "s32")):
        got = apply(f"dp4a.{ta}.{tb} D, A, B, C;", ("b32",) * 3, "b32", (a, b, c))
        want = []
        for x, y, z in zip(a.tolist(), b.tolist(), c.tolist()):
            for k in range(4):
                p, q = x >> 8 * k & 255, y >> 8 * k & 255
                z += (signed(p, 8) if ta[0] == "s" else p) * (signed(q, 8) if tb[0] == "s" else q)
            want.append(z & 0xFFFFFFFF)
        assert got == want


def test_integer_conversions_truncate_extend_and_saturate():
    a = values(64, 256, 32)
    for to, source in (
        ("s8", "s32"),
        ("u8", "u64"),
        ("s64", "s32"),
        ("u64", "u32"),
        ("s16", "s64"),
    ):
        width = int(source[1:])
        column = (a & np.uint64((1 << width) - 1)).astype(f"u{width // 8}")
        reg = {8: 16}.get(int(to[1:]), int(to[1:]))
        for sat in ("", ".sat"):
            got = apply(f"cvt{sat}.{to}.{source} D, A;", (source,), f"b{reg}", (column,))
            bits = int(to[1:])
            low, high = (
                (-(1 << bits - 1), (1 << bits - 1) - 1) if to[0] == "s" else (0, (1 << bits) - 1)
            )
            want = []
            for x in column.tolist():
                x = number(source)(x)
                x = min(max(x, low), high) if sat else x
                x &= (1 << bits) - 1
                x = signed(x, bits) if to[0] == "s" else x
                want.append(x & ((1 << reg) - 1))
            assert got == want, (to, source, sat)
