"""Integer instructions: wrap-around, carry, saturation, shifts, bit fields."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu.numerics import mulhi_s64, mulhi_u64, sel
from hetlab.vgpu.semantics import Sem, code_of, const, entry, names

_WIDE = {"s16": "s32", "u16": "u32", "s32": "s64", "u32": "u64", "b32": "u64", "b16": "u32"}
_BITS = {"s8": 8, "u8": 8, "b8": 8, "s16": 16, "u16": 16, "b16": 16,
         "s32": 32, "u32": 32, "b32": 32, "s64": 64, "u64": 64, "b64": 64}  # fmt: skip
_LOGIC = {"and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}"}


def _two(t: str, code: str) -> Sem:
    return Sem((t,), (t, t), code)


def _unsigned(t: str) -> str:
    return f"u{_BITS[t]}"


for _op, _code in _LOGIC.items():
    entry(_op)(lambda m, t, n, code=_code: _two(t, code))
entry("not")(lambda m, t, n: Sem((t,), (t,), "~{0}"))
entry("cnot")(lambda m, t, n: Sem((t,), (t,), f"({{0}} == {const(0, t)}).astype({code_of(t)})"))
entry("clz")(lambda m, t, n: Sem(("u32",), (t,), "clz({0})"))
entry("popc")(lambda m, t, n: Sem(("u32",), (t,), "popc({0})"))
entry("brev")(lambda m, t, n: Sem((t,), (t,), "brev({0})"))
entry("lop3")(lambda m, t, n: Sem((t,), (t, t, t, "u32"), "lop3({0}, {1}, {2}, {3})"))
entry("fns")(lambda m, t, n: Sem(("u32",), ("u32", "u32", "s32"), "fns({0}, {1}, {2})"))


def integer_add(m, t, op: str) -> Sem:
    """``add`` and ``sub`` with carry-out or saturation."""
    sign = "+" if op == "add" else "-"
    if "cc" in m:
        out = "s < {0}" if op == "add" else "{0} < {1}"
        u = _unsigned(t)
        return Sem((u, "pred"), (u, u), f"(s := {{0}} {sign} {{1}}, {out})")
    if "sat" in m:
        return _two("s32", f"saturate({{0}}.astype(i8) {sign} {{1}})")
    return _two(t, f"{{0}} {sign} {{1}}")


def _with_carry(op):
    def rule(m, t, n):
        u = _unsigned(t)
        pair = f"{op}({{0}}, {{1}}, {{2}})"
        if "cc" in m:
            return Sem((u, "pred"), (u, u, "pred"), pair)
        return Sem((u,), (u, u, "pred"), f"{pair}[0]")

    return rule


entry("addc")(_with_carry("addc"))
entry("subc")(_with_carry("subc"))


def integer_mul(m, t) -> Sem:
    """``mul.lo``, ``mul.hi``, ``mul.wide`` and the 24-bit ones."""
    if "wide" in m:
        w = _WIDE[t]
        c = code_of(w)
        return Sem((w,), (t, t), f"{{0}}.astype({c}) * {{1}}.astype({c})")
    if "hi" in m:
        if _BITS[t] == 64:
            return _two(t, f"mulhi_{t.replace('b', 'u')}({{0}}, {{1}})")
        w = _WIDE[t]
        c = code_of(w)
        back = f"(({{0}}.astype({c}) * {{1}}.astype({c})) >> {const(_BITS[t], w)})"
        return _two(t, f"{back}.astype({code_of(t)})")
    return _two(t, "{0} * {1}")


def integer_mad(m, t) -> Sem:
    """``mad``: a product of any kind plus a third operand."""
    mul = integer_mul(m, t)
    result = mul.results[0]
    if "cc" in m:
        u = _unsigned(result)
        return Sem((u, "pred"), (t, t, u), f"carry_add({mul.code}, {{2}})")
    if "sat" in m:
        return Sem(("s32",), (t, t, "s32"), f"saturate(({mul.code}).astype(i8) + {{2}})")
    return Sem((result,), (t, t, result), f"{mul.code} + {{2}}")


@entry("madc")
def _madc(m, t, n):
    mul = integer_mul(m, t)
    u = _unsigned(mul.results[0])
    pair = f"addc({mul.code}, {{2}}, {{3}})"
    if "cc" in m:
        return Sem((u, "pred"), (t, t, u, "pred"), pair)
    return Sem((u,), (t, t, u, "pred"), f"{pair}[0]")


@entry("mul24", "mad24")
def _mul24(m, t, n):
    c = "i8" if t[0] == "s" else "u8"
    low = "(({%d}.astype(" + c + ") << " + c + "(40)) >> " + c + "(40))"
    shift = "16" if "hi" in m else "0"
    product = f"(({low % 0} * {low % 1}) >> {c}({shift})).astype({code_of(t)})"
    return _two(t, product) if n == 3 else Sem((t,), (t, t, t), product + " + {2}")


def integer_div(m, t) -> Sem:
    """The quotient of two integers."""
    return _two(t, "idiv({0}, {1})")


@entry("rem")
def _rem(m, t, n):
    return _two(t, "irem({0}, {1})")


@entry("sad")
def _sad(m, t, n):
    u = _unsigned(t)
    code = f"sel({{0}} > {{1}}, {{0}} - {{1}}, {{1}} - {{0}}).view({code_of(u)}) + {{2}}"
    return Sem((u,), (t, t, u), code)


@entry("shl")
def _shl(m, t, n):
    u = code_of(_unsigned(t))
    return Sem((_unsigned(t),), (_unsigned(t), "u32"), f"{{0}} << amount({{1}}, {u}, {_BITS[t]})")


@entry("shr")
def _shr(m, t, n):
    c = code_of(t)
    return Sem((t,), (t, "u32"), f"{{0}} >> amount({{1}}, {c}, {_BITS[t]})")


@entry("shf")
def _shf(m, t, n):
    # the funnel {1}:{0} shifted by {2}; the upper word of a left shift, the lower of a right one
    keep = "{2} & u4(31)" if "wrap" in m else "np.minimum({2}, u4(32))"
    funnel = "({0}.astype(u8) | ({1}.astype(u8) << u8(32)))"
    if "l" in m:
        code = f"(({funnel} << ({keep}).astype(u8)) >> u8(32)).astype(u4)"
    else:
        code = f"({funnel} >> ({keep}).astype(u8)).astype(u4)"
    return Sem(("b32",), ("b32", "b32", "u32"), code)


@entry("bfe")
def _bfe(m, t, n):
    return Sem((t,), (t, "u32", "u32"), "bfe({0}, {1}, {2})")


@entry("bfi")
def _bfi(m, t, n):
    u = _unsigned(t)
    return Sem((u,), (u, u, "u32", "u32"), "bfi({0}, {1}, {2}, {3})")


@entry("bfind")
def _bfind(m, t, n):
    return Sem(("u32",), (t,), f"bfind({{0}}, {'shiftamt' in m})")


@entry("bmsk")
def _bmsk(m, t, n):
    return Sem(("b32",), ("u32", "u32"), f"bmsk({{0}}, {{1}}, {'wrap' in m})")


@entry("szext")
def _szext(m, t, n):
    return Sem((t,), (t, "u32"), f"szext({{0}}, {{1}}, {'wrap' in m})")


@entry("prmt")
def _prmt(m, t, n):
    mode = next((x for x in m if x in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")), "")
    return Sem(("b32",), ("b32", "b32", "u32"), f"prmt({{0}}, {{1}}, {{2}}, {mode!r})")


def _dot(width):
    def rule(m, t, n):
        a, b = [x for x in m if x in _BITS]
        out = "s32" if "s32" in (a, b) else "u32"
        half = "hi" in m
        return Sem(
            (out,),
            (a, b, out),
            f"dot({{0}}, {{1}}, {width}, {half}).astype({code_of(out)}) + {{2}}",
        )

    return rule


entry("dp4a")(_dot(4))
entry("dp2a")(_dot(2))


# -- the functions behind the expressions
def amount(b, kind, bits):
    """A shift amount, clamped as PTX does; NumPy's shifts by the full width give 0 or the sign."""
    return np.minimum(b, np.uint32(bits)).astype(kind)


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


names.update(
    sel=sel, amount=amount, saturate=saturate, addc=addc, subc=subc, carry_add=carry_add, idiv=idiv,
    irem=irem, popc=popc, clz=clz, bfind=bfind, brev=brev, lop3=lop3, bfe=bfe, bfi=bfi, bmsk=bmsk,
    szext=szext, prmt=prmt, dot=dot, fns=fns, mulhi_u64=mulhi_u64, mulhi_s64=mulhi_s64,
)  # fmt: skip
