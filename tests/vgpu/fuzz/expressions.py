"""Typed expressions: their text in the dialect of Numba, and their value by NumPy.

An integer's value is exact, with wrap-around.  A float's value is a pair: a reference
of more than its own precision, and a bound of the error that rounding can have made
by then, however the compiler contracts products and sums.  The bound is the running
one of Wilkinson (Higham, Accuracy and Stability of Numerical Algorithms, 3.3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["FLOATS", "INTEGERS", "Expr", "rounded", "unit"]

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float32", "float64")

wide = np.longdouble
_REFERENCE = float(np.finfo(wide).eps) * 4


@dataclass(frozen=True)
class Expr:
    """An expression.

    Attributes
    ----------
    text : str
    type : str
        Of `INTEGERS`, `FLOATS`, or ``bool``.
    value : callable
        From the variables (a dict) to an array; for floats, to (reference, bound).
    exact : bool
        No rounding is in it, so that a comparison of it has one answer only.
    """

    text: str
    type: str
    value: Callable
    exact: bool = True


def unit(type: str) -> float:
    """Unit roundoff: half the distance from 1 to the next number."""
    return float(np.finfo(type).eps) / 2


def rounded(type: str, v, e, ulps: float = 0.5):
    """Value and bound after one more rounding, or after a function good to `ulps`."""
    info = np.finfo(type)
    slack = 2 * ulps * unit(type) + _REFERENCE
    e = e + slack * (np.abs(v) + e) + float(info.smallest_subnormal)
    return v, np.where(np.abs(v) + e < float(info.max), e, np.inf)


def monotone(f, type: str, ulps: float):
    """Value and bound of a function that grows or falls everywhere on its argument's range."""

    def value(v, e):
        here = f(v)
        spread = np.maximum(np.abs(f(v + e) - here), np.abs(f(v - e) - here))
        return rounded(type, here, spread, ulps)

    return value


def lipschitz(f, type: str, ulps: float):
    """The same for a function whose slope is at most 1."""
    return lambda v, e: rounded(type, f(v), e, ulps)


def add(type, a, b):
    return rounded(type, a[0] + b[0], a[1] + b[1])


def subtract(type, a, b):
    return rounded(type, a[0] - b[0], a[1] + b[1])


def multiply(type, a, b):
    bound = np.abs(a[0]) * b[1] + np.abs(b[0]) * a[1] + a[1] * b[1]
    return rounded(type, a[0] * b[0], bound)


def divide(type, a, b):
    v = a[0] / b[0]
    room = np.abs(b[0]) - b[1]
    return rounded(type, v, np.where(room > 0, (a[1] + np.abs(v) * b[1]) / room, np.inf))


def power(type, a, b):
    v = a[0] ** b[0]
    corners = [(a[0] + i * a[1]) ** (b[0] + j * b[1]) for i in (-1, 1) for j in (-1, 1)]
    return rounded(type, v, np.max([np.abs(c - v) for c in corners], axis=0), 4)


def smaller(type, a, b):
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])


def larger(type, a, b):
    return np.maximum(a[0], b[0]), np.maximum(a[1], b[1])


# name, NumPy's function, how its error grows, the wrapper that keeps its argument in its
# domain.  Errors in ulp: CUDA C++ Programming Guide, "Mathematical Functions"; the largest
# of float32 and float64, and at least 2 for the CPU's library.
UNARY_MATH = [
    ("math.sqrt", np.sqrt, monotone, "abs({}) + {one}", 0.5),
    ("math.exp", np.exp, monotone, "min({}, {ten})", 2),
    ("math.expm1", np.expm1, monotone, "min({}, {ten})", 2),
    ("math.log", np.log, monotone, "abs({}) + {one}", 2),
    ("math.log2", np.log2, monotone, "abs({}) + {one}", 2),
    ("math.log10", np.log10, monotone, "abs({}) + {one}", 3),
    ("math.log1p", np.log1p, monotone, "abs({})", 2),
    ("math.sin", np.sin, lipschitz, "{}", 2),
    ("math.cos", np.cos, lipschitz, "{}", 2),
    ("math.tanh", np.tanh, lipschitz, "{}", 2),
    ("math.atan", np.arctan, lipschitz, "{}", 2),
    ("math.asinh", np.arcsinh, lipschitz, "{}", 3),
    ("math.sinh", np.sinh, monotone, "max(min({}, {ten}), -{ten})", 3),
]
