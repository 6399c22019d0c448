"""One line of a kernel's source with what was counted on it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SourceLine"]


@dataclass(frozen=True)
class SourceLine:
    """One line of source with what was counted on it.

    Attributes
    ----------
    file, number, text
        Where it stands, and the line itself.
    counters : dict of str to int
        Only those that are not zero.
    heat : float
        The largest share, from 0 to 1, that the line has of the launch's global
        sectors, shared wavefronts or instructions.
    hazards : tuple of Hazard
    """

    file: str
    number: int
    text: str
    counters: dict
    heat: float
    hazards: tuple = ()

    def count(self, *names: str) -> int:
        """Sum of counters; missing ones are 0."""
        return sum(self.counters.get(name, 0) for name in names)

    @property
    def sectors_per_request(self) -> float | None:
        """Sectors a request of global memory, loads and stores together."""
        requests = self.count("global_load_requests", "global_store_requests")
        sectors = self.count("global_load_sectors", "global_store_sectors")
        return sectors / requests if requests else None

    @property
    def wavefronts_per_request(self) -> float | None:
        """Wavefronts a request of shared memory, loads and stores together."""
        requests = self.count("shared_load_requests", "shared_store_requests")
        wavefronts = self.count("shared_load_wavefronts", "shared_store_wavefronts")
        return wavefronts / requests if requests else None

    @property
    def lanes(self) -> float | None:
        """Active lanes an instruction, of 32."""
        warps = self.count("instructions")
        return self.count("thread_instructions") / warps if warps else None
