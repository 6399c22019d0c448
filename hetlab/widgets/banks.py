"""A tile in shared memory, how a warp reads it, and what the banks make of that: data and text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetlab.errors import InvalidValue
from hetlab.vgpu.lanes import Addresses, Lanes, batch_shape
from hetlab.vgpu.traffic import wavefronts

__all__ = ["BANKS", "LIMITS", "WAYS", "WORD", "Banks", "count_wavefronts"]

BANKS, WORD, WARP = 32, 4, 32  # CUDA C++ Programming Guide, shared memory of compute capability 5+
LIMITS = {"width": (1, 32), "padding": (0, 4)}
WAYS = {
    "column": "a column: tile[lane, 0]",
    "row": "a row: tile[0, lane]",
    "one": "one element: tile[0, 0]",
}


def count_wavefronts(words) -> int:
    """Wavefronts of one request of a warp, by the code that counts for every report.

    Parameters
    ----------
    words : sequence of int
        For each lane the place of its 4-byte word, counted from the start of shared memory.
    """
    words = np.asarray(words, dtype=np.int64)
    lanes = Lanes(batch_shape((len(words), 1, 1), 1), np.arange(len(words)))
    return wavefronts(Addresses(lanes, WORD * words), 0, WORD)


@dataclass(frozen=True, repr=False)
class Banks:
    """One choice of the controls.

    Attributes
    ----------
    width : int
        Elements of 4 bytes that a row of the tile holds.
    padding : int
        Elements added to each row that nobody uses.
    way : str
        A key of `WAYS`: what the 32 lanes read together.
    """

    width: int = 32
    padding: int = 0
    way: str = "column"

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            if not isinstance(value, int) or not low <= value <= high:
                raise InvalidValue(name, f"a whole number from {low} to {high}", value)
        if self.way not in WAYS:
            raise InvalidValue("way", f"one of {', '.join(WAYS)}", self.way)

    @property
    def stride(self) -> int:
        """Words from the element of one lane to that of the next."""
        return {"column": self.width + self.padding, "row": 1, "one": 0}[self.way]

    @property
    def words(self) -> list[int]:
        """The word of each lane.  A row that is too short goes on in the next one."""
        return [lane * self.stride for lane in range(WARP)]

    @property
    def wavefronts(self) -> int:
        """Counted by the virtual GPU's own code."""
        return count_wavefronts(self.words)

    @property
    def verdict(self) -> str:
        """What happens, in words."""
        turns = self.wavefronts
        if self.way == "one":
            return "1 wavefront: all lanes read one word, which is sent to all of them."
        if turns == 1:
            return "1 wavefront: no bank has to give two different words."
        return (
            f"{turns} wavefronts, {turns - 1} of them because of bank conflicts: "
            f"the busiest bank has {turns} different words to give."
        )

    @property
    def title(self) -> str:
        """The tile and the read, as code."""
        shape = f"(32, {self.width + self.padding})"
        return f"tile of shape {shape}, the warp reads {WAYS[self.way]}"

    def __repr__(self) -> str:
        head = ", ".join(map(str, self.words[:4]))
        return "\n".join(
            [
                self.title,
                f"words {head}, ... in the banks "
                f"{', '.join(str(w % BANKS) for w in self.words[:4])}, ...",
                f"{self.verdict} (counted)",
            ]
        )
