"""Who shares memory with whom: well-known pairs of CPU and GPU, each with its source."""

from __future__ import annotations

from dataclasses import dataclass

from hetlab.devices.chips import chip
from hetlab.units import quantity

__all__ = ["Sharing", "SharingTable", "memory_sharing"]


@dataclass(frozen=True)
class Sharing:
    """How the memories of a CPU and a GPU belong together.

    Attributes
    ----------
    name : str
    parts : str
        What is in the package.
    memories : str
        Which memories there are.
    bandwidth : float
        Of the memory that the GPU computes from, B/s.
    copies : str
        "needed", "possible, not needed" or "none": whether data have to be copied.
    source : str
    """

    name: str
    parts: str
    memories: str
    bandwidth: float
    copies: str
    source: str


class SharingTable(tuple):
    """Rows of :class:`Sharing`, shown as a table."""

    HEAD = ("chip", "in one package", "memory", "GPU reads", "copies")

    def _cells(self) -> list[tuple[str, ...]]:
        return [(r.name, r.parts, r.memories, quantity(r.bandwidth, "B/s"), r.copies) for r in self]

    def __repr__(self) -> str:
        rows = [self.HEAD, *self._cells()]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(f"{c:<{w}}" for c, w in zip(row, widths)).rstrip() for row in rows]
        sources = [f"{r.name}: {r.source}" for r in self]
        return "\n".join([*lines, "Published figures.", *sources])

    def _repr_html_(self) -> str:
        from html import escape

        style = 'style="text-align:left;vertical-align:top;padding:2px 12px 2px 0"'
        head = "".join(f"<th {style}>{escape(c)}</th>" for c in self.HEAD)
        body = "".join(
            f'<tr title="{escape(r.source)}">'
            + "".join(f"<td {style}>{escape(c)}</td>" for c in cells)
            + "</tr>"
            for r, cells in zip(self, self._cells())
        )
        sources = "; ".join(f"{escape(r.name)}: {escape(r.source)}" for r in self)
        note = f'<div style="font-size:85%;opacity:.8">Published figures. {sources}.</div>'
        return f"<table><tr>{head}</tr>{body}</table>{note}"


def memory_sharing() -> SharingTable:
    """Well-known pairs of CPU and GPU, and whether they share memory.

    Returns
    -------
    SharingTable
    """

    def known(name: str) -> tuple[float, str]:
        figure = chip(name).figures["bandwidth"]
        return figure.value, str(figure.source)

    h200, h200_source = known("H200")
    mi300x, mi300x_source = known("MI300X")
    m2, m2_source = known("Apple M2")
    return SharingTable(
        (
            Sharing(
                "H200 in a server", "GPU", "GPU's own (HBM3e); CPU's own", h200,
                "needed, over PCIe", h200_source,
            ),
            Sharing(
                "MI300X", "GPU", "GPU's own (HBM3); CPU's own", mi300x,
                "needed, over PCIe", mi300x_source,
            ),
            Sharing(
                "MI300A", "24 CPU cores and GPU", "one (HBM3)", 5.3e12, "none",
                "AMD, Instinct MI300A APU, data sheet, 2023",
            ),
            Sharing(
                "Grace Hopper (GH200)", "72 CPU cores and GPU",
                "two (LPDDR5X, HBM3), one address space", 4.0e12,
                "not needed; where data lie still counts",
                "NVIDIA, GH200 Grace Hopper Superchip, data sheet, 2023",
            ),
            Sharing("Apple M2", "8 CPU cores and GPU", "one (LPDDR5)", m2, "none", m2_source),
        )
    )  # fmt: skip
