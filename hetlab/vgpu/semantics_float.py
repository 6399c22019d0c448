"""Floating-point instructions in f16, bf16, f32 and f64, single and packed.

Approximate instructions (``sin.approx``, ``ex2.approx``, ``div.full``, ...) are
computed in double precision and rounded once: at least as accurate as hardware.
"""

from __future__ import annotations

import numpy as np

from hetlab.vgpu import numerics as nx
from hetlab.vgpu.semantics import Sem, code_of, entry, names
from hetlab.vgpu.semantics_int import (
    integer_add,
    integer_div,
    integer_mad,
    integer_mul,
)

_FLOAT = ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64")
_ROUND = ("rn", "rz", "rm", "rp", "rna")


def _mode(m) -> str:
    return next((x for x in m if x in _ROUND), "rn")


def _finish(m, t, code: str) -> str:
    """Apply ``.ftz``, ``.sat`` and ``.relu`` to a result."""
    if "ftz" in m and t == "f32":
        code = f"ftz({code})"
    if "sat" in m:
        code = f"unit({code})"
    if "relu" in m:
        code = f"relu({code})"
    return code


def _float(m, t, plain: str, name: str, sources: int, flops: int = 1) -> Sem:
    """One rule for all widths; `plain` is the expression rounded to nearest."""
    args = [f"{{{k}}}" for k in range(sources)]
    if "ftz" in m and t == "f32":
        plain = plain.format(*(f"ftz({a})" for a in args))
    if t in ("f16x2", "bf16x2", "bf16"):
        wide = (
            f"lambda {', '.join('abc'[:sources])}: {_finish(m, t, plain.format(*'abc'[:sources]))}"
        )
        how = {"f16x2": "pairwise", "bf16x2": "pairwise_bf16", "bf16": "as_bf16"}[t]
        flops *= 2 if t.endswith("x2") else 1
        return Sem((t,), (t,) * sources, f"{how}({wide}, {', '.join(args)})", flops=flops)
    mode = _mode(m)
    if mode in ("rz", "rm", "rp"):
        plain = f"directed({name!r}, {mode!r}, {', '.join(args)})"
    return Sem((t,), (t,) * sources, _finish(m, t, plain), flops=flops)


@entry("add")
def _add(m, t, n):
    return _float(m, t, "{0} + {1}", "add", 2) if t in _FLOAT else integer_add(m, t, "add")


@entry("sub")
def _sub(m, t, n):
    return _float(m, t, "{0} - {1}", "sub", 2) if t in _FLOAT else integer_add(m, t, "sub")


@entry("mul")
def _mul(m, t, n):
    return _float(m, t, "{0} * {1}", "mul", 2) if t in _FLOAT else integer_mul(m, t)


@entry("fma")
def _fma(m, t, n):
    short = {"f64": "fma_f64", "f32": "fma_f32", "f16": "fma_f16", "f16x2": "fma_f16"}
    return _float(m, t, f"{short.get(t, 'fma_wide')}({{0}}, {{1}}, {{2}})", "fma", 3, 2)


@entry("mad")
def _mad(m, t, n):
    return _fma(m, t, n) if t in _FLOAT else integer_mad(m, t)


@entry("div")
def _div(m, t, n):
    return _float(m, t, "{0} / {1}", "div", 2) if t in _FLOAT else integer_div(m, t)


@entry("neg")
def _neg(m, t, n):
    if t in ("bf16", "bf16x2", "f16x2"):
        mask = "0x8000" if t == "bf16" else "0x80008000"
        return Sem((t,), (t,), f"{{0}} ^ {code_of(t)}({mask})")
    return Sem((t,), (t,), _finish(m, t, "-{0}"))


@entry("abs")
def _abs(m, t, n):
    if t in ("bf16", "bf16x2", "f16x2"):
        mask = "0x7fff" if t == "bf16" else "0x7fff7fff"
        return Sem((t,), (t,), f"{{0}} & {code_of(t)}({mask})")
    return Sem((t,), (t,), _finish(m, t, "np.abs({0})"))


def _extreme(which):
    def rule(m, t, n):
        if t not in _FLOAT:
            code = f"np.{which}imum({{0}}, {{1}})"
            return Sem((t,), (t, t), f"relu({code})" if "relu" in m else code)
        nan, xor = "NaN" in m, "xorsign" in m
        return _float(m, t, f"extreme({which!r}, {nan}, {xor}, {{0}}, {{1}})", "", 2)

    return rule


entry("min")(_extreme("min"))
entry("max")(_extreme("max"))


def _unary(op, plain, directed=""):
    def rule(m, t, n):
        approximate = "approx" in m or not directed
        code = f"wide(lambda a: {plain.format('a')}, {{0}})" if approximate else plain
        sem = _float(m, t, code, directed, 1)
        return sem._replace(kind="special") if approximate else sem

    entry(op)(rule)


_unary("sqrt", "np.sqrt({0})", "sqrt")
_unary("sin", "np.sin({0})")
_unary("cos", "np.cos({0})")
_unary("ex2", "np.exp2({0})")
_unary("lg2", "np.log2({0})")
_unary("tanh", "np.tanh({0})")
_unary("rsqrt", "1 / np.sqrt({0})")


@entry("rcp")
def _rcp(m, t, n):
    one = f"{code_of(t)}(1)"
    mode = _mode(m)
    code = f"directed('div', {mode!r}, {one}, {{0}})" if mode != "rn" else f"{one} / {{0}}"
    if "ftz" in m and t == "f32":
        code = f"ftz({one} / ftz({{0}}))"
    return Sem((t,), (t,), code, kind="special", flops=1)


@entry("copysign")
def _copysign(m, t, n):
    return Sem((t,), (t, t), "np.copysign({1}, {0})")


@entry("testp")
def _testp(m, t, n):
    code = {
        "finite": "np.isfinite({0})",
        "infinite": "np.isinf({0})",
        "number": "~np.isnan({0})",
        "notanumber": "np.isnan({0})",
        "normal": "np.isfinite({0}) & (np.abs({0}) >= np.finfo({0}.dtype).tiny)",
        "subnormal": "({0} != 0) & (np.abs({0}) < np.finfo({0}.dtype).tiny)",
    }[m[0]]
    return Sem(("pred",), (t,), code)


# -- the functions behind the expressions
def unit(x):
    """``.sat``: clamp to [0, 1]; not-a-number becomes 0."""
    kind = x.dtype.type
    return nx.sel(x > kind(0), np.minimum(x, kind(1)), kind(0))


def relu(x):
    """Negative becomes 0; not-a-number stays."""
    return nx.sel(x < x.dtype.type(0), x.dtype.type(0), x)


def wide(f, x):
    """A function in double precision, rounded once to the type of `x`."""
    return f(x.astype(np.float64)).astype(x.dtype)


def extreme(which, nan, xorsign, a, b):
    """``min`` or ``max``: a number wins over not-a-number unless ``.NaN``; -0 is below +0."""
    if xorsign:
        sign = np.copysign(a.dtype.type(1), a) * np.copysign(b.dtype.type(1), b)
        a, b = np.abs(a), np.abs(b)
    if nan:
        r = (np.minimum if which == "min" else np.maximum)(a, b)
    else:
        r = (np.fmin if which == "min" else np.fmax)(a, b)
    zero = (a == 0) & (b == 0)
    if zero.any():
        low = nx.sel(np.signbit(a), a, b)
        high = nx.sel(np.signbit(a), b, a)
        r = nx.sel(zero, low if which == "min" else high, r)
    return np.copysign(r, sign) if xorsign else r


def pairwise(f, *args):
    """An operation on both halves of packed f16 pairs."""
    scalar = not any(isinstance(x, np.ndarray) for x in args)
    return nx.pack_halves(f(*(nx.halves(x) for x in args)), scalar)


def as_bf16(f, *args):
    """An operation on bfloat16: computed wider, rounded once."""
    return nx.f32_to_bf16(f(*(nx.bf16_to_f32(x) for x in args)))


def pairwise_bf16(f, *args):
    """An operation on both halves of packed bf16 pairs."""
    low = as_bf16(f, *(x.astype(np.uint16) for x in args))
    high = as_bf16(f, *((x >> np.uint32(16)).astype(np.uint16) for x in args))
    return low.astype(np.uint32) | (high.astype(np.uint32) << np.uint32(16))


def fma_wide(a, b, c):
    """a * b + c of single-precision arguments as a double, rounded to odd."""
    return nx.odd_sum(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64))


names.update(
    unit=unit, relu=relu, wide=wide, extreme=extreme, pairwise=pairwise, as_bf16=as_bf16,
    pairwise_bf16=pairwise_bf16, fma_wide=fma_wide, fma_f16=nx.fma_f16, fma_f32=nx.fma_f32,
    fma_f64=nx.fma_f64, ftz=nx.ftz, directed=nx.directed,
)  # fmt: skip
