"""The grammar of random kernels: which expressions are made, and how often.

What is undefined is left out: shifts of the width and more, division by zero, floats
that overflow an integer, comparisons of numbers that carry a rounding error.
"""

from __future__ import annotations

import random

import numpy as np

from . import expressions as ex
from .expressions import FLOATS, INTEGERS, Expr, rounded, wide

__all__ = ["THREADS", "Grammar"]

THREADS = 150
_INDEX = 127  # what an index into an array is masked with


class Grammar:
    """Makes random expressions over its inputs, variables and loop counters."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        rng = self.rng
        kind = rng.choice(["integers", "mixed", "floats"])
        self.floats = kind != "integers"
        if kind == "floats":
            self.types = [rng.choice(INTEGERS), *rng.sample(FLOATS, 2)]
        else:
            last = FLOATS if self.floats else INTEGERS
            self.types = [*rng.sample(INTEGERS, 2), rng.choice(last)]
        self.inputs = {f"a{k}": self.array(t) for k, t in enumerate(self.types)}
        self.variables: dict[str, str] = {}  # name -> type
        self.counters: list[str] = []
        self.env: dict = {}
        self.lines: list[str] = []
        self.indent = 0
        self.in_loop = 0

    def array(self, type: str) -> np.ndarray:
        if type in FLOATS:
            spread = self.rng.choice([1.0, 100.0, 1e5])
            a = self.numpy.normal(0, spread, THREADS).astype(type)
            a[::3] = np.round(a[::3] / spread)
            a[3] = 0
            return a
        info = np.iinfo(type)
        a = self.numpy.integers(info.min, info.max, THREADS, dtype=type, endpoint=True)
        small = self.numpy.integers(0, 100, THREADS).astype(type)
        a = np.where(self.numpy.random(THREADS) < 0.4, small, a)
        a[:4] = info.min, info.max, 0, 1
        return a

    # -- expressions
    def expr(self, type: str, depth: int) -> Expr:
        return self.floating(type, depth) if type in FLOATS else self.integer(type, depth)

    def leaf(self, type: str, exact: bool = False) -> Expr:
        rng = self.rng
        choices = []
        if not (exact and type in FLOATS):
            choices += [self.variable(n) for n, t in self.variables.items() if t == type] * 2
        choices += [self.load(n) for n, a in self.inputs.items() if a.dtype == type]
        if type in INTEGERS:
            choices += [self.cast_counter(n, type) for n in self.counters]
        if not choices or rng.random() < 0.2:
            return self.literal(type)
        return rng.choice(choices)

    def variable(self, name: str) -> Expr:
        type = self.variables[name]
        return Expr(name, type, lambda env: env[name], type in INTEGERS)

    def cast_counter(self, name: str, type: str) -> Expr:
        return Expr(f"{type}({name})", type, lambda env: env[name].astype(type))

    def load(self, name: str) -> Expr:
        a = self.inputs[name]
        type = str(a.dtype)
        if self.rng.random() < 0.3:
            shift = self.rng.randrange(1, 50)
            text, at = f"{name}[(i + {shift}) & {_INDEX}]", np.arange(THREADS) + shift & _INDEX
        else:
            text, at = f"{name}[i]", np.arange(THREADS)
        if type in FLOATS:
            pair = a[at].astype(wide), np.zeros(THREADS, wide)
            return Expr(text, type, lambda env: pair)
        return Expr(text, type, lambda env: a[at])

    def literal(self, type: str) -> Expr:
        rng = self.rng
        if type in FLOATS:
            number = rng.choice([0.5, 1.0, -2.0, 3.25, 1e-3, 7.0, rng.uniform(-10, 10)])
            number = float(np.dtype(type).type(number))
            pair = np.full(THREADS, number, wide), np.zeros(THREADS, wide)
            return Expr(f"{type}({number!r})", type, lambda env: pair)
        info = np.iinfo(type)
        number = rng.choice([0, 1, 2, 3, 5, 7, 10, 100, info.max, info.min, info.max // 3])
        return Expr(f"{type}({number})", type, lambda env: np.full(THREADS, number, type))

    def integer(self, type: str, depth: int) -> Expr:
        rng = self.rng
        if depth <= 0:
            return self.leaf(type)
        kind = rng.randrange(13)
        bits = np.iinfo(type).bits
        if kind == 0:
            other = rng.choice([t for t in INTEGERS if t != type])
            x = self.integer(other, depth - 1)
            return Expr(f"{type}({x.text})", type, lambda env: x.value(env).astype(type))
        if kind == 1 and self.floats:
            a = [n for n, a in self.inputs.items() if a.dtype in FLOATS]
            x = self.load(rng.choice(a))
            return Expr(
                f"{type}(int64({x.text}))", type,
                lambda env: np.trunc(x.value(env)[0]).astype(np.int64).astype(type),
            )  # fmt: skip
        if kind == 2:
            c, x, y = (
                self.condition(1),
                self.integer(type, depth - 1),
                self.integer(type, depth - 1),
            )
            return Expr(
                f"({x.text} if {c.text} else {y.text})", type,
                lambda env: np.where(c.value(env), x.value(env), y.value(env)),
            )  # fmt: skip
        x = self.integer(type, depth - 1)
        if kind == 3:
            text, f = rng.choice(
                [("~{}", np.invert), ("abs({})", np.abs), (f"{type}(0) - {{}}", np.negative)]
            )
            return Expr(f"{type}({text.format(x.text)})", type, lambda env: f(x.value(env)))
        if kind == 4 and bits >= 32:
            name = rng.choice(["popc", "clz", "brev"])
            u = f"uint{bits}"
            f = {"popc": _popc, "clz": _clz, "brev": _brev}[name]
            return Expr(
                f"{type}({name}{bits}({u}({x.text})))", type,
                lambda env: f(x.value(env).astype(u)).astype(type),
            )  # fmt: skip
        y = self.integer(type, depth - 1)
        if kind in (5, 6):
            op, f = rng.choice([("<<", np.left_shift), (">>", np.right_shift)])
            mask = bits - 1
            return Expr(
                f"{type}({x.text} {op} ({y.text} & {type}({mask})))", type,
                lambda env: f(x.value(env), y.value(env) & np.dtype(type).type(mask)),
            )  # fmt: skip
        if kind == 7:
            op, f = rng.choice([("//", np.floor_divide), ("%", np.remainder)])
            return Expr(
                f"{type}({x.text} {op} (({y.text} & {type}(63)) + {type}(1)))", type,
                lambda env: f(x.value(env), (y.value(env) & np.dtype(type).type(63)) + 1),
            )  # fmt: skip
        if kind == 8:
            name, f = rng.choice([("min", np.minimum), ("max", np.maximum)])
            return Expr(
                f"{name}({x.text}, {y.text})", type, lambda env: f(x.value(env), y.value(env))
            )
        op, f = rng.choice(
            [("+", np.add), ("-", np.subtract), ("*", np.multiply), ("&", np.bitwise_and),
             ("|", np.bitwise_or), ("^", np.bitwise_xor)]
        )  # fmt: skip
        return Expr(
            f"{type}({x.text} {op} {y.text})", type, lambda env: f(x.value(env), y.value(env))
        )

    def floating(self, type: str, depth: int) -> Expr:
        rng = self.rng
        if depth <= 0:
            return self.leaf(type)
        kind = rng.randrange(12)
        if kind == 0:
            other = rng.choice(INTEGERS)
            x = self.integer(other, depth - 1)
            zero = np.zeros(THREADS, wide)
            return Expr(
                f"{type}({x.text})", type,
                lambda env: rounded(type, x.value(env).astype(wide), zero), False,
            )  # fmt: skip
        if kind == 1:
            x = self.floating(FLOATS[type == "float32"], depth - 1)
            return Expr(f"{type}({x.text})", type, lambda env: rounded(type, *x.value(env)), False)
        if kind == 2:
            c = self.condition(1)
            x, y = self.floating(type, depth - 1), self.floating(type, depth - 1)

            def choose(env):
                yes, a, b = c.value(env), x.value(env), y.value(env)
                return np.where(yes, a[0], b[0]), np.where(yes, a[1], b[1])

            return Expr(f"({x.text} if {c.text} else {y.text})", type, choose, False)
        x = self.floating(type, depth - 1)
        if kind == 3:
            name, sign = rng.choice([("abs({})", np.abs), ("(-{})", np.negative)])
            return Expr(
                name.format(x.text), type,
                lambda env: (sign(x.value(env)[0]), x.value(env)[1]), False,
            )  # fmt: skip
        if kind in (4, 5):
            return self.math(type, x)
        y = self.floating(type, depth - 1)
        if kind == 6:
            bottom = Expr("", type, lambda env: _above_one(type, y.value(env)))
            return Expr(
                f"({x.text} / (abs({y.text}) + {type}(1.0)))", type,
                lambda env: ex.divide(type, x.value(env), bottom.value(env)), False,
            )  # fmt: skip
        if kind == 7:
            name, f = rng.choice([("min", ex.smaller), ("max", ex.larger)])
            return Expr(
                f"{name}({x.text}, {y.text})", type,
                lambda env: f(type, x.value(env), y.value(env)), False,
            )  # fmt: skip
        op, f = rng.choice([("+", ex.add), ("-", ex.subtract), ("*", ex.multiply)])
        return Expr(
            f"({x.text} {op} {y.text})", type,
            lambda env: f(type, x.value(env), y.value(env)), False,
        )  # fmt: skip

    def math(self, type: str, x: Expr) -> Expr:
        name, f, grows, domain, ulps = self.rng.choice(ex.UNARY_MATH)
        one, ten = f"{type}(1.0)", f"{type}(10.0)"
        function = grows(f, type, ulps)

        def value(env):
            v, e = x.value(env)
            if "one" in domain:
                v, e = _above_one(type, (v, e))
            elif "abs" in domain:
                v = np.abs(v)
            if "min" in domain:
                v = np.minimum(v, 10)
            if "max" in domain:
                v = np.maximum(v, -10)
            if name == "math.log1p":
                e = np.minimum(e, np.where(v - e < -0.5, np.inf, e))
            return function(v, e)

        return Expr(f"{name}({domain.format(x.text, one=one, ten=ten)})", type, value, False)

    def condition(self, depth: int) -> Expr:
        rng = self.rng
        if depth > 0 and rng.random() < 0.3:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            op, f = rng.choice([("and", np.logical_and), ("or", np.logical_or)])
            return Expr(
                f"({a.text} {op} {b.text})", "bool", lambda env: f(a.value(env), b.value(env))
            )
        op, f = rng.choice(
            [("<", np.less), ("<=", np.less_equal), (">", np.greater), (">=", np.greater_equal),
             ("==", np.equal), ("!=", np.not_equal)]
        )  # fmt: skip
        if self.floats and rng.random() < 0.4:
            type = rng.choice([t for t in self.types if t in FLOATS])
            x, y = self.leaf(type, exact=True), self.leaf(type, exact=True)
            return Expr(
                f"{x.text} {op} {y.text}", "bool",
                lambda env: f(x.value(env)[0], y.value(env)[0]),
            )  # fmt: skip
        type = rng.choice([t for t in self.types if t in INTEGERS])
        x, y = self.integer(type, 1), self.integer(type, 1)
        if rng.random() < 0.5:  # few bits only, so that both are equal now and then
            x, y = self.low_bits(x), self.low_bits(y)
        return Expr(f"{x.text} {op} {y.text}", "bool", lambda env: f(x.value(env), y.value(env)))

    def low_bits(self, x: Expr) -> Expr:
        few = np.dtype(x.type).type(3)
        return Expr(f"({x.text} & {x.type}(3))", x.type, lambda env: x.value(env) & few)


def _above_one(type, pair):
    """``abs(x) + 1``."""
    one = np.ones(THREADS, wide), np.zeros(THREADS, wide)
    return ex.add(type, (np.abs(pair[0]), pair[1]), one)


def _popc(a):
    return np.array([int(x).bit_count() for x in a])


def _clz(a):
    bits = a.dtype.itemsize * 8
    return np.array([bits - int(x).bit_length() for x in a])


def _brev(a):
    bits = a.dtype.itemsize * 8
    return np.array([int(f"{int(x):0{bits}b}"[::-1], 2) for x in a], a.dtype)
