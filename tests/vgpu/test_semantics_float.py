"""Floating-point instructions against exact rational arithmetic, rounded once."""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction

import numpy as np
import pytest

from .test_semantics_int import apply

# precision, smallest exponent of a normal number, largest exponent
FORMATS = {
    "f16": (11, -14, 15),
    "bf16": (8, -126, 127),
    "f32": (24, -126, 127),
    "f64": (53, -1022, 1023),
}
BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


def decode(bits: int, t: str):
    """The number that a bit pattern stands for: a Fraction, or a float for the special ones."""
    p, emin, emax = FORMATS[t]
    width = BITS[t]
    sign = -1 if bits >> (width - 1) else 1
    mantissa, exponent = bits & ((1 << p - 1) - 1), bits >> (p - 1) & ((1 << width - p) - 1)
    if exponent == (1 << width - p) - 1:
        return math.nan if mantissa else sign * math.inf
    if exponent == 0:
        value = Fraction(mantissa) * Fraction(2) ** (emin - p + 1)
    else:
        value = Fraction(mantissa | 1 << p - 1) * Fraction(2) ** (exponent - emax - p + 1)
    return -0.0 if not value and sign < 0 else sign * value


def encode(value, t: str, mode: str = "rn") -> int | str:
    """Round a number to a format; the bit pattern, or "nan"."""
    p, emin, emax = FORMATS[t]
    width = BITS[t]
    top = 1 << width - 1
    infinity = ((1 << width - p) - 1) << p - 1
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        if math.isinf(value):
            return infinity | (top if value < 0 else 0)
        return top if math.copysign(1, value) < 0 else 0
    sign, x = (top, -value) if value < 0 else (0, value)
    if not x:
        return 0
    mode = {"rm": "up" if sign else "down", "rp": "down" if sign else "up", "rz": "down"}.get(
        mode, mode
    )
    e = x.numerator.bit_length() - x.denominator.bit_length()
    while Fraction(2) ** e > x:
        e -= 1
    while Fraction(2) ** (e + 1) <= x:
        e += 1
    unit = Fraction(2) ** (max(e, emin) - p + 1)
    n, rest = divmod(x, unit)
    if mode == "up":
        n += rest > 0
    elif mode != "down":
        n += rest > unit / 2 or (rest == unit / 2 and (n & 1 or mode == "rna"))
    if n * unit >= Fraction(2) ** (emax + 1):
        return sign | (infinity - 1 if mode == "down" else infinity)
    if n >= 1 << p - 1:
        e2 = max(e, emin)
        if n >= 1 << p:
            n, e2 = n >> 1, e2 + 1
        return sign | (e2 + emax) << p - 1 | (int(n) & (1 << p - 1) - 1)
    return sign | int(n)


def patterns(t: str, n: int, seed: int, near: int = 12):
    """Bit patterns: special numbers, numbers of similar size, and any."""
    rng = random.Random(seed)
    p, _, emax = FORMATS[t]
    width = BITS[t]
    special = [0, 1, 2, (1 << p - 1) - 1, 1 << p - 1, emax << p - 1, (emax << p - 1) + 1]
    special += [((1 << width - p) - 1) << p - 1, (((1 << width - p) - 1) << p - 1) - 1]
    special += [(((1 << width - p) - 1) << p - 1) | 1 << p - 2]
    out = []
    for _ in range(n):
        kind = rng.random()
        if kind < 0.15:
            x = rng.choice(special)
        elif kind < 0.75:
            mantissa = rng.choice([rng.getrandbits(p - 1), rng.getrandbits(3) << p - 4, 0, 1])
            x = (emax + rng.randint(-near, near)) << p - 1 | mantissa
        else:
            x = rng.getrandbits(width - 1)
        out.append(x | rng.getrandbits(1) << width - 1)
    return np.array(out, f"u{width // 8}")


def is_nan(bits: int, t: str) -> bool:
    value = decode(bits, t)
    return isinstance(value, float) and math.isnan(value)


def same(got, want, t) -> None:
    for k, (g, w) in enumerate(zip(got, want)):
        if w == "nan":
            assert is_nan(g, t), (k, hex(g))
        else:
            assert g == w, (k, hex(g), hex(w))


def combine(op: str, xs):
    """The exact result of an operation on decoded numbers; IEEE 754 for the special ones."""
    if any(isinstance(x, float) and x != 0 for x in xs):
        f = [
            float(x) if not isinstance(x, Fraction) else (math.copysign(1.0, x) if x else 0.0)
            for x in xs
        ]
        if op == "add":
            return f[0] + f[1]
        if op == "mul":
            return f[0] * f[1]
        if op == "fma":
            return f[0] * f[1] + f[2]
        if op == "div":
            if math.isinf(f[0]):
                return f[0] * math.copysign(1, f[1]) if not math.isinf(f[1]) else math.nan
            return (
                math.nan
                if any(map(math.isnan, f))
                else math.copysign(0.0, f[0] * math.copysign(1, f[1]))
            )
    z = [Fraction(0) if isinstance(x, float) else x for x in xs]
    neg = [math.copysign(1, x) < 0 for x in xs]
    if op == "add":
        return z[0] + z[1] or _zero(neg, z)
    if op == "mul":
        return z[0] * z[1] or (-0.0 if neg[0] != neg[1] else 0.0)
    if op == "div":
        if not z[1]:
            return math.nan if not z[0] else math.copysign(math.inf, -1 if neg[0] != neg[1] else 1)
        return z[0] / z[1] or (-0.0 if neg[0] != neg[1] else 0.0)
    product = z[0] * z[1]
    return product + z[2] or _zero([neg[0] != neg[1], neg[2]], [product, z[2]])


def _zero(neg, terms):
    """An exact zero: of two zeros of one sign it has that sign, else the mode decides."""
    if any(terms) or neg[0] != neg[1]:
        return "zero"
    return -0.0 if neg[0] else 0.0


def expected(op, xs, t, mode):
    value = combine(op, xs)
    if value == "zero" or (value == 0 and isinstance(value, Fraction)):
        return (1 << BITS[t] - 1) if mode == "rm" else 0  # x - x
    return encode(value, t, mode)


CASES = [
    (op, t, mode)
    for t in ("f32", "f64")
    for op in ("add", "mul", "fma", "div")
    for mode in ("rn", "rz", "rm", "rp")
] + [(op, "f16", "rn") for op in ("add", "mul", "fma")]


@pytest.mark.parametrize(("op", "t", "mode"), CASES)
def test_arithmetic_is_rounded_once(op, t, mode):
    n, count = 700, 3 if op == "fma" else 2
    columns = [
        patterns(t, n, len(op) * 100 + BITS[t] + k, near=12 if t != "f16" else 8)
        for k in range(count)
    ]
    b = f"b{BITS[t]}"
    sources = ", ".join("ABC"[:count])
    got = apply(f"{op}.{mode}.{t} D, {sources};", (b,) * count, b, columns)
    want = [expected(op, [decode(int(x), t) for x in row], t, mode) for row in zip(*columns)]
    same(got, want, t)


def test_fma_in_single_precision_rounds_ties_of_the_double_sum_right():
    """Rounding to double first and to float then would give another result in each of these."""
    rng = random.Random(5)
    a, b, c = [], [], []
    while len(a) < 300:
        x, y = (Fraction(rng.getrandbits(13) | 1) for _ in range(2))
        if (x * y).numerator.bit_length() != 25:
            continue  # an odd product of 25 bits lies half-way between two floats
        z = Fraction(rng.choice([-1, 1])) / 2 ** rng.randint(30, 60)  # lost in a double sum
        for column, value in ((a, x), (b, y), (c, z)):
            column.append(encode(value, "f32"))
    columns = [np.array(x, "u4") for x in (a, b, c)]
    got = apply("fma.rn.f32 D, A, B, C;", ("b32",) * 3, "b32", columns)
    rows = zip(*columns)
    same(
        got, [expected("fma", [decode(int(x), "f32") for x in r], "f32", "rn") for r in rows], "f32"
    )


@pytest.mark.parametrize("t", ["f32", "f64"])
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_square_root_is_rounded_once(t, mode):
    a = patterns(t, 400, 7) & np.array((1 << BITS[t] - 1) - 1, f"u{BITS[t] // 8}")
    got = apply(f"sqrt.{mode}.{t} D, A;", (f"b{BITS[t]}",), f"b{BITS[t]}", (a,))
    p = FORMATS[t][0]
    for x, g in zip(a.tolist(), got):
        value = decode(x, t)
        if isinstance(value, float) or not value:
            assert (is_nan(x, t) and is_nan(g, t)) or g == x
            continue
        scale = 2 * (p + 1100)  # an integer square root with far more bits than the format has
        n = value.numerator << 2 * scale
        root = Fraction(math.isqrt(n // value.denominator), 1 << scale)
        exact = root if root * root == value else root + Fraction(1, 1 << scale + 1)
        assert g == encode(exact, t, mode), (hex(x), hex(g))


@pytest.mark.parametrize("t", ["f16x2", "bf16x2"])
@pytest.mark.parametrize("op", ["add", "mul", "fma"])
def test_packed_halves_are_two_numbers(op, t):
    half, count = t[:-2], 3 if op == "fma" else 2
    low = [patterns(half, 400, 40 + k, near=6) for k in range(count)]
    high = [patterns(half, 400, 50 + k, near=6) for k in range(count)]
    columns = [x.astype("u4") | y.astype("u4") << np.uint32(16) for x, y in zip(low, high)]
    got = apply(f"{op}.rn.{t} D, {', '.join('ABC'[:count])};", ("b32",) * count, "b32", columns)
    for part, shift in ((low, 0), (high, 16)):
        rows = zip(*part)
        want = [expected(op, [decode(int(x), half) for x in r], half, "rn") for r in rows]
        same([g >> shift & 0xFFFF for g in got], want, half)


@pytest.mark.parametrize("t", ["f16", "f32", "f64"])
def test_a_number_wins_over_nan_in_min_and_max_and_minus_zero_is_below_zero(t):
    b = f"b{BITS[t]}"
    x, y = patterns(t, 500, 60), patterns(t, 500, 61)
    x[:4] = [0, 1 << BITS[t] - 1, 0, 1 << BITS[t] - 1]
    y[:4] = [1 << BITS[t] - 1, 0, 0, 1 << BITS[t] - 1]

    def key(bits):
        return float(decode(bits, t)), math.copysign(1, decode(bits, t))

    for op, pick in (("min", min), ("max", max)):
        got = apply(f"{op}.{t} D, A, B;", (b, b), b, (x, y))
        nan = apply(f"{op}.NaN.{t} D, A, B;", (b, b), b, (x, y))
        for p, q, g, h in zip(x.tolist(), y.tolist(), got, nan):
            bad = [is_nan(p, t), is_nan(q, t)]
            if all(bad):
                assert is_nan(g, t)
            elif any(bad):
                assert g == (q if bad[0] else p)
            else:
                assert g == pick(p, q, key=key)
            assert is_nan(h, t) == any(bad)


@pytest.mark.parametrize(
    ("to", "source"), [("f32", "f64"), ("f16", "f32"), ("f16", "f64"), ("bf16", "f32")]
)
@pytest.mark.parametrize("mode", ["rn", "rz"])
def test_narrowing_conversions_are_rounded_once(to, source, mode):
    a = patterns(source, 800, 70, near=20)
    got = apply(f"cvt.{mode}.{to}.{source} D, A;", (f"b{BITS[source]}",), f"b{BITS[to]}", (a,))
    want = [encode(decode(int(x), source), to, mode) for x in a]
    same(got, want, to)


@pytest.mark.parametrize("source", ["f16", "bf16", "f32"])
def test_widening_conversions_are_exact(source):
    a = patterns(source, 400, 71)
    to = "f32" if source != "f32" else "f64"
    got = apply(f"cvt.{to}.{source} D, A;", (f"b{BITS[source]}",), f"b{BITS[to]}", (a,))
    same(got, [encode(decode(int(x), source), to) for x in a], to)


@pytest.mark.parametrize("to", ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("source", ["f16", "f32", "f64"])
@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
def test_float_to_integer_saturates(to, source, mode):
    a = patterns(source, 300, 72, near=40 if source != "f16" else 14)
    bits = int(to[1:])
    reg = max(bits, 16)
    got = apply(f"cvt.{mode}.{to}.{source} D, A;", (f"b{BITS[source]}",), f"b{reg}", (a,))
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if to[0] == "s" else (0, (1 << bits) - 1)
    for x, g in zip(a.tolist(), got):
        value = decode(x, source)
        if isinstance(value, float) and math.isnan(value):
            want = 1 << bits - 1 if source == "f64" or bits == 64 else 0
            if to[0] == "s" and want:
                want = low
        elif isinstance(value, float) and math.isinf(value):
            want = high if value > 0 else low
        else:
            value = Fraction(value)
            want = {
                "rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil
            }[mode](value)  # fmt: skip
            want = min(max(want, low), high)
        assert g == want & ((1 << reg) - 1), (hex(x), value)


@pytest.mark.parametrize("source", ["s8", "u16", "s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("to", ["f16", "f32", "f64"])
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_integer_to_float_is_rounded_once(source, to, mode):
    from .test_semantics_int import number, values

    bits = int(source[1:])
    a = values(max(bits, 16), 300, 73)
    if bits == 8:
        a = a & np.uint16(0xFF)
    reg = max(bits, 16)
    got = apply(f"cvt.{mode}.{to}.{source} D, A;", (f"b{reg}",), f"b{BITS[to]}", (a,))
    want = [encode(Fraction(number(source)(int(x))), to, mode) for x in a]
    same(got, want, to)


def test_rounding_to_whole_numbers_and_saturation_to_one():
    a = patterns("f32", 300, 74)
    for mode, f in (("rni", np.rint), ("rzi", np.trunc), ("rmi", np.floor), ("rpi", np.ceil)):
        got = apply(f"cvt.{mode}.f32.f32 D, A;", ("b32",), "b32", (a,))
        with np.errstate(all="ignore"):
            want = f(a.view("f4")).view("u4").tolist()
        same(got, ["nan" if is_nan(w, "f32") else w for w in want], "f32")
    got = apply("cvt.sat.f32.f32 D, A;", ("b32",), "b32", (a,))
    for x, g in zip(a.view("f4").tolist(), got):
        want = 0.0 if math.isnan(x) else min(max(x, 0.0), 1.0)
        assert struct.unpack("<f", struct.pack("<I", g))[0] == want


@pytest.mark.parametrize(
    ("op", "f"),
    [("sin", math.sin), ("cos", math.cos), ("ex2", lambda x: 2.0**x), ("tanh", math.tanh)],
)
def test_approximate_functions_are_as_good_as_single_precision(op, f):
    a = np.random.default_rng(3).uniform(-8, 8, 300).astype("f4")
    got = apply(f"{op}.approx.f32 D, A;", ("b32",), "b32", (a.view("u4"),))
    want = np.array([f(float(x)) for x in a]).astype("f4")
    np.testing.assert_allclose(np.array(got, "u4").view("f4"), want, rtol=2e-7, atol=1e-9)


@pytest.mark.parametrize("t", ["f16", "f32", "f64"])
def test_comparisons_know_ordered_from_unordered(t):
    b = f"b{BITS[t]}"
    x, y = patterns(t, 300, 80), patterns(t, 300, 81)
    y[::5] = x[::5]
    for op, f in {
        "eq": lambda p, q: p == q, "ne": lambda p, q: p != q, "lt": lambda p, q: p < q,
        "le": lambda p, q: p <= q, "gt": lambda p, q: p > q, "ge": lambda p, q: p >= q,
    }.items():  # fmt: skip
        for suffix in ("", "u"):
            text = f"setp.{op}{suffix}.{t} %p1, A, B; selp.{b} D, 1, 0, %p1;"
            got = apply(text, (b, b), b, (x, y))
            for p, q, g in zip(x.tolist(), y.tolist(), got):
                p, q = decode(p, t), decode(q, t)
                unordered = any(isinstance(v, float) and math.isnan(v) for v in (p, q))
                assert g == (bool(suffix) if unordered else f(p, q)), (op, suffix)
