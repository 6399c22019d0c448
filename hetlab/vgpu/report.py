"""A launch as its report: counters, hazards, occupancy, and the learner's source lines."""

from __future__ import annotations

import functools
import linecache
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from hetlab.devices.chips import Chip
from hetlab.errors import HetlabError, one_line
from hetlab.units import binary_bytes
from hetlab.vgpu.device import CAPABILITY, Trace
from hetlab.vgpu.estimate import Estimate, estimate
from hetlab.vgpu.hazards import name_of
from hetlab.vgpu.launch import Hazard
from hetlab.vgpu.occupancy import Occupancy, occupancy
from hetlab.vgpu.resources import Resources, resources
from hetlab.vgpu.source_line import SourceLine

__all__ = ["Launch", "Launches", "SourceLine"]

SECTOR = 32
WARP = 32
HOT = 0.25
"""A line is hot when it moves at least this share of a kernel's traffic or instructions."""


class Launch:
    """One launch on the virtual GPU, with everything it showed.

    Attributes
    ----------
    name, language : str
        The kernel, and what it was written in.
    grid, block : (int, int, int)
    counters : dict of str to int
        Exact counts in the meaning of Nsight Compute; requests, instructions and
        barriers count warps.  Of a sample of blocks, when ``sampled`` is true.
    lines : dict
        ``(file, line)`` to the counters of that line.
    hazards, warnings : list of Hazard
    printf : list of str
        What the kernel printed.
    """

    def __init__(self, trace: Trace) -> None:
        origin, raw = trace.origin, trace.raw
        self.trace = trace
        self.name, self.language = origin.name, origin.language
        self.grid, self.block = trace.grid, trace.block
        self.counters: dict[str, int] = dict(raw.counters)
        self.lines: dict[tuple[str, int], dict[str, int]] = {
            self._place(place): counters for place, counters in raw.lines.items()
        }
        self.hazards = self._named(raw.hazards)
        self.warnings = self._named(raw.warnings)
        self.printf = list(raw.printf)
        self.counted = trace.options.count
        self.checked = trace.options.hazards

    def _place(self, place) -> tuple[str, int]:
        """File and line; a source that is only text has its plain name, without a folder."""
        file, number = place
        return (Path(file).name if Path(file).name in self.trace.origin.sources else file, number)

    def _named(self, hazards: Iterable[Hazard]) -> list[Hazard]:
        """Hazards with the learner's names in the place of symbols."""
        words = self.trace.origin.words
        hazards = [found for h in hazards if (found := words(h) if words else h)]
        hazards = [replace(h, lines=[self._place(place) for place in h.lines]) for h in hazards]
        if not any(h.space == "shared" or _is_symbol(h.array) for h in hazards):
            return hazards
        return [
            replace(h, array=self.name_of(h.array), message=rename(h.message, self._names))
            for h in map(self._unflattened, hazards)
        ]

    def _unflattened(self, hazard: Hazard) -> Hazard:
        """``tile[1, 0]`` in the place of ``tile[33]``, which only the compiler says."""
        shape, index = self._shapes.get(hazard.array), hazard.index
        if shape is None or not isinstance(index, int) or not 0 <= index < math.prod(shape):
            return hazard
        place = tuple(map(int, np.unravel_index(index, shape)))
        flat, named = (name_of(hazard.array, at, hazard.space) for at in (index, place))
        return replace(hazard, index=place, message=hazard.message.replace(flat, named))

    @functools.cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        shapes = self.trace.origin.shapes
        return dict(shapes()) if shapes else {}

    @functools.cached_property
    def _names(self) -> dict[str, str]:
        names = self.trace.origin.names
        return dict(names()) if names else {}

    def name_of(self, symbol: str) -> str:
        """The learner's name of a shared or constant array, else the symbol itself."""
        return self._names.get(symbol, symbol)

    # -- verdict and models --------------------------------------------------------

    @property
    def ok(self) -> bool:
        """True when no hazard was found; warnings do not count."""
        return not self.hazards

    @property
    def sampled(self) -> bool:
        """True when only some of the blocks ran."""
        return self.trace.raw.blocks_run < self.trace.raw.blocks

    @property
    def threads(self) -> int:
        """Threads a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def shared(self) -> int:
        """Static and dynamic shared memory a block, in bytes."""
        return self.trace.static_shared + self.trace.dynamic_shared

    @functools.cached_property
    def _assembled(self) -> Resources | str:
        try:
            return resources(self.trace.origin.ptx, self.trace.origin.entry)
        except HetlabError as cause:
            return one_line(cause)

    @property
    def resources(self) -> Resources | None:
        """What NVIDIA's assembler allots the kernel; None when it is not installed."""
        return self._assembled if isinstance(self._assembled, Resources) else None

    @property
    def registers(self) -> int | None:
        """Registers a thread; None when NVIDIA's assembler is not installed."""
        return self.resources.registers if self.resources else None

    @property
    def occupancy(self) -> Occupancy:
        """Blocks and warps resident on a multiprocessor of compute capability 8.0."""
        return occupancy(self.threads, self.registers or 0, self.shared, CAPABILITY)

    def estimate(self, chip: str | Chip = "A100") -> Estimate:
        """Bounds on the time of this launch on a chip: modelled, never measured."""
        counters = self.counters
        if self.sampled:
            scale = self.trace.raw.blocks / max(self.trace.raw.blocks_run, 1)
            counters = {name: value * scale for name, value in counters.items()}
        return estimate(
            counters,
            self.blocks,
            self.threads,
            chip,
            registers=self.registers or 0,
            shared=self.shared,
        )

    # -- the source ----------------------------------------------------------------

    def source(self) -> list[SourceLine]:
        """The kernel's own source and every other line with a count or a hazard, in order."""
        wanted = {key for key in self.lines if key[1] > 0}
        home = self.trace.origin.home
        if home:
            wanted |= {(home[0], number) for number in range(home[1], home[2] + 1)}
        marks: dict[tuple[str, int], list[Hazard]] = {}
        for hazard in [*self.hazards, *self.warnings]:
            for line in dict.fromkeys(tuple(place) for place in hazard.lines):
                marks.setdefault(line, []).append(hazard)
        wanted |= {key for key in marks if key[1] > 0}
        totals = {
            "sectors": ("global_load_sectors", "global_store_sectors"),
            "wavefronts": ("shared_load_wavefronts", "shared_store_wavefronts"),
            "instructions": ("instructions",),
        }
        whole = {k: sum(self.counters.get(n, 0) for n in names) for k, names in totals.items()}
        found = []
        for file, number in sorted(wanted, key=lambda key: (key[0] != (home or key)[0], key)):
            has = self.lines.get((file, number), {})
            shares = (
                sum(has.get(n, 0) for n in names) / whole[k]
                for k, names in totals.items()
                if whole[k]
            )
            heat = max(shares, default=0.0)
            text = self._text(file, number)
            found.append(
                SourceLine(file, number, text, has, heat, tuple(marks.get((file, number), ())))
            )
        return found

    def _text(self, file: str, number: int) -> str:
        sources = self.trace.origin.sources
        if file in sources:
            lines = sources[file].splitlines()
            return lines[number - 1] if 0 < number <= len(lines) else ""
        return linecache.getline(file, number).rstrip("\n")

    # -- shapes of the report ------------------------------------------------------

    def to_json(self) -> dict:
        """Everything as plain values that ``json.dumps`` accepts."""
        assembled = self.resources
        return {
            "kernel": self.name,
            "language": self.language,
            "device": "virtual GPU",
            "label": "counted",
            "grid": list(self.grid),
            "block": list(self.block),
            "shared_bytes": self.shared,
            "ok": self.ok,
            "counted": self.counted,
            "checked": self.checked,
            "blocks": self.trace.raw.blocks,
            "blocks_run": self.trace.raw.blocks_run,
            "counters": dict(self.counters),
            "hazards": [h.to_json() for h in self.hazards],
            "warnings": [h.to_json() for h in self.warnings],
            "lines": [
                {"file": file, "line": line, "counters": dict(counters)}
                for (file, line), counters in sorted(self.lines.items())
            ],
            "resources": assembled.to_dict() if assembled else None,
            "occupancy": self.occupancy.to_dict(),
            "printf": self.printf,
        }

    def __repr__(self) -> str:
        from hetlab.vgpu.report_text import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from hetlab.vgpu.report_html import as_html

        return as_html(self)


class Launches(list):
    """The launches of a function that starts several kernels, in their order."""

    @property
    def ok(self) -> bool:
        """True when none of them has a hazard."""
        return all(launch.ok for launch in self)

    @property
    def hazards(self) -> list[Hazard]:
        """The hazards of all of them."""
        return [hazard for launch in self for hazard in launch.hazards]

    @property
    def counters(self) -> dict[str, int]:
        """The counters of all of them, summed."""
        names = dict.fromkeys(name for launch in self for name in launch.counters)
        return {name: sum(launch.counters.get(name, 0) for launch in self) for name in names}

    def to_json(self) -> list[dict]:
        """Plain values for JSON, one entry a launch."""
        return [launch.to_json() for launch in self]

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self))

    def _repr_html_(self) -> str:
        return "".join(launch._repr_html_() for launch in self)


def _is_symbol(name: str) -> bool:
    """Whether an array goes by what a compiler called it, not by the learner's name."""
    return not name.isidentifier() or name.startswith("_cudapy_")


def rename(text: str, names: Mapping[str, str]) -> str:
    """Put the learner's names where a sentence holds symbols."""
    for symbol in sorted(names, key=len, reverse=True):  # a symbol may begin with another one
        text = text.replace(symbol, names[symbol])
    return text


def moved(sectors: int) -> str:
    """Bytes that sectors hold, for people."""
    return binary_bytes(sectors * SECTOR)
