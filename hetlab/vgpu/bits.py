"""Integer arithmetic that NumPy does not have: carries, clamped shifts, bit fields.

Each function works on arrays or scalars of one integer type.
"""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.numerics import sel

__all__ = [
    "addc",
    "amount",
    "bfe",
    "bfi",
    "bfind",
    "bmsk",
    "brev",
    "carry_add",
    "clz",
    "dot",
    "fns",
    "idiv",
    "irem",
    "lop3",
    "popc",
    "prmt",
    "saturate",
    "subc",
    "szext",
]


def amount(b, kind, bits):
    """A shift amount, clamped as PTX does; NumPy's shifts by the full width give 0 or the sign."""
    if isinstance(b, np.ndarray):
        return np.minimum(b, np.uint32(bits)).astype(kind)
    return kind(min(int(b), bits))


def saturate(x):
    return np.clip(x, np.int64(-(2**31)), np.int64(2**31 - 1)).astype(np.int32)


def carry_add(a, b):
    a = a.view(b.dtype)
    s = a + b
    return s, s < a


def addc(a, b, carry):
    a = a.view(b.dtype)
    s = a + b
    r = s + carry.astype(s.dtype)
    return r, (s < a) | (r < s)


def subc(a, b, borrow):
    s = a - b
    r = s - borrow.astype(s.dtype)
    return r, (a < b) | (s < r)


def idiv(a, b):
    """Quotient toward zero; by zero all bits are set, as the hardware's routine gives."""
    zero = b == 0
    d = sel(zero, b.dtype.type(1), b)
    q = a // d
    if a.dtype.kind == "i":
        q = q + (((a ^ d) < 0) & (q * d != a)).astype(a.dtype)
    return sel(zero, ~a.dtype.type(0), q)


def irem(a, b):
    """Remainder with the dividend's sign; by zero the dividend."""
    zero = b == 0
    d = sel(zero, b.dtype.type(1), b)
    r = np.fmod(a, d)
    return sel(zero, a, r)


def _u(x):
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


def popc(x):
    return np.bitwise_count(_u(x)).astype(np.uint32)


def _smear(x):
    for s in (1, 2, 4, 8, 16, 32)[: x.dtype.itemsize.bit_length() + 2]:
        x = x | (x >> x.dtype.type(s))
    return x


def clz(x):
    bits = np.uint32(8 * x.dtype.itemsize)
    return bits - np.bitwise_count(_smear(_u(x))).astype(np.uint32)


def bfind(x, shiftamt):
    u = _u(x)
    if x.dtype.kind == "i":
        u = sel(x < 0, ~u, u)
    top = np.uint32(8 * u.dtype.itemsize - 1) - clz(u)
    if not shiftamt:
        return top
    return sel(u == 0, np.uint32(0xFFFFFFFF), np.uint32(8 * u.dtype.itemsize - 1) - top)


def brev(x):
    u = _u(x)
    kind, bits = u.dtype.type, 8 * u.dtype.itemsize
    for s in (1, 2, 4, 8, 16, 32)[: bits.bit_length() - 1]:
        mask = sum(((1 << s) - 1) << k for k in range(0, bits, 2 * s))
        u = ((u >> kind(s)) & kind(mask)) | ((u & kind(mask)) << kind(s))
    return u


def lop3(a, b, c, table):
    r = a & a.dtype.type(0)
    table = int(table)
    for k in range(8):
        if table >> k & 1:
            term = (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
            r = r | term
    return r


def bfe(x, start, length):
    bits = 8 * x.dtype.itemsize
    kind = x.dtype.type
    start, length = start & np.uint32(255), length & np.uint32(255)
    signed = x.dtype.kind == "i"
    fits = np.minimum(start, np.uint32(bits))
    room = np.minimum(length, np.uint32(bits) - fits)  # bits that really exist
    shifted = x >> fits.astype(kind)
    drop = (np.uint32(bits) - room).astype(kind)
    out = (shifted << drop) >> drop
    if signed:  # past the top bit the field is filled with the sign
        out = sel(length == 0, kind(0), sel(room == 0, x >> kind(bits - 1), out))
    return sel(room == 0, kind(0), out) if not signed else out


def bfi(field, base, start, length):
    bits = 8 * base.dtype.itemsize
    kind = base.dtype.type
    start, length = start & np.uint32(255), np.minimum(length & np.uint32(255), np.uint32(bits))
    full = kind((1 << bits) - 1)
    mask = ~(full << length.astype(kind)) << np.minimum(start, np.uint32(bits)).astype(kind)
    return (base & ~mask) | ((field << np.minimum(start, np.uint32(bits)).astype(kind)) & mask)


def bmsk(start, length, wrap):
    if wrap:
        start, length = start & np.uint32(31), length & np.uint32(31)
    start, length = np.minimum(start, np.uint32(32)), np.minimum(length, np.uint32(32))
    one, s = np.uint64(1), start.astype(np.uint64)
    return (((one << length.astype(np.uint64)) - one) << s).astype(np.uint32)


def szext(x, n, wrap):
    n = n & np.uint32(31) if wrap else np.minimum(n, np.uint32(32))
    drop = (np.uint32(32) - n).astype(x.dtype)
    return sel(n == 0, x.dtype.type(0), (x << drop) >> drop)


def prmt(a, b, selector, mode):
    pool = a.astype(np.uint64) | (b.astype(np.uint64) << np.uint64(32))
    four, out = np.uint64(255), np.uint32(0)
    for k in range(4):
        if not mode:
            s = (selector >> np.uint32(4 * k)) & np.uint32(15)
            byte = (pool >> ((s & np.uint32(7)) * np.uint32(8)).astype(np.uint64)) & four
            sign = (byte >> np.uint64(7)) * four
            byte = sel(s >= 8, sign, byte)
        else:
            c = (selector & np.uint32(3)).astype(np.int64)
            i = {
                "f4e": c + k,
                "b4e": (c - k) & 7,
                "rc8": c,
                "ecl": np.maximum(c, k),
                "ecr": np.minimum(c, k),
                "rc16": (c & 1) * 2 + (k & 1),
            }[mode]
            byte = (pool >> (i * 8).astype(np.uint64)) & four
        out = out | (byte.astype(np.uint32) << np.uint32(8 * k))
    return out


def dot(a, b, width, high):
    """``dp4a`` (four bytes) or ``dp2a`` (two halves of a, two bytes of b), in 64 bits."""
    total = np.int64(0)
    step = 8 if width == 4 else 16
    for k in range(width):
        at = 8 * k + (16 if width == 2 and high else 0)
        x = _field(a, step * k, step)
        total = total + x * _field(b, at, 8)
    return total


def _field(x, at, bits):
    wide = x.astype(np.int64)
    return (
        (wide << np.int64(64 - at - bits)) >> np.int64(64 - bits)
        if x.dtype.kind == "i"
        else (wide >> np.int64(at)) & np.int64((1 << bits) - 1)
    )


def fns(mask, base, offset):
    """The position of the `offset`-th set bit from `base`; 0xffffffff when there is none."""
    out = []
    for m, b, o in zip(
        *(np.atleast_1d(x).tolist() for x in np.broadcast_arrays(mask, base, offset))
    ):
        step = 1 if o >= 0 else -1
        places = range(b, 32) if step > 0 else range(b, -1, -1)
        places = [p for p in places if m >> p & 1]
        want = abs(o) - 1 if o else 0
        hit = [b] if o == 0 and m >> b & 1 else ([] if o == 0 else places[want : want + 1])
        out.append(hit[0] if hit else 0xFFFFFFFF)
    return np.array(out, np.uint32) if isinstance(mask, np.ndarray) else np.uint32(out[0])
