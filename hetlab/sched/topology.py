"""Ways between memories."""

from __future__ import annotations

import heapq
import math

from hetlab.errors import InvalidValue, UnknownName

__all__ = ["route"]

# Data of this size decide which way is the shortest, so that a way does not depend on the data.
_TYPICAL = 1e6


def route(machine, source: str, target: str) -> tuple[int, ...]:
    """Positions in ``machine.links`` of the links between two memories; () for the same one.

    E. W. Dijkstra's shortest path over latency plus the time for a megabyte; a tie goes to the
    link that was given first.
    """
    if (source, target) in machine._routes:
        found = machine._routes[source, target]
        if found is None:
            raise _apart(machine, source, target)
        return found
    for memory in (source, target):
        if memory not in machine.memories:
            raise UnknownName("memory", memory, machine.memories)
    near: dict[str, list[tuple[int, str, float]]] = {memory: [] for memory in machine.memories}
    for i, link in enumerate(machine.links):
        length = link.latency + _TYPICAL / link.bandwidth
        near[link.a].append((i, link.b, length))
        near[link.b].append((i, link.a, length))
    best: dict[str, float] = {source: 0.0}
    ways: dict[str, tuple[int, ...]] = {source: ()}
    heap: list[tuple[float, tuple[int, ...], str]] = [(0.0, (), source)]
    while heap:
        length, way, at = heapq.heappop(heap)
        if length > best.get(at, math.inf):
            continue
        for i, other, more in near[at]:
            if length + more < best.get(other, math.inf):
                best[other], ways[other] = length + more, (*way, i)
                heapq.heappush(heap, (length + more, (*way, i), other))
    for memory in machine.memories:
        machine._routes[source, memory] = ways.get(memory)
    if target not in ways:
        raise _apart(machine, source, target)
    return ways[target]


def _apart(machine, source: str, target: str) -> InvalidValue:
    do = f"Add Link({source!r}, {target!r}, bandwidth=...) to the machine."
    return InvalidValue(
        "every memory", f"reachable from {source!r}", target, where=machine.name, do=do
    )
