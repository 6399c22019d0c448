"""Published figures of known chips, each with its source (``chips.toml``)."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from hetlab.errors import HetlabError, UnknownName
from hetlab.units import binary_bytes, quantity

__all__ = ["Chip", "Figure", "Limits", "Source", "chip", "chips"]

_FILE = Path(__file__).with_name("chips.toml")


@dataclass(frozen=True)
class Source:
    """A document that prints figures."""

    title: str
    publisher: str
    year: int

    def __str__(self) -> str:
        return f"{self.publisher}, {self.title}, {self.year}"


@dataclass(frozen=True)
class Figure:
    """One published number.

    Attributes
    ----------
    value : float
    unit : str
        The plain unit: "B", "B/s", "FLOP/s", "OP/s", "Hz", "W", or what is counted.
    source : Source
    at : str
        Where in the source, and what must be known to read the number rightly.
    confirmed : bool
        False when it was not read again when it was written down here.
    """

    value: float
    unit: str
    source: Source
    at: str = ""
    confirmed: bool = True

    def __str__(self) -> str:
        if self.unit == "B" and self.value % 2**20 == 0:
            return binary_bytes(self.value)
        if self.unit in {"B", "B/s", "FLOP/s", "OP/s", "Hz", "W"}:
            return quantity(self.value, self.unit)
        return f"{self.value:,.0f} {self.unit}"

    @property
    def citation(self) -> str:
        """Source, place and whether it was read again."""
        place = f" ({self.at})" if self.at else ""
        return f"{self.source}{place}{'' if self.confirmed else ' [not read again]'}"


@dataclass(frozen=True)
class Limits:
    """What one multiprocessor holds; None where no source tells.

    Attributes
    ----------
    warp : int
        Threads of a warp (a wavefront on AMD).
    warps, blocks : int or None
        Resident at most.
    registers : int or None
        32-bit registers of the multiprocessor.
    registers_per_thread, register_granularity : int or None
        At most for a thread; handed out to a warp in multiples of this many.
    partitions : int or None
        Schedulers, each with a part of the registers.
    shared, shared_per_block, shared_granularity, shared_reserved : int or None
        Bytes: of the multiprocessor, at most for a block, the step in which they are
        handed out, and what the runtime takes from each block.
    """

    source: Source
    warp: int
    warps: int | None = None
    blocks: int | None = None
    registers: int | None = None
    registers_per_thread: int | None = None
    register_granularity: int | None = None
    partitions: int | None = None
    shared: int | None = None
    shared_per_block: int | None = None
    shared_granularity: int | None = None
    shared_reserved: int | None = None


@dataclass(frozen=True)
class Chip:
    """One chip.

    Attributes
    ----------
    name, kind, vendor : str
        The kind is "cpu", "gpu", "tpu", "npu", "fpga" or "dpu".
    year : int
        Of its announcement.
    figures : mapping of str to Figure
        All that is published and sourced.
    capability : str
        Compute capability ("8.0") or target ("gfx942"); "" when it has none.
    limits : Limits or None
        What one multiprocessor holds.
    """

    name: str
    kind: str
    vendor: str
    year: int
    figures: Mapping[str, Figure]
    aliases: tuple[str, ...] = ()
    capability: str = ""
    limits: Limits | None = None

    def value(self, figure: str) -> float | None:
        """A figure's number in its plain unit; None when no source tells it."""
        found = self.figures.get(figure)
        return found.value if found else None

    @property
    def units(self) -> int | None:
        """Multiprocessors, compute units or cores."""
        return self.value("units")

    @property
    def lanes(self) -> int | None:
        """FP32 lanes of one unit: what it can multiply and add in a cycle."""
        return self.value("fp32_lanes")

    @property
    def clock(self) -> float | None:
        """Boost clock in Hz."""
        return self.value("clock")

    @property
    def bandwidth(self) -> float | None:
        """Peak bandwidth of its memory in B/s."""
        return self.value("bandwidth")

    @property
    def memory(self) -> float | None:
        """Bytes of its memory."""
        return self.value("memory")

    @property
    def power(self) -> float | None:
        """Design power in watts."""
        return self.value("power")

    @property
    def peak_fp32(self) -> float | None:
        """Modelled peak in FLOP/s: units x lanes x 2 x clock; a fused multiply-add counts as two.

        For a CPU this takes the boost clock of one core for all of them, so it is a bound that
        no CPU reaches.  None when a factor is not published.
        """
        factors = (self.units, self.lanes, self.clock)
        return None if None in factors else self.units * self.lanes * 2 * self.clock

    def __repr__(self) -> str:
        lines = [f"{self.name} ({self.vendor} {self.kind.upper()}, {self.year})"]
        wide = max(len(name) for name in self.figures)
        for name, figure in self.figures.items():
            lines.append(f"  {name.replace('_', ' '):<{wide}}  {figure!s:<22}  {figure.citation}")
        if self.peak_fp32:
            peak = quantity(self.peak_fp32, "FLOP/s")
            lines.append(f"  modelled: {peak} FP32 = units x lanes x 2 x clock")
        if self.limits:
            shared = binary_bytes(self.limits.shared) if self.limits.shared else "unknown"
            lines.append(
                f"  one multiprocessor: {self.limits.warps or 'unknown'} warps of "
                f"{self.limits.warp}, {shared} of shared memory ({self.limits.source})"
            )
        return "\n".join(lines)


def chip(name: str | Chip) -> Chip:
    """The chip of that name; case, spaces and the maker's name do not matter.

    Raises
    ------
    UnknownName
        With the close names, when there is none.

    Examples
    --------
    >>> chip("a100").units
    108
    """
    if isinstance(name, Chip):
        return name
    known = _by_name()
    found = known.get(_plain(name))
    if found is None:
        names = [n for c in chips().values() for n in (c.name, *c.aliases)]
        raise UnknownName("chip", str(name), names)
    return found


@functools.cache
def chips() -> Mapping[str, Chip]:
    """All chips by their name.

    Raises
    ------
    HetlabError
        When ``chips.toml`` was changed into something that cannot be read.
    """
    told = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    try:
        sources = {key: Source(**entry) for key, entry in told["sources"].items()}
        limits = {
            key: Limits(**{**entry, "source": sources[entry["source"]]})
            for key, entry in told["limits"].items()
        }
        found = [_chip(entry, sources, limits) for entry in told["chip"]]
    except (KeyError, TypeError) as error:
        raise HetlabError(
            f"a chip's entry has a missing or an unknown field: {error}",
            where=_FILE.name,
            do="Compare it with the comment at the top of the file.",
        ) from error
    return MappingProxyType({c.name: c for c in found})


def _chip(entry: dict, sources: dict, limits: dict) -> Chip:
    figures = {
        name: Figure(**{**figure, "source": sources[figure["source"]]})
        for name, figure in entry.pop("figures").items()
    }
    entry["aliases"] = tuple(entry.get("aliases", ()))
    return Chip(
        **entry,
        figures=MappingProxyType(figures),
        limits=limits.get(entry.get("capability", "")),
    )


@functools.cache
def _by_name() -> dict[str, Chip]:
    return {_plain(n): c for c in chips().values() for n in (c.name, *c.aliases)}


def _plain(name: str) -> str:
    """Without case, spaces and hyphens, and without what drivers put in front of a name."""
    text = "".join(ch for ch in str(name).lower() if ch.isalnum() or ch == "+")
    for maker in ("nvidia", "amd", "intel", "tesla", "geforce", "instinct"):
        text = text.removeprefix(maker)
    return text
