"""The live occupancy calculator (needs anywidget)."""

from __future__ import annotations

import traitlets

from hetlab.vgpu.occupancy import KIB
from hetlab.widgets.live import Live, script
from hetlab.widgets.slots import Slots, slots_of, tables

__all__ = ["OccupancyWidget"]


class OccupancyWidget(Live):
    """Three sliders and a choice of chip; the warp slots of one multiprocessor fill up.

    Attributes
    ----------
    threads, registers, shared : int
        Threads a block, registers a thread, KiB of shared memory a block.
    capability : str
        Compute capability.
    """

    _esm = script("occupancy.js")
    figure_by = ("figures_warps", "occupancy_figure")
    tables = traitlets.Dict().tag(sync=True)
    threads = traitlets.Int(256).tag(sync=True)
    registers = traitlets.Int(32).tag(sync=True)
    shared = traitlets.Int(0).tag(sync=True)
    capability = traitlets.Unicode("8.0").tag(sync=True)

    def __init__(self, slots: Slots) -> None:
        super().__init__(
            tables=tables(),
            threads=slots.threads,
            registers=slots.registers,
            shared=-(-slots.shared // KIB),
            capability=slots.capability,
        )

    @property
    def shows(self) -> Slots:
        return slots_of(self.threads, self.registers, self.shared * KIB, self.capability)
