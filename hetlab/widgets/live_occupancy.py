"""The live occupancy calculator (needs anywidget)."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from hetlab.vgpu.occupancy import KIB
from hetlab.widgets.slots import Slots, slots_of, tables

__all__ = ["OccupancyWidget"]


class OccupancyWidget(anywidget.AnyWidget):
    """Three sliders and a choice of chip; the warp slots of one multiprocessor fill up.

    Attributes
    ----------
    threads, registers, shared : int
        Threads a block, registers a thread, KiB of shared memory a block.
    capability : str
        Compute capability.
    """

    _esm = Path(__file__).with_name("occupancy.js")
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

    def __repr__(self) -> str:
        return repr(slots_of(self.threads, self.registers, self.shared * KIB, self.capability))

    def _repr_mimebundle_(self, **options):
        """The live view, and the text for everything that has no JavaScript."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": repr(self)}, metadata
