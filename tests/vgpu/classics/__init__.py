"""Ten classic CUDA C++ kernels on the virtual GPU: ``python -m tests.vgpu.classics``.

Each classic is one ``.cu`` file, with its variants from the slow one to the quick one, and a
function here that launches them and gives NumPy's answer to the same question.
"""

from __future__ import annotations

from tests.vgpu.classics import floats, grids, sums
from tests.vgpu.classics.kit import Classic, Result, table

__all__ = ["CLASSICS", "Classic", "Result", "table"]

CLASSICS: dict[str, Classic] = {c.name: c for c in (*grids.ALL, *sums.ALL, *floats.ALL)}
