"""Checks of a formula's domain, on numbers and on arrays."""

from __future__ import annotations

import numpy as np

from hetlab.errors import InvalidValue

__all__ = ["number", "plain"]


def number(name: str, value: object, *, least: float, most: float = np.inf, open_: bool = False):
    """The value as float64, checked element by element.

    Parameters
    ----------
    name : str
        The argument's name.
    value : array_like
        A number, or an array of numbers.
    least, most : float
        The range.  ``most`` belongs to it unless it is infinite.
    open_ : bool
        Whether ``least`` itself is outside.

    Raises
    ------
    InvalidValue
        When it is no number, not finite, or outside; the first such element is named.
    """
    rule = f"above {least:g}" if open_ else f"of at least {least:g}"
    rule = f"a finite number {rule}" + (f" and at most {most:g}" if np.isfinite(most) else "")
    try:
        array = np.asarray(value)
        # A text or a bool is no quantity, even where NumPy could turn it into one.
        if array.dtype.kind not in "iuf":
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidValue(name, rule, value) from None
    low = array > least if open_ else array >= least
    good = low & (array <= most) & np.isfinite(array)
    if not np.all(good):
        where = ""
        if array.ndim:
            place = tuple(int(i) for i in np.argwhere(~good)[0])
            where = f"element {place[0] if len(place) == 1 else place}"
        raise InvalidValue(name, rule, float(array[~good].flat[0]), where=where)
    return array


def plain(result: np.ndarray):
    """A float for a single number, the array otherwise."""
    return float(result) if np.ndim(result) == 0 else result
