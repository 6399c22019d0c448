"""Faulty Triton kernels with their corrected twins, marked as in `tests.vgpu.catalogue.entry`."""

# ruff: noqa: E402
# fmt: off
# Marks at the ends of lines say where the fault is.

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..catalogue.entry import Entry

__all__ = ["FAULTY", "Tiled", "fault"]

FAULTY: list[Tiled] = []


@dataclass(frozen=True)
class Tiled:
    """A kernel of tiles, its launch, and what a sanitiser has to say of it.

    `says` are words that the report's sentence must hold; the rest is as in `Entry`.
    """

    entry: Entry
    constants: dict = field(default_factory=dict)
    says: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.entry.name


def fault(kind: str, array: str | None, at=None, *, grid, args: Callable, says=(), mended=None,
          **constants):  # fmt: skip
    """Add a faulty kernel: a decorator of a plain function, which the test hands to Triton."""

    def add(kernel):
        entry = Entry(
            kernel.__name__, kind, array, at, grid, 1, args, kernel, mended=mended or {}
        )
        assert all(entry.name != other.name for other in FAULTY)
        FAULTY.append(Tiled(entry, constants, tuple(says)))
        return kernel

    return add


from . import bounds, meetings, unwritten  # noqa: F401  each adds its entries
