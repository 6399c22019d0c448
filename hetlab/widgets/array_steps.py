"""Parallel sums and scans on a small array, step by step: as data, and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hetlab.errors import InvalidValue, UnknownName

__all__ = ["ALGORITHMS", "VALUES", "WARP", "Move", "Step", "Steps"]

WARP = 4
"""Lanes of a warp in most pictures: small enough that four of them fit on a page."""

VALUES = (3, 1, 7, 0, 4, 1, 6, 3, 2, 5, 0, 1, 4, 2, 3, 1)
"""The pictured array; it begins like the example of M. Harris, "Parallel prefix sum", 2007."""


@dataclass(frozen=True)
class Move:
    """What one thread does in a step.

    Attributes
    ----------
    thread : int
    into : int
        The element that it stores.
    sources : tuple of int
        The elements that it reads: two are added, one is copied; none stores a zero.
    """

    thread: int
    into: int
    sources: tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One step of all threads, between two barriers.

    Attributes
    ----------
    moves : tuple of Move
    after : tuple of int
        The array after it.
    """

    moves: tuple[Move, ...]
    after: tuple[int, ...]

    @property
    def additions(self) -> int:
        """How many of the moves add."""
        return sum(len(move.sources) == 2 for move in self.moves)

    @property
    def says(self) -> str:
        """The additions in words."""
        return f"{self.additions} addition{'' if self.additions == 1 else 's'}"

    @property
    def threads(self) -> tuple[int, ...]:
        """The threads that have something to do."""
        return tuple(sorted({move.thread for move in self.moves}))


def _interleaved(n: int) -> Iterator[list[Move]]:
    for step in _doubling(n):
        yield [Move(t, t, (t, t + step)) for t in range(0, n, 2 * step)]


def _strided(n: int) -> Iterator[list[Move]]:
    for step in _doubling(n):
        places = range(0, n, 2 * step)
        yield [Move(t, at, (at, at + step)) for t, at in enumerate(places)]


def _sequential(n: int) -> Iterator[list[Move]]:
    for step in reversed(_doubling(n)):
        yield [Move(t, t, (t, t + step)) for t in range(step)]


def _shuffles(n: int) -> Iterator[list[Move]]:
    # A lane whose source lies outside of the warp gets its own value back.
    for step in reversed(_doubling(n)):
        yield [Move(t, t, (t, t + step if t + step < n else t)) for t in range(n)]


def _hillis_steele(n: int) -> Iterator[list[Move]]:
    for step in _doubling(n):
        yield [Move(t, t, (t - step, t)) for t in range(step, n)]


def _blelloch(n: int) -> Iterator[list[Move]]:
    def places(step: int) -> list[tuple[int, int]]:
        return [(t, 2 * step * (t + 1) - 1) for t in range(n // (2 * step))]

    for step in _doubling(n):
        yield [Move(t, at, (at - step, at)) for t, at in places(step)]
    yield [Move(0, n - 1, ())]
    for step in reversed(_doubling(n)):
        both = ((Move(t, at - step, (at,)), Move(t, at, (at - step, at))) for t, at in places(step))
        yield [move for pair in both for move in pair]


def _doubling(n: int) -> list[int]:
    return [1 << k for k in range(n.bit_length() - 1)]


ALGORITHMS: dict[str, Callable[[int], Iterator[list[Move]]]] = {
    "sum: interleaved": _interleaved,
    "sum: strided": _strided,
    "sum: sequential": _sequential,
    "sum: shuffles": _shuffles,
    "scan: Hillis-Steele": _hillis_steele,
    "scan: Blelloch": _blelloch,
}


@dataclass(frozen=True, repr=False)
class Steps:
    """An algorithm at work on an array.

    Attributes
    ----------
    algorithm : str
        A key of `ALGORITHMS`.
    values : tuple of int
        The array; its length is a power of two.
    """

    algorithm: str
    values: tuple[int, ...] = VALUES

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise UnknownName("algorithm", self.algorithm, ALGORITHMS)
        n = len(self.values)
        if n < 2 or n & (n - 1) or n > len(VALUES):
            raise InvalidValue("values", f"2, 4, 8 or {len(VALUES)} numbers", n)

    @property
    def warp(self) -> int:
        """Lanes of a pictured warp; values are shuffled inside one warp only."""
        return len(self.values) if self.algorithm == "sum: shuffles" else WARP

    @property
    def steps(self) -> list[Step]:
        """All steps in order."""
        now, found = list(self.values), []
        for moves in ALGORITHMS[self.algorithm](len(now)):
            before = tuple(now)  # a step reads what was there before it
            for move in moves:
                now[move.into] = sum(before[source] for source in move.sources)
            found.append(Step(tuple(moves), tuple(now)))
        return found

    def told(self, k: int) -> str:
        """Step number `k`, counted from 1, in words; 0 is the array as it was given."""
        steps = self.steps
        if k == 0:
            return f"The array before the first of {len(steps)} steps."
        step, done = steps[k - 1], sum(s.additions for s in steps[:k])
        of = max(len(self.values) // self.warp, 1)
        lanes, warps = len(step.threads), len({t // self.warp for t in step.threads})
        what = step.says if step.additions else "the last element becomes 0"
        return (
            f"Step {k} of {len(steps)}: {what}; "
            f"active {_span(step.threads)} in {warps} of {of} warp{'s' * (of > 1)} of {self.warp} "
            f"lanes: {lanes} of {warps * self.warp} lanes work. So far {done} additions."
        )

    def __repr__(self) -> str:
        wide = max(len(str(v)) for step in self.steps for v in step.after)
        rows = [self.algorithm, self.told(0), _row(self.values, wide)]
        for k, step in enumerate(self.steps, 1):
            rows += [self.told(k), _row(step.after, wide)]
        return "\n".join(rows)


def _row(values: Sequence[int], wide: int) -> str:
    return "  " + " ".join(f"{v:>{wide}}" for v in values)


def _span(threads: Sequence[int]) -> str:
    """``threads 0 to 7`` or ``threads 0, 4, 8, 12``."""
    if len(threads) == 1:
        return f"thread {threads[0]}"
    if threads == tuple(range(threads[0], threads[-1] + 1)) and len(threads) > 2:
        return f"threads {threads[0]} to {threads[-1]}"
    return "threads " + ", ".join(map(str, threads))
