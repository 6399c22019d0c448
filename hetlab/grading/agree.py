"""When two answers agree, and where they first differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .wire import Opaque

__all__ = ["Agreement", "Difference", "close", "exact", "show"]


@dataclass(frozen=True)
class Difference:
    """How an answer differs from the expected one.

    Attributes
    ----------
    kind : str
        ``nothing`` (None where a value was due), ``type``, ``dtype``, ``shape``, ``length`` or
        ``value``.
    path : str
        Where: empty for the value itself, ``"[2, 5]"`` for an element, ``"[0]"`` for a part.
    expected, got : str
        Both, as short texts.
    wrong, size : int
        For ``value``: how many elements differ, of how many.
    inside : str
        The name of the input that it lies in, when a function works in place.
    """

    kind: str
    path: str = ""
    expected: str = ""
    got: str = ""
    wrong: int = 1
    size: int = 1
    inside: str = ""

    def sentence(self, name: str, *, public: bool = True) -> str:
        """The difference in words; hidden inputs show no values."""
        at = f"{self.inside}{self.path} after {name}" if self.inside else f"{name}{self.path}"
        if self.kind == "nothing":
            return f"{name} returned None; is a return statement missing?"
        if self.kind in ("type", "dtype", "shape", "length"):
            return f"{at} has {self.kind} {self.got}, expected {self.expected}"
        if not public:
            many = f" ({self.wrong} of {self.size} elements differ)" if self.size > 1 else ""
            return f"{name} gives a wrong value{many}"
        many = f"; {self.wrong} of {self.size} elements differ" if self.size > 1 else ""
        return f"{at} should be {self.expected}, got {self.got}{many}"


@dataclass(frozen=True)
class Agreement:
    """A rule for agreeing; callable on (expected, got), giving the first Difference or None."""

    near: Callable[[np.ndarray, np.ndarray], np.ndarray]
    text: str
    strict: bool = True

    def __call__(self, expected: Any, got: Any, path: str = "") -> Difference | None:
        if expected is None and got is None:
            return None
        if got is None:
            return Difference("nothing", path, show(expected))
        if isinstance(got, Opaque):
            return Difference("type", path, _type(expected), got.type)
        if isinstance(expected, list | tuple):
            return self._parts(expected, got, path)
        if isinstance(expected, dict):
            return self._pairs(expected, got, path)
        if isinstance(expected, str | bytes | bool | np.bool_) or expected is None:
            return self._plain(expected, got, path)
        return self._numbers(expected, got, path)

    def _parts(self, expected: Any, got: Any, path: str) -> Difference | None:
        if not isinstance(got, list | tuple):
            return Difference("type", path, _type(expected), _type(got))
        if len(got) != len(expected):
            return Difference("length", path, str(len(expected)), str(len(got)))
        found = (self(e, g, f"{path}[{i}]") for i, (e, g) in enumerate(zip(expected, got)))
        return next((d for d in found if d), None)

    def _pairs(self, expected: dict, got: Any, path: str) -> Difference | None:
        if not isinstance(got, dict):
            return Difference("type", path, "dict", _type(got))
        if expected.keys() != got.keys():
            return Difference("value", path, f"keys {show(list(expected))}", show(list(got)))
        found = (self(e, got[k], f"{path}[{k!r}]") for k, e in expected.items())
        return next((d for d in found if d), None)

    def _plain(self, expected: Any, got: Any, path: str) -> Difference | None:
        truth = isinstance(expected, bool | np.bool_)
        same_kind = isinstance(got, bool | np.bool_) if truth else isinstance(got, type(expected))
        if not same_kind:
            return Difference("type", path, _type(expected), _type(got))
        return None if expected == got else Difference("value", path, show(expected), show(got))

    def _numbers(self, expected: Any, got: Any, path: str) -> Difference | None:
        if isinstance(expected, np.ndarray) and expected.ndim and not isinstance(got, np.ndarray):
            return Difference("type", path, "numpy.ndarray", _type(got))
        e = np.asarray(expected)
        try:
            g = np.asarray(got)
        except ValueError:
            g = np.asarray(None)
        if g.dtype.kind not in "biufcmMV" or (g.dtype.kind == "b") != (e.dtype.kind == "b"):
            return Difference("type", path, _type(expected), _type(got))
        if e.shape != g.shape:
            return Difference("shape", path, str(e.shape), str(g.shape))
        if self.strict and e.ndim and e.dtype != g.dtype:
            return Difference("dtype", path, str(e.dtype), str(g.dtype))
        bad = ~np.atleast_1d(self.near(e, g))
        if not bad.any():
            return None
        first = np.unravel_index(int(np.argmax(bad)), bad.shape)
        if e.ndim:
            path += "[" + ", ".join(map(str, first)) + "]"
            return Difference(
                "value", path, show(e[first]), show(g[first]), int(bad.sum()), bad.size
            )
        return Difference("value", path, show(e[()]), show(g[()]))


def exact(*, strict: bool = True) -> Agreement:
    """Every element equal; NaN equals NaN.

    Parameters
    ----------
    strict : bool
        Whether an array must also have the expected dtype.
    """

    def near(e: np.ndarray, g: np.ndarray) -> np.ndarray:
        return (e == g) | ((e != e) & (g != g))

    return Agreement(near, "equal", strict)


def close(
    *, ulps: float = 4, rtol: float = 0.0, atol: float = 0.0, strict: bool = True
) -> Agreement:
    """Floating point values within a tolerance; NaN agrees with NaN, infinity with itself.

    Parameters
    ----------
    ulps : float
        Units in the last place of the expected value, in the answer's precision.
    rtol, atol : float
        Relative and absolute tolerance; the three bounds add up.
    strict : bool
        Whether an array must also have the expected dtype.
    """

    def near(e: np.ndarray, g: np.ndarray) -> np.ndarray:
        if e.dtype.kind not in "fc" and g.dtype.kind not in "fc":
            return e == g
        coarse = g.dtype if g.dtype.kind == "f" else np.dtype(np.float64)
        size = np.abs(e)
        with np.errstate(all="ignore"):
            # Not np.spacing, which is infinite at the largest finite number.
            exponent = np.frexp(np.maximum(size, np.finfo(coarse).tiny).astype(np.float64))[1]
            step = np.ldexp(1.0, exponent - 1 - np.finfo(coarse).nmant)
            bound = ulps * step + rtol * size + atol
            # In float64: the difference of two float32 is exact there.
            wide = np.complex128 if "c" in (e.dtype.kind, g.dtype.kind) else np.float64
            apart = np.abs(g.astype(wide) - e.astype(wide))
            near = (apart <= bound) & np.isfinite(e) & np.isfinite(g)
            return near | (e == g) | ((e != e) & (g != g))

    parts = [f"{ulps:g} ulp"] * bool(ulps) + [f"{rtol:g} relative"] * bool(rtol)
    parts += [f"{atol:g} absolute"] * bool(atol)
    return Agreement(near, "within " + " + ".join(parts), strict)


def _type(value: Any) -> str:
    if isinstance(value, Opaque):
        return value.type
    if isinstance(value, np.ndarray):
        return f"numpy.ndarray of {value.dtype}"
    return "number" if isinstance(value, int | float | np.number) else type(value).__name__


def show(value: Any) -> str:
    """A value as a short text, arrays with shape and dtype."""
    if isinstance(value, np.ndarray) and value.ndim:
        if value.size <= 8:
            text = np.array2string(value, precision=6, separator=", ", threshold=8)
            return " ".join(text.split())
        return f"{value.dtype} array of shape {value.shape}"
    if isinstance(value, np.floating | float):
        return (
            np.format_float_positional(value, unique=True, trim="0")
            if value == 0 or 1e-4 <= abs(float(value)) < 1e7
            else f"{value!s}"
        )
    if isinstance(value, np.generic):
        return str(value)
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
