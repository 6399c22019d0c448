"""Statements and the generator: a random kernel as text, and its run by NumPy.

All threads run at once; an ``if`` or a loop narrows the mask of those that take part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from .expressions import FLOATS, INTEGERS, Expr
from .grammar import THREADS, Grammar

__all__ = ["THREADS", "Program", "generate"]


@dataclass
class Program:
    """A random kernel.

    Attributes
    ----------
    seed : int
    body : list of str
        Its lines, for one thread, which has the number ``i``.
    inputs, outputs : dict of str to array
    expected : dict
        Of each output: for integers the array, for floats (reference, bound).
    """

    seed: int
    body: list[str]
    inputs: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]
    expected: dict = field(default_factory=dict)

    def source(self, device: bool) -> str:
        """The kernel for the virtual GPU, or the loop for the CPU."""
        names = ", ".join([*self.inputs, *self.outputs])
        lines = [f"def kernel({names}):"]
        if device:
            lines += ["    i = cuda.grid(1)", f"    if i < {THREADS}:"]
        else:
            lines += [f"    for i in range({THREADS}):"]
        text = "\n".join(lines + ["        " + line for line in self.body]) + "\n"
        return re.sub(r"\b(popc|clz|brev)\d\d\(", r"cuda.\1(", text) if device else text


class _Loop:
    """Which threads have left a loop, and which have left this turn of it."""

    def __init__(self) -> None:
        self.broken = np.zeros(THREADS, bool)
        self.skipped = np.zeros(THREADS, bool)


class _Generator(Grammar):
    """Makes random statements."""

    # -- statements: each writes its text and returns what NumPy does: run(env, mask, loop)
    def write(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def assign(self, name: str, x: Expr):
        self.write(f"{name} = {x.text}")

        def run(env, mask, loop):
            new, old = x.value(env), env.get(name)
            if old is None:
                env[name] = new
            elif x.type in FLOATS:
                env[name] = tuple(np.where(mask, n, o) for n, o in zip(new, old))
            else:
                env[name] = np.where(mask, new, old)

        return run

    def block(self, budget: int, depth: int):
        self.indent += 1
        steps = [self.statement(depth) for _ in range(self.rng.randint(1, budget))]
        self.indent -= 1

        def run(env, mask, loop):
            for step in steps:
                if loop is not None:
                    mask = mask & ~loop.broken & ~loop.skipped
                step(env, mask, loop)

        return run

    def statement(self, depth: int):
        kind = self.rng.randrange(10)
        if depth > 0 and kind < 2:
            return self.branch(depth)
        if depth > 0 and kind == 2:
            return self.counted_loop(depth)
        if depth > 0 and kind == 3:
            return self.shrinking_loop(depth)
        if self.in_loop and kind == 4:
            return self.leave()
        name = self.rng.choice(list(self.variables))
        return self.assign(name, self.expr(self.variables[name], self.rng.randint(1, 3)))

    def branch(self, depth: int):
        c = self.condition(1)
        self.write(f"if {c.text}:")
        yes = self.block(3, depth - 1)
        no = None
        if self.rng.random() < 0.6:
            self.write("else:")
            no = self.block(3, depth - 1)

        def run(env, mask, loop):
            taken = c.value(env)
            yes(env, mask & taken, loop)
            if no is not None:
                no(env, mask & ~taken, loop)

        return run

    def counted_loop(self, depth: int):
        type = self.rng.choice([t for t in self.types if t in INTEGERS])
        n = self.integer(type, 1)
        name = f"k{len(self.lines)}"
        self.write(f"for {name} in range(int64({n.text} & {type}(7))):")
        self.counters.append(name)
        self.in_loop += 1
        body = self.block(3, depth - 1)
        self.in_loop -= 1
        self.counters.remove(name)

        def run(env, mask, loop):
            turns = (n.value(env) & np.dtype(type).type(7)).astype(np.int64)
            mine = _Loop()
            for k in range(7):
                env[name] = np.full(THREADS, k, np.int64)
                mine.skipped[:] = False
                body(env, mask & (k < turns) & ~mine.broken, mine)

        return run

    def shrinking_loop(self, depth: int):
        x = self.integer(self.rng.choice([t for t in self.types if t in INTEGERS]), 1)
        name = f"w{len(self.lines)}"
        self.write(f"{name} = int64({x.text}) & 31")
        self.write(f"while {name} > 0:")
        self.indent += 1
        self.write(f"{name} >>= 1")
        self.indent -= 1
        self.counters.append(name)
        self.in_loop += 1
        body = self.block(3, depth - 1)
        self.in_loop -= 1
        self.counters.remove(name)

        def run(env, mask, loop):
            left = x.value(env).astype(np.int64) & 31
            mine = _Loop()
            for _ in range(5):
                turn = mask & (left > 0) & ~mine.broken
                left = np.where(turn, left >> 1, left)
                env[name] = left
                mine.skipped[:] = False
                body(env, turn, mine)

        return run

    def leave(self):
        c = self.condition(0)
        word = self.rng.choice(["break", "continue"])
        self.write(f"if {c.text}:")
        self.write(f"    {word}")

        def run(env, mask, loop):
            gone = mask & c.value(env)
            if word == "break":
                loop.broken |= gone
            else:
                loop.skipped |= gone

        return run

    def program(self, seed: int, size: int) -> Program:
        steps = []
        for k in range(3 + (size > 3)):
            type = self.types[k % len(self.types)]
            x = self.expr(type, 1)
            steps.append(self.assign(f"v{k}", x))
            self.variables[f"v{k}"] = type
        steps += [self.statement(1 + (size > 3)) for _ in range(self.rng.randint(1, size))]
        outputs = {}
        for name, type in self.variables.items():
            self.write(f"o{name}[i] = {name}")
            outputs[f"o{name}"] = np.zeros(THREADS, type)
        mask = np.ones(THREADS, bool)
        with np.errstate(all="ignore"):
            for step in steps:
                step(self.env, mask, None)
        expected = {f"o{name}": self.env[name] for name in self.variables}
        return Program(seed, self.lines, self.inputs, outputs, expected)


def generate(seed: int, size: int = 5) -> Program:
    """The random kernel of a seed, of at most `size` statements outside of its loops."""
    return _Generator(seed).program(seed, size)
