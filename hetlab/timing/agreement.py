"""Do two programs compute the same thing?  Timing programs that do not is the commonest mistake."""

from __future__ import annotations

import numpy as np

__all__ = ["disagreement"]


def disagreement(expected: object, got: object, where: str = "result") -> str:
    """Say how two results differ; "" when they agree.

    Floating-point numbers agree when they differ by at most ``eps ** (2/3)`` of the largest
    magnitude, with ``eps`` of the coarser of the two types: 2.4e-5 for float32, 3.7e-11 for
    float64.  That allows sums in another order.  NaN agrees with NaN.  Everything else must be
    equal.

    Parameters
    ----------
    expected, got : object
        Arrays, numbers, or tuples, lists and dicts of them.
    where : str
        What is compared, for the sentence.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        if expected.keys() != got.keys():
            return f"{where} has the keys {sorted(map(str, got))}, not {sorted(map(str, expected))}"
        pairs = [(f"{where}[{key!r}]", expected[key], got[key]) for key in expected]
    elif isinstance(expected, (tuple, list)) and isinstance(got, (tuple, list)):
        if len(expected) != len(got):
            return f"{where} holds {len(got)} items, not {len(expected)}"
        pairs = [(f"{where}[{i}]", a, b) for i, (a, b) in enumerate(zip(expected, got))]
    else:
        return _leaf(expected, got, where)
    return next(filter(None, (disagreement(a, b, place) for place, a, b in pairs)), "")


def _leaf(expected: object, got: object, where: str) -> str:
    if expected is None or got is None:
        same = expected is got
        return "" if same else f"{where} is {_short(got)}, not {_short(expected)}"
    a, b = np.asarray(expected), np.asarray(got)
    if a.shape != b.shape:
        return f"{where} has the shape {b.shape}, not {a.shape}"
    if a.dtype.kind not in "fciub" or b.dtype.kind not in "fciub":
        same = bool(np.all(a == b))
        return "" if same else f"{where} is {_short(got)}, not {_short(expected)}"
    inexact = [x.dtype for x in (a, b) if x.dtype.kind in "fc"]
    if not inexact:
        off = a != b
    else:
        tolerance = max(float(np.finfo(t).eps) for t in inexact) ** (2 / 3)
        finite = np.abs(a[np.isfinite(a)])
        scale = float(finite.max()) if finite.size else 0.0
        with np.errstate(invalid="ignore"):
            off = ~(np.isclose(b, a, rtol=tolerance, atol=tolerance * scale, equal_nan=True))
    if not np.any(off):
        return ""
    first = tuple(int(i) for i in np.argwhere(off)[0])
    place = f"{where}[{', '.join(map(str, first))}]" if first else where
    count = f" ({int(np.sum(off))} of {off.size} differ)" if off.size > 1 else ""
    return f"{place} is {b[first]}, not {a[first]}{count}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
