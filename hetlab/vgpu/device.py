"""The virtual GPU of this process: one memory, one queue, and whoever is watching.

Every front end ends in :meth:`VirtualGPU.launch`.  A plain launch runs without
counting, as fast as it can; inside :func:`watching` the same launch counts and
looks for hazards, and leaves a :class:`Trace` behind.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hetlab.errors import HetlabError
from hetlab.vgpu.launch import ArrayArg, Hazard, Kernel, RawLaunch
from hetlab.vgpu.memory import Memory

__all__ = [
    "CAPABILITY",
    "HazardWarning",
    "KernelFault",
    "Options",
    "Origin",
    "Trace",
    "VirtualGPU",
    "device",
    "learners_level",
    "watching",
]

CAPABILITY = (8, 0)
"""Compute capability that the virtual GPU presents: that of the A100."""

SMS = 108
"""Multiprocessors that it presents: those of the A100."""


class KernelFault(HetlabError):
    """A launch did not come to its end: a deadlock, or a trap in the kernel."""


class HazardWarning(UserWarning):
    """A plain launch did something that a GPU may punish or let pass."""


@dataclass(frozen=True)
class Options:
    """What a watched launch looks at; the arguments of :meth:`Kernel.run`."""

    count: bool = True
    hazards: bool = True
    sample: float | None = None
    order_seed: int | None = None
    step_budget: int | None = None
    most_blocks: int | None = None

    def share(self, blocks: int) -> float | None:
        """The share of a grid's blocks to run; None for all of them."""
        if self.sample is None and self.most_blocks and blocks > self.most_blocks:
            return self.most_blocks / blocks
        return self.sample


@dataclass(frozen=True)
class Origin:
    """Where a kernel came from, for its report.

    Attributes
    ----------
    name : str
        The learner's name of the kernel.
    language : str
        As in ``"Numba"`` or ``"CUDA C++"``.
    ptx, entry : str
        The module and the kernel's name in it.
    sources : mapping of str to str
        Text of the source files that cannot be read from disk.
    home : (str, int, int) or None
        File, first and last line of the kernel's own source.
    names : callable or None
        Gives the learner's names of shared and constant symbols; called only when a
        report needs them.
    shapes : callable or None
        Gives the shapes of those that have several axes and a shape known before the launch.
    unit : str
        What the language calls a block: ``"block"``, or ``"program"`` for tiles.
    words : callable or None
        Puts a hazard into the words of the language; None for one that is none there.
    """

    name: str
    language: str
    ptx: str
    entry: str
    sources: Mapping[str, str] = field(default_factory=dict)
    home: tuple[str, int, int] | None = None
    names: Callable[[], Mapping[str, str]] | None = None
    shapes: Callable[[], Mapping[str, tuple[int, ...]]] | None = None
    unit: str = "block"
    words: Callable[[Hazard], Hazard | None] | None = None


@dataclass(frozen=True)
class Trace:
    """One watched launch: what was asked for, and what the engine saw."""

    origin: Origin
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    static_shared: int
    dynamic_shared: int
    raw: RawLaunch
    options: Options


class _Watchers(threading.local):
    def __init__(self) -> None:
        self.stack: list[tuple[Options, list[Trace]]] = []


_watchers = _Watchers()


@contextmanager
def watching(options: Options) -> Iterator[list[Trace]]:
    """Watch every launch of this thread; the list fills with their traces."""
    traces: list[Trace] = []
    _watchers.stack.append((options, traces))
    try:
        yield traces
    finally:
        _watchers.stack.pop()


def _three(dims) -> tuple[int, int, int]:
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    return (*map(int, dims), 1, 1, 1)[:3]


class VirtualGPU:
    """A GPU of compute capability 8.0 that is made of NumPy.

    Attributes
    ----------
    memory : Memory
        What every front end allocates from.
    launches : int
        Launches so far.
    elsewhere : callable or None
        Carries launches out in another process (see ``elsewhere.py``); None: here.
    """

    def __init__(self) -> None:
        self.memory = Memory()
        self.elsewhere: Callable[..., RawLaunch] | None = None
        self.launches = 0
        self._lock = threading.RLock()  # one queue: streams run in the order of their calls

    def __repr__(self) -> str:
        major, minor = CAPABILITY
        return f"virtual GPU (compute capability {major}.{minor}, {SMS} multiprocessors)"

    def launch(
        self,
        kernel: Kernel,
        origin: Origin,
        grid,
        block,
        params: Sequence,
        *,
        arrays: Sequence[ArrayArg] | Callable[[], Sequence[ArrayArg]] = (),
        dynamic_shared: int = 0,
        cooperative: bool = False,
    ) -> RawLaunch:
        """Run a kernel; count and check as the innermost :func:`watching` asks.

        Raises
        ------
        KernelFault
            When nobody watches and the kernel deadlocks or traps.
        LaunchError
            When no GPU would accept the launch.
        """
        watched = _watchers.stack[-1] if _watchers.stack else None
        options = watched[0] if watched else Options(count=False, hazards=False)
        grid, block = _three(grid), _three(block)
        with self._lock:
            self.launches += 1
            run = kernel.run
            if self.elsewhere is not None:
                run = functools.partial(self.elsewhere, origin)
            raw = run(
                grid,
                block,
                params,
                memory=self.memory,
                dynamic_shared=dynamic_shared,
                count=options.count,
                hazards=options.hazards,
                arrays=arrays() if callable(arrays) else arrays,
                sample=options.share(grid[0] * grid[1] * grid[2]),
                order_seed=options.order_seed,
                cooperative=cooperative,
                step_budget=options.step_budget,
                tiles=origin.unit == "program",
            )
        if raw.printf:
            sys.stdout.write("".join(raw.printf))
            sys.stdout.flush()
        if watched:
            watched[1].append(
                Trace(origin, grid, block, kernel.shared_bytes, dynamic_shared, raw, options)
            )
        elif raw.hazards:
            _tell(origin, raw.hazards)
        return raw


def _tell(origin: Origin, hazards: Sequence[Hazard]) -> None:
    """Say what went wrong in a launch that nobody watched."""
    if origin.words:
        hazards = [found for hazard in hazards if (found := origin.words(hazard))]
    advice = "hetlab.sanitize(...) with the same launch looks for every kind of hazard."
    for hazard in hazards:
        if hazard.kind in ("deadlock", "trap", "divergent-barrier"):
            what = (hazard.message or hazard.kind).rstrip(".")
            raise KernelFault(f"{origin.name}: {what}", do=advice)
    if not hazards:
        return
    first = hazards[0]
    more = f" ({len(hazards) - 1} more kinds or places)" if len(hazards) > 1 else ""
    text = f"{origin.name}: {(first.message or first.kind).rstrip('.')}{more}. {advice}"
    warnings.warn(text, HazardWarning, stacklevel=learners_level())


_HERE = str(Path(__file__).resolve().parents[1]) + os.sep
_COMPILERS = tuple(
    os.sep + name.replace("/", os.sep) + os.sep
    for name in ("numba", "numba_cuda", "triton/runtime", "triton/compiler")
)


def _is_ours(file: str) -> bool:
    return file.startswith(_HERE) or any(part in file for part in _COMPILERS)


def learners_level() -> int:
    """The ``stacklevel`` for ``warnings.warn`` in the caller that points at the learner's line."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_ours(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    return level


@functools.cache
def device() -> VirtualGPU:
    """The one virtual GPU of this process."""
    return VirtualGPU()
