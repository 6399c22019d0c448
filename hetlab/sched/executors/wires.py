"""Transfers in virtual time, under the three kinds of contention of a machine."""

from __future__ import annotations

import heapq
import math

__all__ = ["Wires"]


class Wires:
    """All transfers that are on their way.

    Parameters
    ----------
    machine : Machine
        With contention "none", "queue" or "share".
    """

    def __init__(self, machine) -> None:
        self._machine = machine
        self._ends: dict = {}  # key -> (end, number), for those whose end is known at the start
        self._heap: list[tuple] = []
        self._number = 0
        self._free: dict[tuple, float] = {}  # channel -> when it is free again
        self._flows: dict = {}  # key -> [channels, bytes left, rate, when the bytes begin]
        self._now = 0.0

    def start(self, now: float, key, size: float, source: str, target: str) -> float:
        """A transfer begins, or waits for its turn; when its first byte leaves is returned."""
        channels, latency, pace = self._way(source, target)
        mode = self._machine.contention
        if mode == "share":
            self._flow(now)
            self._flows[key] = [channels, size, 0.0, now + latency]
            self._set_rates()
            return now
        begin = now
        if mode == "queue":
            begin = max([now, *(self._free.get(c, 0.0) for c in channels)])
            self._free |= dict.fromkeys(channels, begin + latency + size * pace)
        self._number += 1
        self._ends[key] = entry = (begin + latency + size * pace, self._number)
        heapq.heappush(self._heap, (*entry, key))
        return begin

    def cancel(self, now: float, key) -> None:
        """A transfer is forgotten."""
        self._ends.pop(key, None)
        if key in self._flows:
            self._flow(now)
            del self._flows[key]
            self._set_rates()

    def next(self) -> float:
        """When the next thing happens here; inf when nothing will."""
        while self._heap and self._ends.get(self._heap[0][2]) != self._heap[0][:2]:
            heapq.heappop(self._heap)  # cancelled
        soonest = self._heap[0][0] if self._heap else math.inf
        for _, left, rate, begins in self._flows.values():
            when = begins if begins > self._now else self._now + (left / rate if left else 0.0)
            soonest = min(soonest, when)
        return soonest

    def pop(self, now: float, slack: float) -> list:
        """The transfers that have ended by now."""
        done = []
        while self._heap and self._heap[0][0] <= now + slack:
            end, number, key = heapq.heappop(self._heap)
            if self._ends.get(key) == (end, number):
                del self._ends[key]
                done.append(key)
        if self._flows:
            self._flow(now)
            for key, (_, left, rate, begins) in list(self._flows.items()):
                if begins <= now + slack and (left <= 0 or left <= rate * slack):
                    del self._flows[key]
                    done.append(key)
            self._set_rates()
        return done

    def _way(self, source: str, target: str) -> tuple[tuple, float, float]:
        machine, at, channels = self._machine, source, []
        links = machine.route(source, target)
        for i in links:
            link = machine.links[i]
            forth = link.a == at
            channels.append((i, forth if link.duplex else True))
            at = link.b if forth else link.a
        latency = sum(machine.links[i].latency for i in links)
        return tuple(channels), latency, max(1 / machine.links[i].bandwidth for i in links)

    def _flow(self, now: float) -> None:
        """Bytes pass until now at the rates that hold."""
        for flow in self._flows.values():
            seconds = now - max(self._now, flow[3])
            if seconds > 0 and math.isfinite(flow[2]):
                flow[1] = max(0.0, flow[1] - flow[2] * seconds)
            elif seconds >= 0 and math.isinf(flow[2]):
                flow[1] = 0.0
        self._now = max(self._now, now)

    def _set_rates(self) -> None:
        """Each link's bandwidth is shared equally by those whose bytes pass it."""
        crowd: dict[tuple, int] = {}
        for channels, _, _, begins in self._flows.values():
            for channel in channels if begins <= self._now else ():
                crowd[channel] = crowd.get(channel, 0) + 1
        for flow in self._flows.values():
            shares = [self._machine.links[c[0]].bandwidth / crowd.get(c, 1) for c in flow[0]]
            flow[2] = min(shares)
