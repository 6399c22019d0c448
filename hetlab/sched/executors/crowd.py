"""Devices that slow each other: cores with one bus, chips with one power supply."""

from __future__ import annotations

from collections.abc import Container

__all__ = ["Crowd"]


class Crowd:
    """Who shares what with whom.

    Parameters
    ----------
    machine : Machine
        With `Device.pool` and `Machine.pools`.
    """

    def __init__(self, machine) -> None:
        members: dict[str, list[int]] = {}
        for d, device in enumerate(machine.devices):
            if device.pool:
                members.setdefault(device.pool, []).append(d)
        self._size = {d: machine.pools[pool] for pool, row in members.items() for d in row}
        self._others = {d: [o for o in row if o != d] for row in members.values() for d in row}

    def pace(self, d: int, busy: Container[int]) -> float:
        """The share of its speed that a busy device has, given which devices are busy."""
        if d not in self._size:
            return 1.0
        count = 1 + len(self.others(d, busy))
        return min(1.0, self._size[d] / count)

    def others(self, d: int, busy: Container[int]) -> list[int]:
        """The other busy devices of the same pool."""
        return [o for o in self._others.get(d, ()) if o in busy]
