"""Moving, converting, comparing and selecting."""

from __future__ import annotations

import numpy as np

from hetlab.vgpu import numerics as nx
from hetlab.vgpu.ir import SIZES
from hetlab.vgpu.semantics import Sem, code_of, entry, names

_COMPARE = {
    "eq": "{0} == {1}", "ne": "{0} != {1}", "lt": "{0} < {1}", "le": "{0} <= {1}",
    "gt": "{0} > {1}", "ge": "{0} >= {1}", "lo": "{0} < {1}", "ls": "{0} <= {1}",
    "hi": "{0} > {1}", "hs": "{0} >= {1}",
    "equ": "~(({0} < {1}) | ({0} > {1}))", "neu": "~({0} == {1})", "ltu": "~({0} >= {1})",
    "leu": "~({0} > {1})", "gtu": "~({0} <= {1})", "geu": "~({0} < {1})",
    "num": "~(({0} != {0}) | ({1} != {1}))", "nan": "({0} != {0}) | ({1} != {1})",
}  # fmt: skip
_BOOL = {"and": "&", "or": "|", "xor": "^"}


def _types(m) -> list[str]:
    return [x for x in m if x in SIZES]


@entry("mov")
def _mov(m, t, n):
    return Sem((t,), (t,), "{0}")


@entry("cvta")
def _cvta(m, t, n):
    space = next(x for x in m if x in ("global", "const", "shared", "local", "param"))
    if space in ("global", "const", "param"):
        return Sem((t,), (t,), "{0}")
    sign = "-" if "to" in m else "+"
    return Sem((t,), (t,), f"{{0}} {sign} {code_of(t)}({space.upper()}_WINDOW)")


@entry("isspacep")
def _isspacep(m, t, n):
    return Sem(("pred",), ("u64",), f"in_space({{0}}, {m[0]!r})")


def _compare(op: str, t: str) -> str:
    """Unequal numbers are ordered: not-a-number is not ``ne``, only ``neu``."""
    return "({0} < {1}) | ({0} > {1})" if op == "ne" and "f" in t else _COMPARE[op]


def _comparison(m, t) -> str:
    op = next(x for x in m if x in _COMPARE)
    code = _compare(op, t)
    if t == "f16x2" or t.startswith("bf16"):
        raise KeyError(t)
    if "ftz" in m:
        code = code.replace("{0}", "ftz({0})").replace("{1}", "ftz({1})")
    return code


@entry("setp")
def _setp(m, t, n):
    if t == "bf16":
        code = (
            _compare(m[0], t).replace("{0}", "bf16_to_f32({0})").replace("{1}", "bf16_to_f32({1})")
        )
    elif t == "f16x2":
        return Sem(("pred", "pred"), (t, t), f"compare_pairs({m[0]!r}, {{0}}, {{1}})")
    else:
        code = _comparison(m, t)
    join = next((x for x in m if x in _BOOL), None)
    if n == 4 and join:
        both = f"(({code}) {_BOOL[join]} {{2}}, (~({code})) {_BOOL[join]} {{2}})"
        return Sem(("pred", "pred"), (t, t, "pred"), both)
    return Sem(("pred", "pred"), (t, t), f"(c := {code}, ~c)")


@entry("set")
def _set(m, t, n):
    result, source = _types(m)[:2]
    if source == result == "f16x2":
        return Sem((result,), (source, source), f"set_pairs({m[0]!r}, {{0}}, {{1}})")
    code = _comparison(m, source)
    join = next((x for x in m if x in _BOOL), None)
    sources = (source, source)
    if join and n == 4:
        code, sources = f"(({code}) {_BOOL[join]} {{2}})", (source, source, "pred")
    true = f"{code_of(result)}(1)" if result[0] == "f" else f"~{code_of(result)}(0)"
    return Sem((result,), sources, f"sel({code}, {true}, {code_of(result)}(0))")


@entry("selp")
def _selp(m, t, n):
    return Sem((t,), (t, t, "pred"), "sel({2}, {0}, {1})")


@entry("slct")
def _slct(m, t, n):
    result, tested = _types(m)[:2]
    return Sem((result,), (result, result, tested), "sel({2} >= 0, {0}, {1})")


@entry("cvt")
def _cvt(m, t, n):
    kinds = _types(m)
    to, source = kinds[0], kinds[-1]
    if len(kinds) < 2:
        raise KeyError
    mode = next((x for x in m if x in ("rn", "rz", "rm", "rp", "rna")), "")
    whole = next((x for x in m if x in ("rni", "rzi", "rmi", "rpi")), "")
    sat, relu, ftz = "sat" in m, "relu" in m, "ftz" in m
    if to in ("f16x2", "bf16x2"):
        half = "to_f16" if to == "f16x2" else "to_bf16"
        return Sem((to,), (source, source), f"pack2({half}, {{0}}, {{1}}, {mode!r}, {relu})")
    if to == "tf32":
        return Sem((to,), (source,), f"to_tf32({{0}}, {mode!r})")
    options = f"{mode!r}, {whole!r}, {sat}, {ftz}, {relu}"
    floats = ("f16", "f32", "f64", "bf16")
    if to in floats and source in floats:
        code = f"float_to_float({{0}}, {source!r}, {to!r}, {options})"
        if not (mode or whole or sat or ftz or relu) and "bf16" not in (to, source):
            code = f"{{0}}.astype({code_of(to)})" if to != source else "{0}"
        elif mode == "rn" and (source, to) == ("f64", "f32") and not (sat or ftz or relu):
            code = "{0}.astype(f4)"
    elif to in floats:
        code = f"int_to_float({{0}}, {to!r}, {mode!r}, {sat})"
    elif source in floats:
        code = f"float_to_int({{0}}, {source!r}, {to!r}, {whole!r}, {ftz})"
    elif sat:
        code = f"saturated({{0}}, {code_of(to)})"
    else:
        code = f"{{0}}.astype({code_of(to)})" if code_of(to) != code_of(source) else "{0}"
    return Sem((to,), (source,), code)


# -- the functions behind the expressions
_WHOLE = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def float_to_float(x, source, to, mode, whole, sat, ftz, relu):
    if source == "bf16":
        x = nx.bf16_to_f32(x)
    if ftz and x.dtype == np.float32:
        x = nx.ftz(x)
    if whole:
        x = _WHOLE[whole](x)
    if to == "bf16":
        r = _relu(x) if relu else x
        return nx.f32_to_bf16(np.clip(r, 0, 1) if sat else r, mode)
    kind = np.dtype(code_of(to)).type
    r = nx.narrow(x, kind, mode) if np.dtype(kind).itemsize < x.dtype.itemsize else x.astype(kind)
    if ftz and kind is np.float32:
        r = nx.ftz(r)
    if sat:
        r = nx.sel(r > kind(0), np.minimum(r, kind(1)), kind(0))
    return _relu(r) if relu else r


def _relu(x):
    return nx.sel(x < 0, x.dtype.type(0), x)


def int_to_float(x, to, mode, sat):
    if to == "bf16":
        return nx.f32_to_bf16(x.astype(np.float64), mode)
    kind = np.dtype(code_of(to)).type
    if kind is np.float16:
        r = nx.narrow(x.astype(np.float64), kind, mode)
    else:
        r = x.astype(kind)
        if mode in ("rz", "rm", "rp"):
            # x - r exactly enough for its sign: upper and lower 32 bits apart
            whole = x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)
            low = whole & whole.dtype.type(0xFFFFFFFF)
            high = (whole - low).astype(np.float64)
            r = nx._step(r, (high - r.astype(np.float64)) + low.astype(np.float64), mode)
    return np.clip(r, kind(0), kind(1)) if sat else r


def float_to_int(x, source, to, whole, ftz):
    """Rounded, then clamped to the range; not-a-number gives 0 (the top bit for 64-bit types)."""
    if source == "bf16":
        x = nx.bf16_to_f32(x)
    if ftz and x.dtype == np.float32:
        x = nx.ftz(x)
    kind = np.dtype(code_of(to)).type
    info = np.iinfo(kind)
    y = _WHOLE[whole or "rzi"](x.astype(np.float64))
    above, below = y >= float(info.max) + (0 if info.bits < 64 else 1), y <= float(info.min)
    nan = y != y
    top = kind(1 << (info.bits - 1)) if info.min == 0 else kind(info.min)
    bad = top if x.dtype == np.float64 or info.bits == 64 else kind(0)
    safe = nx.sel(above | below | nan, np.float64(0), y).astype(kind)
    return nx.sel(nan, bad, nx.sel(above, kind(info.max), nx.sel(below, kind(info.min), safe)))


def saturated(x, kind):
    """An integer clamped to the range of another type."""
    info, own = np.iinfo(kind), np.iinfo(x.dtype)
    low, high = max(info.min, own.min), min(info.max, own.max)
    return np.clip(x, x.dtype.type(low), x.dtype.type(high)).astype(kind)


def to_f16(x, mode):
    return nx.narrow(x, np.float16, mode).view(np.uint16)


def to_bf16(x, mode):
    return nx.f32_to_bf16(x, mode)


def pack2(half, high, low, mode, relu):
    """Two numbers as one word of two 16-bit ones; the first operand goes to the upper half."""
    if relu:
        high, low = _relu(high), _relu(low)
    upper = half(high, mode).astype(np.uint32) << np.uint32(16)
    return upper | half(low, mode).astype(np.uint32)


def to_tf32(x, mode):
    """float32 with a mantissa of 10 bits, rounded to nearest, ties away (``rna``) or to even."""
    b = x.view(np.uint32)
    if mode == "rn":
        r = b + np.uint32(0x0FFF) + ((b >> np.uint32(13)) & np.uint32(1))
    else:
        r = b + np.uint32(0x1000 if mode == "rna" else 0)
    return nx.sel(np.isfinite(x), r & np.uint32(0xFFFFE000), b)


def compare_pairs(op, a, b):
    """``setp.f16x2``: the two comparisons of packed halves."""
    x, y = nx.halves(a), nx.halves(b)
    r = eval(
        _compare(op, "f16").format("x", "y"), {"x": x, "y": y}
    )  # one of _COMPARE's expressions
    scalar = not (isinstance(a, np.ndarray) or isinstance(b, np.ndarray))
    return (r[0, 0], r[0, 1]) if scalar else (r[:, 0].copy(), r[:, 1].copy())


def set_pairs(op, a, b):
    """``set.f16x2.f16x2``: 1.0 in each half where the comparison holds, else 0."""
    low, high = (np.asarray(c).astype(np.uint32) for c in compare_pairs(op, a, b))
    return (low * np.uint32(0x3C00) | high * np.uint32(0x3C000000))[()]


def in_space(a, space):
    """``isspacep``: whether a generic address lies in a window."""
    from hetlab.vgpu.memory import LOCAL_WINDOW, SHARED_WINDOW

    shared = (a >= np.uint64(SHARED_WINDOW)) & (a < np.uint64(LOCAL_WINDOW))
    local = a >= np.uint64(LOCAL_WINDOW)
    return {"shared": shared, "local": local}.get(space, ~(shared | local))


def _windows():
    from hetlab.vgpu.memory import LOCAL_WINDOW, SHARED_WINDOW

    return {"SHARED_WINDOW": SHARED_WINDOW, "LOCAL_WINDOW": LOCAL_WINDOW}


names.update(
    float_to_float=float_to_float, int_to_float=int_to_float, float_to_int=float_to_int,
    saturated=saturated, to_f16=to_f16, to_bf16=to_bf16, pack2=pack2, to_tf32=to_tf32,
    compare_pairs=compare_pairs, set_pairs=set_pairs, in_space=in_space,
    bf16_to_f32=nx.bf16_to_f32, **_windows(),
)  # fmt: skip
