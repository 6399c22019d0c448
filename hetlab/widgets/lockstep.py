"""How a warp walks through a branch or a loop, lane by lane, as plain data; and as text.

The model is the rule of SIMT execution (CUDA C++ Programming Guide, "SIMT Architecture"): one
instruction stream a warp.  Of a branch, the lanes of each side run while the others wait; a side
that no lane takes costs nothing.  A loop goes on as long as one lane needs another turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hetlab.errors import InvalidValue

__all__ = ["Lockstep", "Stop", "Walk", "lockstep"]

WARP = 32
FULL = 2**WARP - 1
MOST_TURNS = 64
SIDES = {"branch": ("then", "else"), "loop": ("turn",)}


@dataclass(frozen=True)
class Walk:
    """One warp's steps: which side runs, and the bit mask of the lanes that are active."""

    steps: tuple[tuple[str, int], ...]

    @property
    def active(self) -> int:
        """Lanes that did something, summed over the steps."""
        return sum(mask.bit_count() for _, mask in self.steps)


@dataclass(frozen=True)
class Stop:
    """One position of the slider.

    Attributes
    ----------
    label : str
        As in ``"g = 2"``.
    walks : tuple of Walk
        One for each warp.
    """

    label: str
    walks: tuple[Walk, ...]

    @property
    def steps(self) -> int:
        """Steps of all warps."""
        return sum(len(walk.steps) for walk in self.walks)

    @property
    def lanes(self) -> float:
        """Active lanes on average, of 32."""
        return sum(walk.active for walk in self.walks) / self.steps if self.steps else 0.0

    def __str__(self) -> str:
        share = 100 * self.lanes / WARP
        return (
            f"{self.label}: {self.steps} steps in all, on average {self.lanes:.1f} of {WARP} "
            f"lanes active ({share:.0f} %)"
        )


@dataclass(frozen=True, repr=False)
class Lockstep:
    """All positions of the slider.

    Attributes
    ----------
    kind : {"branch", "loop"}
    name : str
        The slider's name; "" without one.
    stops : tuple of Stop
    """

    kind: str
    name: str
    stops: tuple[Stop, ...]

    @property
    def width(self) -> int:
        """Steps of the longest walk."""
        return max(len(walk.steps) for stop in self.stops for walk in stop.walks)

    def __repr__(self) -> str:
        what = "a branch" if self.kind == "branch" else "a loop"
        warps = len(self.stops[0].walks)
        head = f"{warps} warp{'s' if warps > 1 else ''} in {what}, modelled"
        return "\n".join([head, *(f"  {stop}" for stop in self.stops)])


def lockstep(
    rule: Callable, *, then: int = 4, other: int = 4, warps: int = 2, **slider: Sequence
) -> Lockstep:
    """Let warps walk through what each thread's number decides.

    Parameters
    ----------
    rule : callable
        ``rule(i)``, or ``rule(i, g)`` with a slider ``g=(1, 2, 4)``, for the thread's number i.
        A truth value is a condition of a branch; a whole number is the turns of a loop.
    then, other : int
        Steps of the two sides of a branch.
    warps : int
        Warps to show, 1 to 4.
    **slider
        At most one: its name, and the values that it takes.

    Returns
    -------
    Lockstep

    Raises
    ------
    InvalidValue
        For a rule that gives neither, or numbers out of range.
    """
    for key, value in (("then", then), ("other", other)):
        if not 1 <= value <= MOST_TURNS:
            raise InvalidValue(key, f"1 to {MOST_TURNS} steps", value)
    if warps not in (1, 2, 3, 4):
        raise InvalidValue("warps", "1 to 4", warps)
    if len(slider) > 1:
        raise InvalidValue("the slider", "one name with its values", ", ".join(slider))
    name, values = next(iter(slider.items()), ("", ()))
    if name and not 1 <= len(values) <= 64:
        raise InvalidValue(name, "1 to 64 values", values)
    tables = (
        [(f"{name} = {v}", [rule(i, v) for i in range(warps * WARP)]) for v in values]
        if name
        else [("this rule", [rule(i) for i in range(warps * WARP)])]
    )
    kind = _kind([answer for _, answers in tables for answer in answers])
    stops = []
    for label, answers in tables:
        rows = [answers[w * WARP : (w + 1) * WARP] for w in range(warps)]
        walk = (lambda row: _branch(row, then, other)) if kind == "branch" else _loop
        stops.append(Stop(label, tuple(walk(row) for row in rows)))
    return Lockstep(kind, name, tuple(stops))


def _kind(answers: Sequence) -> str:
    import numpy as np

    if all(isinstance(a, bool | np.bool_) for a in answers):
        return "branch"
    if all(isinstance(a, int | np.integer) and not isinstance(a, bool) for a in answers):
        worst = min(answers) if min(answers) < 0 else max(answers)
        if not 0 <= worst <= MOST_TURNS:
            raise InvalidValue("the turns of a loop", f"0 to {MOST_TURNS}", worst)
        return "loop"
    odd = next((a for a in answers if not isinstance(a, bool | int | np.bool_ | np.integer)), None)
    raise InvalidValue(
        "rule",
        "a function that gives True or False for every thread, or whole numbers for every thread",
        "both" if odd is None else odd,
    )


def _mask(lanes: Sequence) -> int:
    return sum(1 << lane for lane, on in enumerate(lanes) if on)


def _branch(row: Sequence, then: int, other: int) -> Walk:
    taken = _mask(row)
    sides = (("then", taken, then), ("else", FULL & ~taken, other))
    return Walk(tuple((side, mask) for side, mask, n in sides if mask for _ in range(n)))


def _loop(row: Sequence) -> Walk:
    return Walk(tuple(("turn", _mask([n > turn for n in row])) for turn in range(max(row))))
