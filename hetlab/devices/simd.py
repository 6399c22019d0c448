"""What SIMD is worth to one function: look for it in the machine code, or compile without it.

`vector_code` reads the assembly that Numba keeps of a compiled function and counts arithmetic
instructions by the width of their registers.  `without_simd` compiles the same Python source once
more with LLVM's loop vectoriser switched off, so that two timings differ by data-level parallelism
and by nothing else.

Instruction names: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2
(``addps`` is packed single, ``addsd`` scalar double; xmm, ymm, zmm have 128, 256, 512 bits);
Arm Architecture Reference Manual for A-profile (``fadd v0.4s`` has four lanes, ``fadd s0`` one).
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hetlab.errors import InvalidValue, optional

__all__ = ["VectorCode", "vector_code", "without_simd"]

_WIDTH = {"xmm": 128, "ymm": 256, "zmm": 512}
_X86_FLOAT = re.compile(
    r"^\s+(v?(?:add|sub|mul|div|sqrt|min|max|fn?m(?:add|sub)\d{3})(p|s)(s|d))\s(.*)", re.M
)
_X86_INTEGER = re.compile(r"^\s+(v?p(?:add|sub|mull|madd|mins|maxs|minu|maxu)[a-z]*)\s(.*)", re.M)
_X86_REGISTER = re.compile(r"%([xyz]mm)\d+")
# Linux writes "fadd v0.4s, ...", macOS "fadd.4s v0, ...".
_ARM = re.compile(
    r"^\s+(f(?:add|sub|mul|div|sqrt|min|max|mla|mls|madd|msub)[a-z]*)(?:\.(\d+)([sd]))?"
    r"\s+([vsd])\d+(?:\.(\d+)([sd]))?",
    re.M,
)


@dataclass(frozen=True)
class VectorCode:
    """The arithmetic instructions of one compiled function.

    Attributes
    ----------
    name : str
        The function.
    lanes : int
        Elements that its widest floating-point instruction handles at once; 1 without SIMD.
    bits : int
        Bits of each of these elements; 0 when there is no floating-point arithmetic.
    packed, scalar : int
        Floating-point instructions in the text of the program (not executions) that handle
        several elements, and one.
    integer : int
        Vector instructions on integers.
    example : str
        One of the widest, as the assembler writes it.
    """

    name: str
    lanes: int
    bits: int
    packed: int
    scalar: int
    integer: int
    example: str

    def __repr__(self) -> str:
        if not self.packed + self.scalar:
            numbers = f"{self.integer} vector instructions on integers, " if self.integer else ""
            return f"{self.name}: {numbers}no floating-point arithmetic that this reader knows"
        if not self.packed:
            text = f"no SIMD: {self.scalar} instructions, each handles 1 number"
        else:
            text = (
                f"SIMD: {self.lanes} lanes of {self.bits} bits "
                f"({self.packed} instructions handle several numbers, {self.scalar} handle 1)"
            )
        return f"{self.name}: {text}\n  {self.example}"


def vector_code(function: Callable) -> VectorCode:
    """Look for vector instructions in a compiled function.

    Parameters
    ----------
    function : callable
        Compiled by Numba and called at least once.  Of several signatures the last is read.

    Raises
    ------
    InvalidValue
        When it is not compiled yet, or not by Numba.
    """
    if not hasattr(function, "inspect_asm"):
        raise InvalidValue(
            "function", "compiled by Numba", function, do="Decorate it with @njit first."
        )
    if not function.signatures:
        raise InvalidValue(
            "function",
            "compiled already",
            function,
            do="Call it once: Numba compiles for the types of the arguments.",
        )
    text = function.inspect_asm(function.signatures[-1])
    return _count(getattr(function, "__name__", "function"), text)


def _count(name: str, text: str) -> VectorCode:
    seen: Counter[tuple[int, int, str]] = Counter()
    for op, packed, kind, operands in _X86_FLOAT.findall(text):
        bits = 32 if kind == "s" else 64
        widest = max((_WIDTH[r] for r in _X86_REGISTER.findall(operands)), default=128)
        lanes = widest // bits if packed == "p" else 1
        seen[lanes, bits, f"{op} {operands}"] += 1
    for op, apple_count, apple_kind, register, count, kind in _ARM.findall(text):
        count, kind = count or apple_count, kind or apple_kind or register
        shape = f".{count}{kind}" if count else ""
        seen[int(count or 1), 64 if kind == "d" else 32, f"{op} {register}{shape}"] += 1
    integer = sum(1 for _, operands in _X86_INTEGER.findall(text) if _X86_REGISTER.search(operands))
    packed = sum(n for (lanes, _, _), n in seen.items() if lanes > 1)
    scalar = sum(n for (lanes, _, _), n in seen.items() if lanes == 1)
    lanes, bits, example = max(seen, key=lambda k: (k[0] * k[1], k[0]), default=(1, 0, ""))
    return VectorCode(name, lanes, bits, packed, scalar, integer, " ".join(example.split()))


def without_simd(function: Callable, *args: Any, **options: Any) -> Callable:
    """Compile a function once more, with the compiler's loop vectoriser switched off.

    Parameters
    ----------
    function : callable
        Python, or compiled by Numba.
    *args
        Arguments of a call: Numba compiles for their types.  The function is not called.
    **options
        Options of ``numba.njit``.

    Returns
    -------
    callable
        Compiled, for arguments of these types only.
    """
    numba = optional("numba", "lab", "compile a loop without SIMD")
    source = getattr(function, "py_func", function)
    if not callable(source):
        raise InvalidValue("function", "a function", function)
    with _loop_vectoriser(numba, on=False):
        compiled = numba.njit(**options)(source)
        compiled.compile(tuple(numba.typeof(a) for a in args))
    # Another type would be compiled later, with SIMD, and nobody would notice.
    compiled.disable_compile()
    functools.update_wrapper(compiled, source)
    return compiled


class _loop_vectoriser:
    """Numba reads this setting each time it hands a function to LLVM."""

    def __init__(self, numba: Any, *, on: bool) -> None:
        self.config, self.on = numba.core.config, on

    def __enter__(self) -> None:
        self.before = self.config.LOOP_VECTORIZE
        self.config.LOOP_VECTORIZE = int(self.on)

    def __exit__(self, *_: object) -> None:
        self.config.LOOP_VECTORIZE = self.before
