"""An entry of the catalogue: a kernel, its launch, and what a sanitiser has to say of it.

A faulty kernel and its corrected twin are one text.  Comments in it carry the marks:

=====================  ==============================================================
``# !fault``           the report names this line
``# !also``            a report may name this line, too
``code # !fix other``  the twin has ``other`` in place of ``code`` (nothing: no code)
``# !fix code``        the twin has a line more
=====================  ==============================================================

(``//`` in place of ``#`` in CUDA C++.)  So no line number is typed by hand, and a twin
differs from its fault by nothing else.
"""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType

import numpy as np

__all__ = ["CLEAN", "FAULTY", "Entry", "clean", "fault", "flat", "ints", "ramp", "zeros"]

FAULTY: list[Entry] = []
CLEAN: list[Entry] = []

_FIX = re.compile(r"(?:#|//) !fix\b ?(.*)$")


@dataclass(frozen=True)
class Entry:
    """A kernel of the catalogue.

    Attributes
    ----------
    kind, array : str
        What `Hazard.kind` and `Hazard.array` must be; `array` None: it has no name to give.
    at : object
        The index; or a function of the index and the threads that says whether they fit.
    grid, block, shared : launch shape, bytes of dynamic shared memory
    args : callable
        Makes the arguments, fresh for each launch.
    kernel : function or str
        A Python function in the dialect of Numba, or CUDA C++.
    helpers : tuple of function
        Device functions of `kernel` that carry marks as well.
    also : tuple of str
        Kinds that follow from the fault and may be reported on the marked lines.
    alone : bool
        One thread is at fault by itself, although the kind takes two.
    mended : dict
        Launch shape or `args` of the twin, where they differ.
    """

    name: str
    kind: str
    array: str | None
    at: object
    grid: object
    block: object
    args: Callable[[], tuple]
    kernel: FunctionType | str
    shared: int = 0
    helpers: tuple = ()
    also: tuple[str, ...] = ()
    alone: bool = False
    mended: dict = field(default_factory=dict)

    @property
    def language(self) -> str:
        """``"CUDA C++"`` or ``"Numba"``."""
        return "CUDA C++" if isinstance(self.kernel, str) else "Numba"

    @property
    def warning(self) -> bool:
        """Whether it is one of the kinds that are only warned of."""
        return self.kind in ("wrapped-index", "same-value-store")

    def lines(self, mark: str) -> set[int]:
        """Numbers of the source lines that carry a mark."""
        if isinstance(self.kernel, str):
            texts = [(1, self.kernel.splitlines())]
        else:
            found = map(inspect.getsourcelines, (self.kernel, *self.helpers))
            texts = [(first, lines) for lines, first in found]
        return {
            first + offset
            for first, lines in texts
            for offset, line in enumerate(lines)
            if f" !{mark}" in line
        }

    def twin(self) -> FunctionType | str:
        """The corrected kernel."""
        if isinstance(self.kernel, str):
            return "\n".join(_mend(line, ";") for line in self.kernel.splitlines())
        lines, _ = inspect.getsourcelines(self.kernel)
        start = next(n for n, line in enumerate(lines) if line.startswith("def "))
        text = "\n".join(_mend(line.rstrip("\n"), "pass") for line in lines[start:]) + "\n"
        file = f"<twin of {self.name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        space = dict(self.kernel.__globals__)
        exec(compile(text, file, "exec"), space)
        return space[self.kernel.__name__]


def _mend(line: str, nothing: str) -> str:
    match = _FIX.search(line)
    if match is None:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return indent + (match[1] or nothing)


def fault(kind: str, array: str | None, at: object = None, *, code: str = "", **launch):
    """Add a faulty kernel: as a decorator of a Numba kernel, or with `code`, CUDA C++."""
    return _add(FAULTY, kind, array, at, code, launch)


def clean(*, code: str = "", **launch):
    """Add a correct kernel that looks like a faulty one."""
    return _add(CLEAN, "", None, None, code, launch)


def _add(entries, kind, array, at, code, launch):
    launch = {"grid": 1, "block": 64, **launch}

    def add(kernel):
        name = kernel.__name__ if not code else re.search(r"__global__\s+void\s+(\w+)", code)[1]
        assert all(name != e.name for e in entries), f"two entries are called {name}"
        entries.append(Entry(name, kind, array, at, kernel=kernel, **launch))
        return kernel

    return add(code.strip("\n")) if code else add


def flat(index, *inner: int) -> int:
    """A shared array's index as one number; a report may give it by row and column.

    `inner` are the lengths of all axes but the first.
    """
    if not isinstance(index, tuple):
        return index
    total = 0
    for i, n in zip(index, (1, *inner)):
        total = total * n + i
    return total


def ramp(n, dtype=np.float32) -> np.ndarray:
    """1, 2, 3, ...: no two elements are equal, none is zero."""
    return np.arange(1, int(np.prod(n)) + 1).astype(dtype).reshape(n)


def zeros(shape, dtype=np.float32) -> np.ndarray:
    """An array for results."""
    return np.zeros(shape, dtype)


def ints(*values) -> np.ndarray:
    """The values as 32-bit integers."""
    return np.array(values, np.int32)
