"""What all classics share: sources, profiled launches, the result beside NumPy's, the table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hetlab
from hetlab.units import seconds
from hetlab.vgpu import Launch

__all__ = ["Classic", "Launcher", "Result", "blocks_for", "table"]

CHIP = "A100"


@functools.cache
def source(file: str) -> str:
    """The text of ``<file>.cu``."""
    return (Path(__file__).parent / f"{file}.cu").read_text(encoding="utf-8")


@functools.cache
def _kernel(file: str, name: str, options: tuple[str, ...]):
    return hetlab.raw_kernel(source(file), name, options)


def blocks_for(n: int, block: int) -> int:
    """Blocks that cover n places, at least one."""
    return max(1, -(-n // block))


class Launcher:
    """Launches kernels of one file, each watched; the reports gather in ``launches``."""

    def __init__(self, file: str, options: tuple[str, ...] = (), watch=hetlab.profile) -> None:
        self.file, self.options, self.watch = file, options, watch
        self.launches: list[Launch] = []

    def __call__(self, name: str, grid, block, *args) -> None:
        """Launch kernel `name`; Python numbers become the 4 bytes that the kernels take."""
        dims = [d if isinstance(d, tuple) else (d,) for d in (grid, block)]
        args = tuple(_typed(a) for a in args)
        kernel = _kernel(self.file, name, self.options)
        self.launches.append(self.watch(kernel, *dims, args))


def _typed(value):
    if isinstance(value, np.ndarray):
        return value
    return np.int32(value) if isinstance(value, int) else np.float32(value)


@dataclass(frozen=True)
class Result:
    """What a run left, what NumPy says, and every launch on the way.

    ``tolerance`` is relative to the largest magnitude expected; 0 asks for equality.
    """

    launches: list[Launch]
    got: np.ndarray
    expected: np.ndarray
    tolerance: float = 0.0

    @property
    def right(self) -> bool:
        if self.got.shape != self.expected.shape:
            return False
        if not self.tolerance:
            return np.array_equal(self.got, self.expected)
        scale = float(np.abs(self.expected).max(initial=0))
        error = np.abs(self.got.astype(np.float64) - self.expected).max(initial=0)
        return bool(error <= self.tolerance * scale)  # false for not-a-number, too

    @property
    def hazards(self) -> list:
        """Hazards and warnings of all launches."""
        return [h for one in self.launches for h in (*one.hazards, *one.warnings)]

    @functools.cached_property
    def counters(self) -> dict[str, int]:
        """The counters of all launches, summed."""
        return {k: sum(x.counters[k] for x in self.launches) for k in self.launches[0].counters}

    @property
    def modelled(self) -> float:
        """Seconds: the sum of the launches' longest bounds on an A100; modelled."""
        return sum(x.estimate(CHIP).seconds for x in self.launches)


@dataclass(frozen=True)
class Classic:
    """A classic kernel in its variants, from the slow one to the quick one.

    ``host(launch, variant, size, rng)`` returns what the kernels left, what NumPy says, and
    optionally the tolerance.  ``sizes`` are awkward ones for tests, ``shown`` is the table's.
    """

    name: str
    variants: tuple[str, ...]
    sizes: tuple[int, ...]
    shown: int
    host: Callable[..., tuple]
    options: tuple[str, ...] = ()

    def run(self, variant: str, size: int | None = None, watch=hetlab.profile) -> Result:
        """Run a variant on inputs that depend only on the size; `watch` makes each report."""
        size = self.shown if size is None else size
        launch = Launcher(self.name, self.options, watch)
        left = self.host(launch, variant, size, np.random.default_rng(size))
        return Result(launch.launches, *left)


_COLUMNS = (
    ("kernel and size", 34),
    ("launches", 8),
    ("load/store requests", 19),
    ("load/store sectors", 18),
    ("per request", 11),
    ("wavefronts", 10),
    ("conflicts", 9),
    ("divergent", 9),
    ("instructions", 12),
    (f"modelled {CHIP}", 13),
)


def table(rows: Iterable[tuple[str, Result]]) -> Iterator[str]:
    """Lines of a table of counters, one for each ``(name, result)``; results come as needed.

    Requests and sectors are of global memory, wavefronts and (bank) conflicts of shared memory,
    divergent counts branches that split a warp, instructions are those of warps.  The time is a
    bound that the estimate gives for a chip: modelled, not measured.
    """
    yield (
        "counted; only the last column is modelled: a lower bound without caches, where a small "
        "grid waits for the latency of one warp"
    )
    yield "  ".join(f"{title:<{w}}" if i == 0 else f"{title:>{w}}"
                    for i, (title, w) in enumerate(_COLUMNS))  # fmt: skip
    for name, result in rows:
        c = result.counters
        requests = c["global_load_requests"], c["global_store_requests"]
        sectors = c["global_load_sectors"], c["global_store_sectors"]
        cells = (
            name,
            f"{len(result.launches)}",
            f"{requests[0]:,}/{requests[1]:,}",
            f"{sectors[0]:,}/{sectors[1]:,}",
            f"{sum(sectors) / sum(requests):.2f}" if sum(requests) else "-",
            f"{c['shared_load_wavefronts'] + c['shared_store_wavefronts']:,}",
            f"{c['shared_bank_conflicts']:,}",
            f"{c['divergent_branches']:,}",
            f"{c['instructions']:,}",
            seconds(result.modelled),
        )
        line = "  ".join(
            f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}"
            for i, (cell, (_, w)) in enumerate(zip(cells, _COLUMNS))
        )
        wrong = "" if result.right else "  WRONG RESULT"
        yield line + wrong + (f"  {len(result.hazards)} hazards" if result.hazards else "")
