"""Arithmetic that NumPy does not have, rounded as PTX asks: elementwise, on arrays or scalars.

Error-free transformations are Knuth's two-sum and Dekker's two-product (Muller et
al., *Handbook of Floating-Point Arithmetic*, 2nd ed., chapter 4); the fused
multiply-add of doubles is Boldo and Melquiond's (*Emulation of FMA and correctly
rounded sums*, IEEE Trans. Computers 57, 2008).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

__all__ = [
    "bf16_to_f32",
    "directed",
    "f16_to_f32",
    "f32_to_bf16",
    "fma_f16",
    "fma_f32",
    "fma_f64",
    "ftz",
    "halves",
    "mulhi_s64",
    "mulhi_u64",
    "odd_sum",
    "pack_halves",
    "sel",
    "two_prod",
    "two_sum",
]

f2, f4, f8 = np.float16, np.float32, np.float64
u2, u4, u8, i4, i8 = np.uint16, np.uint32, np.uint64, np.int32, np.int64


def sel(p, a, b):
    """``a if p else b`` for each element; a uniform predicate costs nothing."""
    if not isinstance(p, np.ndarray):
        return a if p else b
    return np.where(p, a, b)


def two_sum(a, b):
    """``(s, e)`` with s = a + b rounded and s + e exact."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _split(a):
    c = a * f8(134217729.0)  # 2**27 + 1
    high = c - (c - a)
    return high, a - high


def two_prod(a, b):
    """``(p, e)`` with p = a * b rounded and p + e exact, for doubles far from the range's ends."""
    p = a * b
    ah, al = _split(a)
    bh, bl = _split(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def odd_sum(a, b):
    """a + b in double, *rounded to odd*: rounding once more to fewer bits is then exact."""
    s, e = two_sum(f8(a) if np.ndim(a) == 0 else a, b)
    away = (e != 0) & (_bits(s) & u8(1) == 0) & np.isfinite(s)
    if not np.any(away):
        return s
    toward = np.where(e > 0, f8(np.inf), f8(-np.inf))
    return sel(away, np.nextafter(s, toward), s)


def _bits(x):
    return x.view(u8)


_TIE = u8(1 << 63)  # the low 29 bits of a double half-way between two floats, moved to the top
_EXPONENT = u4(0x7F800000)


def fma_f32(a, b, c):
    """a * b + c in single precision, rounded once.

    The product is exact in double.  Rounding the double sum to float is a second rounding; it
    can differ from a single one only where the sum is a tie, or subnormal, and was itself
    rounded: those are redone.
    """
    p, c = a.astype(f8) * b.astype(f8), c.astype(f8)
    s = p + c
    r = s.astype(f4)
    tie = (s.view(u8) << u8(35)) == _TIE
    if not np.count_nonzero(tie) and np.minimum.reduce(r.view(u4) & _EXPONENT, axis=None) != 0:
        return r
    t = s - p
    hard = (tie | (np.abs(s) < 2.0**-125)) & ((p - (s - t)) + (c - t) != 0)
    if np.count_nonzero(hard):
        if not isinstance(s, np.ndarray):
            return odd_sum(p, c).astype(f4)
        p, c = np.broadcast_to(p, s.shape)[hard], np.broadcast_to(c, s.shape)[hard]
        r[hard] = odd_sum(p, c).astype(f4)
    return r


def fma_f16(a, b, c):
    """a * b + c in half precision, rounded once."""
    return odd_sum(a.astype(f8) * b.astype(f8), c.astype(f8)).astype(f2)


def fma_f64(a, b, c):
    """a * b + c in double precision, rounded once."""
    uh, ul = two_prod(a, b)
    th, tl = two_sum(c, ul)
    vh, vl = two_sum(uh, th)
    r = vh + odd_sum(tl, vl)
    zero = r == 0
    if np.any(zero):  # the parts above have lost the sign of a zero product
        r = sel(zero, uh + c, r)
    size = np.maximum(np.maximum(np.abs(a), np.abs(b)), np.maximum(np.abs(c), np.abs(uh)))
    small = (np.abs(uh) < 1e-270) & (a != 0) & (b != 0)
    hard = ~(size < 1e290) | small
    if not np.any(hard):
        return r
    if not isinstance(r, np.ndarray):
        return f8(_fma_exact(float(a), float(b), float(c)))
    where = np.flatnonzero(hard)
    a, b, c = (np.broadcast_to(x, r.shape)[where].tolist() for x in (a, b, c))
    r[where] = [_fma_exact(*abc) for abc in zip(a, b, c)]
    return r


def _fma_exact(a: float, b: float, c: float) -> float:
    exact = 0
    if math.isfinite(a) and math.isfinite(b) and math.isfinite(c):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact:
        return _nearest(exact)
    if math.isinf(c) and math.isfinite(a) and math.isfinite(b):
        return c
    return float(f8(a) * f8(b) + f8(c))


# -- directed rounding: .rz, .rm, .rp
def _step(r, error, mode, special=False):
    """Move `r`, rounded to nearest, to the neighbour that `mode` asks for.

    `error` has the sign of exact value minus `r`; where `special` holds, `r` is exact.
    """
    inf = r.dtype.type(np.inf)
    if mode == "rm":
        wrong, toward = error < 0, -inf
    elif mode == "rp":
        wrong, toward = error > 0, inf
    else:
        wrong, toward = ((error < 0) & (r > 0)) | ((error > 0) & (r < 0)), r.dtype.type(0)
    return sel(wrong & ~np.asarray(special), np.nextafter(r, toward), r)


_EXACT = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "fma": lambda a, b, c: a * b + c,
    "div": lambda a, b: a / b,
}


def directed(op: str, mode: str, *args):
    """``add``, ``sub``, ``mul``, ``fma``, ``div`` or ``sqrt`` rounded by `mode`.

    `mode` is ``rz`` (toward zero), ``rm`` (down) or ``rp`` (up).  The result to nearest is
    corrected by the sign of its error, which doubles give exactly for singles; for doubles
    error-free transformations do, and rational arithmetic where their ranges end.
    """
    if op == "sub":
        return directed("add", mode, args[0], -args[1])
    single = args[0].dtype.type is not f8
    wide = [x.astype(f8) for x in args]
    special = ~np.isfinite(wide[0])
    for x in wide[1:]:
        special = special | ~np.isfinite(x)
    hard = np.bool_(False)
    if op == "add":
        r = args[0] + args[1]
        h, low = two_sum(*wide)
        error = (h - r.astype(f8)) + low
        signs = np.signbit(args[0]) | np.signbit(args[1])
    elif op == "mul":
        r = args[0] * args[1]
        error = wide[0] * wide[1] - r.astype(f8) if single else two_prod(*wide)[1]
    elif op == "fma":
        r = {f4: fma_f32, f8: fma_f64}[args[0].dtype.type](*args)
        p, e = (wide[0] * wide[1], f8(0)) if single else two_prod(wide[0], wide[1])
        h, low = two_sum(p, wide[2])
        error = (h - r.astype(f8)) + (low + e)
        signs = (np.signbit(args[0]) ^ np.signbit(args[1])) | np.signbit(args[2])
        hard = (h != r) & (not single)
    else:
        b = wide[1] if op == "div" else None
        r = args[0] / args[1] if op == "div" else np.sqrt(args[0])
        special = special | np.isnan(r) | (b == 0 if op == "div" else False)
        back = r.astype(f8)
        other = back if b is None else b
        p, e = (back * other, f8(0)) if single else two_prod(back, other)
        error = ((wide[0] - p) - e) * (1 if b is None else np.sign(b))
    error = sel(np.isinf(r), -np.sign(r).astype(f8), error)
    if mode == "rm" and op in ("add", "fma"):  # x - x is -0 when rounding down
        r = sel((r == 0) & (error == 0) & signs, r.dtype.type(-0.0), r)
    out = _step(r, error, mode, special)
    if single:
        return out
    for x in (*wide, r):
        hard = hard | ((np.abs(x) > 2.0**480) | ((np.abs(x) < 2.0**-480) & (x != 0)))
    hard = hard & ~special
    if not np.any(hard):
        return out
    columns = [np.broadcast_to(x, np.shape(hard))[hard].tolist() for x in args]
    return _patch(out, hard, [_exact(op, mode, *row) for row in zip(*columns)])


def _patch(out, where, values):
    if not isinstance(out, np.ndarray):
        return f8(values[0])
    out[where] = values
    return out


def _nearest(exact: Fraction) -> float:
    try:
        return exact.numerator / exact.denominator  # int / int is rounded correctly
    except OverflowError:
        return -math.inf if exact < 0 else math.inf


def _exact(op: str, mode: str, *args: float) -> float:
    """One directed operation on finite doubles, by rational arithmetic."""
    if op == "sqrt":
        r, exact = math.sqrt(args[0]), Fraction(args[0])
        over = (Fraction(r) ** 2 > exact) - (Fraction(r) ** 2 < exact)
    else:
        exact = _EXACT[op](*map(Fraction, args))
        if exact == 0:
            return float(directed_zero(op, mode, args))
        r = _nearest(exact)
        over = math.copysign(1, r) if math.isinf(r) else (r > exact) - (r < exact)
    up = mode == "rp" or (mode == "rz" and exact < 0)
    if over > 0 and not up:
        return math.nextafter(r, -math.inf)
    if over < 0 and up:
        return math.nextafter(r, math.inf)
    return r


def directed_zero(op: str, mode: str, args) -> float:
    """The sign of an exact zero."""
    with np.errstate(all="ignore"):
        plain = _EXACT[op](*map(f8, args))
    if op in ("add", "fma") and mode == "rm":
        first = math.copysign(1, args[0]) * (math.copysign(1, args[1]) if op == "fma" else 1)
        if first < 0 or math.copysign(1, args[-1]) < 0:
            return -0.0
    return math.copysign(0.0, plain)


def narrow(x, kind, mode):
    """A float converted to a narrower one, rounded by `mode` (``rn`` included)."""
    if kind is f2 and x.dtype.type is not f8:
        x = x.astype(f8)
    r = x.astype(kind)
    if mode == "rn" or not mode:
        return r
    wide = x.astype(f8)
    error = sel(np.isinf(r), -np.sign(wide), wide - r.astype(f8))
    return _step(r, error, mode, ~np.isfinite(x))


def ftz(x):
    """Subnormal numbers become zero of the same sign."""
    return sel(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(x.dtype.type(0), x), x)


# -- 16-bit formats
def bf16_to_f32(x):
    """``uint16`` holding bfloat16, as float32."""
    return (x.astype(u4) << u4(16)).view(f4)


_HALF_BITS = i4(-0x70002000)  # of a half: its sign at the top, 15 bits from bit 13


def f16_to_f32(x):
    """An array of halves as singles, by their bits: quicker than NumPy's conversion.

    With the exponent's bias left as it is the number is too small by a factor of 2**112, also a
    subnormal one; infinities and not-a-numbers come out as numbers from 2**16 on.
    """
    bits = x.view(np.int16).astype(i4)
    bits <<= i4(13)
    bits &= _HALF_BITS
    out = bits.view(f4)
    out *= f4(2.0**112)
    special = out.size and max(np.maximum.reduce(out, None), -np.minimum.reduce(out, None)) >= 65536
    return x.astype(f4) if special else out


def f32_to_bf16(x, mode="rn"):
    """float32 or float64 to bfloat16 in a ``uint16``; double is rounded to odd first."""
    if x.dtype.type is f8:
        near = x.astype(f4)
        gap = x - near.astype(f8)
        odd = (gap != 0) & (near.view(u4) & u4(1) == 0) & np.isfinite(near)
        x = sel(odd, np.nextafter(near, np.where(gap > 0, f4(np.inf), f4(-np.inf))), near)
    b = x.view(u4)
    if mode in ("rn", ""):
        r = b + u4(0x7FFF) + ((b >> u4(16)) & u4(1))
    elif mode == "rna":
        r = b + u4(0x8000)
    else:
        r = b
    r = sel(np.isnan(x), u4(0x7FFF0000), r)
    return (r >> u4(16)).astype(u2)


def halves(x):
    """Packed pairs (``uint32``) as an array of float16 pairs."""
    return np.ascontiguousarray(np.atleast_1d(x)).view(f2).reshape(-1, 2)


def pack_halves(pairs, scalar: bool):
    """The inverse of `halves`; a scalar if everything that went in was one."""
    out = np.ascontiguousarray(pairs).reshape(-1).view(u4)
    return out[0] if scalar else out


# -- wide integers
def mulhi_u64(a, b):
    """The upper 64 bits of the 128-bit product."""
    mask, s = u8(0xFFFFFFFF), u8(32)
    ah, al, bh, bl = a >> s, a & mask, b >> s, b & mask
    middle = ah * bl + (al * bl >> s)
    low = al * bh + (middle & mask)
    return ah * bh + (middle >> s) + (low >> s)


def mulhi_s64(a, b):
    """The upper 64 bits of the signed 128-bit product."""
    r = mulhi_u64(a.view(u8), b.view(u8)).view(i8)
    return r - sel(a < 0, b, i8(0)) - sel(b < 0, a, i8(0))
