"""Integer instructions: wrap-around, carry, saturation, shifts, bit fields."""

from __future__ import annotations

from hetlab.vgpu import bits
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


names.update({name: getattr(bits, name) for name in bits.__all__})
names.update(sel=sel, mulhi_u64=mulhi_u64, mulhi_s64=mulhi_s64)
